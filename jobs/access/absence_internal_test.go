package accessjobs

import (
	"context"
	"errors"
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

// gateKit is the gate of cuts of a program that drives processes and keeps callbacks, beside one that keeps some, too.
// The test makes each look.
type gateKit struct {
	*Absence
	t       *testing.T
	clock   *clock.Manual
	db      *postgres.DB
	ever    int64 // callbacks that have waited on this program's own disk
	waiting int64 // that wait there
	owed    bool
	came    time.Time // when that came into the inbox, by the database's clock; zero = now
	idle    bool      // nobody handles the inbox
	refuses bool      // the database writes nothing
	behind  bool      // the processes are not done
	log     error
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
		Presence: v.Presence, Program: "own", Clock: k.clock, Logger: storetest.Quiet(),
		Kept:    func() (int64, int64) { return k.ever, k.waiting },
		Written: func() bool { return !k.refuses },
		Log:     func(context.Context) error { return k.log },
		Owed: func(_ context.Context, after time.Time) (bool, error) {
			return k.owed && (k.came.IsZero() || k.came.After(after)), nil
		},
		Untaken:  func(context.Context, time.Duration, time.Duration) (bool, error) { return k.idle, nil },
		Position: func(context.Context) (uint64, int64, error) { return 0, 0, nil },
		Passed: func(context.Context, uint64, int64) (bool, error) {
			if k.behind {
				return false, errors.New("the processes are behind")
			}
			return true, nil
		},
	})
	return k
}

// restarts is the next start of the program.
func (k *gateKit) restarts() { k.Absence = NewAbsence(k.cfg) }

// signs gives a sign of life of a program.
func (k *gateKit) signs(s vault.Sign) {
	k.t.Helper()
	if err := k.cfg.Presence.Beat(k.t.Context(), s, absentFor, longest); err != nil {
		k.t.Fatal(err)
	}
}

// other gives a sign of life of the program that takes money.
func (k *gateKit) other(kept int64) {
	k.t.Helper()
	k.signs(vault.Sign{Program: "other", Kept: kept, Serves: true})
}

// passes lets time go by, in which no program gives a sign of life.
func (k *gateKit) passes(d time.Duration) {
	k.t.Helper()
	k.clock.Advance(d)
	if _, err := k.db.Owner.Exec(k.t.Context(), `update `+k.db.Namespace.Schema("vault")+
		`.presence_programs
		set beat_at = beat_at - $1::interval, kept_since = kept_since - $1::interval`, d); err != nil {
		k.t.Fatal(err)
	}
}

