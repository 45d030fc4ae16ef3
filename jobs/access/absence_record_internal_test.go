package accessjobs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// absentKit is the gate of a program of two organizations, with a real log. The test makes each look.
type absentKit struct {
	*Absence
	*coretest.Kit
	t      *testing.T
	clock  *clock.Manual
	a, b   id.Organization
	faults map[id.Organization]error // of the commands to an organization
	tried  int                       // commands in all
}

// newAbsent makes it, when the platform has just given a sign of life.
func newAbsent(t *testing.T) *absentKit {
	t.Helper()
	c := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	k := &absentKit{
		t: t, clock: c, a: id.New[id.Organization](), b: id.New[id.Organization](),
		faults: map[id.Organization]error{},
	}
	k.Kit = coretest.NewWithVault(t, vault.Config{Clock: c}, identityviews.Organizations{})
	bus.Register(k.Bus, access.Outages())
	bus.Register(k.Bus, identity.Organizations())
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(k.a, "acme"))
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(k.b, "bolt"))
	views := k.Show(t)
	k.WaitForAll(t, views, identityviews.OrganizationsName)
	k.Absence = NewAbsence(AbsenceConfig{
		Program: "own", Presence: k.Vault.Presence, Views: views, Clock: c, Logger: storetest.Quiet(),
		Kept: func() (int64, int64) { return 0, 0 }, Written: func() bool { return true },
		Log: func(context.Context) error { return nil },
		Record: func(ctx context.Context, cmd commands.RecordAbsence, meta commands.Meta) error {
			k.tried++
			if err := k.faults[cmd.OrgID]; err != nil {
				return err
			}
			_, err := k.Bus.Execute(ctx, cmd, meta)
			return err
		},
		Owed:     func(context.Context, time.Time) (bool, error) { return false, nil },
		Untaken:  func(context.Context, time.Duration, time.Duration) (bool, error) { return false, nil },
		Position: func(context.Context) (uint64, int64, error) { return 0, 0, nil },
		Passed:   func(context.Context, uint64, int64) (bool, error) { return true, nil },
	})
	k.sign()
	k.mayCut(true, "at the start")
	return k
}

// sign gives a sign of life of this program.
func (k *absentKit) sign() {
	k.t.Helper()
	s := vault.Sign{Program: "own", Serves: true}
	if err := k.Vault.Presence.Beat(k.t.Context(), s, absentFor, longest); err != nil {
		k.t.Fatal(err)
	}
}

// gone makes the platform absent for d; then the program starts again.
func (k *absentKit) gone(d time.Duration) {
	k.t.Helper()
	k.clock.Advance(d)
	k.exec(`update {schema}.presence set beat_at = beat_at - $1::interval`, d)
	k.Absence = NewAbsence(k.cfg)
	k.sign()
}

// older makes all absences older: the database's clock goes on by itself.
func (k *absentKit) older(d time.Duration) {
	k.t.Helper()
	k.clock.Advance(d)
	k.exec(`update {schema}.absences set away_from = away_from - $1::interval, away_until = away_until - $1::interval`,
		d)
}

// exec changes a table of the vault.
func (k *absentKit) exec(sql string, args ...any) {
	k.t.Helper()
	sql = strings.ReplaceAll(sql, "{schema}", k.DB.Namespace.Schema("vault"))
	if _, err := k.DB.Owner.Exec(k.t.Context(), sql, args...); err != nil {
		k.t.Fatal(err)
	}
}

// mayCut looks, settles what can be settled, and checks whether reviews may cut.
func (k *absentKit) mayCut(want bool, when string) {
	k.t.Helper()
	_ = k.round(k.t.Context()) // what it logs
	if got := k.MayCut(); got != want {
		k.t.Errorf("%s: may cut %v", when, got)
	}
}

// away checks how long the absences of an organization are in the log, to a minute, the oldest first.
func (k *absentKit) away(org id.Organization, want ...time.Duration) {
	k.t.Helper()
	var got []events.PlatformAway
	list, err := k.Store.Read(k.t.Context(), commands.At(commands.OutageCategory, org).Stream(), 0)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, e := range list {
		if away, ok := e.Event.(events.PlatformAway); ok {
			got = append(got, away)
		}
	}
	same := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		off := got[i].Until.Sub(got[i].From) - want[i]
		same = same && off.Abs() < time.Minute
	}
	if !same {
		k.t.Errorf("absences in the log are %+v, want those of %v", got, want)
	}
}

// runs executes a command of an operator of acme.
func (k *absentKit) runs(cmd commands.Command) {
	k.t.Helper()
	k.Run(k.t, coretest.Operator(k.a), cmd)
}

