package accessjobs

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestEnds_ASessionRestsThatFollowsOneWithTheSame: and no other one.
func TestEnds_ASessionRestsThatFollowsOneWithTheSame(t *testing.T) {
	t.Parallel()
	other := id.New[id.Subscription]()
	began := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	at := began.Add(time.Hour)
	first := telemetry.Session{
		ID: id.New[telemetry.SessionID](), SubscriptionID: id.New[id.Subscription](), DeviceID: id.New[id.Device](),
		Username: "amina", Calling: "AA:BB:CC:00:11:22", Stamp: "old", StartedAt: began,
	}
	for name, c := range map[string]struct {
		edit func(*telemetry.Session)
		next string
		want bool
	}{
		"the next one":         {func(s *telemetry.Session) { s.StartedAt = at }, "new", true},
		"in the same second":   {func(*telemetry.Session) {}, "new", true},
		"the same session":     {func(s *telemetry.Session) { s.ID = first.ID }, "new", false},
		"an older one":         {func(s *telemetry.Session) { s.StartedAt = began.Add(-time.Second) }, "new", false},
		"another grant":        {func(s *telemetry.Session) { s.Stamp = "right" }, "new", false},
		"another change":       {func(*telemetry.Session) {}, "newest", false},
		"another device":       {func(s *telemetry.Session) { s.Calling = "AA:BB:CC:00:11:33" }, "new", false},
		"another login":        {func(s *telemetry.Session) { s.Username = "brian" }, "new", false},
		"another subscription": {func(s *telemetry.Session) { s.SubscriptionID = other }, "new", false},
		"another router":       {func(s *telemetry.Session) { s.DeviceID = id.New[id.Device]() }, "new", false},
	} {
		var p ends
		p.made(first, "new", events.ViaRouter, at, pauseMost)
		s := first
		s.ID = id.New[telemetry.SessionID]()
		c.edit(&s)
		got := p.look(s, c.next, at.Add(pauseFirst-1))
		if got.rests != c.want || (got.vain == events.ViaRouter) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
		if got := p.look(s, c.next, at.Add(pauseFirst)); got != (looked{}) {
			t.Errorf("%s, after the pause: %+v", name, got)
		}
	}
}

// TestEnds_ForOneSessionCountOnce: what a router acknowledges again and again is one end.
func TestEnds_ForOneSessionCountOnce(t *testing.T) {
	t.Parallel()
	var p ends
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	first := telemetry.Session{ID: id.New[telemetry.SessionID](), Stamp: "old", StartedAt: at}
	for range 5 {
		p.made(first, "new", events.ViaRadius, at, pauseMost)
	}
	next := first
	next.ID = id.New[telemetry.SessionID]()
	if !p.look(next, "new", at.Add(pauseFirst-1)).rests || p.look(next, "new", at.Add(pauseFirst)).rests {
		t.Error("the first pause is another one")
	}
}

// TestEnds_AClockThatWasPutBackMakesOneSessionAFirstOne: and no other.
func TestEnds_AClockThatWasPutBackMakesOneSessionAFirstOne(t *testing.T) {
	t.Parallel()
	var p ends
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	s := telemetry.Session{ID: id.New[telemetry.SessionID](), Stamp: "old", StartedAt: at}
	p.made(s, "new", events.ViaRadius, at, pauseMost)
	for i, rests := range []bool{false, true, true} {
		s.ID, s.StartedAt = id.New[telemetry.SessionID](), at.Add(time.Duration(i)*time.Second-time.Hour)
		if got := p.look(s, "new", at).rests; got != rests {
			t.Errorf("session %d after the clock was put back rests: %v", i, got)
		}
		p.made(s, "new", events.ViaRadius, at, pauseMost)
	}
}

// TestEnds_PausesAreBoundedAndForgotten: a customer who is disturbed for nothing waits for longer than one who may get
// what he has paid for.
func TestEnds_PausesAreBoundedAndForgotten(t *testing.T) {
	t.Parallel()
	for _, most := range []time.Duration{pauseMost, disturbMost} {
		var p ends
		at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		var s telemetry.Session
		for range 20 {
			s.ID = id.New[telemetry.SessionID]()
			p.made(s, "new", events.ViaRadius, at, most)
		}
		s.ID = id.New[telemetry.SessionID]()
		if !p.look(s, "new", at.Add(most-1)).rests || p.look(s, "new", at.Add(most)).rests {
			t.Errorf("the longest pause is not %v", most)
		}
		if p.tidy(at.Add(most + pauseMost)); len(p.of) != 1 {
			t.Error("an end is forgotten before the next look")
		}
		if p.tidy(at.Add(most + pauseMost + 1)); len(p.of) != 0 {
			t.Error("an end is kept for ever")
		}
	}
}
