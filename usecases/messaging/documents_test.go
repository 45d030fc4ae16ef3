package messagingcases_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// documents makes the messages be about an invoice of 1,160 shillings of no subscription, which is due on 11 March.
func (k *kit) documents(t *testing.T) {
	t.Helper()
	org, invoice := k.args.OrgID, id.New[id.Invoice]()
	k.Run(t, coretest.Operator(org), commands.DraftInvoice{
		SubscriberID: k.args.SubscriberID, OrgID: org, InvoiceID: invoice, Currency: money.KES, Prefix: "ACME",
		DueOn: calendar.Date{Year: 2026, Month: 3, Day: 11},
		Lines: []commands.LineInput{{Description: "Router", Quantity: "1", UnitPrice: money.Major(1160, money.KES)}},
	})
	k.Run(t, coretest.Operator(org), commands.IssueInvoice{
		SubscriberID: k.args.SubscriberID, InvoiceID: invoice, Number: "ACME-0001",
	})
	k.args = commands.SendMessage{
		OrgID: org, SubscriberID: k.args.SubscriberID, InvoiceID: invoice, Template: events.NoticeIssued, At: noon,
		Until: k.args.Until,
	}
}

// pays books money on the customer's account, and makes the messages be about it.
func (k *kit) pays(t *testing.T, major int64) {
	t.Helper()
	receipt := id.New[id.Receipt]()
	k.Run(t, coretest.Operator(k.args.OrgID), commands.CreditReceipt{
		SubscriberID: k.args.SubscriberID, OrgID: k.args.OrgID, ReceiptID: receipt, Number: "SJK4H7L2P9",
		Channel: "stk", Amount: money.Major(major, money.KES), PaidAt: noon, Tax: &events.TaxRule{},
	})
	k.args = commands.SendMessage{
		OrgID: k.args.OrgID, SubscriberID: k.args.SubscriberID, ReceiptID: receipt, Template: events.NoticeReceipt,
		At: noon, Until: k.args.Until,
	}
}

// sets changes the settings of the organization.
func (k *kit) sets(t *testing.T, change messagingcases.SettingsChange) error {
	t.Helper()
	_, err := messagingcases.Settings{Bus: k.Bus}.Set(t.Context(), usecases.Asked{
		Meta: coretest.Operator(k.args.OrgID),
	}, change)
	return err
}

// only sends by two jobs and gives the text of the one message that went.
func (k *kit) only(t *testing.T) string {
	t.Helper()
	for _, job := range []string{"one", "one", "other"} {
		again, err := k.send(t, job)
		must(t, again, err)
	}
	if len(k.sent) != 1 {
		t.Fatalf("sent %+v", k.sent)
	}
	return k.sent[0].Text
}

func TestSend_AnIssuedInvoiceIsToldOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.documents(t)
	const want = "The acme: invoice ACME-0001 of KES 1160.00 for account 10000016, due on 11 Mar 2026. Pay: " +
		"https://acme/pay"
	if got := k.only(t); got != want {
		t.Errorf("%s", got)
	}
}

// TestSend_AnInvoiceWithoutItsNumberWaitsForIt is about one that a billing run drafted and left to its process.
func TestSend_AnInvoiceWithoutItsNumberWaitsForIt(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.documents(t)
	k.args.InvoiceID = id.New[id.Invoice]()
	k.Run(t, coretest.Operator(k.args.OrgID), commands.DraftInvoice{
		SubscriberID: k.args.SubscriberID, OrgID: k.args.OrgID, InvoiceID: k.args.InvoiceID, Currency: money.KES,
		Prefix: "ACME", DueOn: calendar.Date{Year: 2026, Month: 3, Day: 11},
		Lines: []commands.LineInput{{Description: "Router", Quantity: "1", UnitPrice: money.Major(200, money.KES)}},
	})
	again, err := k.send(t, "one")
	if err != nil || !again.Equal(noon.Add(5*time.Minute)) || len(k.sent) > 0 {
		t.Fatalf("again at %s, %v, sent %+v", again, err, k.sent)
	}
	k.Run(t, coretest.Operator(k.args.OrgID), commands.IssueInvoice{
		SubscriberID: k.args.SubscriberID, InvoiceID: k.args.InvoiceID, Number: "ACME-0002",
	})
	if got := k.only(t); !strings.Contains(got, "invoice ACME-0002 of KES 200.00") {
		t.Errorf("%s", got)
	}
}

