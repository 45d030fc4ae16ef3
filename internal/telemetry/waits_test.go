package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// hears is for how long the programs of these tests have heard routers.
func hears() time.Duration { return time.Hour }

// TestTeller_OthersKnowWhatWaits: reports that wait for long, a program that tells nothing any more, and one that stops
// with and without reports on its disk. A program does not wait for itself.
func TestTeller_OthersKnowWhatWaits(t *testing.T) {
	t.Parallel()
	k := open(t)
	waits := time.Duration(0)
	teller := telemetry.NewTeller(telemetry.TellerConfig{
		Store: k.Store, Program: "a", Dir: t.TempDir(), Clock: clock.NewManual(noon), Logger: storetest.Quiet(),
		Waits: func() map[id.Organization]time.Duration { return k.waiting(waits) }, Hears: hears,
	})
	tell := func(d time.Duration) {
		t.Helper()
		waits = d
		if err := teller.Tell(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	is := func(when, own string, want bool) {
		t.Helper()
		got, err := k.OthersWait(t.Context(), k.org, own, 5*time.Second)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", when, got, err)
		}
	}
	is("nobody hears routers", "b", false)
	tell(0)
	is("nothing waits", "b", false)
	tell(time.Second)
	is("a moment", "b", false)
	tell(time.Minute)
	is("for long", "b", true)
	is("for long", "", true)
	is("its own", "a", false)
	tell(0)
	k.spoolsAge(t, 110*time.Second)
	is("silent for less than two minutes", "b", false)
	k.spoolsAge(t, 10*time.Second)
	is("silent for longer", "b", true)
	tell(0)
	is("again", "b", false)
	tell(time.Minute)
	teller.Stop()
	is("stopped with reports on its disk", "b", true)
	waits = 0
	teller.Stop()
	is("stopped with nothing", "b", false)
}

// TestTeller_AProgramThatVanishedHoldsNobodyUpAndIsTold: after an hour it is not waited for. Where reports are on its
// disk, that is told for a week, or until another program has the disk.
func TestTeller_AProgramThatVanishedHoldsNobodyUpAndIsTold(t *testing.T) {
	t.Parallel()
	k := open(t)
	disk := t.TempDir()
	teller := func(program, dir string, waits time.Duration) *telemetry.Teller {
		return telemetry.NewTeller(telemetry.TellerConfig{
			Store: k.Store, Program: program, Dir: dir, Clock: clock.NewManual(noon), Logger: storetest.Quiet(),
			Waits: func() map[id.Organization]time.Duration { return k.waiting(waits) }, Hears: hears,
		})
	}
	tell := func(program, dir string, waits time.Duration) {
		t.Helper()
		if err := teller(program, dir, waits).Tell(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	is := func(when string, waits, missing bool) {
		t.Helper()
		if err := k.Purge(t.Context(), noon, telemetry.Retention{}); err != nil {
			t.Fatal(err)
		}
		got, err := k.OthersWait(t.Context(), k.org, "", 5*time.Second)
		since, missed := k.Missing(t.Context())
		if err != nil || missed != nil || got != waits || since.IsZero() == missing {
			t.Errorf("%s: waits %v, missing since %v, %v, %v", when, got, since, err, missed)
		}
		if missing && !since.Equal(k.spoolsAge(t, 0)) {
			t.Errorf("%s: missing since %v", when, since)
		}
	}
	tell("empty", t.TempDir(), 0)
	tell("full", disk, time.Minute)
	k.spoolsAge(t, 59*time.Minute)
	is("within the hour", true, false)
	k.spoolsAge(t, time.Minute)
	is("after it", false, true)
	tell("full", disk, time.Hour+time.Minute)
	is("it is back", true, false)
	k.spoolsAge(t, 6*24*time.Hour)
	is("it never came again", false, true)
	tell("other", disk, 0)
	is("another machine has its disk", false, false)
	tell("lost", t.TempDir(), time.Minute)
	k.spoolsAge(t, 7*24*time.Hour-time.Minute)
	is("for a week", false, true)
	k.spoolsAge(t, time.Minute)
	is("after a week", false, false)
}

// TestTeller_TellsByItself: every ten seconds, and again after it could not.
func TestTeller_TellsByItself(t *testing.T) {
	t.Parallel()
	k := open(t)
	watch := clock.NewManual(noon)
	asked := make(chan struct{})
	teller := telemetry.NewTeller(telemetry.TellerConfig{
		Store: k.Store, Program: "a", Dir: t.TempDir(), Clock: watch, Logger: storetest.Quiet(), Hears: hears,
		Waits: func() map[id.Organization]time.Duration {
			select {
			case asked <- struct{}{}:
			case <-t.Context().Done():
			}
			return k.waiting(time.Minute)
		},
	})
	if err := teller.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	t.Cleanup(teller.Stop)
	for told := 0; told < 3; {
		select {
		case <-asked:
			told++
		default:
			watch.Advance(time.Second)
			loop.Sleep(ctx, time.Millisecond)
		}
	}
	for { // what was asked for before the last time is told
		got, err := k.OthersWait(ctx, k.org, "b", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got {
			break
		}
		loop.Sleep(ctx, time.Millisecond)
	}
}

// waiting are reports of the kit's organization that wait for so long; zero = none do.
func (k *kit) waiting(d time.Duration) map[id.Organization]time.Duration {
	if d == 0 {
		return nil
	}
	return map[id.Organization]time.Duration{k.org: d}
}

// TestTeller_WhatWaitsOfOneOrganizationHoldsNoOtherUp: unless an older program does not say whose reports wait.
func TestTeller_WhatWaitsOfOneOrganizationHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	k := open(t)
	other := id.New[id.Organization]()
	wait := func(when string, of, want bool) {
		t.Helper()
		for org, want := range map[id.Organization]bool{k.org: of, other: want} {
			if got, err := k.OthersWait(t.Context(), org, "b", 5*time.Second); err != nil || got != want {
				t.Errorf("%s: %v of %v, %v", when, got, org == k.org, err)
			}
		}
	}
	err := k.Tell(t.Context(), "a", map[id.Organization]time.Duration{k.org: time.Minute, other: time.Second}, 0)
	if err != nil {
		t.Fatal(err)
	}
	wait("one has a backlog", true, false)
	spools := k.schema() + ".spools"
	if _, err := k.db.Owner.Exec(t.Context(), "update "+spools+" set orgs = null, orgs_since = null"); err != nil {
		t.Fatal(err)
	}
	wait("told by an older program", true, true)
	if err := k.Tell(t.Context(), "a", nil, 0); err != nil {
		t.Fatal(err)
	}
	wait("nothing waits", false, false)
}

// spoolsAge makes what programs have told older, and gives the first instant since which reports wait; zero = none do.
func (k *kit) spoolsAge(t *testing.T, by time.Duration) time.Time {
	t.Helper()
	var since *time.Time
	spools := k.db.Namespace.Schema("telemetry") + ".spools"
	_, err := k.db.Owner.Exec(t.Context(), `update `+spools+` set told_at = told_at - $1::interval,
		waits_since = waits_since - $1::interval,
		orgs_since = array(select at - $1::interval from unnest(orgs_since) with ordinality o (at, n) order by n)`, by)
	if err == nil {
		err = k.db.Owner.QueryRow(t.Context(), `select min(waits_since) from `+spools).Scan(&since)
	}
	if err != nil {
		t.Fatal(err)
	}
	if since == nil {
		return time.Time{}
	}
	return *since
}

// TestOthersHear_WhileEachHasHeardRoutersForSoLong: a program that has just come is one that could not hear them.
func TestOthersHear_WhileEachHasHeardRoutersForSoLong(t *testing.T) {
	t.Parallel()
	k := open(t)
	is := func(when, own string, want bool) {
		t.Helper()
		if got, err := k.OthersHear(t.Context(), own, 10*time.Minute); err != nil || got != want {
			t.Errorf("%s: %v, %v", when, got, err)
		}
	}
	tell := func(program string, hears time.Duration) {
		t.Helper()
		if err := k.Tell(t.Context(), program, nil, hears); err != nil {
			t.Fatal(err)
		}
	}
	is("nobody hears routers", "", false)
	is("only the caller does", "a", true)
	tell("b", 9*time.Minute)
	is("for less", "", false)
	is("for less", "a", false)
	is("its own", "b", true)
	k.spoolsAge(t, time.Minute)
	is("for as long by now", "", true)
	tell("c", time.Minute)
	is("another one for less", "a", false)
	k.spoolsAge(t, 2*time.Minute)
	is("none tells anything", "", false)
}

// TestCutOff_IsAnInstallationOfWhichOthersFellSilentToo: others were heard in the hour before, and none is now.
func TestCutOff_IsAnInstallationOfWhichOthersFellSilentToo(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, calm := k.neighbours(0)
	went := noon
	is := func(when string, after time.Duration, want bool) { t.Helper(); k.cutOff(t, when, went, after, want) }
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	is("there is no other", 11*time.Minute, false)
	k.commit(t, calm)
	is("another one is heard", 9*time.Minute, false)
	is("none is any more", 11*time.Minute, true)
	silent := telemetry.Silence{Since: noon.Add(time.Minute)}
	if _, err := k.CloseLost(t.Context(), silent); err != nil {
		t.Fatal(err)
	}
	is("its session is lost by now", 20*time.Minute, true)
	is("for as long as it is cut off", 48*time.Hour, true)
	went = noon.Add(70 * time.Minute)
	is("what went away an hour later", 81*time.Minute, false)
}

// cutOff asks whether the installation is cut off for the kit's organization, of which routers went away at an instant.
func (k *kit) cutOff(t *testing.T, when string, went time.Time, after time.Duration, want bool) {
	t.Helper()
	got, err := k.CutOff(t.Context(), k.org, went, noon.Add(after), 10*time.Minute)
	if err != nil || got != want {
		t.Errorf("%s: %v, %v", when, got, err)
	}
}

// TestCutOff_IsNoneOfWhichAnyRouterIsHeard, also one of the same organization, while all others are silent.
func TestCutOff_IsNoneOfWhichAnyRouterIsHeard(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, calm := k.neighbours(0)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), calm)
	k.cutOff(t, "nobody is", noon, 25*time.Minute, true)
	second := k.at(telemetry.Interim, 20*time.Minute, 0, 0)
	second.Device, second.Session = id.New[id.Device](), "second"
	k.commit(t, second)
	again := second
	again.Online, again.At = 5*time.Minute, noon.Add(25*time.Minute)
	k.commit(t, again)
	k.cutOff(t, "another router of its own, for less than ten minutes", noon, 29*time.Minute, true)
	k.cutOff(t, "another router of its own", noon, 31*time.Minute, false)
	k.cutOff(t, "it went away long ago", noon.Add(-60*24*time.Hour), 31*time.Minute, false)
	k.cutOff(t, "others had been silent before", noon.Add(25*time.Minute), 36*time.Minute, false)
}

// TestCutOff_LastsUntilAllHadAChanceToReportAgain: the installation is cut off for 40 minutes, and who reports first is
// another organization. A customer who signs on anew was not cut off before.
func TestCutOff_LastsUntilAllHadAChanceToReportAgain(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]telemetry.Kind{"it goes on": telemetry.Interim, "it is new": telemetry.Start} {
		k := open(t)
		_, calm := k.neighbours(0)
		left, again := calm, calm
		left.Kind, left.At = telemetry.Stop, noon.Add(time.Second)
		again.Kind, again.At = kind, noon.Add(40*time.Minute)
		k.commit(t, k.at(telemetry.Start, 0, 0, 0), calm)
		if kind == telemetry.Start {
			again.Session = "new"
			k.commit(t, left)
		} else {
			again.Online = 40 * time.Minute
		}
		k.commit(t, again)
		k.cutOff(t, name+", just heard", noon, 41*time.Minute, kind == telemetry.Interim)
		k.cutOff(t, name+", by a clock that is behind", noon, 39*time.Minute+30*time.Second, kind == telemetry.Interim)
		again.Kind, again.At, again.Online = telemetry.Interim, noon.Add(45*time.Minute), again.Online+5*time.Minute
		k.commit(t, again)
		k.cutOff(t, name+", still the first reports", noon, 49*time.Minute, kind == telemetry.Interim)
		k.cutOff(t, name+", for ten minutes", noon, 50*time.Minute, false)
		k.cutOff(t, name+", for a while", noon, 52*time.Minute, false)
	}
}

