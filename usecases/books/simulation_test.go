package bookscases_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Whatever customers and clerks do, and in whatever order the processes follow it, the books contradict nothing once
// everything has followed. Ask for more courses with -rapid.checks.
func TestSimulation_PrepaidBooksAreWithoutFault(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { simulate(t, events.Prepaid) })
}

func TestSimulation_PostpaidBooksAreWithoutFault(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { simulate(t, events.Postpaid) })
}

// simulate runs one course of operations and jumps of time, and examines the books at its end.
func simulate(t *rapid.T, mode events.BillingMode) {
	s := newSimulation(t)
	s.billingDays = true
	unit := rapid.SampledFrom([]calendar.Period{calendar.Month, calendar.Month, calendar.Day}).Draw(t, "unit")
	s.subscribe(s.amina, mode, unit)
	s.subscribe(s.brian, mode, calendar.Month)
	if rapid.Bool().Draw(t, "second subscription") {
		s.subscribe(s.amina, mode, calendar.Month)
	}
	all := weighted(operations())
	for range rapid.IntRange(10, 60).Draw(t, "operations") {
		s.operate(all)
		if rapid.Bool().Draw(t, "rest") {
			s.rest()
		}
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			s.step()
		}
		if s.one(3, "time passes") {
			s.elapse(s.jump(unit))
		}
	}
	s.elapse(3 * time.Hour) // what was refused is asked for again within an hour
	s.examine()
}

// jump is up to a month, and shorter for short periods, of which there would be many. What comes first in the list is
// drawn most.
func (s *simulation) jump(unit calendar.Period) time.Duration {
	length := days(rapid.SampledFrom([]int{10, 0, 20, 3, 31, 1}).Draw(s.draw, "days")) +
		time.Duration(rapid.IntRange(0, 23).Draw(s.draw, "hours"))*time.Hour
	if unit == calendar.Day {
		return length / 5
	}
	return length
}

// examine finds the faults of the books, and subscriptions whose invoices do not fit the service.
func (s *simulation) examine() {
	s.t.Helper()
	if faults := s.books(s.org, s.log).Faults(s.now, time.Hour); len(faults) > 0 {
		s.fail("faults: %v", faults)
	}
	for _, of := range s.subscriptions {
		line := s.line(of)
		switch {
		case line.Terms.Mode == events.Postpaid || line.State == subscribers.Paused:
		case line.State == subscribers.Ended:
			s.owesWhatWasServed(of)
		case line.PaidUntil().After(s.now):
		case len(line.Open()) > 0 && s.account(line.SubscriberID).Owed().IsZero():
			s.fail("the invoices %v of subscription %s are open and nothing is due", line.Open(), of)
		}
	}
}

// owesWhatWasServed compares the service of an ended prepaid subscription with its periods that are paid or asked for:
// the last of those that are asked for was needed for the service, and no service was free. Money that was paid ahead
// pays for no service before a break; so with a break more can be asked for.
func (s *simulation) owesWhatWasServed(of id.Subscription) {
	s.t.Helper()
	if s.given[of] {
		return
	}
	line, open, kept, begun := s.line(of), 0, 0, 0
	for _, p := range line.Periods {
		if !p.Begins.IsZero() {
			begun++
		}
		switch p.State {
		case subscribers.PeriodPaid:
			kept++
		case subscribers.PeriodDue, subscribers.PeriodWithdrawn:
			open++
			kept++
		case subscribers.PeriodCancelled:
		}
	}
	shortest, longest := days(28), days(31)
	if line.Terms.Period == calendar.Day {
		shortest, longest = days(1), days(1)
	}
	if line.Terms.AnchorDay > 0 { // the first one is a part of a month
		shortest = 0
	}
	charged := s.served[of]
	if line.Terms.LateRenewal == events.FromExpiry { // a late payment pays for the grace, too
		charged = 0
		for _, t := range s.whole[of] {
			charged += t.To.Sub(t.From)
		}
	}
	switch served := s.served[of]; {
	case open > 0 && begun <= 1 && charged <= time.Duration(kept-1)*shortest:
		s.fail("subscription %s was served for %s; %d periods are asked for, %d with the paid ones", of, served, open,
			kept)
	case served > time.Duration(kept)*longest:
		s.fail("subscription %s was served for %s, and only %d periods are paid or asked for", of, served, kept)
	}
}
