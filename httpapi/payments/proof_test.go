package paymentsapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// shownProof has the fields of a proof that the tests compare.
type shownProof struct {
	Receipt struct{ State string }
	Steps   []struct {
		ReceiptID  string
		Kind       string
		Rule       *string
		Reason     *string
		Sighting   *string
		Amount     *float64
		Subscriber *struct{ AccountNumber string }
		From       *struct{ AccountNumber string }
		Actor      struct{ Kind string }
		Message    *struct {
			Missing  *string
			Verified *bool
			ProvenBy *string
			From     *string
			Content  *string
		}
	}
	More bool
}

// proof reads the proof of one of Acme's receipts, and its text.
func (k *moneyKit) proof(t *testing.T, receipt id.Receipt) (out shownProof, text string) {
	t.Helper()
	a := k.Do(t, apitest.Request{Path: "/receipts/" + receipt.String() + "/proof", As: apitest.Support})
	if a.Status != http.StatusOK {
		t.Fatalf("proof: %d %s", a.Status, a.Body)
	}
	a.Into(t, &out)
	return out, string(a.Body)
}

// kinds are those of the steps of a proof, in their order.
func (p shownProof) kinds() (kinds []string) {
	for _, s := range p.Steps {
		kinds = append(kinds, s.Kind)
	}
	return kinds
}

func TestProof_TellsTheWholeStoryOfAReceipt(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.Neighbour(t)
	k.Named(t, apitest.Admin, "Njeri")
	r := k.Paybill(t, moneytest.PlatformShortcode, "254712345678", commands.AccountNumber(1_000_000), 400)
	receipt := commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber)
	path := "/receipts/" + receipt.String()
	k.Post(t, apitest.Acme, apitest.Admin, path+"/reattribute",
		map[string]any{"subscriberId": k.Chege, "reason": "typing error"}, 200)
	k.Post(t, apitest.Acme, apitest.Admin, path+"/reverse", map[string]any{"reason": "sent back"}, 200)
	k.Quiet(t)
	got, text := k.proof(t, receipt)
	want := []string{
		"recorded", "matched", "credited", "reattributed", "withdrawn", "credited", "reversed", "withdrawn",
	}
	if diff := cmp.Diff(want, got.kinds()); diff != "" {
		t.Fatalf("steps (-want +got):\n%s", diff)
	}
	seen := got.Steps[0].Message
	if seen == nil || seen.Verified == nil || !*seen.Verified || seen.ProvenBy == nil ||
		*seen.ProvenBy != "secret_address" || seen.From == nil || *seen.From != "127.0.0.1" ||
		seen.Content == nil || !strings.Contains(*seen.Content, r.ReceiptNumber) {
		t.Errorf("message: %s", text)
	}
	if strings.Contains(text, "OrgAccountBalance") || strings.Contains(text, "/webhooks/") {
		t.Errorf("a balance or an address is shown: %s", text)
	}
	if rule := got.Steps[1].Rule; rule == nil || *rule != "account_number" {
		t.Errorf("matched by %v", rule)
	}
	moved := got.Steps[3]
	if moved.Reason == nil || *moved.Reason != "typing error" || moved.Actor.Kind != "user" ||
		moved.From == nil || moved.Subscriber == nil || !strings.Contains(text, "Njeri") {
		t.Errorf("moved: %s", text)
	}
	for _, step := range got.Steps[2:] {
		if step.Amount == nil || *step.Amount != 400 {
			t.Errorf("%s of %v", step.Kind, step.Amount)
		}
	}
	if got.Receipt.State != "reversed" || got.More {
		t.Errorf("receipt %+v", got)
	}
	other := k.Do(t, apitest.Request{Host: apitest.Other, Path: path + "/proof", As: apitest.OtherAdmin})
	if other.Status != http.StatusNotFound {
		t.Errorf("another organization: %d %s", other.Status, other.Body)
	}
}

func TestProof_OfAPairIsOneStory(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.behave(t, "pay", provider.Faults{DropCallbacks: 1, C2BAlso: true})
	p := k.prompt(t, 1500)
	k.Quiet(t)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/query", map[string]any{"paymentId": p.PaymentID}, 200)
	k.Quiet(t)
	number := k.Sim.Transactions()[0].ReceiptNumber
	if !k.Sim.Resend(number) || !k.Sim.Resend(*p.CheckoutRequestID) {
		t.Fatal("nothing to send again")
	}
	k.Quiet(t)
	provisional := commands.ProvisionalReceiptID(*p.CheckoutRequestID)
	got, _ := k.proof(t, provisional)
	for _, kind := range []string{"recorded", "matched", "credited", "claimed", "absorbed", "sighted"} {
		if !slices.Contains(got.kinds(), kind) {
			t.Errorf("%s is missing in %v", kind, got.kinds())
		}
	}
	same, _ := k.proof(t, commands.ReceiptID(commands.EnvironmentSandbox, number))
	if diff := cmp.Diff(got.kinds(), same.kinds()); diff != "" {
		t.Errorf("asked from the real receipt (-provisional +real):\n%s", diff)
	}
}

func TestProof_AMessageThatIsGoneIsSaidToBeGone(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	r := k.Paybill(t, moneytest.PlatformShortcode, "254712345678", commands.AccountNumber(1_000_000), 400)
	if err := k.Vault.Inbox.Purge(t.Context(), -time.Hour, time.Hour); err != nil {
		t.Fatal(err)
	}
	got, text := k.proof(t, commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber))
	m := got.Steps[0].Message
	if m == nil || m.Missing == nil || *m.Missing != "removed" || m.Content != nil || m.Verified != nil {
		t.Errorf("message: %s", text)
	}
}
