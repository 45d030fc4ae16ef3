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
	who := k.cutSoon("254711000804", movable)
	gate := k.app.engines.absence.Load()
	k.eventually("cuts to be allowed", func(context.Context) (bool, error) { return gate.MayCut(), nil })

	stopNode()
	k.pay(who.phone, who.account, 1500)
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
	k.afterOutage([]*App{k.app}, who)
}

// TestOutages_WhoPaysWhileNobodyHandlesTheInboxIsNotCut: the one program with the role jobs is gone, the others go on.
// The customer's callback waits in the inbox for half a minute, and then his cut falls due.
func TestOutages_WhoPaysWhileNobodyHandlesTheInboxIsNotCut(t *testing.T) {
	t.Parallel()
	addr := freePort(t)
	k := newKit(t, "PAYMENT_CALLBACK_URL=http://"+addr+"/webhooks/mobile-money/stk")
	movable := clock.NewMovable(clock.System(), 0)
	k.clock = movable
	k.nodeApart()
	processes := k.startBeside(roles{roleProjections, roleProcesses}, "DATA_DIR="+t.TempDir())
	k.app, k.addr = k.startBeside(roles{roleAPI}, "DATA_DIR="+t.TempDir(), "HTTP_ADDR="+addr), addr
	jobs := func() *App { return k.startBeside(roles{roleJobs}, "DATA_DIR="+t.TempDir()) }
	handling := jobs()
	k.signIn()
	who := k.cutSoon("254711000805", movable)
	gate := processes.engines.absence.Load()
	k.eventually("cuts to be allowed", func(context.Context) (bool, error) { return gate.MayCut(), nil })

	handling.Stop()
	k.pay(who.phone, who.account, 1500)
	k.eventually("the waiting money to be noticed", func(ctx context.Context) (bool, error) {
		_, err := k.db.Owner.Exec(ctx, `update `+k.db.Namespace.Schema("vault")+
			`.callbacks set stored_at = now() - interval '40 seconds' where done_at is null`)
		return !gate.MayCut(), err
	})
	movable.Advance(time.Hour)
	jobs()
	k.afterOutage([]*App{processes}, who)
}

// debtor is a customer whose cut falls due half an hour later.
type debtor struct {
	phone, id, account string
	line               string // the subscription
	until              time.Time
}

// cutSoon gives a customer who has paid for one month and not for the next one, by a clock that it moves.
func (k *kit) cutSoon(phone string, movable *clock.Movable) debtor {
	k.t.Helper()
	k.paybillReady()
	k.dunningDays(nil)
	d := debtor{phone: phone}
	d.id, d.account = k.subscriber(phone)
	d.line = k.subscribe(d.id, k.plan("home", 1500))
	k.issued(d.id, 1)
	k.pay(phone, d.account, 1500)
	var err error
	if d.until, err = time.Parse(time.RFC3339Nano, k.paidUntil(d.line, "")); err != nil {
		k.t.Fatal(err)
	}
	movable.Advance(d.until.AddDate(0, 0, 3).Add(-30 * time.Minute).Sub(movable.Now()))
	k.dunning(d.line, events.DunningReminding)
	return d
}
