package accessjobs

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// gateKit is the gate of cuts of a program that drives processes and takes no money, beside one that takes it. The test
// makes each look.
type gateKit struct {
	*Absence
	t     *testing.T
	clock *clock.Manual
	db    *postgres.DB
	ever  int64 // callbacks that have waited on this program's own disk
	owed  bool
}

// newGate makes the gate of a program that has not looked yet, on a clock that stands at 09:00 UTC.
func newGate(t *testing.T) *gateKit {
	t.Helper()
	k := &gateKit{t: t, clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)), db: pgtest.New(t)}
	ring, err := secrets.New(make([]byte, secrets.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(t.Context(), vault.Config{DB: k.db, Keyring: ring, Clock: k.clock})
	if err != nil {
		t.Fatal(err)
	}
	k.Absence = NewAbsence(AbsenceConfig{
		Settles: true, Workers: Workers{Clock: k.clock}, Presence: v.Presence, Logger: storetest.Quiet(),
		Owed:     func(context.Context) (bool, error) { return k.owed, nil },
		Position: func(context.Context) (uint64, int64, error) { return 0, 0, nil },
		Passed:   func(context.Context, uint64, int64) (bool, error) { return true, nil },
	})
	k.cfg.Kept = func() (int64, int64) { return k.ever, 0 }
	return k
}

// other gives a sign of life of the program that takes money.
func (k *gateKit) other(kept int64) {
	k.t.Helper()
	_, err := k.cfg.Presence.Beat(k.t.Context(), vault.Beating{Program: "other", Kept: kept, Now: k.clock.Now()},
		absentFor, longest)
	if err != nil {
		k.t.Fatal(err)
	}
}

// mayCut looks, settles what can be settled, and checks whether reviews may cut.
func (k *gateKit) mayCut(want bool, when string) {
	k.t.Helper()
	if err := k.look(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	if d, open := k.doubt(); open {
		if err := k.settle(k.t.Context(), d); err != nil {
			k.t.Fatal(err)
		}
	}
	if got := k.MayCut(); got != want {
		k.t.Errorf("%s: may cut %v", when, got)
	}
}

func TestAbsence_CutsWaitForTheDiskOfEachProgram(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	if k.MayCut() {
		t.Error("before the first look reviews may cut")
	}
	k.owed = true
	k.mayCut(false, "at the start, while a callback from before it is in the inbox")
	k.owed = false
	k.mayCut(true, "where nobody has ever taken money")
	k.other(0)
	k.mayCut(true, "beside a program that takes money")
	k.other(1)
	k.mayCut(false, "while a callback is on the disk of the other program")
	k.other(0)
	k.owed = true
	k.mayCut(false, "while a callback is in the inbox")
	k.owed = false
	k.mayCut(true, "after the callback was counted")

	k.Lost()
	k.mayCut(false, "before the other program was heard of after the database was away")
	k.other(1)
	k.mayCut(false, "while its disk has a callback")
	k.other(0)
	k.mayCut(true, "after it was counted")

	again := NewAbsence(k.cfg) // the next start of this program
	again.cfg.Kept = k.cfg.Kept
	k.Absence = again
	k.mayCut(false, "at the start, before the other program was heard of")
	k.other(0)
	k.mayCut(true, "after it was heard of")
}

func TestAbsence_NobodyWaitsForAProgramThatIsGoneLongerThanPatience(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.other(0)
	k.mayCut(false, "at the start")
	k.other(0)
	k.mayCut(true, "beside a program that takes money")
	if _, err := k.db.Owner.Exec(t.Context(), `update `+k.db.Namespace.Schema("vault")+
		`.presence_programs set beat_at = beat_at - interval '1 minute'`); err != nil {
		t.Fatal(err)
	}
	k.mayCut(false, "beside a program that is silent")
	k.clock.Advance(settlePatience - time.Second)
	k.mayCut(false, "within patience")
	k.clock.Advance(time.Second)
	if d, open := k.doubt(); !open || k.settle(t.Context(), d) != nil {
		t.Error("patience is not over")
	}
	k.mayCut(true, "after patience")
	if b, err := k.cfg.Presence.Read(t.Context()); err != nil || len(b.Programs) != 0 {
		t.Errorf("the program is not forgotten: %+v, %v", b, err)
	}
	k.other(3)
	k.mayCut(false, "after it has come back with callbacks")
	k.other(3)
	if _, err := k.db.Owner.Exec(t.Context(), `update `+k.db.Namespace.Schema("vault")+
		`.presence_programs set kept_since = kept_since - $1::interval`, settlePatience); err != nil {
		t.Fatal(err)
	}
	k.mayCut(true, "after patience with callbacks that it cannot store")
}

// TestAbsence_ASignOfLifeFromTheFutureIsNone: the database's clock was put back by an hour, and the other program has
// not been heard of since.
func TestAbsence_ASignOfLifeFromTheFutureIsNone(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.other(0)
	k.mayCut(true, "beside a program that takes money")
	schema := k.db.Namespace.Schema("vault")
	for _, table := range []string{"presence_programs", "presence"} {
		_, err := k.db.Owner.Exec(t.Context(), `update `+schema+`.`+table+` set beat_at = beat_at + interval '1 hour'`)
		if err != nil {
			t.Fatal(err)
		}
		k.mayCut(false, "with a time from the future in "+table)
		k.other(0)
		k.mayCut(true, "after the next sign of life")
	}
}

// TestAbsence_OneThatCannotBeRecordedIsNotForgotten: the database is back after six hours, and for longer than patience
// the read model of organizations is still being filled.
func TestAbsence_OneThatCannotBeRecordedIsNotForgotten(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	views := runner.New(runner.Config{DB: k.db, Clock: k.clock})
	views.Register(identityviews.Organizations{})
	k.cfg.Workers.Views = views.Views()
	k.other(0)
	away := vault.Absence{From: k.clock.Now(), Until: k.clock.Now().Add(6 * time.Hour)}
	if _, err := k.db.Owner.Exec(t.Context(), `update `+k.db.Namespace.Schema("vault")+
		`.presence set away_from = $1, away_until = $2`, away.From, away.Until); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := k.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		d, open := k.doubt()
		if !open || k.settle(t.Context(), d) == nil || k.MayCut() {
			t.Error("reviews may cut customers who could not pay")
		}
		k.clock.Advance(settlePatience)
	}
	if b, err := k.cfg.Presence.Read(t.Context()); err != nil || !b.Away.From.Equal(away.From) {
		t.Errorf("the absence is forgotten: %+v, %v", b, err)
	}
}

func TestAbsence_OnePatienceHoldsForOneOutage(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.ever, k.owed = 1, true
	k.mayCut(false, "after a callback was on the disk")
	for range 10 {
		k.clock.Advance(settlePatience/10 - time.Second)
		k.ever++
		k.mayCut(false, "while more of them come")
	}
	k.clock.Advance(10 * time.Second)
	k.ever++
	k.mayCut(true, "after patience")
	k.mayCut(true, "later")
	k.owed = false
	k.ever++
	k.mayCut(true, "after one that is counted at once")
}
