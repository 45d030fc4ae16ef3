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
	"github.com/lastmile-isp/lastmile/internal/personal"
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

// The query found the success of one attempt, another one waits, and money comes that can be that of either. Nobody can
// tell which; whose staff finds out is known as long as all are of one organization.
func TestFindPayer_MoneyOfOneOfSeveralAttemptsWaitsWithTheirOrganization(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ neighbour, assigned bool }{
		"all of one organization":    {},
		"a neighbour's among them":   {neighbour: true},
		"the platform was faster":    {assigned: true},
		"and gave it to a neighbour": {neighbour: true, assigned: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			first, _ := k.initiate(t, "10000008")
			own, neighbour := k.org, id.New[id.Organization]()
			if c.neighbour {
				k.org = neighbour
			}
			k.initiate(t, "10000008")
			k.execute(t, commands.SettlePayment{
				PaymentID: first, ReceiptID: id.New[id.Receipt](), Amount: money.Major(1500, money.KES),
				By: commands.ByQuery, Provisional: true,
			})
			came, want := k.hidden(t, "SJK4X7Q2P1", "10000008"), own
			switch {
			case c.assigned:
				want = neighbour
				k.execute(t, commands.HoldReceipt{ReceiptID: came, Reason: commands.HeldConflictingPrompt})
				k.standStill(t, paymentsviews.ReceiptsName, "receipts")
				k.Run(t, commands.Meta{CommandID: id.New[id.Command](), Actor: events.Actor{
					Kind: events.ActorProcess, ID: "test",
				}}, commands.AssignReceipt{ReceiptID: came, OrgID: neighbour})
			case c.neighbour:
				want = id.Organization{}
			}
			for range 2 {
				r := k.place(t, came)
				if r.Standing != payments.StandingHeld || r.Org != want {
					t.Errorf("the money waits as %v with organization %s, want %s", r.Standing, r.Org, want)
				}
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

// The report of a prompt ties money at the shared paybill to an attempt that asked for another amount. The staff of its
// organization can find out why, nobody else.
func TestFindPayer_MoneyThatItsAttemptRefusesWaitsWithItsOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	attempt, _ := k.initiate(t, "PONE")
	k.confirmed(t, paid("SJK4X7Q2P1", shortcode, "nobody", 1000))
	r := commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1")
	k.execute(t, commands.RecordReceipt{
		ReceiptID: r, OrgID: k.org, Provider: commands.ProviderMobileMoney, Environment: commands.EnvironmentSandbox,
		ReceiptNumber: "SJK4X7Q2P1", Channel: commands.ChannelPrompt, Shortcode: shortcode,
		Amount: money.Major(1000, money.KES), PaidAt: k.clock.Now(), PaymentID: attempt,
		Sighting: commands.SightingCallback,
	})
	for range 2 {
		if got := k.place(t, r); got.Standing != payments.StandingHeld || got.Org != k.org {
			t.Errorf("the money waits as %v with organization %s, want %s", got.Standing, got.Org, k.org)
		}
	}
}

// Two customers of one organization have the phone that pays. Its staff can find out which of them paid, the platform
// cannot. As soon as a neighbour's customer may be meant, nobody but the platform sees the money.
func TestFindPayer_MoneyThatCustomersOfOneOrganizationMayHaveWaitsWithIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typed     string
		neighbour bool
	}{
		"the phone that paid":              {typed: "rent"},
		"the phone that was typed":         {typed: "0712345678"},
		"a neighbour's customer has it":    {typed: "rent", neighbour: true},
		"a slip of a neighbour's number":   {typed: "10000019", neighbour: false},
		"a slip of the own account number": {typed: "10000009"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			k.customer(t, k.org, "10000008", "254712345678")
			k.customer(t, k.org, "10000057", "254712345678")
			elsewhere := id.New[id.Organization]()
			want, phone := k.org, ""
			if c.neighbour {
				want, phone = id.Organization{}, "254712345678"
			}
			if c.typed == "10000019" {
				want = id.Organization{}
			}
			k.customer(t, elsewhere, "10000016", phone)
			k.WaitForAll(t, k.views, paymentsviews.MatchingName)
			k.confirmed(t, paid("SJK4X7Q2P1", shortcode, c.typed, 1500))
			for range 2 {
				r := k.place(t, commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1"))
				if r.Standing != payments.StandingHeld || r.Org != want || !r.Subscriber.IsZero() {
					t.Errorf("the money waits as %v with organization %s, want %s", r.Standing, r.Org, want)
				}
			}
		})
	}
}

// customer registers a customer of an organization.
func (k *kit) customer(t *testing.T, org id.Organization, account, phone string) {
	t.Helper()
	who := id.New[id.Subscriber]()
	stream := commands.At(commands.SubscriberCategory, who).Stream()
	if _, err := k.Store.Append(t.Context(), stream, eventstore.NoStream, []eventstore.New{{
		Event: events.SubscriberRegistered{
			SubscriberID: who, OrgID: org, AccountNumber: account, Currency: money.KES,
			Details: events.SubscriberDetails{Phone: personal.Of(phone)},
		},
		Meta: events.Metadata{EventID: id.New[id.Event](), OrgID: org},
	}}); err != nil {
		t.Fatal(err)
	}
}
