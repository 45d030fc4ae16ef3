package bookscases_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// days is a length of time for jumps.
func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// inAnyOrder runs a course of the processes, in every order that chance finds, with monthly prepaid subscriptions of
// Amina. The books are without fault at its end.
func inAnyOrder(t *testing.T, subscriptions int, course func(*simulation)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t)
		for range subscriptions {
			s.subscribe(s.amina, events.Prepaid, calendar.Month)
		}
		course(s)
		s.elapse(3 * time.Hour)
		s.examine()
	})
}

// serves fails unless the subscription has been paid for.
func (s *simulation) serves(of id.Subscription) {
	s.t.Helper()
	if line, account := s.line(of), s.account(s.amina); line.PaidUntil().IsZero() {
		s.fail("no service: due %s, credit %s, open %v", account.Due(), account.Credit(), line.Open())
	}
}

// has fails unless the account has this credit, in whole units, and no debt.
func (s *simulation) has(credit int64) {
	s.t.Helper()
	if account := s.account(s.amina); !account.Due().IsZero() || account.Credit() != kes(credit) {
		s.fail("due %s and credit %s, want a credit of %s", account.Due(), account.Credit(), kes(credit))
	}
}

// Two subscriptions without service, whose invoices a clerk voided.
func TestRenewal_OnePaymentRenewsEverySubscriptionThatItCovers(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 2, func(s *simulation) {
		for _, invoice := range s.invoices[:2] {
			s.must(commands.VoidInvoice{SubscriberID: s.amina, InvoiceID: invoice, Reason: "mistake"})
		}
		s.must(s.cash(s.amina, 2000))
		s.elapse(days(2))
		s.serves(s.subscriptions[0])
		s.serves(s.subscriptions[1])
		s.has(0)
	})
}

// The customer comes back after the first invoice was given up.
func TestRenewal_PaymentAfterAWriteOffGivesService(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		s.must(
			commands.WriteOffDebt{SubscriberID: s.amina, WriteOffID: made[id.Receipt](s), Reason: "gone away"},
			s.cash(s.amina, 1000),
		)
		s.elapse(days(2))
		s.serves(s.subscriptions[0])
	})
}

// 600 were paid and 200 credited of 1,000, when the subscription ends. 200 come afterwards.
func TestRenewal_EndAfterAPartialCreditNoteGivesTheMoneyBack(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		s.must(
			s.cash(s.amina, 600), s.givesBack(s.amina, s.invoices[0], 200),
			commands.EndSubscription{SubscriptionID: s.subscriptions[0], Reason: "moved away"}, s.cash(s.amina, 200),
		)
		s.elapse(days(2))
		s.has(800)
	})
}

// February is paid in January, the payment is taken back in January, and the subscription ends in January.
func TestRenewal_EndAfterAReversalBeforeThePeriodLeavesNoDebt(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		second := s.cash(s.amina, 1000)
		s.must(s.cash(s.amina, 1000), second)
		s.elapse(days(1))
		s.must(commands.ReverseReceipt{ReceiptID: second.ReceiptID, OrgID: s.org, Reason: "returned"})
		s.elapse(days(1))
		s.must(commands.EndSubscription{SubscriptionID: s.subscriptions[0], Reason: "moved away"})
		s.elapse(days(2))
		s.has(0)
	})
}

// The only month is credited whole in a pause.
func TestRenewal_CreditThatCameInAPauseRenewsAfterIt(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		s.must(
			s.cash(s.amina, 1000), commands.PauseSubscription{SubscriptionID: s.subscriptions[0], Reason: "outage"},
			s.givesBack(s.amina, s.invoices[0], 0),
		)
		s.elapse(days(2))
		s.has(1000)
		s.must(commands.ResumeSubscription{SubscriptionID: s.subscriptions[0], Reason: "mended"})
		s.elapse(days(2))
		s.serves(s.subscriptions[0])
		s.has(0)
	})
}

// Two months were paid and served. Both payments are taken back after the end: the customer owes for both months.
func TestRenewal_WhatWasServedIsOwedAlsoAfterTheEnd(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		first, second := s.cash(s.amina, 1000), s.cash(s.amina, 1000)
		s.must(first, second)
		s.elapse(days(40))
		s.must(
			commands.EndSubscription{SubscriptionID: s.subscriptions[0], Reason: "moved away"},
			commands.ReverseReceipt{ReceiptID: first.ReceiptID, OrgID: s.org, Reason: "returned"},
			commands.ReverseReceipt{ReceiptID: second.ReceiptID, OrgID: s.org, Reason: "returned"},
		)
		if due := s.account(s.amina).Due(); due != kes(2000) {
			s.fail("%s is due for two months", due)
		}
	})
}

// A clerk writes off the first invoice of a subscription, which was never served. The customer pays it by its number.
func TestWriteOff_OfAPeriodThatNeverBeganTakesNoMoney(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		s.must(commands.WriteOffDebt{SubscriberID: s.amina, WriteOffID: made[id.Receipt](s), Reason: "gone away"})
		named := s.cash(s.amina, 1000)
		named.InvoiceID = s.invoices[0]
		s.must(named)
		s.elapse(days(2))
		s.serves(s.subscriptions[0])
		s.has(0)
	})
}

// A clerk writes off a half of it, and the customer pays the whole.
func TestWriteOff_OfAHalfOfAPeriodThatNeverBeganTakesNoMoney(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		s.must(commands.WriteOffDebt{
			SubscriberID: s.amina, WriteOffID: made[id.Receipt](s), Amount: kes(500), Reason: "poor service",
		})
		named := s.cash(s.amina, 1000)
		named.InvoiceID = s.invoices[0]
		s.must(named)
		s.elapse(days(2))
		s.serves(s.subscriptions[0])
		s.has(0)
	})
}
