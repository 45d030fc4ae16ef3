package accessjobs

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// presence makes the presence of the other program, whose signs the test gives.
func (k *gateKit) presence() *Presence {
	return NewPresence(PresenceConfig{
		Program: "other", Kept: func() int64 { return 0 }, Vault: k.cfg.Presence, Clock: k.clock,
		Logger: storetest.Quiet(),
	})
}

// TestPresence_AProgramThatGoesOnEndsNoAbsenceOfTheClock: the database's clock is put ahead and back beside it.
func TestPresence_AProgramThatGoesOnEndsNoAbsenceOfTheClock(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	step := pgtest.Steps(t, k.db)
	p := k.presence()
	tell := func(ctx context.Context, fails bool) {
		t.Helper()
		if err := p.tell(ctx, vault.Sign{Serves: true}); (err != nil) != fails {
			t.Error(err)
		}
	}
	absences := func(want int, when string) {
		t.Helper()
		s, err := k.cfg.Presence.Read(t.Context())
		if err != nil || len(s.Absences) != want {
			t.Errorf("%s: %+v, %v", when, s.Absences, err)
		}
	}
	tell(t.Context(), false)
	for _, by := range []time.Duration{time.Hour, -2 * time.Hour, 5 * time.Hour} {
		step(by)
		k.clock.Advance(beatEvery)
		tell(t.Context(), false)
		absences(0, "after a step")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 6 { // the database is away
		k.clock.Advance(absentFor / 5)
		step(absentFor / 5)
		tell(gone, true)
	}
	tell(t.Context(), false)
	absences(1, "after an outage")
	step(time.Hour)
	p = k.presence()
	tell(t.Context(), false)
	absences(2, "after a restart")
}

// TestPresence_AProgramThatBeginsToStopSaysSo: its last requests may take long, and it takes no money meanwhile.
func TestPresence_AProgramThatBeginsToStopSaysSo(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	p := k.presence()
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	told := func(what string, is func(vault.ProgramBeat) bool) {
		t.Helper()
		for range 1000 {
			s, err := k.cfg.Presence.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Programs) == 1 && is(s.Programs[0]) {
				return
			}
			loop.Sleep(t.Context(), 10*time.Millisecond)
		}
		t.Error("it is not told that the program " + what)
	}
	p.Serve()
	told("serves", func(b vault.ProgramBeat) bool { return !b.Served.IsZero() && !b.Stopped })
	p.Withdraw()
	told("stops", func(b vault.ProgramBeat) bool { return b.Stopped })
}

// lineCount counts the lines of a log.
type lineCount struct {
	slog.Handler
	lines int
}

// Enabled implements slog.Handler.
func (*lineCount) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h *lineCount) Handle(context.Context, slog.Record) error {
	h.lines++
	return nil
}

// TestPresence_AnOutageIsToldOnce: it is tried every second, because cuts wait for it.
func TestPresence_AnOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	log := &lineCount{Handler: slog.DiscardHandler}
	p := &Presence{cfg: PresenceConfig{Logger: slog.New(log)}}
	for outage := range 2 {
		for range 100 {
			_ = p.note(t.Context(), errors.New("away"))
		}
		for range 2 {
			_ = p.note(t.Context(), nil)
		}
		if want := 2 * (outage + 1); log.lines != want { // its beginning and its end
			t.Errorf("%d lines, want %d", log.lines, want)
		}
	}
}
