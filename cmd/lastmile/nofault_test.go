package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestNoFault_TheClockStandsStillWhileCustomersCannotPay has one customer in the grace and one who is paid up: only the
// first clock stands still, and from the true beginning.
func TestNoFault_TheClockStandsStillWhileCustomersCannotPay(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}})
	plan := k.plan("home", 1500)
	owing, account := k.subscriber("254711000501")
	line := k.subscribe(owing, plan)
	k.issued(owing, 1)
	k.pay("254711000501", account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(line, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.advance(map[string]any{"to": until.Add(24 * time.Hour)})
	k.dunning(line, events.DunningReminding)
	other, second := k.subscriber("254711000502")
	paid := k.subscribe(other, plan)
	k.issued(other, 1)
	k.pay("254711000502", second, 1500)
	k.paidUntil(paid, "") // its receipt is older than the fault

	state, _, err := bus.LoadUnchecked[access.Dunning](t.Context(), k.app.engines.bus, id.Must[id.Subscription](line))
	if err != nil {
		t.Fatal(err)
	}
	org := state.Subject.OrgID
	from := k.app.clock.Now().UTC().Truncate(time.Microsecond)
	_, err = k.app.engines.bus.Execute(t.Context(), commands.InterruptPayments{
		OrgID: org, Evidence: "no_receipts", From: from,
	}, commands.Meta{CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess}})
	if err != nil {
		t.Fatal(err)
	}
	stopped := k.pauses(line, 0, 1)
	for cause, at := range stopped.Stopped {
		if !strings.HasPrefix(cause, "no_payment:") || !at.Equal(from) {
			t.Errorf("stopped by %s from %v, want %v", cause, at, from)
		}
	}
	k.advance(map[string]any{"advance": "3h"}) // the watch sees that nothing is wrong
	after := k.pauses(line, 1, 0)
	if p := after.Pauses[0]; !p.From.Equal(from) || p.Until.Sub(from) < 3*time.Hour {
		t.Errorf("the clock stood still from %v to %v", p.From, p.Until)
	}
	k.tells(owing, "stood still", "no payment.")
	if s := k.pauses(paid, 0, 0); s.State.Rank() > 0 {
		t.Errorf("the customer who owes nothing: %+v", s)
	}
}

// pauses waits until the log has so many times in which the clock of a subscription stood still, and so many causes
// that stop it at present.
func (k *kit) pauses(subscription string, over, present int) access.Dunning {
	k.t.Helper()
	var s access.Dunning
	k.eventually("the clock", func(ctx context.Context) (bool, error) {
		var err error
		s, _, err = bus.LoadUnchecked[access.Dunning](ctx, k.app.engines.bus, id.Must[id.Subscription](subscription))
		return err == nil && len(s.Pauses) == over && len(s.Stopped) == present, err
	})
	return s
}

// tells waits for a row with all words in a customer's timeline.
func (k *kit) tells(subscriber string, words ...string) {
	k.t.Helper()
	k.eventually("the timeline to tell it", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/subscribers/"+subscriber+"/timeline?limit=100", "", nil)
		for _, row := range page.list("data") {
			missing := false
			for _, word := range words {
				missing = missing || !strings.Contains(row.text("summary"), word)
			}
			if !missing {
				return true, err
			}
		}
		return false, err
	})
}
