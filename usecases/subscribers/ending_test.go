package subscriberscases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// postpaid is a customer on credit, whose month of 1,500.50 has an invoice of which a part is paid.
type postpaid struct {
	*kit
	who          id.Subscriber
	subscription id.Subscription
	invoice      id.Invoice
}

// newPostpaid gives each document its number by hand: so a test can look in between.
func newPostpaid(t *testing.T, paid int64) postpaid {
	t.Helper()
	k := newKit(t)
	bus.Register(k.Bus, billing.Accounts())
	in := home("later")
	in.Mode = events.Postpaid
	plan, _, err := k.plans.Create(t.Context(), coretest.Ask(k.acme), in)
	if err != nil {
		t.Fatal(err)
	}
	p := postpaid{kit: k, who: k.register(t)}
	p.subscription = k.subscribe(t, subscriberscases.CreateSubscriptionInput{
		SubscriberID: p.who, PlanID: plan, Username: personal.Of("amina"),
	}).ID
	p.invoice = commands.PeriodInvoice(p.subscription, 1)
	p.do(t, p.draft(p.invoice, 150050), p.issues(p.invoice), commands.CreditReceipt{
		SubscriberID: p.who, OrgID: k.acme, ReceiptID: id.New[id.Receipt](), Number: "R1", Channel: "c2b",
		Amount: money.Of(paid, money.KES), PaidAt: k.clock.Now(),
	})
	return p
}

// do executes commands.
func (p postpaid) do(t *testing.T, all ...commands.Command) {
	t.Helper()
	for _, c := range all {
		p.Run(t, coretest.Operator(p.acme), c)
	}
}

// draft is an invoice for the month.
func (p postpaid) draft(invoice id.Invoice, minor int64) commands.DraftInvoice {
	return commands.DraftInvoice{
		SubscriberID: p.who, OrgID: p.acme, InvoiceID: invoice, SubscriptionID: p.subscription, Currency: money.KES,
		Prefix: "ACME", DueOn: calendar.On(p.clock.Now().AddDate(0, 1, 0), time.UTC), Lines: []commands.LineInput{
			{Description: "Home", Quantity: "1", UnitPrice: money.Of(minor, money.KES)},
		},
	}
}

// issues is the act by which an invoice is no draft any more.
func (p postpaid) issues(invoice id.Invoice) commands.IssueInvoice {
	return commands.IssueInvoice{SubscriberID: p.who, InvoiceID: invoice, Number: "ACME-" + invoice.String()[:4]}
}

// numbers issues a credit note.
func (p postpaid) numbers(note id.Receipt) commands.IssueCreditNote {
	return commands.IssueCreditNote{SubscriberID: p.who, CreditNoteID: note, Number: "ACME-CN-" + note.String()[:4]}
}

// staysDue is the sum of what an end leaves to pay, as it is told. An invoice is in it once.
func (p postpaid) staysDue(t *testing.T) money.Amount {
	t.Helper()
	told, err := p.subscriptions.Ending(t.Context(), p.acme, p.subscription)
	if err != nil {
		t.Fatal(err)
	}
	sum := money.Of(0, money.KES)
	for _, one := range told.StaysDue {
		sum = sum.Add(one.Due)
		if number := load[billing.Account](t, p.kit, p.who).NumberOf(one.ID); one.Number != number {
			t.Errorf("%s is called %q, it is %q", one.ID, one.Number, number)
		}
	}
	return sum
}

// ends ends the subscription and gives back what it says, as the processes do.
func (p postpaid) ends(t *testing.T) {
	t.Helper()
	end := commands.EndSubscription{SubscriptionID: p.subscription, Reason: "moves"}
	done := p.Run(t, coretest.Operator(p.acme), end)
	for _, e := range done.Events {
		if ended, ok := e.(events.SubscriptionEnded); ok {
			for _, c := range ended.Credits {
				note := id.New[id.Receipt]()
				p.do(t, commands.CreditDays{
					SubscriberID: p.who, DaysCredit: c, CreditNoteID: note, Reason: "unused", Prefix: "ACME-CN",
				})
				p.do(t, p.numbers(note))
			}
		}
	}
}

// TestEnding_WhatACreditNoteWillCoverIsNotOwed: the preview of an end tells what is owed when the documents that wait
// for a number have it, and that is owed after the end.
func TestEnding_WhatACreditNoteWillCoverIsNotOwed(t *testing.T) {
	t.Parallel()
	corrected, note := id.New[id.Invoice](), id.New[id.Receipt]()
	reissue := func(p postpaid) commands.Command {
		return commands.ReissueInvoice{
			InvoiceID: p.invoice, Corrected: p.draft(corrected, 90000), CreditNoteID: note, NotePrefix: "ACME-CN",
			Reason: "wrong price",
		}
	}
	for name, c := range map[string]struct {
		paid    int64
		before  func(p postpaid) []commands.Command
		numbers func(p postpaid) []commands.Command
	}{
		"a reissue, both are drafts": {
			30000, func(p postpaid) []commands.Command { return []commands.Command{reissue(p)} },
			func(p postpaid) []commands.Command { return []commands.Command{p.issues(corrected), p.numbers(note)} },
		},
		"a reissue, the corrected one has its number": {
			30000, func(p postpaid) []commands.Command { return []commands.Command{reissue(p), p.issues(corrected)} },
			func(p postpaid) []commands.Command { return []commands.Command{p.numbers(note)} },
		},
		"a reissue of a paid one": {
			150050, func(p postpaid) []commands.Command { return []commands.Command{reissue(p)} },
			func(p postpaid) []commands.Command { return []commands.Command{p.issues(corrected), p.numbers(note)} },
		},
		"a credit note over a part": {
			30000, func(p postpaid) []commands.Command {
				return []commands.Command{commands.DraftCreditNote{
					SubscriberID: p.who, CreditNoteID: note, InvoiceID: p.invoice, Prefix: "ACME-CN", Reason: "fault",
					Amount: money.Of(50000, money.KES),
				}}
			},
			func(p postpaid) []commands.Command { return []commands.Command{p.numbers(note)} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPostpaid(t, c.paid)
			p.do(t, c.before(p)...)
			p.clock.Advance(20 * 24 * time.Hour)
			told := p.staysDue(t)
			p.do(t, c.numbers(p)...)
			if now := p.staysDue(t); now != told {
				t.Errorf("told %s, with the numbers %s", told, now)
			}
			p.ends(t)
			if owed := load[billing.Account](t, p.kit, p.who).Owed(); owed != told {
				t.Errorf("told %s, %s is owed", told, owed)
			}
		})
	}
}
