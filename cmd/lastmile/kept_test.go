package main

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestKept_WhoPaysWhilePostgreSQLIsAwayIsNotCut: PostgreSQL is away, the customer's cut falls due in that time, and he
// has paid by paybill before it. The provider sends a callback once.
func TestKept_WhoPaysWhilePostgreSQLIsAwayIsNotCut(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL(), "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.dunningDays(nil)
	customer, account := k.subscriber("254711000222")
	line := k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.pay("254711000222", account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(line, ""))
	if err != nil {
		t.Fatal(err)
	}
	cut := until.AddDate(0, 0, 3)
	k.advance(map[string]any{"to": cut.Add(-30 * time.Minute)})
	k.dunning(line, events.DunningReminding)

	stopCluster(t, cluster)
	out, err := k.simCall("POST", "/sim/paybill", map[string]any{
		"shortCode": testShortcode, "msisdn": "254711000222", "amount": 1500, "billRefNumber": account,
	})
	if err != nil {
		t.Fatal(out, err)
	}
	k.eventually("the callback to be kept", func(context.Context) (bool, error) { return k.app.kept.Len() == 1, nil })
	k.app.clock.(*clock.Movable).Advance(time.Hour) //nolint:forcetypeassert // in development
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.eventually("service to be ready again", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == 200, nil
	})
	k.eventually("the administrator to sign in", func(ctx context.Context) (bool, error) {
		var err error // connections of before the outage fail once
		k.admin, _, err = k.client("acme").login(ctx, testAdminEmail, testPassword)
		return err == nil, err
	})
	k.eventually("the payment to be credited", func(context.Context) (bool, error) {
		after, err := time.Parse(time.RFC3339Nano, k.paidUntil(line, ""))
		return after.After(until), err
	})
	if !k.app.kept.Empty() {
		t.Error("the callback is still on the disk")
	}
	k.dunning(line, events.DunningNone)
	k.neverCut(line)
}

// neverCut checks that a subscription has never been cut, not even for a moment.
func (k *kit) neverCut(subscription string) {
	k.t.Helper()
	list, err := k.app.storage.store.Read(k.t.Context(), commands.DunningCategory+"-"+subscription, 0)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, e := range list {
		switch e.Event.(type) {
		case events.WalledGardenEntered, events.ServiceSuspended:
			k.t.Errorf("the subscription was cut: %+v", e.Event)
		}
	}
}
