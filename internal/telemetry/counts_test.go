package telemetry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestUnheard_CountsWhoWasThereLastAndWasNotHeardSince: one open session and one that was lost count. Who switched off
// before, who was heard after the router went away, and who has signed in elsewhere since do not, nor do customers of
// another organization.
func TestUnheard_CountsWhoWasThereLastAndWasNotHeardSince(t *testing.T) {
	t.Parallel()
	k := open(t)
	away := noon.Add(time.Hour)
	count := func(org id.Organization) int {
		t.Helper()
		got, err := k.Unheard(t.Context(), org, map[id.Device]time.Time{k.device: away})
		if err != nil {
			t.Fatal(err)
		}
		list, err := k.UnheardAt(t.Context(), org, k.device, away)
		if err != nil || len(list) != got[k.device] || len(list) > 0 && list[0] != k.subscriber {
			t.Errorf("%d are counted, and %v listed: %v", got[k.device], list, err)
		}
		return got[k.device]
	}
	if n := count(k.org); n != 0 {
		t.Errorf("%d before anybody was there", n)
	}
	silent := k.at(telemetry.Start, 0, 0, 0)
	silent.Session, silent.At = "silent", noon.Add(58*time.Minute)
	k.commit(t, silent)
	if n := count(k.org); n != 1 {
		t.Errorf("%d with one who is silent, want 1", n)
	}
	if n := count(id.New[id.Organization]()); n != 0 {
		t.Errorf("%d of another organization", n)
	}
	if at, err := k.CustomersAt(t.Context(), k.org, []id.Device{k.device}); err != nil || at[k.device] != 1 {
		t.Errorf("customers %v %v", at, err)
	}
	if online, err := k.Online(t.Context(), k.org); err != nil || online.Sessions != 1 || online.Customers != 1 {
		t.Errorf("online %+v %v", online, err)
	}
	if _, err := k.CloseLost(t.Context(), telemetry.Silence{Since: away}); err != nil {
		t.Fatal(err)
	}
	if n := count(k.org); n != 1 {
		t.Errorf("%d when the session was lost, want 1", n)
	}
	elsewhere := k.at(telemetry.Start, 0, 0, 0)
	elsewhere.Session, elsewhere.Device, elsewhere.At = "elsewhere", id.New[id.Device](), away.Add(time.Minute)
	k.commit(t, elsewhere)
	if n := count(k.org); n != 0 {
		t.Errorf("%d after the customer has signed in elsewhere", n)
	}
	back := k.at(telemetry.Start, 0, 0, 0)
	back.Session, back.At = "back", away.Add(2*time.Minute)
	k.commit(t, back)
	if n := count(k.org); n != 0 {
		t.Errorf("%d after the customer was heard there again", n)
	}
}

// Two servers of one router, and one with the same name on another router, are three places. Who has gone does not
// count.
func TestSessionsAt_CountsTheOpenSessionsOfEachServer(t *testing.T) {
	t.Parallel()
	k := open(t)
	begin := func(session, server string, device id.Device) telemetry.Report {
		r := k.at(telemetry.Start, 0, 0, 0)
		r.Session, r.User, r.Called, r.Device = session, session, server, device
		k.commit(t, r)
		return r
	}
	elsewhere := id.New[id.Device]()
	begin("a", "one", k.device)
	begin("b", "one", k.device)
	begin("c", "two", k.device)
	begin("d", "one", elsewhere)
	gone := begin("e", "two", k.device)
	gone.Kind, gone.At = telemetry.Stop, gone.At.Add(time.Minute)
	k.commit(t, gone)
	places := []telemetry.Place{
		{Device: k.device, Server: "one"}, {Device: k.device, Server: "two"}, {Device: k.device, Server: "none"},
	}
	got, err := k.SessionsAt(t.Context(), k.org, places)
	want := map[telemetry.Place]int{places[0]: 2, places[1]: 1}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, err := k.SessionsAt(t.Context(), id.New[id.Organization](), places); err != nil || len(got) > 0 {
		t.Errorf("another organization sees %v %v", got, err)
	}
}

// TestUnheard_CountsWhoHadAShortSecondSession: one that ended long before the router went away takes nobody out.
func TestUnheard_CountsWhoHadAShortSecondSession(t *testing.T) {
	t.Parallel()
	k := open(t)
	away := noon.Add(time.Hour)
	long := k.at(telemetry.Start, 0, 0, 0)
	long.Session, long.At = "long", noon
	short := k.at(telemetry.Start, 0, 0, 0)
	short.Session, short.At = "short", noon.Add(10*time.Minute)
	ended := k.at(telemetry.Stop, 0, 0, 0)
	ended.Session, ended.At = "short", noon.Add(11*time.Minute)
	heard := k.at(telemetry.Interim, 2, 0, 0)
	heard.Session, heard.At = "long", noon.Add(58*time.Minute)
	k.commit(t, long)
	k.commit(t, short)
	k.commit(t, ended)
	k.commit(t, heard)
	got, err := k.Unheard(t.Context(), k.org, map[id.Device]time.Time{k.device: away})
	if err != nil || got[k.device] != 1 {
		t.Errorf("%d are counted, want 1: %v", got[k.device], err)
	}
}
