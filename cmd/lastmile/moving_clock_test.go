package main

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// programTime asks the program for its time.
func (k *kit) programTime() time.Time {
	k.t.Helper()
	return timeOf(k.t, k.must(k.root, "GET", "/dev/clock", nil))
}

// timeOf reads the answer of /dev/clock.
func timeOf(t testing.TB, a answer) time.Time {
	t.Helper()
	now, err := time.Parse(time.RFC3339Nano, a.text("now"))
	if err != nil {
		t.Fatalf("time %v: %v", a, err)
	}
	return now
}

// Sign-ins expire with the moved time, and the time does not go back over a restart.
func TestDevClock_MovesForwardAndOutlivesARestart(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	before := k.programTime()
	now := timeOf(t, k.must(k.root, "POST", "/dev/clock", map[string]any{"advance": "10m"}))
	if moved := now.Sub(before); moved < 10*time.Minute || moved > 11*time.Minute {
		t.Errorf("moved by %v", moved)
	}
	k.refused(k.root, "POST /dev/clock", map[string]any{"to": before}, 422, "invalid_input")
	k.refused(k.root, "POST /dev/clock", map[string]any{"advance": "-1s"}, 422, "invalid_input")
	k.refused(k.root, "POST /dev/clock", map[string]any{"advance": "soon"}, 422, "invalid_input")
	k.refused(k.root, "POST /dev/clock", map[string]any{}, 422, "invalid_input")
	k.refused(k.root, "POST /dev/clock", map[string]any{"advance": "1h", "to": now.Add(time.Hour)}, 422,
		"invalid_input")
	k.refused(k.admin, "GET /dev/clock", nil, 404, "")
	k.must(k.root, "POST", "/dev/clock", map[string]any{"to": now.Add(48 * time.Hour)})
	k.refused(k.root, "GET /auth/me", nil, 401, "")
	k.app.Stop()
	k.start()
	k.root, _ = k.login("", testRootEmail, testPassword)
	if again := k.programTime(); again.Before(now.Add(48 * time.Hour)) {
		t.Errorf("time went back to %v over a restart", again)
	}
}

func TestDevClock_DoesNotExistUnlessItIsSwitchedOn(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.refused(k.root, "GET /dev/clock", nil, 404, "")
	k.refused(k.root, "POST /dev/clock", map[string]any{"advance": "1h"}, 404, "")
}

// A clock that begins in the past goes on from where it was, also when a second start would begin earlier.
func TestDevClock_ThatIsBehindTheMachinesGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true")
	k.clock = clock.NewMovable(clock.System(), -48*time.Hour)
	k.start().signIn()
	behind := func() time.Duration { return time.Until(k.programTime()).Abs().Round(time.Hour) }
	if d := behind(); d != 48*time.Hour {
		t.Errorf("the clock is behind by %v", d)
	}
	before := k.programTime()
	k.app.Stop()
	k.clock = clock.NewMovable(clock.System(), -72*time.Hour)
	k.start()
	k.root, _ = k.login("", testRootEmail, testPassword)
	if again := k.programTime(); again.Before(before) {
		t.Errorf("time went back from %v to %v over a restart", before, again)
	}
	if err := k.app.mover.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	ahead, known, err := k.app.storage.vault.ClockAhead.Load(t.Context())
	if now := clock.Ahead(k.clock); now != 0 || ahead != 0 || !known || err != nil {
		t.Errorf("ahead by %v, and %v is kept: %v", now, ahead, err)
	}
}

func TestDevClock_DataOfAMovedClockIsRefusedInProduction(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start()
	if err := k.app.storage.vault.ClockAhead.Keep(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := follow(context.Background(), clock.System(), k.app.storage.vault.ClockAhead); err == nil {
		t.Error("a clock that cannot be moved uses the data")
	}
}

// A request that runs is finished under the time in which it began; those that come meanwhile see the new time.
func TestDevClock_AMoveWaitsForRunningRequests(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	leave, err := k.app.gates.requests.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, moved := k.app.clock.Now(), make(chan answer, 1)
	go func() {
		out, _ := k.root.call(t.Context(), "POST", "/dev/clock", "", map[string]any{"advance": "1m"})
		moved <- out
	}()
	k.isShut(&k.app.gates.requests)
	select {
	case early := <-moved:
		t.Fatalf("the clock was moved during a request: %v", early)
	default:
	}
	if k.app.clock.Now().Sub(before) >= time.Minute {
		t.Error("a running request sees the new time")
	}
	leave()
	if now := timeOf(t, <-moved); now.Sub(before) < time.Minute {
		t.Errorf("the clock is at %v after the request", now)
	}
}

// isShut waits until a move of the clock has shut a gate. While somebody is inside, the move cannot go on from there.
func (k *kit) isShut(gate *clock.Gate) {
	k.t.Helper()
	k.eventually("a shut gate", func(context.Context) (bool, error) {
		leave, open := gate.TryEnter()
		if open {
			leave()
		}
		return !open, nil
	})
}

// A slow router, which may need five minutes for a check, does not keep the clock from being moved. Its check makes way
// and is made afterwards.
func TestDevClock_JobsOnASlowRouterMakeWay(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true", "DRIFT_CHECK_INTERVAL=1s").withRouters("7.16").start().signIn()
	r := k.register(0)
	k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether5"})
	checks := func(condition string) (n int) {
		if err := k.app.storage.db.Owner.QueryRow(t.Context(), `select count(*) from `+
			k.app.storage.db.Namespace.Schema("river")+`.river_job where kind = 'network_check_drift' and `+
			condition).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	r.SetFaults(router.Faults{LatencyMs: 4000})
	k.eventually("a check to be slow", func(context.Context) (bool, error) {
		return checks(`state = 'running' and attempted_at < now() - interval '2 seconds'`) > 0, nil
	})
	before := k.app.clock.Now()
	now := timeOf(t, k.must(k.root, "POST", "/dev/clock", map[string]any{"advance": "1h"}))
	if now.Sub(before) < time.Hour {
		t.Errorf("moved from %v to %v", before, now)
	}
	if n := checks(`metadata ? 'snoozes'`); n == 0 {
		t.Error("no check made way")
	}
	r.SetFaults(router.Faults{})
	k.eventually("the check to be made", func(context.Context) (bool, error) {
		return checks(`metadata ? 'snoozes' and state = 'completed'`) > 0, nil
	})
}
