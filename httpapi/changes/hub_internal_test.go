package changesapi

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// followed makes a hub whose tail has not begun.
func followed() *Hub {
	h := New(Config{Clock: clock.System(), Logger: storetest.Quiet()})
	h.since = func(context.Context, uint64, uint64) ([]*events.Envelope, bool) { return nil, true }
	return h
}

func TestHub_WhoComesBeforeTheTailHasBegunWaitsForIt(t *testing.T) {
	t.Parallel()
	for what, begin := range map[string]func(*Hub){
		"it begins":         func(h *Hub) { h.take(runner.Shown{UpTo: 7}) },
		"the program stops": (*Hub).End,
		"time goes by":      func(*Hub) { time.Sleep(usualHeartbeat) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, waited := followed(), false
				go func() { waited = h.awaitBeginning(t.Context()) }()
				time.Sleep(usualHeartbeat - time.Second)
				if synctest.Wait(); waited {
					t.Fatal("a reader does not wait")
				}
				begin(h)
				if synctest.Wait(); !waited {
					t.Fatal("a reader waits on")
				}
				h.take(runner.Shown{UpTo: 8})
			})
		})
	}
}

func TestHub_WhoWaitedForTheTailReadsNothingAgain(t *testing.T) {
	t.Parallel()
	h := followed()
	h.take(runner.Shown{UpTo: 7})
	if !h.awaitBeginning(t.Context()) {
		t.Fatal("a tail that has begun is waited for")
	}
	r, upTo, err := h.enter(id.New[id.Organization](), id.New[id.User](), events.RoleSupport)
	if err != nil || upTo != 7 {
		t.Fatalf("enters at %d: %v", upTo, err)
	}
	h.take(runner.Shown{UpTo: 9})
	h.publish()
	want := "event: alive\ndata: {\"serves\":\"all\"}\nid: 9\n\n"
	if text, _, err := h.look(r); err != nil || string(text) != want {
		t.Errorf("told %q: %v", text, err)
	}
}
