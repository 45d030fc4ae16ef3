package accessjobs

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestInTurn_AnOrganizationWithVeryManyBeyondTheirLimitLeavesTheTurnsOfOthers: one look takes all of theirs.
func TestInTurn_AnOrganizationWithVeryManyBeyondTheirLimitLeavesTheTurnsOfOthers(t *testing.T) {
	t.Parallel()
	loud, calm := id.New[id.Organization](), id.New[id.Organization]()
	var list []telemetry.SharedSubscription
	for n := range 25 * mostLimits {
		list = append(list, telemetry.SharedSubscription{OrgID: loud, Sessions: int64(n)})
	}
	for range 100 {
		list = append(list, telemetry.SharedSubscription{OrgID: calm})
	}
	taken := map[id.Organization]int{}
	for _, c := range inTurn(list) {
		taken[c.OrgID]++
	}
	if taken[calm] != 100 || taken[loud] != mostLimits-100 {
		t.Errorf("%d of the one, %d of the other", taken[loud], taken[calm])
	}
}
