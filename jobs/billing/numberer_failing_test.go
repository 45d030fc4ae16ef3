package billingjobs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// TestNumberer_ASeriesThatFailsHoldsUpNoOther: while it fails, another organization has a block after the other without
// a pause, and it is asked for its own again and again.
func TestNumberer_ASeriesThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	sick, other := id.New[id.Organization](), id.New[id.Organization]()
	k := &kit{clock: clock.NewManual(began)}
	k.Kit = coretest.New(t, k.clock, billingviews.Numbering{}, billingviews.Invoices{})
	bus.Register(k.Bus, billing.Accounts())
	series, tried := billing.NumberSeries(), 0
	decide := series.Decide
	series.Decide = func(
		s billing.Numbering, c commands.NumberingCommand, now time.Time,
	) ([]events.NumberingEvent, error) {
		if grant, is := c.(commands.GrantNumbers); is && grant.OrgID == sick {
			tried++
			return nil, errors.New("it cannot be decided")
		}
		return decide(s, c, now)
	}
	bus.Register(k.Bus, series)
	k.views = k.Show(t)
	k.burst(t, sick, "SICK", 1)
	k.burst(t, other, "LAKE", 300)
	k.WaitForAll(t, k.views, billingviews.NumberingName)
	n := k.numberer()
	for ; ; k.clock.Advance(2 * time.Minute) { // what was granted is never issued, and counts no more
		granted, more, err := n.Grant(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !granted {
			if !more {
				t.Error("the document of the series that fails does not wait")
			}
			break
		}
		k.WaitForAll(t, k.views, billingviews.NumberingName)
	}
	checkSeries(t, k.grants(t, other, "LAKE"), 300)
	before := tried
	if before == 0 {
		t.Error("the series was never asked for")
	}
	for tried == before { // after a pause
		if _, _, err := n.Grant(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
