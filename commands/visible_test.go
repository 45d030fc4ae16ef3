package commands_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// fieldsOf are the fields that a command's form has faults in.
func fieldsOf(c commands.Command) (fields []string) {
	var faults *failure.Error
	if errors.As(c.Validate(), &faults) {
		for _, f := range faults.FieldFaults() {
			fields = append(fields, f.Field)
		}
	}
	return fields
}

// naming are the commands that give a name or a reason, and the field of each. Other fields are wrong as well.
func naming(text string) map[string][]commands.Command {
	person := personal.Of(text)
	return map[string][]commands.Command{
		"name": {
			commands.CreateOrganization{Name: text}, commands.RenameOrganization{Name: text},
			commands.CreatePlan{Terms: events.PlanTerms{Name: text}},
			commands.RevisePlan{Terms: events.PlanTerms{Name: text}},
			commands.RegisterDevice{Details: events.DeviceDetails{Name: text}},
			commands.CorrectDevice{Details: events.DeviceDetails{Name: text}},
		},
		"firstName": {
			commands.RegisterSubscriber{Details: events.SubscriberDetails{FirstName: person}},
			commands.CorrectSubscriberDetails{Details: events.SubscriberDetails{FirstName: person}},
			commands.RegisterUser{FirstName: person}, commands.CorrectUser{FirstName: &person},
		},
		"reason": {commands.SuspendOrganization{Reason: text}, commands.EndSubscription{Reason: text}},
		"tax": {commands.AdoptBillingSettings{Billing: events.BillingSettings{
			Tax: events.TaxRule{Components: []events.TaxComponent{{Name: text}}},
		}}},
	}
}

// TestNames_ShowACharacter: a customer or a plan that a list shows as a gap cannot be found again.
func TestNames_ShowACharacter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "\u00a0\u3000", "\u200b\u200d\ufeff", "\u200e\u200f", "\u2060\u00ad", "\u3164", "\u115f\u1160\uffa0",
		"\u2800", "\u034f", "\u0301", "\ufe0f", "\u180e", "\U000E0041", "\U0001D159", "\u2028", " \u3164\u2800\u200b ",
	} {
		for field, list := range naming(text) {
			for _, c := range list {
				if !slices.Contains(fieldsOf(c), field) {
					t.Errorf("%s passes with %s %+q", c.CommandName(), field, text)
				}
			}
		}
	}
	for _, text := range []string{
		"a", "7", "-", "無", "أمينة", "ไทย", "한", "🐘", "\u200fנועה", "e\u0301", "\u2801", "\u200b.", "\U0002EBF0",
	} {
		for field, list := range naming(text) {
			for _, c := range list {
				if slices.Contains(fieldsOf(c), field) {
					t.Errorf("%s is refused with %s %+q", c.CommandName(), field, text)
				}
			}
		}
	}
}