// settled checks that the vault has forgotten all absences, or still has so many.
func (k *absentKit) settled(left int) {
	k.t.Helper()
	if s, err := k.Vault.Presence.Read(k.t.Context()); err != nil || len(s.Absences) != left {
		k.t.Errorf("absences to be told: %+v, %v", s.Absences, err)
	}
}

// TestAbsence_AKillWithinTheRecordLosesNothingOfTheNextOne: the power is back for a moment, and the program is killed
// while it tells the log.
func TestAbsence_AKillWithinTheRecordLosesNothingOfTheNextOne(t *testing.T) {
	t.Parallel()
	k := newAbsent(t)
	k.faults[k.b] = failure.NewUnavailable("eventstore_unavailable", "killed", 0, nil)
	k.gone(10 * time.Minute)
	k.mayCut(false, "before the second organization has the absence")
	k.away(k.a, 10*time.Minute)
	k.away(k.b)
	delete(k.faults, k.b)
	k.gone(6 * time.Hour)
	k.mayCut(true, "after both absences")
	k.away(k.a, 10*time.Minute, 6*time.Hour)
	k.away(k.b, 10*time.Minute, 6*time.Hour)
	k.settled(0)
}

// TestAbsence_OneThatTouchesAnOutageOfTheProviderIsWhole: the provider's outage ended after the last sign of life, or
// it lasts and ends with a payment within the absence.
func TestAbsence_OneThatTouchesAnOutageOfTheProviderIsWhole(t *testing.T) {
	t.Parallel()
	k := newAbsent(t)
	began := k.clock.Now()
	k.runs(commands.InterruptPayments{OrgID: k.a, Evidence: EvidenceProvider, From: began.Add(-time.Hour)})
	k.runs(commands.ResumePayments{OrgID: k.a, Until: began})
	k.gone(6 * time.Hour)
	k.mayCut(true, "after six hours")
	k.away(k.a, 6*time.Hour)

	k.runs(commands.InterruptPayments{OrgID: k.a, Evidence: EvidenceProvider, From: k.clock.Now()})
	began = k.clock.Now()
	k.gone(3 * time.Hour)
	k.mayCut(true, "after three hours")
	k.runs(commands.ResumePayments{OrgID: k.a, Until: began.Add(5 * time.Minute)})
	k.away(k.a, 6*time.Hour, 3*time.Hour)
	k.away(k.b, 6*time.Hour, 3*time.Hour)
}

// TestAbsence_AnOrganizationThatCannotBeToldGivesOthersNothing: its stream cannot be read for weeks, and there is
// another absence meanwhile.
func TestAbsence_AnOrganizationThatCannotBeToldGivesOthersNothing(t *testing.T) {
	t.Parallel()
	k := newAbsent(t)
	k.faults[k.b] = errors.New("an event cannot be read")
	k.gone(10 * time.Minute)
	k.older(settlePatience)
	k.mayCut(true, "after patience with one organization")
	tried := k.tried
	k.mayCut(true, "later")
	if k.tried != tried {
		t.Errorf("%d more tries at once", k.tried-tried)
	}
	k.clock.Advance(lateEvery)
	k.mayCut(true, "when it is tried again")
	if k.tried != tried+1 {
		t.Errorf("%d more tries", k.tried-tried)
	}
	k.Absence = NewAbsence(k.cfg)
	k.mayCut(true, "after a restart")
	k.clock.Advance(28 * 24 * time.Hour)
	k.gone(6 * time.Minute)
	k.mayCut(false, "within patience of the next absence")
	k.away(k.a, 10*time.Minute, 6*time.Minute)
	delete(k.faults, k.b)
	k.mayCut(true, "after it can be told")
	k.settled(0)
	k.away(k.a, 10*time.Minute, 6*time.Minute)
	k.away(k.b, 6*time.Minute, 10*time.Minute) // the late one comes last
}

func TestAbsence_WhenTheOnlyOrganizationCannotBeReadCutsGoOnAfterPatience(t *testing.T) {
	t.Parallel()
	k := newAbsent(t)
	k.faults[k.a], k.faults[k.b] = errors.New("an event cannot be read"), errors.New("an event cannot be read")
	k.gone(10 * time.Minute)
	k.mayCut(false, "within patience")
	k.older(settlePatience)
	k.mayCut(true, "after patience")
	k.settled(1)
}

func TestAbsence_WhileTheEventStoreIsAwayCutsWaitWithoutEnd(t *testing.T) {
	t.Parallel()
	k := newAbsent(t)
	k.faults[k.b] = failure.NewUnavailable("eventstore_unavailable", "away", 0, nil)
	k.gone(10 * time.Minute)
	for range 5 {
		k.older(settlePatience)
		k.mayCut(false, "while the event store is away")
	}
	delete(k.faults, k.b)
	k.mayCut(true, "after it is back")
	k.away(k.b, 10*time.Minute)
}
