package paymentscases_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// Whoever took cash decides by the receipt that has the reference whether it is the same money.
func TestRecordCash_TheRefusalOfAReferenceShowsItsReceipt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := paymentscases.CashInput{SubscriberID: k.dollar, Amount: "12.50", Reference: "RB-7"}
	first, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), in)
	if err != nil {
		t.Fatal(err)
	}
	who, _, err := bus.LoadOwned[subscribers.Subscriber](t.Context(), k.Bus, k.org, k.dollar)
	if err != nil {
		t.Fatal(err)
	}
	want := paymentscases.UsedReference{
		ID: first.ReceiptID, ReceiptNumber: "RB-7", Amount: "12.50", Currency: "USD", PaidAt: k.clock.Now().UTC(),
		Subscriber: &paymentscases.UsedFor{
			ID: k.dollar, Name: new(who.Details.FirstName.Reveal()), AccountNumber: who.AccountNumber,
		},
	}
	shown := func(when, code string) {
		t.Helper()
		in.SubscriberID, in.Reference = k.amina, " rb-7"
		_, err := k.receipts.RecordCash(t.Context(), coretest.Keyed(k.org), in)
		coretest.Refused(t, when, err, code)
		f, _ := errors.AsType[*failure.Error](err)
		if diff := cmp.Diff(map[string]any{"receipt": want}, f.Details); diff != "" {
			t.Errorf("%s (-want +got)\n%s", when, diff)
		}
	}
	shown("on another customer's account", "reference_used")
	k.run(t, commands.ReverseReceipt{ReceiptID: first.ReceiptID, OrgID: k.org, Reason: "typed by mistake"})
	want.Subscriber = nil
	shown("taken back", "reference_taken_back")
}
