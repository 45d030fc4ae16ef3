package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestOutages_WhoHasNoGraceHasTheWalledGardenWhileCutsWait: the paid time ends while the event store is away, after the
// customer has paid the next period. Memory gives what a recorded cut would: the walled garden, where the customer sees
// the payment page, and of a plan by day nothing.
func TestOutages_WhoHasNoGraceHasTheWalledGardenWhileCutsWait(t *testing.T) {
	t.Parallel()
	for period, want := range map[string]string{"month": "walled_garden", "day": "none"} {
		t.Run(period, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			movable := clock.NewMovable(clock.System(), 0)
			k.clock = movable
			node := freePort(t)
			stopNode := k.eventStoreAlone(node)
			k.environ = append(k.environ, "EVENTSTORE_URL=esdb://"+node+"?tls=false")
			all := roles{roleAPI, roleProjections, roleProcesses, roleJobs, roleRadius}
			k.app = k.startBeside(all, "RADIUS_AUTH_ADDR=127.0.0.1:0", "RADIUS_ACCT_ADDR=127.0.0.1:0")
			k.addr = k.app.Addr()
			k.signIn()
			k.paybillReady()
			k.dunningDays(map[string]any{"graceDays": 0})
			const phone = "254711000804"
			customer, account := k.subscriber(phone)
			plan := k.must(k.admin, "POST", "/plans", map[string]any{
				"code": "p", "name": "P", "kind": "pppoe", "price": 1500, "currency": "KES",
				"billing": map[string]string{"mode": "prepaid", "period": period},
				"rates":   map[string]int{"down": 20000, "up": 5000},
			}).text("id")
			line := k.subscribe(customer, plan)
			k.issued(customer, 1)
			k.pay(phone, account, 1500)
			until, err := time.Parse(time.RFC3339Nano, k.paidUntil(line, ""))
			if err != nil {
				t.Fatal(err)
			}
			movable.Advance(until.Add(-5 * time.Minute).Sub(movable.Now()))
			k.eventually("the administrator to sign in", func(ctx context.Context) (bool, error) {
				var err error
				k.admin, _, err = k.client("acme").login(ctx, testAdminEmail, testPassword)
				return err == nil, err
			})
			k.eventually("full", func(context.Context) (bool, error) { return k.entitled(customer) == "full", nil })
			stopNode()
			k.pay(phone, account, 1500)
			k.eventually("the callback to be tried", func(ctx context.Context) (bool, error) {
				list, err := k.app.storage.vault.Inbox.Pending(ctx, 10)
				return len(list) == 1 && list[0].Attempts > 0, fmt.Errorf("%w: %+v", err, list)
			})
			movable.Advance(10 * time.Minute)
			p := k.app.radius.directory.Present(id.Must[id.Subscription](line), k.app.clock.Now())
			if got := p.Grant.Access.String(); got != want {
				t.Errorf("a sign-in gets %s because of %s", got, p.Code)
			}
		})
	}
}