// TestSend_OfAnInvoiceThatIsToBeSignedNothingIsSaid before it is signed, whatever became of the gateway since. One
// that was issued before the gateway was turned on is never signed, and is told of.
func TestSend_OfAnInvoiceThatIsToBeSignedNothingIsSaid(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.gateway(t, eventstore.NoStream, true)
	k.documents(t)
	k.gateway(t, eventstore.At(0), false)
	again, err := k.send(t, "one")
	must(t, again, err)
	if states := k.states(t); len(k.sent)+len(states) > 0 {
		t.Errorf("to be signed: %q, sent %+v", states, k.sent)
	}
	k = newKit(t, phone())
	k.documents(t)
	k.gateway(t, eventstore.NoStream, true)
	if got := k.only(t); !strings.Contains(got, "invoice ACME-0001") {
		t.Errorf("issued before: %s", got)
	}
}

// gateway turns the gateway of the tax authority on or off.
func (k *kit) gateway(t *testing.T, revision eventstore.Expected, on bool) {
	t.Helper()
	k.appendAfter(t, revision, k.args.OrgID, "taxgateway-"+k.args.OrgID.String(), events.TaxGatewayConfigured{
		OrgID: k.args.OrgID, On: on,
	})
}

// TestSend_OfAnInvoiceThatIsPaidNothingIsSaid, nor is anything recorded.
func TestSend_OfAnInvoiceThatIsPaidNothingIsSaid(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(k *kit){
		"paid": func(k *kit) {
			issue := k.args
			k.pays(t, 1160)
			k.args = issue
		},
		"voided": func(k *kit) {
			k.Run(t, coretest.Operator(k.args.OrgID), commands.VoidInvoice{
				SubscriberID: k.args.SubscriberID, InvoiceID: k.args.InvoiceID, Reason: "wrong",
			})
		},
		"no text": func(k *kit) {
			silent := messagingcases.Templates{events.NoticeIssued: {}}
			err := k.sets(t, messagingcases.SettingsChange{Templates: silent})
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			k.documents(t)
			before(k)
			again, err := k.send(t, "one")
			must(t, again, err)
			if states := k.states(t); len(k.sent)+len(states) > 0 {
				t.Errorf("%q, sent %+v", states, k.sent)
			}
		})
	}
}

// TestSend_MoneyIsToldAtOnceWithWhatItBought, also at night; it waits a moment for the paid time.
func TestSend_MoneyIsToldAtOnceWithWhatItBought(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	line := k.args.SubscriptionID
	k.pays(t, 1500)
	again, err := k.send(t, "one")
	if err != nil || !again.Equal(noon.Add(5*time.Second)) || len(k.sent) > 0 {
		t.Fatalf("again at %s, %v, sent %+v", again, err, k.sent)
	}
	k.appendAfter(t, 1, k.args.OrgID, "subscription-"+line.String(), events.SubscriptionExtended{
		SubscriptionID: line, SubscriberID: k.args.SubscriberID, InvoiceID: id.New[id.Invoice](), Ordinal: 1,
		PaidAt: noon, PaidUntil: noon.AddDate(0, 1, 0),
	})
	k.WaitForAll(t, k.delivery.Views, subscribersviews.SubscriptionsName)
	k.clock.Advance(15 * time.Hour) // to three at night
	k.args.Until = noon.AddDate(0, 0, 3)
	got := k.only(t)
	if !strings.HasPrefix(got, "The acme: KES 1500.00 received for account 10000016, SJK4H7L2P9. Paid until 4 Apr "+
		"2026") {
		t.Errorf("%s", got)
	}
}

