package vault_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/vault"
)

// beats notes a sign of life of a program: an absence is a gap of 5 minutes, and 72 hours of one count.
func (k kit) beats(t *testing.T, program string, kept int64, machine time.Time) vault.Beat {
	t.Helper()
	b, err := k.Presence.Beat(t.Context(), vault.Beating{Program: program, Kept: kept, Now: machine}, 5*time.Minute,
		72*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPresence_AProgramWhoseClockIsWrongHidesAndInventsNoAbsence(t *testing.T) {
	t.Parallel()
	k := open(t)
	if b, err := k.Presence.Read(t.Context()); err != nil || !b.At.IsZero() || b.Now.IsZero() || len(b.Programs) != 0 {
		t.Errorf("before the first beat: %+v, %v", b, err)
	}
	for _, wrong := range []time.Duration{0, 40 * 365 * 24 * time.Hour, -time.Hour, 0} {
		if b := k.beats(t, "a", 0, start.Add(wrong)); b.Away != (vault.Absence{}) || !b.At.Equal(b.Now) {
			t.Errorf("a clock that is ahead by %v: %+v", wrong, b)
		}
	}
	k.exec(t, `update {schema}.presence set beat_at = beat_at - interval '20 hours'`)
	b := k.beats(t, "b", 0, start)
	if gone := b.Away.Until.Sub(b.Away.From); !b.Away.Until.Equal(start) || gone < 20*time.Hour || gone > 21*time.Hour {
		t.Errorf("after 20 hours: %+v", b.Away)
	}
	if after := k.beats(t, "a", 0, start.Add(time.Minute)); after.Away != b.Away {
		t.Errorf("the absence became %+v", after.Away)
	}
	if err := k.Presence.Settled(t.Context(), b.Away); err != nil {
		t.Fatal(err)
	}

	// the database's clock was put back
	k.exec(t, `update {schema}.presence set beat_at = beat_at + interval '4 years'`)
	if b := k.beats(t, "a", 0, start); b.Away != (vault.Absence{}) || !b.At.Equal(b.Now) {
		t.Errorf("after a clock of the database that was ahead: %+v", b)
	}
	k.exec(t, `update {schema}.presence set beat_at = beat_at - interval '4 years'`)
	b = k.beats(t, "a", 0, start)
	if gone := b.Away.Until.Sub(b.Away.From); gone != 72*time.Hour {
		t.Errorf("an absence of years counts %v", gone)
	}
}

func TestPresence_EachProgramTellsWhatIsOnItsDisk(t *testing.T) {
	t.Parallel()
	k := open(t)
	first := k.beats(t, "a", 2, start)
	k.beats(t, "b", 0, start)
	b := k.beats(t, "a", 5, start)
	if len(b.Programs) != 2 || b.Programs[0].Kept != 5 || !b.Programs[0].Since.Equal(first.Now) ||
		!b.Programs[0].At.Equal(b.Now) || !b.Programs[1].Since.IsZero() {
		t.Errorf("%+v", b)
	}
	if err := k.Presence.Forget(t.Context(), first.Programs[0]); err != nil {
		t.Fatal(err)
	}
	b = k.beats(t, "a", 0, start)
	if len(b.Programs) != 2 || !b.Programs[0].Since.IsZero() {
		t.Errorf("one that has given a sign of life is forgotten, or its disk is not empty: %+v", b)
	}
	if err := k.Presence.Forget(t.Context(), b.Programs[0]); err != nil {
		t.Fatal(err)
	}
	if err := k.Presence.Leave(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if b, err := k.Presence.Read(t.Context()); err != nil || len(b.Programs) != 0 || b.At.IsZero() {
		t.Errorf("%+v, %v", b, err)
	}
}
