package eventstore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
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
	case <-time.After(waittest.Limit):
		t.Error("nobody is told of silence")
	}
}

// TestWatch_OneStreamThatTheDatabaseRefusesIsNoOutage: a damaged page, a lost right or a conflict under one stream. The
// store serves all others, so nobody is told that it is away.
func TestWatch_OneStreamThatTheDatabaseRefusesIsNoOutage(t *testing.T) {
	t.Parallel()
	kit, _, store, lost := watched(t)
	bad, good := stream(), stream()
	for _, name := range []string{bad, good} {
		if _, err := store.Append(t.Context(), name, eventstore.NoStream, several(1)); err != nil {
			t.Fatal(err)
		}
	}
	for i, code := range []string{"XX001", "XX002", "58030", "42501", "0A000", "40001"} {
		sql := strings.NewReplacer("{schema}", kit.DB.Namespace.Schema("log"), "{code}", code, "{bad}", bad).Replace(`
			create or replace function {schema}.damage() returns trigger language plpgsql as $$ begin
				if new.stream_id = (select id from {schema}.streams where name = '{bad}') then
					raise exception 'invalid page in block 7' using errcode = '{code}';
				end if;
				return new; end $$;
			create or replace trigger damage before insert on {schema}.events
				for each row execute function {schema}.damage()`)
		if _, err := kit.DB.Owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Append(t.Context(), bad, eventstore.At(0), several(1)); err == nil ||
			errors.Is(err, eventstore.ErrUnavailable) || failure.KindOf(err) != failure.Internal {
			t.Errorf("%s: the append of the stream: %v", code, err)
		}
		if _, err := store.Append(t.Context(), good, eventstore.At(uint64(i)), several(1)); err != nil {
			t.Errorf("%s: the append of another stream: %v", code, err)
		}
	}
	if n := len(lost); n > 0 {
		t.Errorf("those who watch are told %d times that the store is away", n)
	}
}