// TestSend_MoneyThatBuysNothingIsToldWithWhatIsLeft, in the language of the organization.
func TestSend_MoneyThatBuysNothingIsToldWithWhatIsLeft(t *testing.T) {
	t.Parallel()
	for major, want := range map[int64]string{
		160:  "The acme: KES 160.00 imepokelewa, akaunti 10000016, SJK4H7L2P9. Deni KES 1000.00.",
		1260: "The acme: KES 1260.00 imepokelewa, akaunti 10000016, SJK4H7L2P9. Salio KES 100.00.",
	} {
		k := newKit(t, phone())
		k.documents(t)
		swahili := events.Swahili
		if err := k.sets(t, messagingcases.SettingsChange{Language: &swahili}); err != nil {
			t.Fatal(err)
		}
		k.pays(t, major)
		k.clock.Advance(5 * time.Second)
		if got := k.only(t); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSend_MoneyThatWasTakenBackIsNotTold.
func TestSend_MoneyThatWasTakenBackIsNotTold(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.pays(t, 1500)
	k.Run(t, coretest.Operator(k.args.OrgID), commands.WithdrawReceipt{
		SubscriberID: k.args.SubscriberID, ReceiptID: k.args.ReceiptID, Reason: "wrong",
	})
	k.clock.Advance(5 * time.Second)
	again, err := k.send(t, "one")
	must(t, again, err)
	if states := k.states(t); len(k.sent)+len(states) > 0 {
		t.Errorf("%q, sent %+v", states, k.sent)
	}
}

// TestSend_WhoWasToldOfTheInvoiceTodayIsNotRemindedToday, but is on the next day.
func TestSend_WhoWasToldOfTheInvoiceTodayIsNotRemindedToday(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.invoiced(t, 2)
	reminds := k.args
	reminds.Template = events.ReminderBefore
	for _, invoice := range k.account(t) {
		k.args = commands.SendMessage{
			OrgID: reminds.OrgID, SubscriberID: reminds.SubscriberID, InvoiceID: invoice, Template: events.NoticeIssued,
			At: noon, Until: reminds.Until,
		}
		again, err := k.send(t, invoice.String())
		must(t, again, err)
	}
	told := len(k.sent)
	k.args = reminds
	again, err := k.send(t, "reminder")
	must(t, again, err)
	if states := k.states(t); told != 3 || len(k.sent) != told || !slices.Contains(states, "dropped no_longer_true") {
		t.Errorf("%d were told, then %d; %q", told, len(k.sent), states)
	}
	k.clock.Advance(24 * time.Hour)
	k.args.At, k.args.Until = noon.AddDate(0, 0, 1), noon.AddDate(0, 0, 2)
	again, err = k.send(t, "next day")
	must(t, again, err)
	if len(k.sent) != told+1 {
		t.Errorf("sent %+v", k.sent)
	}
}

// account lists the invoices of the customer.
func (k *kit) account(t *testing.T) (list []id.Invoice) {
	t.Helper()
	state, _, err := bus.LoadUnchecked[billing.Account](t.Context(), k.Bus, k.args.SubscriberID)
	if err != nil {
		t.Fatal(err)
	}
	for invoice := range state.Invoices {
		list = append(list, invoice)
	}
	return list
}

// TestSend_WhoWantsOnlyWhatIsNeededHearsOfTheCutAlone, in a language of his own.
func TestSend_WhoWantsOnlyWhatIsNeededHearsOfTheCutAlone(t *testing.T) {
	t.Parallel()
	details := phone()
	details.OnlyNeeded, details.Language = true, events.Swahili
	k := newKit(t, details)
	again, err := k.send(t, "reminder")
	must(t, again, err)
	if len(k.states(t))+len(k.sent) > 0 {
		t.Fatalf("sent %+v", k.sent)
	}
	k.invoiced(t, -5)
	k.args.Template = events.NoticeGarden
	if got := k.only(t); !strings.HasPrefix(got, "The acme: intaneti imewekewa mipaka, KES 9000.00") {
		t.Errorf("%s", got)
	}
}
