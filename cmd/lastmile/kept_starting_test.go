package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// TestKept_WhoPaidAtAProgramThatStartsIsNotCutByAnother: the program that answers stops with an empty disk and starts
// again, and does not reach PostgreSQL from its machine yet. Meanwhile it acknowledges a payment and keeps it on its
// disk. The other program, which drives the processes, has its database all the time.
func TestKept_WhoPaidAtAProgramThatStartsIsNotCutByAnother(t *testing.T) {
	t.Parallel()
	addr := freePort(t)
	k := newKit(t, "PAYMENT_CALLBACK_URL=http://"+addr+"/webhooks/mobile-money/stk",
		"DATABASE_URL="+startCluster(t).URL())
	movable := clock.NewMovable(clock.System(), 0)
	k.clock = movable
	k.nodeApart()
	settings := []string{"DATA_DIR=" + t.TempDir(), "HTTP_ADDR=" + addr}
	working := k.startBeside(roles{roleProjections, roleProcesses, roleJobs}, "DATA_DIR="+t.TempDir())
	first := k.startBeside(roles{roleAPI}, settings...)
	k.app, k.addr = first, addr
	k.signIn()
	who := k.cutSoon("254711000802", movable)
	gate := working.engines.absence.Load()
	k.eventually("cuts to be allowed", func(context.Context) (bool, error) { return gate.MayCut(), nil })
	first.Stop()
	k.app = working
	k.eventually("the stop to be heard of", func(context.Context) (bool, error) { return !gate.MayCut(), nil })

	stop := k.startsInVain(append(settings, "DATABASE_URL=postgres://nobody:x@127.0.0.1:1/nowhere")...)
	before := len(k.sim.Deliveries())
	k.pay(who.phone, who.account, 1500)
	k.eventually("the answer to the callback", func(context.Context) (bool, error) {
		list := k.sim.Deliveries()
		return len(list) > before && list[len(list)-1].Status == http.StatusOK, fmt.Errorf("%+v", list)
	})
	movable.Advance(time.Hour)
	for range 30 {
		if gate.MayCut() {
			t.Fatal("the other program may cut, and nobody has heard of the first one since it stopped")
		}
		loop.Sleep(t.Context(), 100*time.Millisecond)
	}
	stop()
	k.startBeside(roles{roleAPI}, settings...) // now it reaches PostgreSQL
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.received(who.id, 2)
	k.dunning(who.line, events.DunningNone)
	k.eventually("cuts to go on", func(context.Context) (bool, error) { return gate.MayCut(), nil })
	k.neverCut(who.line)
}

// startsInVain starts a program that answers, and waits for its listener. Its start does not end before stop.
func (k *kit) startsInVain(settings ...string) (stop func()) {
	k.t.Helper()
	cfg, err := loadConfig(append(k.environ[:len(k.environ):len(k.environ)], settings...))
	if err != nil {
		k.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(k.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := StartApp(ctx, cfg, roles{roleAPI}, slog.New(slog.DiscardHandler), k.options()); err == nil {
			k.t.Error("the program starts without its database")
		}
	}()
	k.eventually("the listener", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == http.StatusServiceUnavailable, nil
	})
	return func() {
		cancel()
		<-ended
	}
}
