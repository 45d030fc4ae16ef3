package accessjobs

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// former gives the change of a session that began under a version of the program whose Class did not tell what was
// granted. It is ended where it may have too much, which is in the walled garden. Elsewhere it is taken to have what a
// sign-in gets now, so that an upgrade ends no session of a customer who has paid.
func former(p directory.Present, after events.SessionGrant) (change, bool) {
	if p.Grant.Access == entitlement.WalledGarden {
		return change{
			action: events.EndOnline, reason: string(p.Code), after: after, next: p.Grant.Stamp(),
		}, true
	}
	return change{adopt: true, regrant: telemetry.Given{
		Access: after.Access, RateDown: after.Down, RateUp: after.Up, Stamp: p.Grant.Stamp(),
	}}, true
}
