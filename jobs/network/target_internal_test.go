package networkjobs

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// TestForget_NothingOfADecommissionedRouterStaysInMemory: nobody asks for it again.
func TestForget_NothingOfADecommissionedRouterStaysInMemory(t *testing.T) {
	t.Parallel()
	w, now := &Workers{}, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	row := networkviews.DeviceRow{ID: id.New[id.Device](), OrgID: id.New[id.Organization]()}
	_, _ = w.openRow(t.Context(), row) // without credentials it is known all the same
	w.looksForScript(row.ID, now)
	if w.OwnerOf(row.ID.String()) != row.OrgID.String() || w.looksForScript(row.ID, now) {
		t.Fatal("the router is not remembered")
	}
	w.Forget(row.ID)
	if w.OwnerOf(row.ID.String()) != "" || !w.looksForScript(row.ID, now) {
		t.Error("the router is remembered after it was forgotten")
	}
}
