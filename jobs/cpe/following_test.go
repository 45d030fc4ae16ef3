package cpejobs_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// TestTag_MendsWhereTheCallsOfACpeAreCounted: the program that claimed it has died before it could move them, or had no
// database for a moment. There is no CPE server here.
func TestTag_MendsWhereTheCallsOfACpeAreCounted(t *testing.T) {
	t.Parallel()
	kit := coretest.New(t, clock.System(), cpeviews.CPEs{})
	bus.Register(kit.Bus, cpe.CPEs())
	informs, now := open(t)
	views, acme := kit.Show(t), id.New[id.Organization]()
	identity := events.CpeIdentity{SerialNumber: "SN-1", OUI: "00AABB"}
	box := commands.CpeID(identity)
	kit.Run(t, coretest.Operator(id.Organization{}), commands.IdentifyCpe{CpeID: box, Identity: identity})
	informs.Heard(box, id.Organization{})
	written(t, informs)
	done := kit.Run(t, coretest.Operator(acme), commands.ClaimCpe{CpeID: box, OrgID: acme})
	following := cpejobs.Following{Informs: informs, Rows: cpeviews.CPEsQuery{Views: views}}
	for range 2 { // again it changes nothing
		err := following.Tag(t.Context(), commands.TagCpe{CpeID: box, Position: done.Position}, jobs.Cause{})
		if err != nil {
			t.Fatal(err)
		}
		counts(t, informs, acme, now.Now(), 1)
	}
}
