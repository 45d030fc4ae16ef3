package eventstore_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// watched gives a store behind a wire whose subscription has caught up, and who is told that it may be away.
func watched(t *testing.T) (*storetest.Kit, *storetest.Wire, *eventstore.Store, chan struct{}) {
	t.Helper()
	kit := storetest.New(t)
	wire := storetest.NewWire(t, kit.Addr())
	store, err := eventstore.Open(t.Context(), eventstore.Config{
		URL: wire.Through(kit.Node.URL()), Codec: catalog.New(kit.Keys), Logger: storetest.Quiet(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if err := store.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost := make(chan struct{}, 1000)
	store.Watch(func() { lost <- struct{}{} })
	return kit, wire, store, lost
}

func TestWatch_TellsThatASubscriptionIsInterruptedWhileItIs(t *testing.T) {
	t.Parallel()
	kit, _, store, lost := watched(t)
	sub := store.Subscribe(t.Context(), 0, nil)
	for !next(t, sub).CaughtUp {
	}
	if n := len(lost); n > 0 {
		t.Errorf("%d interruptions are told of a store that was never away", n)
	}
	kit.StopNode()
	<-lost
	kit.StartNode()
	for !next(t, sub).CaughtUp {
	}
	if err := store.Ping(t.Context()); err != nil { // the last read that failed is over
		t.Fatal(err)
	}
	for len(lost) > 0 {
		<-lost
	}
	sub.Close()
	store.Close()
	if n := len(lost); n > 0 {
		t.Errorf("%d interruptions are told of an end that was asked for", n)
	}
}

// TestWatch_TellsOfSilenceWhenNobodyCalls: the network swallows everything, and ends no connection.
func TestWatch_TellsOfSilenceWhenNobodyCalls(t *testing.T) {
	t.Parallel()
	_, wire, _, lost := watched(t)
	wire.Swallow()
	select {
	case <-lost:
	case <-time.After(30 * time.Second):
		t.Error("nobody is told of silence")
	}
}
