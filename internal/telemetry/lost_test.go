package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestLostOf_ASessionThatFellSilentMayGoOn until its device has another one, or its router told its end.
func TestLostOf_ASessionThatFellSilentMayGoOn(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, time.Minute, 5, 5))
	s := k.openOne(t)
	found := func(when string, lost, silent int) {
		t.Helper()
		mine, err := k.LostOf(t.Context(), s.OrgID, s.SubscriberID, noon.Add(-time.Hour))
		if err != nil || len(mine) != lost {
			t.Errorf("%s: lost %+v, %v", when, mine, err)
		}
		at, err := k.Silent(t.Context(), s.DeviceID, []string{s.Username, "nobody", s.Username})
		if err != nil || len(at) != silent {
			t.Errorf("%s: silent %+v, %v", when, at, err)
		}
	}
	found("open", 0, 0)
	if _, err := k.CloseLost(t.Context(), noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	found("lost", 1, 1)
	if later, err := k.LostOf(t.Context(), s.OrgID, s.SubscriberID, noon.Add(time.Hour)); err != nil || len(later) > 0 {
		t.Errorf("lost long ago: %+v, %v", later, err)
	}
	if others, err := k.LostOf(t.Context(), id.New[id.Organization](), s.SubscriberID, noon); err != nil ||
		len(others) > 0 {
		t.Errorf("of another organization: %+v, %v", others, err)
	}
	k.commit(t, k.at(telemetry.Stop, 2*time.Minute, 9, 9))
	found("its end was told", 0, 0)
}

// TestHeard_ARefusalIsDoubtfulUntilAnOpenSessionIsReported: neither other refusals, nor
// old ones, nor those of other routers count, nor such as are still to come.
func TestHeard_ARefusalIsDoubtfulUntilAnOpenSessionIsReported(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	s := k.openOne(t)
	codes := []string{"wrong_secret"}
	is := func(when string, device id.Device, at time.Time, want bool) {
		t.Helper()
		got, err := k.Heard(t.Context(), device, codes, at, time.Hour)
		if err != nil || got.Doubtful(time.Time{}) != want {
			t.Errorf("%s: %v, %v", when, got, err)
		}
		if want && got.Doubtful(*got.Refused) {
			t.Errorf("%s: doubtful, although it was heard in another way at that moment", when)
		}
	}
	other := k.refused("wrong_password", noon.Add(time.Minute), 1)
	wrong := k.refused("wrong_secret", noon.Add(time.Minute), 1)
	other.DeviceID, wrong.DeviceID = s.DeviceID, s.DeviceID
	is("nothing", s.DeviceID, noon.Add(time.Hour), false)
	if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{other}); err != nil {
		t.Fatal(err)
	}
	is("another refusal", s.DeviceID, noon.Add(time.Hour), false)
	if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{wrong}); err != nil {
		t.Fatal(err)
	}
	is("refused", s.DeviceID, noon.Add(time.Hour), true)
	is("long ago", s.DeviceID, noon.Add(2*time.Hour), false)
	is("when the clock was ahead", s.DeviceID, noon.Add(-time.Minute), false)
	is("elsewhere", id.New[id.Device](), noon.Add(time.Hour), false)
	k.commit(t, k.at(telemetry.Interim, 5*time.Minute, 5, 5))
	is("reported since", s.DeviceID, noon.Add(time.Hour), false)
}

