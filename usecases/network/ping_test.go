package networkcases_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// cutOff makes the router refuse connections until its breaker is open, and gives the breaker.
func (p *plant) cutOff() breaker.State {
	p.t.Helper()
	p.router.SetFaults(router.Faults{Refuse: true})
	for range 5 {
		_, err := p.workers.Resource(p.t.Context(), p.device)
		coretest.Refused(p.t, "a router without its services", err, "device_unreachable")
	}
	state := p.breakers.States()[0]
	if state.State != breaker.Open {
		p.t.Fatalf("after five failures: %+v", state)
	}
	return state
}

// ping pings the router.
func (p *plant) ping() networkviews.LivePing {
	p.t.Helper()
	out, err := p.workers.Ping(p.t.Context(), p.device)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// The technician who has put the plug in presses one button, and it asks.
func TestPing_AsksARouterWhoseBreakerIsOpenAndClosesIt(t *testing.T) {
	t.Parallel()
	p := newStillPlant(t)
	p.cutOff()
	p.router.SetFaults(router.Faults{})
	if _, err := p.workers.Resource(t.Context(), p.device); err == nil {
		t.Error("work passed an open breaker")
	}
	if got := p.ping(); !got.Reachable || got.BoardName == "" {
		t.Errorf("%+v", got)
	}
	if got := p.breakers.States()[0]; got.State != breaker.Closed || got.Failures != 0 {
		t.Errorf("after the answer: %+v", got)
	}
	if _, err := p.workers.Resource(t.Context(), p.device); err != nil {
		t.Errorf("after the ping: %v", err)
	}
}

func TestPing_ARouterThatStaysAwayIsLeftAloneAsLongAsBefore(t *testing.T) {
	t.Parallel()
	p := newStillPlant(t)
	before := p.cutOff()
	for range 3 {
		if got := p.ping(); got.Reachable || got.Error == "" {
			t.Errorf("%+v", got)
		}
		p.clock.Advance(4 * time.Second)
	}
	after := p.breakers.States()[0]
	if after.State != breaker.Open || !after.RetryAt.Equal(before.RetryAt) {
		t.Errorf("before %+v, after %+v", before, after)
	}
	p.clock.Advance(20 * time.Second) // the first cool-down is over
	p.router.SetFaults(router.Faults{})
	if _, err := p.workers.Resource(t.Context(), p.device); err != nil {
		t.Errorf("after the cool-down: %v", err)
	}
}

func TestPing_TwoAtOnceAskOnce(t *testing.T) {
	t.Parallel()
	p := newStillPlant(t)
	second := make(chan networkviews.LivePing, 1)
	asked := 0
	p.wire.watch(func(request string) {
		if !strings.Contains(request, "/system/resource") {
			return
		}
		if asked++; asked == 1 {
			go func() {
				out, _ := p.workers.Ping(t.Context(), p.device)
				second <- out
			}()
		}
	})
	first := p.ping()
	if other := <-second; other != first || !first.Reachable {
		t.Errorf("first %+v, second %+v", first, other)
	}
	if asked != 1 {
		t.Errorf("the router was asked %d times", asked)
	}
	p.clock.Advance(3 * time.Second)
	if p.ping(); asked != 2 {
		t.Errorf("three seconds later the router was asked %d times in all", asked)
	}
}
