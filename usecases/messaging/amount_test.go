package messagingcases_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// invoiced makes the messages be about a postpaid line in the walled garden, of which 9,000 shillings were due five
// days ago, 200 are due in two days and 9,000 in 26. The course began due days after noon's day.
func (k *kit) invoiced(t *testing.T, due int) {
	t.Helper()
	k.invoicedBy(t, calendar.Month, due)
}

// invoicedBy makes the same of a line whose periods have another length.
func (k *kit) invoicedBy(t *testing.T, period calendar.Period, due int) {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	line, org, who := id.New[id.Subscription](), k.args.OrgID, k.args.SubscriberID
	k.append(t, org, "subscription-"+line.String(), events.SubscriptionCreated{
		SubscriptionID: line, OrgID: org, SubscriberID: who, PlanID: id.New[id.Plan](), Terms: events.PlanTerms{
			Name: "Business", Mode: events.Postpaid, Period: period, Price: money.Major(9000, money.KES),
		},
	}, events.SubscriptionActivated{SubscriptionID: line, SubscriberID: who})
	subject := events.DunningSubject{SubscriptionID: line, OrgID: org, SubscriberID: who}
	today := calendar.On(noon, zone)
	owed := events.DunningOwed{At: noon}
	for _, d := range []struct {
		day    int
		amount int64
	}{{-5, 9000}, {2, 200}, {26, 9000}} {
		owed.Debts = append(owed.Debts, events.DunningDebt{
			InvoiceID: k.owes(t, d.amount, d.day), DueOn: today.AddDays(d.day),
			Amount: money.Major(d.amount, money.KES),
		})
	}
	k.args.SubscriptionID, k.args.DueAt = line, today.AddDays(due+1).Start(zone)
	k.append(t, org, "dunning-"+line.String(), events.WalledGardenEntered{
		DunningSubject: subject,
		DunningStep:    events.DunningStep{DueAt: k.args.DueAt, At: noon, Due: money.Major(9000, money.KES)},
	}, events.DunningReviewed{
		DunningSubject: subject, State: events.DunningWalledGarden, At: noon, Owed: owed,
	})
	k.WaitForAll(t, k.delivery.Views, accessviews.DunningName, subscribersviews.SubscriptionsName)
}

// block blocks the customer.
func (k *kit) block(t *testing.T) {
	t.Helper()
	who := k.args.SubscriberID
	k.appendAfter(t, 0, k.args.OrgID, "subscriber-"+who.String(), events.SubscriberBlocked{SubscriberID: who})
	k.WaitForAll(t, k.delivery.Views, subscribersviews.SubscribersName, subscribersviews.SubscriptionsName)
}

// TestSend_AnInvoiceThatIsNotDueIsNotAskedFor: a notice tells what is overdue, a reminder what is by its due date.
func TestSend_AnInvoiceThatIsNotDueIsNotAskedFor(t *testing.T) {
	t.Parallel()
	for template, c := range map[events.MessageTemplate]struct {
		due  int
		want string
	}{
		events.NoticeGarden:    {-5, "KES 9000.00 is overdue for account 10000016"},
		events.ReminderBefore:  {2, "KES 9200.00 is due on 6 Mar 2026 for account 10000016"},
		events.ReminderOverdue: {-5, "KES 9000.00 was due on 27 Feb 2026 for account 10000016"},
	} {
		t.Run(string(template), func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			k.invoiced(t, c.due)
			k.args.Template = template
			again, err := k.send(t, "one")
			must(t, again, err)
			if len(k.sent) != 1 || !strings.Contains(k.sent[0].Text, c.want) {
				t.Errorf("sent %+v, want %s", k.sent, c.want)
			}
		})
	}
}

// TestSend_WhoPaysADayByInvoiceIsToldOfTheCut: a day that was bought ends without a word, a debt does not.
func TestSend_WhoPaysADayByInvoiceIsToldOfTheCut(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.invoicedBy(t, calendar.Day, -5)
	k.args.Template = events.NoticeGarden
	again, err := k.send(t, "one")
	must(t, again, err)
	if len(k.sent) != 1 {
		t.Errorf("sent %+v", k.sent)
	}
}

// TestSend_WhatBeginsAServiceIsAskedForWithThoseRenewedBefore, unless an invoice of its own asks.
func TestSend_WhatBeginsAServiceIsAskedForWithThoseRenewedBefore(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.delivery.Asked = func(
		_ context.Context, customer subscribersviews.SubscriberRow,
	) (map[id.Subscription]money.Amount, error) {
		if customer.ID != k.args.SubscriberID {
			t.Errorf("asked about %+v", customer)
		}
		return map[id.Subscription]money.Amount{k.args.SubscriptionID: money.Major(2500, money.KES)}, nil
	}
	again, err := k.send(t, "one")
	must(t, again, err)
	if len(k.sent) != 1 || !strings.Contains(k.sent[0].Text, "KES 2500.00") {
		t.Errorf("sent %+v", k.sent)
	}
}