// TestHeard_WhatGoesOnBesideReportsIsOfSomethingElse with another secret, at the router's address: refusals that began
// before a report go on after it, while reports come.
func TestHeard_WhatGoesOnBesideReportsIsOfSomethingElse(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	device := k.openOne(t).DeviceID
	for _, c := range []struct {
		refused, reported time.Duration // since noon
		doubtful          bool
	}{
		{refused: time.Minute, doubtful: true},
		{reported: 5 * time.Minute},
		{refused: 7 * time.Minute},
		{reported: 10 * time.Minute},
		{refused: 14 * time.Minute},
		{refused: 17 * time.Minute, doubtful: true}, // reports have stopped
	} {
		if c.reported > 0 {
			k.commit(t, k.at(telemetry.Interim, c.reported, 5, 5))
		}
		if c.refused > 0 {
			r := k.refused("wrong_secret", noon.Add(c.refused), 1)
			r.DeviceID = device
			if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{r}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := k.Heard(t.Context(), device, []string{"wrong_secret"}, noon.Add(time.Hour), 2*time.Hour)
		if err != nil || got.Doubtful(time.Time{}) != c.doubtful {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// TestHeard_ReportsDoNotProveThatSignInsAreProven: only a session that was let in since does.
func TestHeard_ReportsDoNotProveThatSignInsAreProven(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	device := k.openOne(t).DeviceID
	dropped := k.refused("unproven", noon.Add(time.Minute), 1)
	dropped.DeviceID = device
	if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{dropped}); err != nil {
		t.Fatal(err)
	}
	is := func(when string, want bool) {
		t.Helper()
		got, err := k.Heard(t.Context(), device, []string{"wrong_secret"}, noon.Add(time.Hour), time.Hour)
		if err != nil || got.Dropped(time.Time{}) != want || got.Doubtful(time.Time{}) {
			t.Errorf("%s: %+v, %v", when, got, err)
		}
		if got.Dropped(dropped.At) {
			t.Errorf("%s: dropped, although one was let in at that moment", when)
		}
	}
	k.commit(t, k.at(telemetry.Interim, 5*time.Minute, 5, 5))
	is("reported since", true)
	next := func(session string, given telemetry.Given) {
		t.Helper()
		r := k.at(telemetry.Start, 6*time.Minute, 0, 0)
		r.Session, r.Online, r.User, r.Calling, r.MAC = session, 0, session, session, ""
		if _, err := k.Commit(t.Context(), telemetry.Directory{
			Resolve: func(telemetry.Report) telemetry.Given { return given }, Zone: k.directory().Zone,
		}, []telemetry.Report{r}); err != nil {
			t.Fatal(err)
		}
	}
	next("by itself", telemetry.Given{})
	is("the router has let one in by itself", true)
	next("by RADIUS", telemetry.Given{Subscriber: k.subscriber, Subscription: k.subscription, Stamp: "granted"})
	is("one was let in since", false)
}

// TestHeard_PacketsThatAreDroppedBesideSignInsAreOfSomethingElse at the router's address. They were before a sign-in
// that was let in, and go on after it for as long as sign-ins may take to come.
func TestHeard_PacketsThatAreDroppedBesideSignInsAreOfSomethingElse(t *testing.T) {
	t.Parallel()
	at := func(minutes int) *time.Time { return new(noon.Add(time.Duration(minutes) * time.Minute)) }
	for what, c := range map[string]struct {
		heard   telemetry.Heard
		dropped bool
	}{
		"nobody signs in":          {telemetry.Heard{Unproven: at(30), UnprovenBegan: at(0)}, true},
		"since the last sign-in":   {telemetry.Heard{Unproven: at(30), UnprovenBegan: at(10), LetIn: at(5)}, true},
		"before the last sign-in":  {telemetry.Heard{Unproven: at(4), UnprovenBegan: at(0), LetIn: at(5)}, false},
		"beside sign-ins":          {telemetry.Heard{Unproven: at(30), UnprovenBegan: at(0), LetIn: at(5)}, false},
		"sign-ins have stopped":    {telemetry.Heard{Unproven: at(65), UnprovenBegan: at(0), LetIn: at(5)}, true},
		"one packet since sign-in": {telemetry.Heard{Unproven: at(30), LetIn: at(5)}, true},
	} {
		if got := c.heard.Dropped(time.Time{}); got != c.dropped {
			t.Errorf("%s: %v", what, got)
		}
		if shown := c.heard.LetIn; shown != nil {
			c.heard.LetIn = nil
			if got := c.heard.Dropped(*shown); got != c.dropped {
				t.Errorf("%s, as the router shows: %v", what, got)
			}
		}
	}
}

// TestHeard_ARefusalOfNowCountsAfterTheClockWasAhead by minutes, in the row of one from then.
func TestHeard_ARefusalOfNowCountsAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, at := range []time.Duration{40 * time.Minute, 5 * time.Minute} {
		wrong, dropped := k.refused("wrong_secret", noon.Add(at), 1), k.refused("unproven", noon.Add(at), 1)
		wrong.At, dropped.At = noon.Add(at), noon.Add(at)
		for _, r := range []telemetry.Refusal{wrong, dropped} {
			if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{r}); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := k.Heard(t.Context(), k.device, []string{"wrong_secret"}, noon.Add(6*time.Minute), time.Hour)
	if err != nil || !got.Doubtful(time.Time{}) || !got.Dropped(time.Time{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestHeard_ASessionFromWhenTheClockWasAheadProvesNothing until it is reported again.
func TestHeard_ASessionFromWhenTheClockWasAheadProvesNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	r := k.at(telemetry.Start, 3*time.Hour, 0, 0)
	r.Online = 0
	d := k.directory()
	d.Resolve = func(telemetry.Report) telemetry.Given {
		return telemetry.Given{Subscriber: k.subscriber, Subscription: k.subscription, Stamp: "granted"}
	}
	k.commitAt(t, r.At, d, []telemetry.Report{r})
	for now, want := range map[time.Duration]bool{10 * time.Minute: false, 3 * time.Hour: true} {
		got, err := k.Heard(t.Context(), k.device, []string{"wrong_secret"}, noon.Add(now), time.Hour)
		if err != nil || (got.Reported != nil) != want || (got.LetIn != nil) != want {
			t.Errorf("%s after noon: %+v, %v", now, got, err)
		}
	}
}
