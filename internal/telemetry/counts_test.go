package telemetry_test

import (
	"testing"
	"time"

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
