package main

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestLateRenewal_WhoPaysAtTheEndOfTheGraceGetsNoDaysForNothing follows two customers with three days of grace: one
// pays each month in its last hour, the other after two months without service.
func TestLateRenewal_WhoPaysAtTheEndOfTheGraceGetsNoDaysForNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}})
	plan := k.plan("home", 1500)
	changed := k.must(k.admin, "PATCH", "/plans/"+plan, map[string]any{"lateRenewal": "expiry"})
	if changed.text("lateRenewal") != "expiry" {
		t.Fatalf("the plan is %v", changed)
	}
	anchor := k.local(k.app.clock.Now()).Day()
	line, pay := k.renewing(plan, "254711000601")
	away, payLate := k.renewing(plan, "254711000602")
	k.must(k.admin, "PATCH", "/plans/"+plan, map[string]any{"lateRenewal": "payment"}) // theirs stay as they were
	end, absent := k.until(line, ""), k.until(away, "")
	k.reviewedBefore(line)
	k.reviewedBefore(away)
	for month := range 2 {
		k.advance(map[string]any{"to": end.Add(71 * time.Hour)})
		k.dunning(line, events.DunningReminding)
		pay()
		next := k.until(line, end.UTC().Format(time.RFC3339Nano))
		if want := k.monthsAfter(end, 1, anchor); !next.Equal(want) {
			t.Fatalf("paid until %v after a late renewal, want %v", next, want)
		}
		end = next
		if month == 0 {
			k.advance(map[string]any{"to": absent.Add(73 * time.Hour)})
			k.dunning(away, events.DunningWalledGarden)
		}
	}
	cut := k.dunning(away, events.DunningSuspended).Entered[0]
	back := k.app.clock.Now()
	payLate()
	next := k.until(away, absent.UTC().Format(time.RFC3339Nano))
	left, used := next.Sub(back), cut.At.Sub(absent)
	if month := k.monthsAfter(absent, 1, anchor).Sub(absent); (left - (month - used)).Abs() > time.Minute {
		t.Errorf("%v are left of a month of %v, of which %v were used", left, month, used)
	}
	k.refused(k.admin, "PATCH /plans/"+plan, map[string]any{"lateRenewal": "never"}, 422, "invalid_input")
}

// renewing is a new customer of a plan whose first month is paid, and a function that pays the next one.
func (k *kit) renewing(plan, phone string) (subscription string, pay func()) {
	k.t.Helper()
	customer, account := k.subscriber(phone)
	subscription = k.subscribe(customer, plan)
	k.issued(customer, 1)
	pay = func() { k.pay(phone, account, 1500) }
	pay()
	return subscription, pay
}

// reviewedBefore waits until dunning knows a subscription, so that a jump of the clock finds its course.
func (k *kit) reviewedBefore(subscription string) {
	k.t.Helper()
	k.eventually("dunning to know the subscription", func(ctx context.Context) (bool, error) {
		s, _, err := bus.LoadUnchecked[access.Dunning](ctx, k.app.engines.bus, id.Must[id.Subscription](subscription))
		return err == nil && !s.Reviewed.WakeAt.IsZero(), err
	})
}

// until is the paid time of a subscription when it differs from what it was.
func (k *kit) until(subscription, before string) time.Time {
	k.t.Helper()
	at, err := time.Parse(time.RFC3339Nano, k.paidUntil(subscription, before))
	if err != nil {
		k.t.Fatal(err)
	}
	return at
}

// local is an instant by the clock of the organization.
func (k *kit) local(at time.Time) time.Time {
	k.t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		k.t.Fatal(err)
	}
	return at.In(zone)
}

// monthsAfter is some months after an instant by the calendar of the organization. anchor is the day of the month on
// which the service began, to which it returns after a shorter month; 0 = the day of the instant.
func (k *kit) monthsAfter(at time.Time, months, anchor int) time.Time {
	k.t.Helper()
	local := k.local(at)
	if anchor == 0 {
		anchor = local.Day()
	}
	for range months {
		at = calendar.Month.After(at, anchor, local.Location())
	}
	return at
}
