package telemetry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestUnheard_CountsWhoWasThereLastAndWasNotHeardSince: one open session and one that was lost count. Who switched off
// before, who was heard after the router went away, and who has signed in elsewhere with the same subscription since do
// not, nor do customers of another organization.
func TestUnheard_CountsWhoWasThereLastAndWasNotHeardSince(t *testing.T) {
	t.Parallel()
	k := open(t)
	away := noon.Add(time.Hour)
	count := func(org id.Organization) int { return k.unheard(t, org, away) }
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
	k.stillOnline(t, away, 1)
	if _, err := k.CloseLost(t.Context(), telemetry.Silence{Since: away}); err != nil {
		t.Fatal(err)
	}
	if n := count(k.org); n != 1 {
		t.Errorf("%d when the session was lost, want 1", n)
	}
	k.stillOnline(t, away, 0)
	elsewhere := k.at(telemetry.Start, 0, 0, 0)
	elsewhere.Session, elsewhere.Device, elsewhere.At = "elsewhere", id.New[id.Device](), away.Add(time.Minute)
	k.commit(t, elsewhere)
	if n := count(k.org); n != 1 {
		t.Errorf("%d after the customer has signed in elsewhere with another subscription, want 1", n)
	}
	move := `update ` + k.schema() + `.sessions set subscription_id = $1` // now both sessions are of one subscription
	if _, err := k.db.Owner.Exec(t.Context(), move, k.subscription.UUID()); err != nil {
		t.Fatal(err)
	}
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

// stillOnline checks how many are counted as online though nothing was heard of them since an instant.
func (k *kit) stillOnline(t *testing.T, away time.Time, want int) {
	t.Helper()
	n, err := k.OnlineUnheard(t.Context(), k.org, map[id.Device]time.Time{k.device: away})
	if err != nil || n != want {
		t.Errorf("%d are online and unheard, want %d: %v", n, want, err)
	}
}

// unheard counts the customers who are off behind the kit's router since an instant, in each way that can be asked.
func (k *kit) unheard(t *testing.T, org id.Organization, away time.Time) int {
	t.Helper()
	since := map[id.Device]time.Time{k.device: away}
	got, err := k.Unheard(t.Context(), org, since)
	if err != nil {
		t.Fatal(err)
	}
	list, err := k.UnheardAt(t.Context(), org, k.device, away)
	if err != nil || len(list) != got[k.device] || len(list) > 0 && list[0] != k.subscriber {
		t.Errorf("%d are counted, and %v listed: %v", got[k.device], list, err)
	}
	since[id.New[id.Device]()] = away
	among := []id.Subscriber{k.subscriber, id.New[id.Subscriber]()}
	off, err := k.UnheardAmong(t.Context(), org, among, since)
	if err != nil || len(off) != got[k.device] || len(off) > 0 && (off[0].SubscriberID != k.subscriber ||
		off[0].DeviceID != k.device || !off[0].Since.Equal(away)) {
		t.Errorf("%d are counted, and of %v are off %v: %v", got[k.device], among, off, err)
	}
	if off, err = k.UnheardAmong(t.Context(), org, among[1:], since); err != nil || len(off) > 0 {
		t.Errorf("another customer is off: %v %v", off, err)
	}
	return got[k.device]
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
