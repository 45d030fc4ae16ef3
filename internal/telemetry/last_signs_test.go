package telemetry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestLastSigns_IsTheNewestReportOrRefusalOfEachSubscription: a session that is open, one that ended, and a refusal
// after it. Another customer and another organization see nothing.
func TestLastSigns_IsTheNewestReportOrRefusalOfEachSubscription(t *testing.T) {
	t.Parallel()
	k := open(t)
	elsewhere := id.New[id.Device]() // the kit has a subscription for each further router
	both := []id.Subscription{k.subscription, id.As[id.Subscription](elsewhere)}
	is := func(what string, want ...telemetry.LastSign) {
		t.Helper()
		got, err := k.LastSigns(t.Context(), k.org, k.subscriber, both)
		slices.SortFunc(got, func(a, b telemetry.LastSign) int { return a.At.Compare(b.At) })
		same := slices.EqualFunc(got, want, func(a, b telemetry.LastSign) bool {
			return a.SubscriptionID == b.SubscriptionID && a.DeviceID == b.DeviceID && a.At.Equal(b.At)
		})
		if err != nil || !same {
			t.Errorf("%s: got %v, want %v, %v", what, got, want, err)
		}
	}
	is("nobody was there")
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, time.Hour, 1, 1))
	here := telemetry.LastSign{SubscriptionID: k.subscription, DeviceID: k.device, At: noon.Add(time.Hour)}
	is("a session is open", here)
	k.commit(t, k.at(telemetry.Stop, 2*time.Hour, 1, 1))
	here.At = noon.Add(2 * time.Hour)
	is("it has ended", here)
	other := k.at(telemetry.Start, 3*time.Hour, 0, 0)
	other.Session, other.Device = "other", elsewhere
	k.commit(t, other)
	there := telemetry.LastSign{
		SubscriptionID: id.As[id.Subscription](other.Device), DeviceID: other.Device, At: noon.Add(3 * time.Hour),
	}
	is("another subscription has begun", here, there)
	refused := id.New[id.Device]()
	refusal := k.refused("unpaid", noon.Add(4*time.Hour), 1)
	refusal.DeviceID = refused
	if err := k.SaveRefusals(t.Context(), []telemetry.Refusal{refusal}); err != nil {
		t.Fatal(err)
	}
	is("a sign-in was refused elsewhere", there, telemetry.LastSign{
		SubscriptionID: k.subscription, DeviceID: refused, At: refusal.At,
	})
	if got, err := k.LastSigns(t.Context(), k.org, id.New[id.Subscriber](), both); err != nil || len(got) > 0 {
		t.Errorf("another customer: %v, %v", got, err)
	}
	if got, err := k.LastSigns(t.Context(), id.New[id.Organization](), k.subscriber, both); err != nil || len(got) > 0 {
		t.Errorf("another organization: %v, %v", got, err)
	}
}
