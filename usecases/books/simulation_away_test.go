package bookscases_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// cutAmina has Amina owe February and be in the walled garden on March 5.
func cutAmina(t *rapid.T) (*simulation, id.Subscription) {
	s := newSimulation(t)
	s.withDunning()
	s.must(s.subscription(made[id.Subscription](s), s.amina, events.Postpaid, calendar.Month))
	s.elapse(time.Date(2026, 3, 5, 9, 0, 0, 0, time.UTC).Sub(s.now))
	line := s.subscriptions[0]
	if got := s.dunned.access(line); got != entitlement.WalledGarden {
		s.fail("access is %s", got)
	}
	return s, line
}

// book has a clerk note money for Amina, who needs a minute for it.
func (s *simulation) book(units int64) id.Receipt {
	c := s.cash(s.amina, units)
	s.must(c)
	s.until(s.now.Add(time.Minute))
	return c.ReceiptID
}

// takeBack has a clerk reverse a receipt, who needs a minute for it.
func (s *simulation) takeBack(r id.Receipt) {
	s.must(commands.ReverseReceipt{ReceiptID: r, OrgID: s.org, Reason: "of somebody else"})
	s.until(s.now.Add(time.Minute))
}

// paysAll has Amina pay more than she owes.
func (s *simulation) paysAll(line id.Subscription) {
	s.must(s.cash(s.amina, 9000))
	if got := s.dunned.access(line); got != entitlement.Full {
		s.fail("who has paid has %s: %+v", got, s.dunned.states[id.As[id.Any](line)])
	}
}

// Amina is cut. While dunning is off, a clerk books 1,000 for her, which is another customer's, then 500 twice, of
// which the first is taken back. When dunning works again, she pays everything.
func TestDunning_WhatIsBookedAndTakenBackWhileItIsOffIsFollowed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, line := cutAmina(t)
		s.dunned.process.off = true
		s.takeBack(s.book(1000))
		s.takeBack(s.book(500))
		s.book(500)
		s.dunned.process.off = false
		s.rest()
		if got := s.dunned.access(line); got != entitlement.WalledGarden {
			s.fail("who still owes 500 has %s", got)
		}
		s.paysAll(line)
	})
}

// TestSimulation_AccessFollowsWhatIsBookedWhileDunningIsOff: Amina is cut, and a clerk books and takes back, now and
// then while dunning is off or late. Whatever comes of it, she has access once she has paid, and none once she has not
// for long.
func TestSimulation_AccessFollowsWhatIsBookedWhileDunningIsOff(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, line := cutAmina(t)
		var stands []id.Receipt
		for range rapid.IntRange(1, 3).Draw(t, "absences") {
			s.dunned.process.off = true
			for range rapid.IntRange(1, 7).Draw(t, "bookings") {
				if last := len(stands) - 1; last >= 0 && !s.one(5, "books more") {
					s.takeBack(stands[last])
					stands = stands[:last]
				} else {
					stands = append(stands, s.book(rapid.SampledFrom([]int64{500, 1000}).Draw(t, "units")))
				}
			}
			s.dunned.process.off = false
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				s.step()
			}
		}
		s.rest()
		s.dunned.follows(0)
		if rapid.Bool().Draw(t, "pays") {
			s.paysAll(line)
			return
		}
		s.elapse(days(25))
		s.dunned.follows(days(25))
	})
}
