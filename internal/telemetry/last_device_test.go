package telemetry_test

import (
	"maps"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// The newest session counts, whether it is open or not, and nobody else's.
func TestLastDevices_AreThoseOfTheNewestSessions(t *testing.T) {
	t.Parallel()
	k := open(t)
	first, later := k.at(telemetry.Stop, time.Hour, 5, 5), k.at(telemetry.Start, 0, 0, 0)
	first.Session = "first"
	later.Session, later.Device, later.At = "later", id.New[id.Device](), noon.Add(3*time.Hour)
	k.commit(t, first, later)
	want := map[id.Subscription]id.Device{
		k.subscription: k.device, id.As[id.Subscription](later.Device): later.Device,
	}
	got, err := k.LastDevices(t.Context(), k.org, []id.Subscriber{k.subscriber, id.New[id.Subscriber]()})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("routers %v, want %v, %v", got, want, err)
	}
	move := `update ` + k.schema() + `.sessions set subscription_id = $1` // now both sessions are of one subscription
	if _, err := k.db.Owner.Exec(t.Context(), move, k.subscription.UUID()); err != nil {
		t.Fatal(err)
	}
	want = map[id.Subscription]id.Device{k.subscription: later.Device}
	got, err = k.LastDevices(t.Context(), k.org, []id.Subscriber{k.subscriber})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("routers %v, want %v, %v", got, want, err)
	}
	got, err = k.LastDevices(t.Context(), id.New[id.Organization](), []id.Subscriber{k.subscriber})
	if err != nil || len(got) > 0 {
		t.Errorf("another organization sees %v, %v", got, err)
	}
}
