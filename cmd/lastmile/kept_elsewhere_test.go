package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// TestKept_WhoPaidAtAProgramThatStoppedIsNotCutByAnother: one program answers, another one drives the processes.
// PostgreSQL is away, a customer pays, and the program that has the callback on its disk stops. The cut falls due. The
// other program waits for the one that has stopped, which comes back with its DATA_DIR.
func TestKept_WhoPaidAtAProgramThatStoppedIsNotCutByAnother(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	addr := freePort(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL(),
		"PAYMENT_CALLBACK_URL=http://"+addr+"/webhooks/mobile-money/stk")
	movable := clock.NewMovable(clock.System(), 0)
	k.clock = movable
	k.nodeApart()
	disk := t.TempDir()
	answering := func() *App { return k.startBeside(roles{roleAPI}, "DATA_DIR="+disk, "HTTP_ADDR="+addr) }
	working := k.startBeside(roles{roleProjections, roleProcesses, roleJobs}, "DATA_DIR="+t.TempDir())
	first := answering()
	k.app, k.addr = first, addr
	k.signIn()
	who := k.cutSoon("254711000802", movable)
	gate := working.engines.absence.Load()
	k.eventually("cuts to be allowed", func(context.Context) (bool, error) { return gate.MayCut(), nil })

	stopCluster(t, cluster)
	k.pay(who.phone, who.account, 1500)
	k.eventually("the callback to be kept", func(context.Context) (bool, error) { return first.kept.Len() == 1, nil })
	first.Stop()
	movable.Advance(time.Hour)
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.app = working
	k.eventually("the other program to work", func(ctx context.Context) (bool, error) {
		_, err := working.storage.vault.Presence.Read(ctx)
		return err == nil, err
	})
	for range 50 {
		if gate.MayCut() {
			t.Fatal("the other program may cut, and nobody has heard of the first one")
		}
		loop.Sleep(t.Context(), 100*time.Millisecond)
	}
	answering()
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.eventually("the payment to be credited", func(context.Context) (bool, error) {
		after, err := time.Parse(time.RFC3339Nano, k.paidUntil(who.line, ""))
		return after.After(who.until), err
	})
	k.dunning(who.line, events.DunningNone)
	k.eventually("cuts to go on", func(context.Context) (bool, error) { return gate.MayCut(), nil })
	k.neverCut(who.line)
}

// nodeApart starts an event store for several programs, and gives them one platform key.
func (k *kit) nodeApart() {
	k.t.Helper()
	node := freePort(k.t)
	k.eventStoreAlone(node)
	k.environ = append(k.environ, "PLATFORM_ENCRYPTION_KEY="+strings.Repeat("QUJD", 10)+"QUI=",
		"EVENTSTORE_URL=esdb://"+node+"?tls=false")
}

// TestKept_WhoHangsUpKeepsNobodyFromBeingCut: a stranger ends the connection right after each invented callback.
func TestKept_WhoHangsUpKeepsNobodyFromBeingCut(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	gate := k.app.engines.absence.Load()
	k.eventually("cuts to be allowed", func(context.Context) (bool, error) { return gate.MayCut(), nil })
	for n := range 20 {
		conn, err := net.Dial("tcp", k.addr)
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"Body":{"stkCallback":{"MerchantRequestID":"1","CheckoutRequestID":"ws_CO_invented%d",`+
			`"ResultCode":1032,"ResultDesc":"cancelled"}}}`, n)
		if _, err := fmt.Fprintf(conn, "POST /webhooks/mobile-money/stk HTTP/1.1\r\nHost: x\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	k.eventually("the callbacks to wait for their attempts", func(ctx context.Context) (bool, error) {
		list, err := k.app.storage.vault.Inbox.Pending(ctx, 100)
		waiting := 0
		for _, c := range list {
			if c.LastFailure != "" {
				waiting++
			}
		}
		return waiting == 20, fmt.Errorf("%w: %+v", err, list)
	})
	if n := k.app.kept.Ever(); n != 0 {
		t.Errorf("%d callbacks were on the disk", n)
	}
	k.app.engines.absence.Load().Lost() // as after an outage of the database
	k.eventually("cuts to go on", func(context.Context) (bool, error) { return gate.MayCut(), nil })
}
