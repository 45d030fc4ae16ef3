package paymentsjobs_test

import (
	"bytes"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// Two people pay the amount of an open prompt with its reference, and the provider hides both phones. The prompt takes
// one payment. The other one must reach the account as well, although the read model still shows a prompt that waits,
// and also when it is the money that the provider reports for the prompt.
func TestFindPayer_MoneyForAPromptThatWasJustPaidIsAPaymentOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, reported := range map[string]bool{"of a friend": false, "reported for the prompt": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			const account = "10000008"
			k.registered(t, account)
			attempt, _ := k.initiate(t, account)
			first, second := k.hidden(t, "SJK4X7Q2P1", account), k.hidden(t, "SJK4X7Q2P2", account)
			if reported {
				k.execute(t, commands.RecordReceipt{
					ReceiptID: second, OrgID: k.org, Provider: commands.ProviderMobileMoney,
					Environment: commands.EnvironmentSandbox, ReceiptNumber: "SJK4X7Q2P2",
					Channel: commands.ChannelPrompt, Shortcode: shortcode, Amount: money.Major(1500, money.KES),
					PaidAt: k.clock.Now(), PaymentID: attempt, Sighting: commands.SightingCallback,
				})
			}
			k.standStill(t, paymentsviews.PaymentsName, "payments")
			k.place(t, first)
			if got := k.history(t, commands.PaymentCategory, id.Any(attempt)); len(got) != 2 ||
				got[1] != "payments.PaymentSucceeded.v1" {
				t.Errorf("the first payment did not settle the prompt: %v", got)
			}
			r := k.place(t, second)
			if r.Standing != payments.StandingMatched || r.Org != k.org || r.Subscriber != k.sub {
				t.Errorf("the second payment is not on the account that it names: %+v", r)
			}
		})
	}
}

// hidden pays 1500 shillings at the shared paybill from a phone that the provider hides.
func (k *kit) hidden(t *testing.T, number, reference string) id.Receipt {
	t.Helper()
	k.confirmed(t, bytes.Replace(paid(number, shortcode, reference, 1500), []byte("254712345678"),
		[]byte("2547 ***** 678"), 1))
	return commands.ReceiptID(commands.EnvironmentSandbox, number)
}

// registered gives the subscriber of the kit an account number, and waits until payments are matched with it.
func (k *kit) registered(t *testing.T, account string) {
	t.Helper()
	stream := commands.At(commands.SubscriberCategory, k.sub).Stream()
	if _, err := k.Store.Append(t.Context(), stream, eventstore.NoStream, []eventstore.New{{
		Event: events.SubscriberRegistered{
			SubscriberID: k.sub, OrgID: k.org, AccountNumber: account, Currency: money.KES,
		},
		Meta: events.Metadata{EventID: id.New[id.Event](), OrgID: k.org},
	}}); err != nil {
		t.Fatal(err)
	}
	k.WaitForAll(t, k.views, paymentsviews.MatchingName)
}

// standStill keeps a read model from following the log until the test ends. It can be read.
func (k *kit) standStill(t *testing.T, model, table string) {
	t.Helper()
	tx, err := k.DB.Owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(t.Context()) })
	if _, err := tx.Exec(t.Context(),
		k.views.SQL(model, "lock table {schema}."+table+" in exclusive mode")); err != nil {
		t.Fatal(err)
	}
}
