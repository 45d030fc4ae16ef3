package directory_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestUnchanged_AChangeFromWhenTheClockWasAheadIsNoLaterOne: the clock was three hours ahead and is put back to noon,
// while the program runs or before it is started.
func TestUnchanged_AChangeFromWhenTheClockWasAheadIsNoLaterOne(t *testing.T) {
	t.Parallel()
	const lead = 3 * time.Hour
	s, i := newSafe(), newISP()
	for _, running := range []bool{true, false} {
		k := newKit(t, s, i.begin(s, "127.0.0.1", "amina", "pw")...)
		if running {
			k.clock.Set(noon.Add(lead))
		}
		for _, e := range append(i.paid(noon.AddDate(0, 1, 0)), events.BillingSettingsAdopted{
			OrgID: i.org, Billing: events.BillingSettings{Timezone: "Europe/Berlin"},
		}) {
			k.dir.Apply(events.Envelope{Event: e, Meta: events.Metadata{At: noon.Add(lead)}})
		}
		k.clock.Set(noon)
		if k.dir.Unchanged(i.subscription, noon.Add(-time.Minute), noon) {
			t.Error("what has changed since a minute ago counts as unchanged")
		}
		for _, after := range []time.Duration{10 * time.Minute, lead - 2*time.Minute, lead + time.Hour} {
			k.clock.Set(noon.Add(after + 5*time.Minute))
			if !k.dir.Unchanged(i.subscription, noon.Add(after), noon.Add(after+5*time.Minute)) {
				t.Errorf("running %v: what has not changed since %s after noon counts as changed", running, after)
			}
			if !k.dir.Wronged(i.subscription, directory.CodeUnpaid, noon.Add(after+5*time.Minute)) {
				t.Errorf("running %v: a refusal of who has paid long ago counts as right", running)
			}
		}
	}
}
