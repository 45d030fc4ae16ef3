package accessjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// What people are told about sessions that were ended without effect.
const (
	endedInVain = "The customer's session was ended for this, and the next one shows the same: the router itself " +
		"makes it so. Look at the scripts, the rate limit and the address list of its PPP and hotspot profiles, at " +
		"its queues, and at what puts addresses into the list walled-garden. Then have the customer's device dial " +
		"again."
	endedAndOld = "The customer's session was ended since the password was changed, and the router still shows one " +
		"that began before. Look at the router's clock and at the session there, and end it there."
	endedInTurns = "More devices use the customer's login than the plan has sessions, and those that are ended dial " +
		"again. Ask the customer whose they are, and give the subscription another password or another plan."
)

// turnsWithin is for how long a device that was ended for the number of sessions, and dials again, is not ended for it.
const turnsWithin = 24 * time.Hour

// orByHand leaves a difference to people when ending the session was in vain.
func (a *Auditor) orByHand(ctx context.Context, f Found) (Found, error) {
	if f.silent == nil || f.byHand != "" {
		return f, nil
	}
	vain, err := a.inVain(ctx, f)
	switch {
	case vain && f.silent.reason == ReasonSessionLimit:
		f.byHand = endedInTurns
	case vain && f.silent.outlived:
		f.byHand = endedAndOld
	case vain:
		f.byHand = endedInVain
	}
	return f, err
}

// inVain reports whether a session of the same device was ended before, and another end would not help: nothing has
// changed since in what the customer is entitled to, so the sign-in that followed gave it, and the next one would give
// the same; or devices take the places of each other; or the router does not tell when sessions began. It is never in
// vain to end who may not be online.
func (a *Auditor) inVain(ctx context.Context, f Found) (bool, error) {
	u, at := f.silent, a.Clock.Now()
	limit := u.reason == ReasonSessionLimit
	given := a.Entitled.Directory.Present(u.session.SubscriptionID, at).Grant.Access
	if given == entitlement.None || f.Kind == events.UnknownSession && !limit && !u.outlived {
		return false, nil
	}
	state, _, err := bus.LoadUnchecked[access.Enforcement](ctx, a.Bus, u.place)
	switch {
	case err != nil || state.EndedAt.IsZero():
		return false, err
	case limit:
		return at.Sub(state.EndedAt) < turnsWithin, nil
	case u.outlived: // the place is of the present password
		return true, nil
	}
	return a.Entitled.Directory.Unchanged(u.session.SubscriptionID, state.EndedAt, at), nil
}