// owes puts an invoice of no subscription on the customer's account, due some days after noon's day.
func (k *kit) owes(t *testing.T, major int64, due int) id.Invoice {
	t.Helper()
	invoice := id.New[id.Invoice]()
	k.Run(t, coretest.Operator(k.args.OrgID), commands.DraftInvoice{
		SubscriberID: k.args.SubscriberID, OrgID: k.args.OrgID, InvoiceID: invoice, Currency: money.KES,
		Lines: []commands.LineInput{
			{Description: "Cable", Quantity: "1", UnitPrice: money.Major(major, money.KES)},
		},
		Prefix: "ACME", DueOn: calendar.On(noon, time.UTC).AddDays(due),
	})
	k.Run(t, coretest.Operator(k.args.OrgID), commands.IssueInvoice{
		SubscriberID: k.args.SubscriberID, InvoiceID: invoice, Number: "ACME-" + invoice.String()[24:],
	})
	return invoice
}

// paid puts money on the customer's account.
func (k *kit) paid(t *testing.T, major int64) {
	t.Helper()
	k.Run(t, coretest.Operator(k.args.OrgID), commands.CreditReceipt{
		SubscriberID: k.args.SubscriberID, OrgID: k.args.OrgID, ReceiptID: id.New[id.Receipt](), Number: "R1",
		Channel: "c2b", Amount: money.Major(major, money.KES), PaidAt: noon,
	})
}

// TestSend_TheSumIsWhatMustBePaid: money pays the account's oldest invoices first, whatever a message is about. So it
// names them, too.
func TestSend_TheSumIsWhatMustBePaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given func(t *testing.T, k *kit)
		state string
		want  string
	}{
		"an older invoice before a renewal": {
			func(t *testing.T, k *kit) { k.owes(t, 250, -3) }, "sent", "KES 1750.00 is due on 7 Mar 2026",
		},
		"credit beside a renewal": {
			func(t *testing.T, k *kit) { k.paid(t, 400) }, "sent", "KES 1100.00 is due on 7 Mar 2026",
		},
		"a renewal that was paid ahead": {
			func(t *testing.T, k *kit) { k.paid(t, 1500) }, "dropped no_longer_true", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			c.given(t, k)
			again, err := k.send(t, "one")
			must(t, again, err)
			if got := k.state(t); got != c.state || (c.want == "") != (len(k.sent) == 0) {
				t.Fatalf("%s, sent %+v, want %s", got, k.sent, c.state)
			}
			if c.want != "" && !strings.Contains(k.sent[0].Text, c.want) {
				t.Errorf("sent %s, want %s", k.sent[0].Text, c.want)
			}
		})
	}
}

// TestSend_TheSumHasWhatEndedLinesOwe: money pays the invoice of a line that has ended before those of the present one.
func TestSend_TheSumHasWhatEndedLinesOwe(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.owes(t, 1000, -20)
	k.invoiced(t, -5)
	k.args.Template = events.NoticeGarden
	again, err := k.send(t, "one")
	must(t, again, err)
	if len(k.sent) != 1 || !strings.Contains(k.sent[0].Text, "KES 10000.00 is overdue") {
		t.Errorf("sent %+v", k.sent)
	}
}

// TestSend_WhoIsBlockedIsNotToldThatPayingHelps: of the debts of a postpaid customer is told all the same.
func TestSend_WhoIsBlockedIsNotToldThatPayingHelps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		template events.MessageTemplate
		postpaid bool
		sent     bool
	}{
		"walled garden":     {events.NoticeGarden, true, false},
		"prepaid reminder":  {events.ReminderBefore, false, false},
		"postpaid reminder": {events.ReminderOverdue, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			if c.postpaid {
				k.invoiced(t, -5)
			}
			k.block(t)
			k.args.Template = c.template
			again, err := k.send(t, "one")
			must(t, again, err)
			want := "dropped no_longer_true"
			if c.sent {
				want = "sent"
			}
			if got := k.state(t); got != want || len(k.sent) == 1 != c.sent {
				t.Errorf("%s, sent %+v, want %s", got, k.sent, want)
			}
			if c.sent && strings.Contains(k.sent[0].Text, "online") {
				t.Errorf("it promises access: %s", k.sent[0].Text)
			}
		})
	}
}
