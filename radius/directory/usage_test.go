package directory_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

func TestDirectory_ACapThrottlesOrStopsUntilItsPeriodIsOver(t *testing.T) {
	t.Parallel()
	for _, then := range []events.CapAct{events.CapThrottle, events.CapStop} {
		s, i := newSafe(), newISP()
		i.terms.Access.Cap = events.Cap{
			Bytes: 1000, Period: "month", Then: then, Throttle: events.Speed{Down: 1000, Up: 500},
		}
		k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
		about := events.UsageSubject{SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber}
		period := events.CapPeriod{Period: "month", ResetsAt: noon.Add(10 * time.Minute)}
		acts := func() {
			t.Helper()
			if then == events.CapStop {
				k.refused(request("amina", "pw"), directory.CodeCapReached)
			} else if _, rate := k.accepted(request("amina", "pw")); rate != "500k/1M" {
				t.Errorf("throttled to %q", rate)
			}
		}
		free := func() {
			t.Helper()
			if _, rate := k.accepted(request("amina", "pw")); rate != "1500k/10M" {
				t.Errorf("whole again: %q", rate)
			}
		}
		k.apply(events.CapWarned{UsageSubject: about, CapPeriod: period})
		free()
		k.apply(events.CapReached{UsageSubject: about, CapPeriod: period})
		acts()
		k.apply(events.CapReset{UsageSubject: about, CapPeriod: period, Reason: events.ResetTopUp})
		free()
		k.apply(events.CapReached{UsageSubject: about, CapPeriod: period})
		period.ResetsAt = noon.Add(20 * time.Minute)
		k.apply(events.CapPeriodMoved{UsageSubject: about, CapPeriod: period},
			events.CapReached{UsageSubject: events.UsageSubject{SubscriptionID: id.New[id.Subscription]()}})
		k.clock.Advance(20*time.Minute - time.Second)
		acts()
		k.clock.Advance(time.Second) // no event is needed for it
		free()
		k.stop()
	}
}