// TestCutOff_HearsWhoseClockIsAhead: another program has written when an organization was heard.
func TestCutOff_HearsWhoseClockIsAhead(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, calm := k.neighbours(0)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), calm)
	for n := range time.Duration(6) {
		own := k.at(telemetry.Interim, (n+1)*5*time.Minute, 0, 0)
		k.commit(t, own)
	}
	k.cutOff(t, "all the time", noon, 29*time.Minute+30*time.Second, false)
}

// TestCutOff_HearsWhomSeveralProgramsHear: the clock of one is ten seconds ahead, and both hear the same organizations,
// all the time since a third one fell silent.
func TestCutOff_HearsWhomSeveralProgramsHear(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, calm := k.neighbours(0)
	_, third := k.neighbours(0)
	k.commit(t, third)
	for after := time.Duration(0); after <= 20*time.Minute; after += 30 * time.Second {
		for _, ahead := range []time.Duration{10 * time.Second, 0} {
			own, other := k.at(telemetry.Interim, after+ahead, 0, 0), calm
			other.Kind, other.Online, other.At = telemetry.Interim, own.Online, own.At
			k.commitAt(t, own.At, k.directory(), []telemetry.Report{own, other})
		}
	}
	k.cutOff(t, "all the time", noon, 20*time.Minute, false)
}

