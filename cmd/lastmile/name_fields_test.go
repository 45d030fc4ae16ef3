package main

import (
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// nameField matches the fields of commands that hold a name, or another text that people choose and that a mail's
// header, a file's name, a log or a comment on a router may show.
var nameField = regexp.MustCompile(`(?:Name|Label|Title|Subject|Description|Username|Model|Tag|Tags|` +
	`ExternalRef|Notes|Reason|Details\.Address|Settings\.Description|\.Text)$`)

// severalLines are the ends of fields whose texts may have several lines.
var severalLines = []string{"Reason", "Notes", "Address", "Text"}

// Why a field of a command needs no check of its own.
const (
	planCopy     = "copied from a plan, whose name was checked"
	taxCopy      = "copied from billing settings, whose taxes were checked"
	approvalCopy = "copied from an action that is checked when it is approved"
	checkedLast  = "checked by the same function once all other fields are right"
	outside      = "the words of a provider or of a router, which are shown and never sent"
	ours         = "a code or a name of ours"
)

// chosenElsewhere are fields that no person types with the command, and why.
func chosenElsewhere() map[string]string {
	return map[string]string{
		"access.AnnounceSessionChange.Step.Reason":             ours,
		"access.AskRepair.Steps.Name":                          ours,
		"access.MakeVouchers.Terms.Name":                       planCopy,
		"billing.CreditReceipt.Tax.Components.Name":            taxCopy,
		"billing.DraftInvoice.Tax.Components.Name":             taxCopy,
		"billing.DraftPeriodInvoice.PlanName":                  planCopy,
		"billing.DraftPeriodInvoice.Change.PlanName":           planCopy,
		"billing.ReissueInvoice.Corrected.Lines.Description":   checkedLast,
		"billing.ReissueInvoice.Corrected.Tax.Components.Name": taxCopy,
		"billing.RequestApproval.Act.Lines.Description":        approvalCopy,
		"billing.TellCredit.Tax.Components.Name":               taxCopy,
		"cpe.ReportCpeOperationSent.Tasks.Name":                ours,
		"cpe.WriteCpeProvision.StoredName":                     ours,
		"cpe.WriteCpeProvision.Tag":                            ours,
		"identity.EndSession.Reason":                           ours,
		"messaging.ReportMessage.Reason":                       outside,
		"network.LearnDeviceTransport.Transport.BoardName":     outside,
		"network.PlanWrites.Steps.Name":                        ours,
		"network.RecordRefusal.Step.Name":                      ours,
		"network.RecordWrite.Step.Name":                        ours,
		"network.ReportDrift.Resources.Name":                   outside,
		"network.ReportSetupDrift.Resources.Name":              outside,
		"payments.CancelRefund.Reason":                         checkedLast,
		"payments.DelayBill.Reason":                            ours,
		"payments.HoldReceipt.Reason":                          ours,
		"payments.RecallBill.Reason":                           ours,
		"payments.RecordReceipt.PayerName":                     outside,
		"payments.RequestRefund.Reason":                        checkedLast,
		"payments.ReverseReceipt.Reason":                       checkedLast,
		"payments.SettleRefund.Reason":                         checkedLast,
		"subscribers.AskPlanMove.Terms.Name":                   planCopy,
		"subscribers.ChangePlan.Terms.Name":                    planCopy,
		"subscribers.CreateSubscription.Terms.Name":            planCopy,
		"subscribers.CreateSubscription.Tax.Components.Name":   taxCopy,
		"subscribers.MovePlan.Terms.Name":                      planCopy,
		"subscribers.WithdrawPeriod.Reason":                    ours,
		"webhooks.DisableWebhook.Reason":                       ours,
	}
}

// forEachText calls do with the path of each text of a command, and a function that sets it. Slices get one element and
// pointers a value.
func forEachText(v reflect.Value, path string, depth int, do func(path string, set func(text string))) {
	switch {
	case depth == 0 || !v.CanSet():
		return
	case v.Type() == reflect.TypeFor[personal.Text]():
		do(path, func(text string) { v.Set(reflect.ValueOf(personal.Of(text))) })
		return
	}
	switch v.Kind() {
	case reflect.String:
		do(path, v.SetString)
	case reflect.Struct:
		for i := range v.NumField() {
			name := path + "." + v.Type().Field(i).Name
			if v.Type().Field(i).Anonymous {
				name = path
			}
			forEachText(v.Field(i), name, depth-1, do)
		}
	case reflect.Pointer:
		before := reflect.New(v.Type()).Elem()
		v.Set(reflect.New(v.Type().Elem()))
		forEachText(v.Elem(), path, depth-1, do)
		v.Set(before)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		forEachText(v.Index(0), path, depth-1, do)
		v.Set(reflect.Zero(v.Type()))
	default:
	}
}

// formFaults are the faults in a command's form.
func formFaults(command reflect.Value) []string {
	var f *failure.Error
	if c, ok := command.Interface().(commands.Command); ok && errors.As(c.Validate(), &f) {
		return f.Faults
	}
	return nil
}

// TestNames_RefuseControlCharacters: a name with a line break stopped every mail of its organization, because it stands
// in the header of each.
func TestNames_RefuseControlCharacters(t *testing.T) {
	t.Parallel()
	wired, except, used := wiredBus(), chosenElsewhere(), map[string]bool{}
	names := slices.Collect(maps.Values(commandNames(t)))
	slices.Sort(names)
	for _, name := range names {
		stored, err := wired.DecodeStored(name, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		command := reflect.New(reflect.TypeOf(stored)).Elem()
		forEachText(command, name, 6, func(path string, set func(string)) {
			field := path[strings.LastIndexByte(path, '.')+1:]
			if !nameField.MatchString(path) {
				return
			}
			if _, ok := except[path]; ok {
				used[path] = true
				return
			}
			bad := []string{"a\x00b", "a\u202eb", "a\u2028b", "a\u0085b", "a\xffb", "a\x1b[2Jb"}
			if !slices.ContainsFunc(severalLines, func(end string) bool { return strings.HasSuffix(field, end) }) {
				bad = append(bad, "a\r\nBcc: b@example.com", "a\nb", "a\tb")
			}
			for _, text := range bad {
				set("ab")
				usual := formFaults(command)
				set(text)
				got := formFaults(command)
				if !slices.ContainsFunc(got, func(f string) bool { return !slices.Contains(usual, f) }) {
					t.Errorf("%s accepts %q", path, text)
					break
				}
			}
			set("")
		})
	}
	for path := range except {
		if !used[path] {
			t.Errorf("%s is no field of a command", path)
		}
	}
}
