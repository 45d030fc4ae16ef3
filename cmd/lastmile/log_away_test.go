package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestOutages_WhoPaysWhileTheEventStoreAloneIsAwayIsNotCut: the customer has paid before his cut falls due, and both
// happen while the event store is away. The callback waits in the inbox, longer each time that it is tried. The program
// goes on, or is stopped meanwhile and started again.
func TestOutages_WhoPaysWhileTheEventStoreAloneIsAwayIsNotCut(t *testing.T) {
	t.Parallel()
	for name, restarted := range map[string]bool{"goes on": false, "is started again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withoutLog(t, restarted)
		})
	}
}

// withoutLog runs the story with a program that goes on or is started again.
func withoutLog(t *testing.T, restarted bool) {
	t.Helper()
	k := newKit(t)
	movable := clock.NewMovable(clock.System(), 0)
	k.clock = movable
	node := freePort(t)
	stopNode := k.eventStoreAlone(node)
	k.environ = append(k.environ, "EVENTSTORE_URL=esdb://"+node+"?tls=false")
	start := func() {
		k.app = k.startBeside(roles{roleAPI, roleProjections, roleProcesses, roleJobs})
		k.addr = k.app.Addr()
	}
	start()
	k.signIn()
	k.paybillReady()
	k.dunningDays(nil)
	customer, account := k.subscriber("254711000804")
	line := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.pay("254711000804", account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(line, ""))
	if err != nil {
		t.Fatal(err)
	}
	movable.Advance(until.AddDate(0, 0, 3).Add(-30 * time.Minute).Sub(movable.Now()))
	k.dunning(line, events.DunningReminding)
	gate := k.app.engines.absence.Load()
	k.eventually("cuts to be allowed", func(context.Context) (bool, error) { return gate.MayCut(), nil })

	stopNode()
	k.pay("254711000804", account, 1500)
	k.eventually("the callback to be tried four times", func(ctx context.Context) (bool, error) {
		list, err := k.app.storage.vault.Inbox.Pending(ctx, 10)
		return len(list) == 1 && list[0].Attempts >= 4, fmt.Errorf("%w: %+v", err, list)
	})
	movable.Advance(time.Hour)
	if restarted {
		k.app.Stop()
	}
	k.eventStoreAlone(node)
	if restarted {
		start()
	}
	k.afterOutage([]*App{k.app}, customer, line, until)
}