// TestCutOff_WhoseCustomersSignedOffIsNotSilent: the last customer of the only other organization has left, as the
// router says.
func TestCutOff_WhoseCustomersSignedOffIsNotSilent(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, calm := k.neighbours(0)
	left := calm
	left.Kind, left.Online, left.At = telemetry.Stop, time.Minute, noon.Add(time.Minute)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), calm, left)
	k.cutOff(t, "soon", noon.Add(time.Minute), 12*time.Minute, false)
	k.cutOff(t, "for long", noon.Add(time.Minute), 48*time.Hour, false)
	another := calm
	another.Session, another.Device = "another", id.New[id.Device]()
	k.commit(t, another)
	k.cutOff(t, "while another one has not", noon.Add(time.Minute), 12*time.Minute, true)
}

// TestCutOff_WhatAClockThatWasAheadHasLeftIsOvercome: it would be the last report for a year.
func TestCutOff_WhatAClockThatWasAheadHasLeftIsOvercome(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, calm := k.neighbours(0)
	ahead := calm
	ahead.At = noon.Add(365 * 24 * time.Hour)
	k.commit(t, ahead)
	d := k.directory()
	d.Now = func() time.Time { return noon }
	if _, err := k.Commit(t.Context(), d, []telemetry.Report{k.at(telemetry.Start, 0, 0, 0), calm}); err != nil {
		t.Fatal(err)
	}
	k.cutOff(t, "another one is heard", noon, 9*time.Minute, false)
	k.cutOff(t, "none is any more", noon, 11*time.Minute, true)
}
