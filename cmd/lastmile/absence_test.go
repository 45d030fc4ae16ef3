package main

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// TestAbsence_WhileThePlatformIsAwayTheClockOfDunningStandsStill: the program is off for 20 hours, in which a cut falls
// due. A restart, and a move of the clock in development, are no absence.
func TestAbsence_WhileThePlatformIsAwayTheClockOfDunningStandsStill(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.dunningDays(nil)
	customer, account := k.subscriber("254711000801")
	line := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.pay("254711000801", account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(line, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.advance(map[string]any{"to": until.AddDate(0, 0, 2).Add(12 * time.Hour)})
	k.dunning(line, events.DunningReminding)
	k.app.Stop()
	k.start()
	if s := k.pauses(line, 0, 0); s.State != events.DunningReminding {
		t.Errorf("after a restart: %+v", s)
	}

	k.app.Stop()
	k.absentFor(20 * time.Hour)
	k.start()
	k.admin.addr, k.root.addr = k.addr, k.addr
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	if now := k.app.clock.Now(); !now.After(until.AddDate(0, 0, 3)) {
		t.Fatalf("the cut is not due at %v", now)
	}
	state := k.pauses(line, 1, 0)
	if p := state.Pauses[0]; p.Until.Sub(p.From) < 20*time.Hour || p.Until.Sub(p.From) > 21*time.Hour {
		t.Errorf("the clock stood still from %v to %v", p.From, p.Until)
	}
	k.tells(customer, "stood still", "no payment.")
	k.eventually("cuts to go on, everything of the absence counted", func(context.Context) (bool, error) {
		return k.app.engines.absence.Load().MayCut(), nil
	})
	k.neverCut(line)
	k.advance(map[string]any{"advance": "24h"})
	k.dunning(line, events.DunningWalledGarden)
}

// TestAbsence_CutsWaitForAnInvoiceThatARunHasLeftBehind: a billing run ends after it has made a period due. Until the
// process takes it over, half a minute later, money for it would be credit and buy no time.
func TestAbsence_CutsWaitForAnInvoiceThatARunHasLeftBehind(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	customer, account := k.subscriber("254711000803")
	line := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.pay("254711000803", account, 1500)
	k.paidUntil(line, "")
	gate := k.app.engines.absence.Load()
	k.eventually("cuts to be allowed", func(context.Context) (bool, error) { return gate.MayCut(), nil })

	of, err := id.Parse[id.Subscription](line)
	if err != nil {
		t.Fatal(err)
	}
	org := k.organizationID("acme")
	run := commands.MakePeriodDue{SubscriptionID: of, RunID: id.New[id.BillingRun]()}
	_, err = k.app.engines.bus.Execute(t.Context(), run, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	})
	if err != nil {
		t.Fatal(err)
	}
	gate.Lost()
	for range 30 {
		if gate.MayCut() {
			t.Fatal("cuts go on, and the invoice is not issued")
		}
		loop.Sleep(t.Context(), 100*time.Millisecond)
	}
	k.advance(map[string]any{"advance": "31s"})
	k.eventually("cuts to go on", func(context.Context) (bool, error) { return gate.MayCut(), nil })
	k.issued(customer, 2)
}

// absentFor makes it so long ago that a program of the installation, which is off, has run last.
func (k *kit) absentFor(d time.Duration) {
	k.t.Helper()
	vault := k.db.Namespace.Schema("vault")
	for sql, value := range map[string]any{
		`update ` + vault + `.presence set beat_at = beat_at - $1::interval`: d,
		`update ` + vault + `.clock_ahead set ahead = ahead + $1`:            int64(d),
	} {
		if tag, err := k.db.Owner.Exec(k.t.Context(), sql, value); err != nil || tag.RowsAffected() != 1 {
			k.t.Fatal(tag, err)
		}
	}
}