// programs counts the programs that are known.
func (k *gateKit) programs() int {
	k.t.Helper()
	s, err := k.cfg.Presence.Read(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	return len(s.Programs)
}

// mayCut looks, settles what can be settled, and checks whether reviews may cut.
func (k *gateKit) mayCut(want bool, when string) {
	k.t.Helper()
	_ = k.round(k.t.Context()) // what it logs
	if got := k.MayCut(); got != want || want && k.Waiting() > 0 {
		k.t.Errorf("%s: may cut %v, cuts wait for %v", when, got, k.Waiting())
	}
}

func TestAbsence_CutsWaitForTheDiskOfEachProgram(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	if k.MayCut() {
		t.Error("before the first look reviews may cut")
	}
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

	k.restarts()
	k.mayCut(false, "at the start, before the other program was heard of")
	k.other(0)
	k.mayCut(true, "after it was heard of")
}

// TestAbsence_AtTheStartMoneyFromBeforeItIsCounted: it waits in the inbox, or the processes have not followed it.
func TestAbsence_AtTheStartMoneyFromBeforeItIsCounted(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.owed = true
	k.mayCut(false, "at the start, with a verified callback in the inbox")
	k.owed, k.behind = false, true
	k.mayCut(false, "while the processes are behind")
	k.behind = false
	k.mayCut(true, "after they have followed")
}

func TestAbsence_NobodyIsCutWhileTheDatabaseRefusesToWrite(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.refuses = true
	if k.MayCut() {
		t.Error("before the next look reviews may cut")
	}
	k.mayCut(false, "while it refuses")
	k.owed, k.refuses = true, false
	k.mayCut(false, "while money of that time is in the inbox")
	k.owed = false
	k.mayCut(true, "after it was counted")
}

// TestAbsence_AProgramThatHasStoppedIsWaitedFor: it may be back already, without its database, and take money.
func TestAbsence_AProgramThatHasStoppedIsWaitedFor(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.other(0)
	k.mayCut(false, "at the start")
	k.other(0)
	k.mayCut(true, "beside a program that takes money")
	k.signs(vault.Sign{Program: "other", Stops: true})
	k.mayCut(false, "after it has stopped")
	k.passes(settlePatience / 2)
	k.mayCut(false, "within patience")
	k.other(0)
	k.mayCut(true, "after it is back")
	k.signs(vault.Sign{Program: "other", Stops: true})
	k.mayCut(false, "after it has stopped again")
	k.passes(settlePatience)
	k.mayCut(true, "after patience")
	if n := k.programs(); n != 0 {
		t.Errorf("%d programs are known", n)
	}
}

// TestAbsence_AProgramThatStartsInVainHoldsNobody: it is off for longer than patience, and then fails at each start.
func TestAbsence_AProgramThatStartsInVainHoldsNobody(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.other(0)
	k.mayCut(false, "at the start")
	k.passes(settlePatience)
	k.mayCut(true, "after patience")
	for range 3 {
		k.signs(vault.Sign{Program: "other"})
		k.mayCut(true, "while it starts")
		k.signs(vault.Sign{Program: "other", Stops: true})
		k.mayCut(true, "after it has failed")
	}
	k.other(0)
	k.signs(vault.Sign{Program: "other", Stops: true})
	k.mayCut(false, "after it has served")
}

func TestAbsence_NobodyWaitsForAProgramThatIsGoneLongerThanPatience(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.other(0)
	k.mayCut(false, "at the start")
	k.other(0)
	k.mayCut(true, "beside a program that takes money")
	k.passes(time.Minute)
	k.mayCut(false, "beside a program that is silent")
	k.passes(settlePatience - time.Second)
	k.mayCut(false, "within patience")
	k.passes(time.Second)
	k.mayCut(true, "after patience")
	if n := k.programs(); n != 0 {
		t.Errorf("%d programs are known", n)
	}
	k.other(3)
	k.mayCut(false, "after it has come back with callbacks")
	k.passes(settlePatience)
	k.other(3)
	k.mayCut(true, "after patience with callbacks that it cannot store")
	k.mayCut(true, "later")
}

// TestAbsence_AnOutageBeginsPatienceAnew: the callbacks were on the disk of the other program before the database was
// away, and could not be stored since.
func TestAbsence_AnOutageBeginsPatienceAnew(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.other(0)
	k.mayCut(false, "at the start")
	k.other(1)
	k.mayCut(false, "while a callback is on the disk of the other program")
	k.passes(settlePatience - time.Minute)
	k.Lost()
	k.passes(20 * time.Minute)
	k.other(1)
	k.mayCut(false, "after the outage")
	k.other(0)
	k.mayCut(true, "after it was counted")
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
	k.cfg.Views = views.Views()
	k.signs(vault.Sign{Program: "own", Serves: true})
	if _, err := k.db.Owner.Exec(t.Context(), `update `+k.db.Namespace.Schema("vault")+
		`.presence set beat_at = beat_at - interval '6 hours'`); err != nil {
		t.Fatal(err)
	}
	k.signs(vault.Sign{Program: "own", Serves: true})
	for range 3 {
		k.mayCut(false, "before customers who could not pay have their time")
		k.clock.Advance(settlePatience)
	}
	if s, err := k.cfg.Presence.Read(t.Context()); err != nil || len(s.Absences) != 1 {
		t.Errorf("the absence is forgotten: %+v, %v", s, err)
	}
	if k.Waiting() < 3*settlePatience {
		t.Errorf("cuts wait for %v", k.Waiting())
	}
}

// TestAbsence_PatienceBeginsWhenTheInboxIsHandledAgain: money comes for longer than patience, and nobody handles it.
func TestAbsence_PatienceBeginsWhenTheInboxIsHandledAgain(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.idle, k.owed = true, true
	for range 5 {
		k.mayCut(false, "while nobody handles the inbox")
		k.clock.Advance(settlePatience / 2)
	}
	k.mayCut(false, "at its last look")
	k.idle = false
	k.mayCut(false, "while what was there is counted")
	k.owed = false
	k.mayCut(true, "when it is")
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

// TestAbsence_ACallbackThatIsBeingWrittenIsWaitedFor: it is not in the inbox before it is on the disk.
func TestAbsence_ACallbackThatIsBeingWrittenIsWaitedFor(t *testing.T) {
	t.Parallel()
	k := newGate(t)
	k.mayCut(true, "at the start")
	k.ever, k.waiting = 1, 1
	if k.MayCut() {
		t.Error("before the next look reviews may cut")
	}
	k.mayCut(false, "while it is written")
	k.waiting, k.owed = 0, true
	k.mayCut(false, "while it is in the inbox")
	k.owed = false
	k.mayCut(true, "after it was counted")
}
