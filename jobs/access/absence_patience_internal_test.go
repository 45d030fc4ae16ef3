package accessjobs

import (
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// now gives the database's time.
func (k *gateKit) now() time.Time {
	k.t.Helper()
	s, err := k.cfg.Presence.Read(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	return s.Now
}

// looks lets time go by in which the gate looks again and again and must stay shut.
func (k *gateKit) looks(d time.Duration, when string) {
	k.t.Helper()
	for range d / stampEvery {
		k.mayCut(false, when)
		k.clock.Advance(stampEvery)
	}
}

// TestAbsence_ACallbackIsWaitedForOnceHoweverManyOutagesFollow: it can never be handled, and the database goes away
// every five minutes. Money that comes later has its own time.
func TestAbsence_ACallbackIsWaitedForOnceHoweverManyOutagesFollow(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.owed, k.came = true, k.now()
	k.Lost()
	k.looks(settlePatience/2, "after the outage")
	k.mayCut(false, "within patience")
	k.Lost()
	k.looks(settlePatience/2+stampEvery, "after the next outage")
	k.mayCut(true, "after patience with the callback")
	k.Lost()
	k.mayCut(true, "after one more outage")
	k.came = k.now()
	k.Lost()
	k.looks(settlePatience, "after money has come in another outage")
	k.mayCut(true, "after patience with that")
}

// TestAbsence_WhileTheEventStoreIsAwayPatienceStandsStill: nobody can count the money before it is back.
func TestAbsence_WhileTheEventStoreIsAwayPatienceStandsStill(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.log, k.owed, k.came = errors.New("away"), true, k.now()
	k.looks(3*settlePatience, "while it is away")
	k.log = nil
	k.looks(settlePatience, "after its return")
	k.mayCut(true, "after patience")
}

// TestAbsence_WaitingTellsOfAllOutagesTogether: what follows from the money is not done, and the database goes away
// every five minutes.
func TestAbsence_WaitingTellsOfAllOutagesTogether(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.behind = true
	for range 6 {
		k.Lost()
		k.mayCut(false, "after the outage")
		k.clock.Advance(settlePatience / 2)
	}
	if waiting := k.Waiting(); waiting != 3*settlePatience {
		t.Errorf("cuts wait for %v", waiting)
	}
	k.mayCut(false, "five minutes after the last outage")
	k.clock.Advance(settlePatience / 2)
	k.mayCut(true, "ten minutes after the last outage")
}

// goesOn gives the next sign of life of a program that takes money and has given one ten seconds ago.
func (k *gateKit) goesOn(program string) {
	k.t.Helper()
	k.signs(vault.Sign{Program: program, Serves: true, Last: beatEvery})
}

// TestAbsence_TheClockOfTheDatabaseIsPutBack: programs are heard of again with their next sign of life, not when the
// clock has caught up.
func TestAbsence_TheClockOfTheDatabaseIsPutBack(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	step := pgtest.Steps(t, k.db)
	k.mayCut(true, "at the start")
	for _, by := range []time.Duration{-time.Hour, -20 * time.Second, time.Hour} {
		k.goesOn("other")
		k.Lost()
		k.mayCut(false, "before the other program was heard of after the outage")
		step(by)
		k.mayCut(false, "while it is not heard of, and the clock was put back")
		k.goesOn("other")
		k.mayCut(true, "after it was heard of")
		step(by)
		k.goesOn("other")
		k.mayCut(true, "after a step without an outage")
	}
}

// TestAbsence_AStepOfTheClockEndsNoPatience: the database's clock is put ahead while a program is silent.
func TestAbsence_AStepOfTheClockEndsNoPatience(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	step := pgtest.Steps(t, k.db)
	k.other(0)
	k.mayCut(false, "at the start")
	k.clock.Advance(settlePatience - time.Second)
	step(time.Hour)
	k.goesOn("own")
	k.mayCut(false, "within patience")
	k.came, k.owed = k.now(), true
	step(-2 * time.Hour)
	k.goesOn("own")
	k.clock.Advance(time.Second)
	k.mayCut(true, "after patience")
	k.Lost()
	k.came = k.now()
	k.mayCut(false, "with money that came after the clock was put back")
}

// TestAbsence_AStepOfTheClockIsNoSilence: the newest sign of life is as old as before.
func TestAbsence_AStepOfTheClockIsNoSilence(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	step := pgtest.Steps(t, k.db)
	k.goesOn("own")
	k.mayCut(true, "at the start")
	for _, by := range []time.Duration{time.Hour, -2 * time.Hour} {
		step(by)
		k.mayCut(true, "after a step")
	}
	step(time.Hour)
	k.goesOn("own")
	k.mayCut(true, "after the next sign")
	k.clock.Advance(staleAfter)
	step(staleAfter)
	k.mayCut(false, "when no program has given a sign for long")
}

// TestAbsence_AProgramThatHasNeverServedHoldsNobody: it is killed while it starts. After an outage half a minute is
// enough for it to be heard of.
func TestAbsence_AProgramThatHasNeverServedHoldsNobody(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.signs(vault.Sign{Program: "other"})
	k.mayCut(true, "while it starts")
	k.passes(time.Minute)
	k.mayCut(true, "when it is silent")
	k.Lost()
	k.mayCut(false, "after an outage")
	k.passes(silentAfter)
	k.mayCut(true, "after half a minute")
	if n := k.programs(); n != 0 {
		t.Errorf("%d programs are known", n)
	}
	k.signs(vault.Sign{Program: "other", Stops: true})
	k.restarts()
	k.mayCut(true, "at a start beside a program that has stopped before it served")
	k.signs(vault.Sign{Program: "other", Kept: 1})
	k.mayCut(false, "when it has callbacks on its disk")
	k.passes(time.Minute)
	k.mayCut(false, "when it is silent with callbacks on its disk")
}

// TestAbsence_PatienceWithOneProgramIsNotRenewedByAnother: one cannot store its callbacks, another one stops.
func TestAbsence_PatienceWithOneProgramIsNotRenewedByAnother(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.other(3)
	k.mayCut(false, "with callbacks on the disk of a program")
	k.passes(settlePatience)
	k.other(3)
	k.mayCut(true, "after patience")
	k.signs(vault.Sign{Program: "third", Serves: true})
	k.mayCut(true, "beside a third program")
	k.signs(vault.Sign{Program: "third", Stops: true})
	k.mayCut(false, "after the third has stopped")
	k.signs(vault.Sign{Program: "third", Serves: true})
	k.other(3)
	k.mayCut(true, "after it is back")
}
