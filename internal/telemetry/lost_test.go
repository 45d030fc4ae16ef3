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
	if _, err := k.CloseLost(t.Context(), telemetry.Silence{Since: noon.Add(time.Hour)}); err != nil {
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

// heard asks when the PPP of a router was heard.
func (k *kit) heard(t *testing.T, device id.Device, at time.Time, within time.Duration) telemetry.Heard {
	t.Helper()
	got, err := k.Heard(t.Context(), device, at, within)
	if err != nil {
		t.Fatal(err)
	}
	return got.PPP
}

// TestHeard_ARefusalIsDoubtfulUntilAnOpenSessionIsReported: neither other refusals, nor
// old ones, nor those of other routers count, nor such as are still to come.
func TestHeard_ARefusalIsDoubtfulUntilAnOpenSessionIsReported(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	s := k.openOne(t)
	is := func(when string, device id.Device, at time.Time, want bool) {
		t.Helper()
		got := k.heard(t, device, at, time.Hour)
		if got.Doubtful(time.Time{}) != want {
			t.Errorf("%s: %+v", when, got)
		}
		if want && got.Doubtful(*got.Refused.Last) {
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
		got := k.heard(t, device, noon.Add(time.Hour), 2*time.Hour)
		if got.Doubtful(time.Time{}) != c.doubtful {
			t.Errorf("%+v: %+v", c, got)
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
		got := k.heard(t, device, noon.Add(time.Hour), time.Hour)
		if got.Dropped(time.Time{}) != want || got.Doubtful(time.Time{}) {
			t.Errorf("%s: %+v", when, got)
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
	run := func(began, last int) telemetry.Run { return telemetry.Run{Began: at(began), Last: at(last)} }
	for what, c := range map[string]struct {
		heard   telemetry.Heard
		dropped bool
	}{
		"nobody signs in":          {telemetry.Heard{Unproven: run(0, 30)}, true},
		"since the last sign-in":   {telemetry.Heard{Unproven: run(10, 30), LetIn: at(5)}, true},
		"before the last sign-in":  {telemetry.Heard{Unproven: run(0, 4), LetIn: at(5)}, false},
		"beside sign-ins":          {telemetry.Heard{Unproven: run(0, 30), LetIn: at(5)}, false},
		"sign-ins have stopped":    {telemetry.Heard{Unproven: run(0, 65), LetIn: at(5)}, true},
		"one packet since sign-in": {telemetry.Heard{Unproven: run(30, 30), LetIn: at(5)}, true},
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
	got := k.heard(t, k.device, noon.Add(6*time.Minute), time.Hour)
	if !got.Doubtful(time.Time{}) || !got.Dropped(time.Time{}) {
		t.Errorf("%+v", got)
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
		got := k.heard(t, k.device, noon.Add(now), time.Hour)
		if (got.Reported != nil) != want || (got.LetIn != nil) != want {
			t.Errorf("%s after noon: %+v", now, got)
		}
	}
}

// TestHeard_ReportsAndSignInsOfAServiceProveNothingOfTheOtherOne: PPP and hotspots can have RADIUS clients of their own
// with other secrets.
func TestHeard_ReportsAndSignInsOfAServiceProveNothingOfTheOtherOne(t *testing.T) {
	t.Parallel()
	for _, hotspot := range []bool{false, true} {
		k := open(t)
		start, interim := k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, 9*time.Minute, 5, 5)
		start.Service, interim.Service = "pppoe", "pppoe"
		if hotspot {
			start.Service, interim.Service = "hotspot", "hotspot"
		}
		d := k.directory()
		d.Resolve = func(telemetry.Report) telemetry.Given {
			return telemetry.Given{Subscriber: k.subscriber, Subscription: k.subscription, Stamp: "granted"}
		}
		k.commitAt(t, noon.Add(9*time.Minute), d, []telemetry.Report{start, interim})
		for _, code := range []string{"wrong_secret", "unproven"} {
			refused := k.refused(code, noon.Add(-time.Hour), 1)
			refused.At = noon.Add(10 * time.Minute)
			if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{refused}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := k.Heard(t.Context(), k.device, noon.Add(10*time.Minute), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []bool{false, true} {
			h := got.Of(of)
			if doubt := of != hotspot; h.Doubtful(time.Time{}) != doubt || h.Dropped(time.Time{}) != doubt ||
				h.Since(noon) == doubt {
				t.Errorf("hotspot reported %v, of hotspots %v: %+v", hotspot, of, h)
			}
		}
	}
}

// TestHeard_AnOutageThatIsOverIsNotTheBeginningOfTheNextOne of the same day, with sign-ins and reports in between.
func TestHeard_AnOutageThatIsOverIsNotTheBeginningOfTheNextOne(t *testing.T) {
	t.Parallel()
	for pause, outage := range map[time.Duration]bool{
		9 * time.Hour: true, 20 * time.Minute: true, 3 * time.Minute: false,
	} {
		k := open(t)
		d := k.directory()
		d.Resolve = func(telemetry.Report) telemetry.Given {
			return telemetry.Given{Subscriber: k.subscriber, Subscription: k.subscription, Stamp: "granted"}
		}
		k.commitAt(t, noon, d, []telemetry.Report{k.at(telemetry.Start, -30*time.Second, 0, 0)})
		for _, code := range []string{"wrong_secret", "unproven"} {
			for _, began := range []time.Duration{-pause - 4*time.Minute, 0, 3 * time.Minute} {
				refused := k.refused(code, noon.Add(began), 10)
				refused.At = noon.Add(began + 2*time.Minute)
				if began < 0 {
					refused.At = noon.Add(-pause)
				}
				if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{refused}); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := k.heard(t, k.device, noon.Add(5*time.Minute), time.Hour)
		if got.Doubtful(time.Time{}) != outage || got.Dropped(time.Time{}) != outage {
			t.Errorf("%s after the last one: %+v", pause, got)
		}
	}
}

// TestHeard_WhatACustomerTypesIsDoubtfulForASilentSessionAlone, where nothing else tells about the secret.
func TestHeard_WhatACustomerTypesIsDoubtfulForASilentSessionAlone(t *testing.T) {
	t.Parallel()
	k := open(t)
	if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{k.refused("secret_doubtful", noon, 1)}); err != nil {
		t.Fatal(err)
	}
	got := k.heard(t, k.device, noon.Add(5*time.Minute), time.Hour)
	if got.Doubtful(time.Time{}) || !got.Silent().Doubtful(time.Time{}) {
		t.Errorf("%+v", got)
	}
}
