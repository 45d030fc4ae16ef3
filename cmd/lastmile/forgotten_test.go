package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// remark is a text that somebody wrote about a subscriber. No table may have it once the subscriber is forgotten.
const remark = "her husband Otieno pays late"

// remarked is a story in which each free text about one subscriber is the remark.
func remarked(org id.Organization, who id.Subscriber) *projectiontest.Story {
	text, amount := personal.Of(remark), money.Major(100, money.KES)
	line, invoice, second := id.New[id.Subscription](), id.New[id.Invoice](), id.New[id.Invoice]()
	money1, note := id.New[id.Receipt](), id.New[id.Receipt]()
	lines := []events.InvoiceLine{{Description: text, Quantity: "1", UnitPrice: amount, Net: amount, Gross: amount}}
	s := projectiontest.NewStory(org, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)).With(func(m *events.Metadata) {
		m.Actor = events.Actor{Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: "admin"}
		m.Said, m.SaidOf, m.AggregateID = text, id.Any(who), id.Any(who)
	})
	s.Add("subscriber-x", events.SubscriberRegistered{
		SubscriberID: who, OrgID: org, AccountNumber: "10000016", Currency: money.KES,
		Details: events.SubscriberDetails{
			FirstName: text, Notes: text, Tags: []personal.Text{text}, ExternalRef: text, TaxPIN: text,
		},
	}, events.SubscriberBlocked{SubscriberID: who, Reason: text})
	s.Add("subscription-x", events.SubscriptionCreated{
		SubscriptionID: line, OrgID: org, SubscriberID: who, PlanID: id.New[id.Plan](), Username: text,
	}, events.SubscriptionPaused{SubscriptionID: line, SubscriberID: who, Reason: text},
		events.SubscriptionResumed{SubscriptionID: line, SubscriberID: who, Reason: text},
		events.PeriodWithdrawn{SubscriptionID: line, SubscriberID: who, InvoiceID: invoice, Reason: text},
		events.SubscriptionEnded{SubscriptionID: line, SubscriberID: who, Reason: text})
	for _, i := range []id.Invoice{invoice, second} {
		s.Add("account-x", events.InvoiceDrafted{
			SubscriberID: who, OrgID: org, InvoiceID: i, Lines: lines, Total: amount,
			DueOn: calendar.Date{Year: 2026, Month: time.March, Day: 9},
		}, events.InvoiceIssued{SubscriberID: who, OrgID: org, InvoiceID: i, Number: "ACME-1", Total: amount})
	}
	s.Add("account-x", events.InvoiceVoided{
		SubscriberID: who, InvoiceID: second, Number: "ACME-1", Total: amount, WasIssued: true, Reason: text,
	}, events.CreditNoteDrafted{
		SubscriberID: who, OrgID: org, CreditNoteID: note, InvoiceID: invoice, Amount: amount, Reason: text,
	}, events.CreditNoteIssued{
		SubscriberID: who, OrgID: org, CreditNoteID: note, InvoiceID: invoice, Number: "1", Amount: amount,
		Reason: text,
	}, events.ReceiptWithdrawn{SubscriberID: who, OrgID: org, ReceiptID: money1, Amount: amount, Reason: text},
		events.InvoiceReopened{SubscriberID: who, OrgID: org, InvoiceID: invoice, Due: amount, Reason: text},
		events.CreditSetAside{
			SubscriberID: who, OrgID: org, RefundID: id.New[id.Refund](), ReceiptID: money1, Amount: amount,
			Reason: text,
		},
		events.SetAsideReturned{
			SubscriberID: who, OrgID: org, RefundID: id.New[id.Refund](), ReceiptID: money1, Amount: amount,
			Reason: text,
		},
		events.DebtWrittenOff{SubscriberID: who, OrgID: org, WriteOffID: note, Amount: amount, Reason: text})
	about := events.SupportSubject{RequestID: id.New[id.Support](), OrgID: org, SubscriberID: who}
	s.Add("supportrequest-x", events.SupportRequestOpened{SupportSubject: about, Subject: text, Text: text},
		events.SupportRequestContinued{SupportSubject: about, Number: 2, Text: text},
		events.SupportRequestAnswered{SupportSubject: about, Number: 3, Text: text},
		events.SupportRequestNoted{SupportSubject: about, Number: 4, Text: text},
		events.SupportRequestClosed{SupportSubject: about})
	remarkedMoney(s, org, who, money1)
	return s
}

// remarkedMoney adds receipts with the remark: cash, whose reason the account has as well, and money of a paybill were
// reversed, and other cash was moved away.
func remarkedMoney(s *projectiontest.Story, org id.Organization, who id.Subscriber, cash id.Receipt) {
	text, amount, moved, paybill := personal.Of(remark), money.Major(100, money.KES), id.New[id.Receipt](),
		id.New[id.Receipt]()
	for n, r := range []id.Receipt{cash, moved, paybill} {
		channel := []string{"cash", "cash", "c2b"}[n]
		s.Add("receipt-"+r.String(), events.ReceiptRecorded{
			ReceiptID: r, OrgID: org, Amount: amount, Channel: channel,
		}, events.ReceiptMatched{ReceiptID: r, OrgID: org, SubscriberID: who, Amount: amount, Channel: channel})
	}
	for _, r := range []id.Receipt{cash, paybill} {
		s.Add("receipt-"+r.String(), events.ReceiptReversed{
			ReceiptID: r, OrgID: org, SubscriberID: who, Amount: amount, Reason: text,
		})
	}
	s.Add("receipt-"+moved.String(), events.ReceiptReattributed{
		ReceiptID: moved, OrgID: org, From: who, To: id.New[id.Subscriber](), Amount: amount, Reason: text,
	})
}

func TestForgotten_NoTableKeepsWhatWasWrittenAboutThePerson(t *testing.T) {
	t.Parallel()
	org, who := id.New[id.Organization](), id.New[id.Subscriber]()
	story, models := remarked(org, who).Events(), readModels()
	gone := remarked(org, who).With(func(m *events.Metadata) { m.Said, m.SaidOf = personal.Text{}, id.Any{} }).
		Add("subscriber-x", events.SubscriberForgotten{SubscriberID: who, Reason: "asked for it"}).Events()
	forgotten := gone[len(gone)-1:]
	db, kept := pgtest.New(t), 0
	for _, p := range models {
		s, err := runner.NewScratch(t.Context(), db, p, "f")
		if err != nil {
			t.Fatal(err)
		}
		wanted := func(list []events.Envelope) []events.Envelope {
			return slices.DeleteFunc(slices.Clone(list), func(e events.Envelope) bool {
				return p.Handles() != nil && !slices.Contains(p.Handles(), e.Type)
			})
		}
		if err := s.Apply(t.Context(), wanted(story)); err != nil {
			t.Fatalf("%s: %v", p.Name(), err)
		}
		if strings.Contains(projectiontest.Dump(t, db, s.Schema()), remark) {
			kept++
		}
		if list := wanted(forgotten); len(list) > 0 {
			if err := s.Apply(t.Context(), list); err != nil {
				t.Fatalf("%s: %v", p.Name(), err)
			}
		}
		for row := range strings.Lines(projectiontest.Dump(t, db, s.Schema())) {
			if strings.Contains(row, remark) {
				t.Errorf("%s still has %s", p.Name(), row)
			}
		}
	}
	if kept < 8 {
		t.Errorf("only %d read models had the text before: the story tells too little", kept)
	}
}
