package main

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// TestOutages_WhoPaysWhileTheEventStoreIsSilentIsNotCut: the network swallows everything between the program and its
// event store for some seconds, and ends no connection. The customer has paid before his cut falls due.
func TestOutages_WhoPaysWhileTheEventStoreIsSilentIsNotCut(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	movable := clock.NewMovable(clock.System(), 0)
	k.clock = movable
	node := freePort(t)
	k.eventStoreAlone(node)
	wire := storetest.NewWire(t, node)
	k.environ = append(k.environ, "EVENTSTORE_URL=esdb://"+wire.Addr()+"?tls=false")
	k.app = k.startBeside(roles{roleAPI, roleProjections, roleProcesses, roleJobs})
	k.addr = k.app.Addr()
	k.signIn()
	who := k.cutSoon("254711000806", movable)
	gate := k.app.engines.absence.Load()
	k.eventually("cuts to be allowed", func(context.Context) (bool, error) { return gate.MayCut(), nil })

	wire.Swallow()
	k.pay(who.phone, who.account, 1500)
	for range 100 {
		if !gate.MayCut() {
			break
		}
		loop.Sleep(t.Context(), 100*time.Millisecond)
	}
	if gate.MayCut() {
		t.Error("ten seconds of silence are not noticed")
	}
	movable.Advance(time.Hour)
	wire.Carry()
	k.afterOutage([]*App{k.app}, who)
}
