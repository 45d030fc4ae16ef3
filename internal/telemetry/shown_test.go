package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestReported_AnEndOrAFreshReportTellsMoreThanALook: at the same router, of the same subscription. A session that has
// been silent for long was not reported when the router was looked at, so its loss tells nothing.
func TestReported_AnEndOrAFreshReportTellsMoreThanALook(t *testing.T) {
	t.Parallel()
	k := open(t)
	is := func(when string, at time.Duration, want bool, change func(*telemetry.Shown)) {
		t.Helper()
		seen := telemetry.Shown{
			OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription, DeviceID: k.device,
			At: noon.Add(at),
		}
		if change != nil {
			change(&seen)
		}
		if got, err := k.Reported(t.Context(), seen, noon.Add(time.Hour), 15*time.Minute); err != nil || got != want {
			t.Errorf("%s, a look after %s: %v, %v", when, at, got, err)
		}
	}
	is("never reported", 0, false, nil)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, 5*time.Minute, 5, 5))
	if _, err := k.CloseLost(t.Context(), telemetry.Silence{Since: noon.Add(6 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	is("lost", 4*time.Minute, true, nil)
	is("lost", 19*time.Minute, true, nil)
	is("lost", 21*time.Minute, false, nil)
	k.commit(t, k.at(telemetry.Stop, 30*time.Minute, 9, 9))
	is("ended by the router", 29*time.Minute, true, nil)
	is("ended by the router", 30*time.Minute+time.Millisecond, true, nil)
	is("ended by the router", 31*time.Minute, false, nil)
	is("of another organization", 29*time.Minute, false, func(s *telemetry.Shown) {
		s.OrgID = id.New[id.Organization]()
	})
	is("of another customer", 29*time.Minute, false, func(s *telemetry.Shown) {
		s.SubscriberID = id.New[id.Subscriber]()
	})
	is("of another subscription", 29*time.Minute, false, func(s *telemetry.Shown) {
		s.SubscriptionID = id.New[id.Subscription]()
	})
	is("at another router", 29*time.Minute, false, func(s *telemetry.Shown) { s.DeviceID = id.New[id.Device]() })
	k.commit(t, telemetry.Report{
		Kind: telemetry.On, Org: k.org, Device: k.device, At: noon.Add(40 * time.Minute),
	})
	is("restarted", 39*time.Minute, true, nil)
	is("restarted", 41*time.Minute, false, nil)
	k.commit(t, telemetry.Report{Kind: telemetry.On, Org: k.org, Device: k.device, At: noon.Add(lead)})
	is("restarted when the clock was ahead", 41*time.Minute, false, nil)
	later := k.at(telemetry.Start, 0, 0, 0)
	later.Session, later.At = "81000002", noon.Add(45*time.Minute)
	k.commitAt(t, later.At, k.directory(), []telemetry.Report{later})
	open, err := k.OpenOf(t.Context(), k.subscriber)
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	if err := k.Gone(t.Context(), open[0].ID); err != nil {
		t.Fatal(err)
	}
	is("its router does not know it", 46*time.Minute, true, nil)
	is("its router does not know it", 61*time.Minute, false, nil)
}

// TestReported_AnEndFromWhenTheClockWasAheadIsFromBeforeTheLook.
func TestReported_AnEndFromWhenTheClockWasAheadIsFromBeforeTheLook(t *testing.T) {
	t.Parallel()
	k := open(t)
	stop := k.at(telemetry.Stop, 5*time.Minute, 5, 5)
	stop.At = stop.At.Add(lead)
	k.putRight(t, stop.At, stop)
	told, err := k.Reported(t.Context(), telemetry.Shown{
		OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription, DeviceID: k.device,
		At: noon.Add(20 * time.Minute),
	}, noon.Add(25*time.Minute), 15*time.Minute)
	if err != nil || told {
		t.Errorf("%v, %v", told, err)
	}
}
