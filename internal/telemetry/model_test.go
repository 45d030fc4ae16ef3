package telemetry_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestUsage_OfAModelledRouterIsTheSameInTheTables: a few of the random histories, against PostgreSQL.
func TestUsage_OfAModelledRouterIsTheSameInTheTables(t *testing.T) {
	t.Parallel()
	k := open(t)
	for seed := range 6 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			device := id.New[id.Device]()
			story := telemetry.ModelOf(seed, device)
			for i, group := range story.Groups {
				for n := range group {
					group[n].Org = k.org
				}
				k.commit(t, group...)
				silent := telemetry.Silence{Since: story.At[i].Add(-20 * time.Minute)}
				if _, err := k.CloseLost(t.Context(), silent); err != nil {
					t.Fatal(err)
				}
			}
			var got []telemetry.ModelSession
			for _, s := range k.rows(t.Context(), t, device) {
				got = append(got, telemetry.ModelSession{
					Key: s.Key, User: s.User, Started: s.Started, Down: s.Down, Up: s.Up,
				})
			}
			order := func(a, b telemetry.ModelSession) int {
				return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Key, b.Key), cmp.Compare(a.User, b.User))
			}
			slices.SortFunc(got, order)
			slices.SortFunc(story.Sessions, order)
			if diff := gocmp.Diff(story.Sessions, got); diff != "" {
				t.Errorf("in memory -, in the tables +\n%s", diff)
			}
			var used [2]int64
			for _, month := range k.outcome(t.Context(), t, device).Months {
				used[0], used[1] = used[0]+month.BytesDown, used[1]+month.BytesUp
			}
			for n := range used {
				if used[n] > story.Real[n] || used[n] < story.Told[n]/2 {
					t.Errorf("%d octets counted of %d, %d were told", used[n], story.Real[n], story.Told[n])
				}
			}
		})
	}
}
