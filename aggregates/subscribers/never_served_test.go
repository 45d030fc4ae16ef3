package subscribers_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// end ends the subscription of these tests.
var end = commands.EndSubscription{SubscriptionID: subscription, Reason: "moved"}

// dropped lists the invoices of periods that were cancelled because no time of them was given.
func dropped(made []events.SubscriptionEvent) []id.Invoice {
	var list []id.Invoice
	for _, e := range made {
		if c, ok := e.(events.PeriodCancelled); ok && c.NeverBegan {
			list = append(list, c.InvoiceID)
		}
	}
	return list
}

// takeBack takes payments back at an instant.
func takeBack(s *scenario, at time.Time, invoices ...id.Invoice) {
	for _, i := range invoices {
		s.At(at).When(withdraw(i)).ThenEvents()
	}
}

// The first month is from 31 January to 28 February, the second from there to 31 March; both were paid in advance.
func TestEnd_WhatWasTakenBackAndNotServedIsNotOwed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(s *scenario)
		at     time.Time
		want   []id.Invoice
	}{
		"the second month, before it began": {
			func(s *scenario) { takeBack(s, noon(2, 10), second) }, noon(2, 12), []id.Invoice{second}},
		"the second month, and the end came when service had stopped": {
			func(s *scenario) { takeBack(s, noon(2, 10), second) }, noon(3, 15), []id.Invoice{second}},
		"the first month, whose time the second one's money pays": {
			func(s *scenario) { takeBack(s, noon(2, 10), first) }, noon(2, 12), []id.Invoice{first}},
		"the first month, after the second had begun": {
			func(s *scenario) { takeBack(s, noon(3, 10), first) }, noon(3, 12), nil},
		"both, in the first": {
			func(s *scenario) { takeBack(s, noon(2, 10), first, second) }, noon(2, 12), []id.Invoice{second}},
		"both in the other order, in the first": {
			func(s *scenario) { takeBack(s, noon(2, 10), second, first) }, noon(2, 12), []id.Invoice{second}},
		"both, in the second": {
			func(s *scenario) { takeBack(s, noon(3, 10), first, second) }, noon(3, 12), nil},
		"nothing": {func(*scenario) {}, noon(2, 12), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := twoMonths(t)
			c.before(s)
			if got := dropped(s.At(c.at).When(end).ThenEvents()); !slices.Equal(got, c.want) {
				t.Errorf("dropped %v, want %v", got, c.want)
			}
		})
	}
}

func TestWithdraw_AfterTheEndWhatWasNotServedIsNotOwed(t *testing.T) {
	t.Parallel()
	ended := func(at time.Time) *scenario {
		s := twoMonths(t)
		s.At(at).When(end).ThenEvents()
		return s.At(noon(4, 20))
	}
	for name, c := range map[string]struct {
		made []events.SubscriptionEvent
		want []id.Invoice
	}{
		"ended in the first month, the second one's money": {
			ended(noon(2, 12)).When(withdraw(second)).ThenEvents(), []id.Invoice{second},
		},
		"ended in the first month, the first one's money": {
			ended(noon(2, 12)).When(withdraw(first)).ThenEvents(), []id.Invoice{first},
		},
		"ended in the second month, the second one's money": {
			ended(noon(3, 12)).When(withdraw(second)).ThenEvents(), nil,
		},
	} {
		if got := dropped(c.made); !slices.Equal(got, c.want) {
			t.Errorf("%s: dropped %v, want %v", name, got, c.want)
		}
	}
}

func TestEnd_InAPauseServiceEndedWithItsBeginning(t *testing.T) {
	t.Parallel()
	s := twoMonths(t)
	s.At(noon(2, 20)).When(commands.PauseSubscription{SubscriptionID: subscription, Reason: "away"}).ThenEvents()
	s.At(noon(5, 1)).When(end).ThenEvents()
	if got := dropped(s.When(withdraw(second)).ThenEvents()); !slices.Equal(got, []id.Invoice{second}) {
		t.Errorf("dropped %v", got)
	}
}

// The third month was paid in May, after a month without service, and began anew. What the first two months gave is
// owed whatever came after them.
func TestWithdraw_WhatWasServedBeforeABreakIsOwed(t *testing.T) {
	t.Parallel()
	s := twoMonths(t)
	s.At(noon(3, 30)).When(due).ThenEvents()
	s.At(noon(5, 1)).When(paid(third, noon(5, 1))).ThenEvents()
	s.At(noon(5, 12)).When(end).ThenEvents()
	for _, invoice := range []id.Invoice{second, first} {
		if got := dropped(s.When(withdraw(invoice)).ThenEvents()); len(got) > 0 {
			t.Errorf("dropped %v", got)
		}
	}
}
