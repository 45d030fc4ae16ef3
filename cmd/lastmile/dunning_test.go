package main

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// dunning waits until the log has a subscription in a state of dunning.
func (k *kit) dunning(subscription string, want events.DunningState) access.Dunning {
	k.t.Helper()
	var s access.Dunning
	k.eventually("dunning to be "+string(want), func(ctx context.Context) (bool, error) {
		var err error
		s, _, err = bus.LoadUnchecked[access.Dunning](ctx, k.app.engines.bus, id.Must[id.Subscription](subscription))
		return err == nil && (s.State == want || s.State == "" && want == events.DunningNone), err
	})
	return s
}

// TestDunning_FromTheReminderToTheSuspensionAndBack moves the clock through a whole course: nobody does anything but
// the customer, who pays at last.
func TestDunning_FromTheReminderToTheSuspensionAndBack(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}})
	customer, account := k.subscriber("254711000301")
	subscription := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.pay("254711000301", account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(subscription, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.advance(map[string]any{"to": until.Add(-time.Minute)})
	k.dunning(subscription, events.DunningNone)
	k.advance(map[string]any{"to": until.Add(time.Minute)})
	k.dunning(subscription, events.DunningReminding)
	k.advance(map[string]any{"to": until.AddDate(0, 0, 3).Add(time.Hour)})
	garden := k.dunning(subscription, events.DunningWalledGarden)
	if garden.DueAt.Sub(until).Abs() > time.Second {
		t.Errorf("due at %v, paid until %v", garden.DueAt, until)
	}
	k.advance(map[string]any{"to": garden.Since.AddDate(0, 0, 7).Add(time.Hour)})
	k.dunning(subscription, events.DunningSuspended)
	k.pay("254711000301", account, 1500)
	k.dunning(subscription, events.DunningNone)
}

// TestDunning_ChangedRulesAreFollowedAtOnce has a customer in the grace of one policy, which another one takes away.
func TestDunning_ChangedRulesAreFollowedAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	set := func(grace int) {
		t.Helper()
		k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
			"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{},
			"skipHolidays": false, "graceDays": grace,
		}})
	}
	set(30)
	customer, account := k.subscriber("254711000311")
	subscription := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.pay("254711000311", account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(subscription, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.advance(map[string]any{"to": until.AddDate(0, 0, 5)})
	k.dunning(subscription, events.DunningReminding)
	set(1)
	k.dunning(subscription, events.DunningWalledGarden)
	k.eventually("the subscription to show it", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscriptions/"+subscription, "", nil)
		return s.text("dunning") == "walled_garden", err
	})
}

// TestDunning_AProcessThatBeginsAnewCutsNobodyForHistory stops the program, takes everything from the process that it
// knew, and starts it again: an upgrade meets customers with a past in the same way.
func TestDunning_AProcessThatBeginsAnewCutsNobodyForHistory(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}})
	customer, account := k.subscriber("254711000321")
	subscription := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.pay("254711000321", account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(subscription, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.advance(map[string]any{"to": until.AddDate(0, 0, 4)})
	k.dunning(subscription, events.DunningWalledGarden)
	k.pay("254711000321", account, 1500)
	before := k.dunning(subscription, events.DunningNone)

	k.app.Stop()
	schema := k.db.Namespace.Schema("processes")
	for _, column := range []string{"instances where process", "timers where process", "processes where name"} {
		if _, err := k.db.Owner.Exec(t.Context(), "delete from "+schema+"."+column+" = 'dunning'"); err != nil {
			t.Fatal(err)
		}
	}
	k.start()
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.advance(map[string]any{"advance": "2h"})
	after := k.dunning(subscription, events.DunningNone)
	if !after.Since.Equal(before.Since) {
		t.Errorf("something was done about history: %+v, before %+v", after, before)
	}
	k.advance(map[string]any{"to": after.Reviewed.Owed.PaidUntil.AddDate(0, 0, 3).Add(time.Hour)})
	k.dunning(subscription, events.DunningWalledGarden)
}
