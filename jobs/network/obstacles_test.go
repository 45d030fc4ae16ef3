package networkjobs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// TestObstacles_TheApiListsThoseOfThePlan, so that a reader can have words for each.
func TestObstacles_TheApiListsThoseOfThePlan(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(routerplan.Reservations(), networkviews.InterfaceReservations); diff != "" {
		t.Errorf("reservations (-plan +API)\n%s", diff)
	}
	if diff := cmp.Diff(routerplan.Warnings(), networkviews.InterfaceWarnings); diff != "" {
		t.Errorf("warnings (-plan +API)\n%s", diff)
	}
}
