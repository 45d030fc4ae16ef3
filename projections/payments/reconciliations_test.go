package paymentsviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// TestReconciliations_StoryEndsInTheseRows compares a statement of which something is taken in, and one that fails.
func TestReconciliations_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	good, bad := id.Derive[id.Reconciliation]("test", "good"), id.Derive[id.Reconciliation]("test", "bad")
	at := func(minute int) time.Time { return began.Add(time.Duration(minute) * time.Minute) }
	started := func(of id.Reconciliation) events.ReconciliationStarted {
		return events.ReconciliationStarted{
			ReconciliationID: of, OrgID: acme, Environment: "sandbox", Shortcode: "600200", Lines: 12,
			From: at(-600), To: at(-1), At: at(0),
		}
	}
	found := events.ReconciliationFigures{
		Matched: 7, MissingHere: 2, MissingThere: 1, Different: 1, Withdrawals: 1, Charges: 1, Reversals: 1,
	}
	after := found
	after.Matched, after.MissingHere = 9, 0
	s := projectiontest.NewStory(acme, began)
	for _, e := range []events.Event{
		started(good), events.ReconciliationCompared{ReconciliationID: good, Figures: found, At: at(1)},
		events.ReconciliationAdoptionStarted{ReconciliationID: good, OrgID: acme, At: at(2)},
		events.ReconciliationAdopted{ReconciliationID: good, Adopted: 2, Figures: after, At: at(3)},
		started(bad), events.ReconciliationFailed{ReconciliationID: bad, Code: "eventstore_unavailable", At: at(4)},
	} {
		s.Add("reconciliation-story", e)
	}
	projectiontest.Check(t, paymentsviews.Reconciliations{}, s)
}
