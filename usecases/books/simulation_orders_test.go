package bookscases_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// orders is the invoice of something that a subscription gets when it is paid.
func (s *simulation) orders(of id.Subscription, units int64) commands.DraftInvoice {
	c := s.draft(made[id.Invoice](s), s.line(of).SubscriberID, kes(units), s.now.AddDate(0, 1, 0))
	c.SoldTo, c.Order = of, true
	return c
}

// stands fails unless the account has these orders that are not paid, this credit, and no debt, in whole units.
func (s *simulation) stands(ordered, credit int64) {
	s.t.Helper()
	if a := s.account(s.amina); !a.Owed().IsZero() || a.Due() != kes(ordered) || a.Credit() != kes(credit) {
		s.fail("due %s, of which %s is owed, and credit %s, want orders of %s and credit of %s", a.Due(), a.Owed(),
			a.Credit(), kes(ordered), kes(credit))
	}
}

// paysNext pays the next month of the subscription, and some units with it, at a time before its invoice or after it.
func (s *simulation) paysNext(of id.Subscription, units int64) {
	s.t.Helper()
	before := s.line(of).PaidUntil()
	if s.one(2, "after the invoice") {
		s.elapse(days(26))
	}
	s.must(s.cash(s.amina, 1000+units))
	if !s.line(of).PaidUntil().After(before) {
		s.fail("the next month was paid")
	}
}

func TestOrders_TheNextPeriodComesBeforeThem(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		line := s.subscriptions[0]
		s.must(s.cash(s.amina, 1000), s.orders(line, 250))
		s.paysNext(line, 0)
		s.stands(250, 0)
		s.must(s.cash(s.amina, 200))
		s.stands(250, 200)
		s.must(s.cash(s.amina, 100))
		s.stands(0, 50)
		s.must(s.orders(line, 40), s.orders(line, 90)) // from credit at once, when that is enough
		s.stands(90, 10)
	})
}

func TestOrders_WhoPaysTwoMonthsHasTwoMonths(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		line, credit := s.subscriptions[0], int64(1000)
		s.must(s.orders(line, 250))
		if s.one(2, "the first invoice is paid") {
			s.must(s.cash(s.amina, 1000))
		}
		if s.one(2, "in two payments") {
			s.must(s.cash(s.amina, 1000))
			before := s.line(line).PaidUntil()
			s.must(s.cash(s.amina, 1000))
			if credit = 0; !s.line(line).PaidUntil().After(before) {
				s.fail("the second month was paid")
			}
		} else {
			s.paysNext(line, 1000)
		}
		s.stands(250, credit)
	})
}

func TestOrders_WhatIsPaidAheadInAPauseIsThereAfterIt(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		line := s.subscriptions[0]
		s.must(s.cash(s.amina, 1000), commands.PauseSubscription{SubscriptionID: line, Reason: "away"},
			s.orders(line, 250), s.cash(s.amina, 1000))
		s.stands(250, 1000)
	})
}

func TestOrders_TakeNothingFromAPeriodWhoseInvoiceIsComing(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		line := s.subscriptions[0]
		s.must(s.cash(s.amina, 1000), s.orders(line, 250))
		before := s.line(line).PaidUntil()
		_ = s.execute(s.cash(s.amina, 1000))
		for range rapid.IntRange(0, 12).Draw(s.draw, "steps") {
			s.step()
		}
		s.must(s.cash(s.amina, 10))
		if s.stands(250, 10); !s.line(line).PaidUntil().After(before) {
			s.fail("the next month was paid")
		}
	})
}

func TestOrders_WhoPaysBothAtOnceGetsBoth(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		line := s.subscriptions[0]
		s.must(s.cash(s.amina, 1000), s.orders(line, 250))
		s.paysNext(line, 260)
		s.stands(0, 10)
	})
}

func TestOrders_EndWithTheirSubscription(t *testing.T) {
	t.Parallel()
	inAnyOrder(t, 1, func(s *simulation) {
		line := s.subscriptions[0]
		s.must(s.cash(s.amina, 1000), s.orders(line, 250), s.orders(line, 70))
		part := s.cash(s.amina, 100)
		part.InvoiceID = s.invoices[1]
		s.must(part, commands.EndSubscription{SubscriptionID: line, Reason: "another plan"})
		s.stands(0, 100)
		s.must(s.cash(s.amina, 500))
		s.stands(0, 600)
	})
}
