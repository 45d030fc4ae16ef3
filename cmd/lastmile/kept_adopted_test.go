package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestKept_WhoPaidAtAProgramThatWasKilledIsNotCut: two programs answer and share a DATA_DIR, a third one drives the
// processes. PostgreSQL is away, a customer pays at the first program, which is killed, and the cut falls due. The
// second program takes the callback over, and nobody waits for the first one any more once the payment is counted.
func TestKept_WhoPaidAtAProgramThatWasKilledIsNotCut(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	addr := freePort(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL(), "PAYMENT_CALLBACK_URL=http://"+addr+"/webhooks/mobile-money/stk")
	movable := clock.NewMovable(clock.System(), 0)
	k.clock = movable
	k.nodeApart()
	disk := "DATA_DIR=" + t.TempDir()
	working := k.startBeside(roles{roleProjections, roleProcesses, roleJobs}, "DATA_DIR="+t.TempDir())
	second := k.startBeside(roles{roleAPI}, disk)
	k.environ = append(k.environ, childRoles+"="+roleAPI, disk)
	first := k.launch(addr)
	k.eventually("the first program to be ready", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == http.StatusOK, nil
	})
	k.app, k.addr = second, second.Addr()
	k.signIn()
	who := k.cutSoon("254711000803", movable)

	stopCluster(t, cluster)
	before := len(k.sim.Deliveries())
	k.pay(who.phone, who.account, 1500)
	k.eventually("the answer to the callback", func(context.Context) (bool, error) {
		list := k.sim.Deliveries()
		return len(list) > before && list[len(list)-1].Status == http.StatusOK, fmt.Errorf("%+v", list)
	})
	first.kill9()
	movable.Advance(time.Hour)
	k.wakesKeeper()
	k.eventually("the callback to be taken over", func(context.Context) (bool, error) {
		return second.kept.Len() == 2, fmt.Errorf("%d are there", second.kept.Len())
	})
	gate := working.engines.absence.Load()
	if gate.MayCut() {
		t.Error("the program with the processes may cut, although the database is away")
	}
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.eventually("cuts to go on", func(context.Context) (bool, error) { return gate.MayCut(), nil })
	k.eventually("the administrator to sign in", func(ctx context.Context) (bool, error) {
		var err error // the token is older than the move of the clock
		k.admin, _, err = k.client("acme").login(ctx, testAdminEmail, testPassword)
		return err == nil, err
	})
	if list, err := working.storage.vault.Inbox.Pending(t.Context(), 10); err != nil || len(list) > 1 {
		t.Errorf("the callback is not counted yet: %+v, %v", list, err)
	}
	k.received(who.id, 2)
	k.dunning(who.line, events.DunningNone)
	k.neverCut(who.line)
	b, err := working.storage.vault.Presence.Read(t.Context())
	if err != nil || len(b.Programs) != 1 || b.Programs[0].Program != second.kept.Place() {
		t.Errorf("the program that was killed is still waited for: %+v, %v", b.Programs, err)
	}
}

// wakesKeeper makes the program look what others have left on the disk, by an invented callback.
func (k *kit) wakesKeeper() {
	k.t.Helper()
	url := "http://" + k.addr + "/webhooks/mobile-money/stk/" + strings.Repeat("a", 43)
	body := strings.NewReader(`{"Body":{"stkCallback":{"MerchantRequestID":"1","CheckoutRequestID":"ws_CO_invented",` +
		`"ResultCode":1032,"ResultDesc":"cancelled"}}}`)
	r, err := http.NewRequestWithContext(k.t.Context(), http.MethodPost, url, body)
	if err != nil {
		k.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	_ = out.Body.Close()
	if out.StatusCode != http.StatusOK {
		k.t.Errorf("an invented callback is answered %d", out.StatusCode)
	}
}
