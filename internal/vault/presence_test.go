package vault_test

import (
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// signs notes a sign of life and gives what is known then: an absence is a gap of 5 minutes, and 72 hours of one count.
func (k kit) signs(t *testing.T, s vault.Sign) vault.Seen {
	t.Helper()
	if err := k.Presence.Beat(t.Context(), s, 5*time.Minute, 72*time.Hour); err != nil {
		t.Fatal(err)
	}
	return k.seen(t)
}

// seen gives what is known.
func (k kit) seen(t *testing.T) vault.Seen {
	t.Helper()
	s, err := k.Presence.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// aged makes the newest sign of life of all programs older.
func (k kit) aged(t *testing.T, by string) {
	t.Helper()
	k.exec(t, `update {schema}.presence set beat_at = beat_at - interval '`+by+`'`)
}

func TestPresence_EachAbsenceIsNotedApart(t *testing.T) {
	t.Parallel()
	k := open(t)
	serves := vault.Sign{Program: "a", Serves: true}
	if s := k.seen(t); !s.At.IsZero() || s.Now.IsZero() || len(s.Programs)+len(s.Absences) != 0 {
		t.Errorf("before the first sign: %+v", s)
	}
	if s := k.signs(t, serves); len(s.Absences) != 0 || s.At.After(s.Now) || s.Now.Sub(s.At) > time.Minute {
		t.Errorf("after the first sign: %+v", s)
	}
	k.aged(t, "4 minutes")
	if s := k.signs(t, serves); len(s.Absences) != 0 {
		t.Errorf("after 4 minutes: %+v", s.Absences)
	}
	k.aged(t, "20 hours")
	first := k.signs(t, serves)
	if n := len(first.Absences); n != 1 || !first.Absences[0].Until.Equal(first.At) {
		t.Fatalf("after 20 hours: %+v", first)
	}
	if away := first.Absences[0].Until.Sub(first.Absences[0].From); away < 20*time.Hour || away > 21*time.Hour {
		t.Errorf("20 hours count %v", away)
	}
	if s := k.signs(t, serves); len(s.Absences) != 1 || s.Absences[0] != first.Absences[0] {
		t.Errorf("the absence became %+v", s.Absences)
	}
	k.aged(t, "6 minutes")
	two := k.signs(t, vault.Sign{Program: "b", Serves: true})
	if len(two.Absences) != 2 || two.Absences[0] != first.Absences[0] || two.Absences[1].Until.Before(first.At) {
		t.Errorf("after a second absence: %+v", two.Absences)
	}
	if err := k.Presence.Settled(t.Context(), first.Absences[0]); err != nil {
		t.Fatal(err)
	}
	if s := k.seen(t); len(s.Absences) != 1 || s.Absences[0] != two.Absences[1] {
		t.Errorf("after the first is settled: %+v", s.Absences)
	}
}

func TestPresence_AClockOfTheDatabaseThatIsWrongHidesNoAbsenceForLong(t *testing.T) {
	t.Parallel()
	k := open(t)
	serves := vault.Sign{Program: "a", Serves: true}
	k.signs(t, serves)
	k.aged(t, "-4 years") // it was put back
	if s := k.signs(t, serves); len(s.Absences) != 0 || s.At.After(s.Now) {
		t.Errorf("after a clock that was ahead: %+v", s)
	}
	k.aged(t, "4 years")
	s := k.signs(t, serves)
	if len(s.Absences) != 1 || s.Absences[0].Until.Sub(s.Absences[0].From) != 72*time.Hour {
		t.Errorf("an absence of years: %+v", s.Absences)
	}
}

func TestPresence_ProgramsThatAreBackAtOnceNoteOneAbsence(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.signs(t, vault.Sign{Program: "a", Serves: true})
	for range 20 {
		k.aged(t, "1 hour")
		var all sync.WaitGroup
		for _, program := range []string{"a", "b", "c", "d"} {
			all.Go(func() {
				s := vault.Sign{Program: program, Serves: true}
				if err := k.Presence.Beat(t.Context(), s, 5*time.Minute, 72*time.Hour); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if s := k.seen(t); len(s.Absences) != 20 {
		t.Errorf("%d absences of 20", len(s.Absences))
	}
}

// TestPresence_AProgramThatStartsEndsNoAbsence: it tells of its disk, and has not taken money yet.
func TestPresence_AProgramThatStartsEndsNoAbsence(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.signs(t, vault.Sign{Program: "a", Serves: true})
	k.aged(t, "1 hour")
	if s := k.signs(t, vault.Sign{Program: "b", Kept: 2}); len(s.Absences) != 0 || s.Now.Sub(s.At) < time.Hour ||
		len(s.Programs) != 2 {
		t.Errorf("%+v", s)
	}
	if s := k.signs(t, vault.Sign{Program: "b", Serves: true}); len(s.Absences) != 1 {
		t.Errorf("%+v", s)
	}
}

func TestPresence_EachProgramTellsWhatIsOnItsDisk(t *testing.T) {
	t.Parallel()
	k := open(t)
	first := k.signs(t, vault.Sign{Program: "a", Kept: 2, Serves: true}).Programs[0]
	k.signs(t, vault.Sign{Program: "b", Serves: true})
	s := k.signs(t, vault.Sign{Program: "a", Kept: 5, Stops: true})
	if a := s.Programs[0]; len(s.Programs) != 2 || a.Kept != 5 || !a.Since.Equal(first.Since) ||
		!a.At.After(first.At) ||
		a.Stopped || !s.Programs[1].Since.IsZero() {
		t.Errorf("%+v", s)
	}
	if err := k.Presence.Forget(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	s = k.signs(t, vault.Sign{Program: "a", Stops: true})
	if a := s.Programs[0]; len(s.Programs) != 2 || !a.Since.IsZero() || !a.Stopped {
		t.Errorf("one that has given a sign of life is forgotten, or has not stopped: %+v", s)
	}
	if s := k.signs(t, vault.Sign{Program: "a"}); s.Programs[0].Stopped || !s.Programs[0].Served.Equal(first.Served) ||
		first.Served.IsZero() {
		t.Errorf("after a start: %+v", s)
	}
	if err := k.Presence.Forget(t.Context(), k.seen(t).Programs[0]); err != nil {
		t.Fatal(err)
	}
	if err := k.Presence.Leave(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if s := k.seen(t); len(s.Programs) != 0 || s.At.IsZero() {
		t.Errorf("%+v", s)
	}
}

// TestPresence_AStepOfTheClockIsNoAbsence: the database's clock is put ahead and back, while one program goes on to
// take money and another one is restarted.
func TestPresence_AStepOfTheClockIsNoAbsence(t *testing.T) {
	t.Parallel()
	k := open(t)
	step := pgtest.Steps(t, k.db)
	k.signs(t, vault.Sign{Program: "a", Serves: true})
	goesOn := vault.Sign{Program: "a", Serves: true, Last: 10 * time.Second}
	for _, by := range []time.Duration{time.Hour, -3 * time.Hour, 6 * time.Hour, -4 * time.Hour} {
		step(by)
		if s := k.signs(t, goesOn); len(s.Absences) != 0 || s.Now.Sub(s.At).Abs() > time.Minute {
			t.Errorf("after a step of %v: %+v", by, s)
		}
		if s := k.signs(t, vault.Sign{Program: "b", Serves: true}); len(s.Absences) != 0 {
			t.Errorf("after a restart of another program: %+v", s.Absences)
		}
	}
	step(time.Hour)
	s := k.signs(t, vault.Sign{Program: "a", Serves: true, Last: 20 * time.Minute})
	if len(s.Absences) != 1 || s.Absences[0].Until.Sub(s.Absences[0].From) != 20*time.Minute {
		t.Errorf("20 minutes without the database, whose clock was put ahead by an hour: %+v", s.Absences)
	}
	step(time.Hour)
	if s := k.signs(t, vault.Sign{Program: "a", Serves: true}); len(s.Absences) != 2 {
		t.Errorf("an hour without any program: %+v", s.Absences)
	}
	step(time.Minute)
	if s := k.signs(t, vault.Sign{Program: "b", Serves: true, Last: time.Hour}); len(s.Absences) != 2 {
		t.Errorf("an hour in which another program took money: %+v", s.Absences)
	}
}

// TestPresence_WhatAnOlderProgramNotesIsNotForgotten: it runs beside this version until it is replaced, notes absences
// in the row of the presence, and does not tell that it takes money.
func TestPresence_WhatAnOlderProgramNotesIsNotForgotten(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.signs(t, vault.Sign{Program: "a", Serves: true})
	k.exec(t, `update {schema}.presence set away_from = now() - interval '1 hour', away_until = now()`)
	s := k.signs(t, vault.Sign{Program: "a", Serves: true})
	if len(s.Absences) != 1 || s.Absences[0].Until.Sub(s.Absences[0].From) != time.Hour {
		t.Fatalf("%+v", s.Absences)
	}
	if err := k.Presence.Settled(t.Context(), s.Absences[0]); err != nil {
		t.Fatal(err)
	}
	if s := k.seen(t); len(s.Absences) != 0 {
		t.Errorf("after it is settled: %+v", s.Absences)
	}
	k.exec(t, `update {schema}.presence set away_from = now(), away_until = now()`) // it has told the log itself
	k.exec(t, `insert into {schema}.presence_programs (program, beat_at, kept) values ('old', now(), 0)`)
	if s := k.seen(t); len(s.Absences) != 0 || len(s.Programs) != 2 || s.Programs[1].Served.IsZero() {
		t.Errorf("%+v", s)
	}
}
