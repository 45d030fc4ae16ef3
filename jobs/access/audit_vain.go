package accessjobs

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// What people are told about sessions that were ended without effect.
const (
	lookAtRouter = "the router itself makes it so. Look at the scripts, the rate limit and the address list of its " +
		"PPP and hotspot profiles, at its queues, and at what puts addresses into the list walled-garden, or takes " +
		"them out."
	endedInVain = "The customer's session was ended for this, and the next one shows the same: " + lookAtRouter +
		" Then have the customer's device dial again."
	endedOnceMore = "The session was ended once more, and the customer's device signs in again. When the next " +
		"session shows the same, " + lookAtRouter
	endedAndOld = "The customer's session was ended since the password was changed, and the router still shows one " +
		"that began before. Look at the router's clock and at the session there, and end it there."
	endedInTurns = "More devices use the customer's login than the plan has sessions, and those that are ended dial " +
		"again. Ask the customer whose they are, and give the subscription another password or another plan."
)

// otherAt names a session of another user that the router shows at the address of a session; "" = none.
func (c *comparison) otherAt(s routerplan.ObservedSession) string {
	for _, i := range c.at[s.Address] {
		if other := c.o.Sessions[i]; s.Address != "" && other.User != s.User {
			return c.named(other)
		}
	}
	return ""
}

// sharedAddress tells a person that what the router does to an address, it does to two customers; "" without another
// session.
func sharedAddress(other string) string {
	if other == "" {
		return ""
	}
	return "Two sessions of the router have the same address, so each has the walled garden and the speed of the " +
		"other, too: the other one is of " + other + ". Give the customer whose address is static another one, " +
		"outside the pools of the router, and end both sessions."
}

// inVain tells a person why another end would show the same.
func inVain(f Found) string { return cmp.Or(sharedAddress(f.other), endedInVain) }

// Times of ends.
const (
	// turnsWithin is for how long a device that was ended for the number of sessions, and dials again, is not ended for
	// it; and who has paid is not ended unasked once more for what his router shows.
	turnsWithin = 24 * time.Hour
	// unpaidRests is for how long who has more than is paid is not ended unasked once more where that was in vain:
	// customers may have ways to get out of the walled garden after each sign-in.
	unpaidRests = time.Hour
	// endTakes is the most that an end is recorded after it was made: the device may dial again before.
	endTakes = time.Minute
)

// effect tells what ending a session would do.
type effect struct {
	rests bool // it is not ended unasked
	vain  bool // it would show the same again
}

// orByHand leaves a difference to people when ending the session was in vain. Who has more than is paid is ended by the
// button in any case.
func (a *Auditor) orByHand(ctx context.Context, f Found) (Found, error) {
	if f.shown == nil || f.byHand != "" {
		return f, nil
	}
	known, err := a.effectOf(ctx, f)
	f.rests = known.rests
	switch {
	case !known.vain || f.Kind == events.UnpaidButOnline:
	case f.shown.reason == ReasonSessionLimit:
		f.byHand = endedInTurns
	case f.shown.outlived:
		f.byHand = endedAndOld
	default:
		f.byHand = inVain(f)
	}
	return f, err
}

// effectOf tells what another end of a session would do. It would be in vain when a session of the same device was
// ended before this one began, nothing has changed since in what the customer is entitled to, and no session of the
// device was right since: the sign-in gave what it should, and the next one would give the same. It would be, too, when
// devices take the places of each other, or the router does not tell when sessions began. It is never in vain to end
// who may not be online.
func (a *Auditor) effectOf(ctx context.Context, f Found) (effect, error) {
	u, at := f.shown, a.Clock.Now()
	limit := u.reason == ReasonSessionLimit
	given := a.Entitled.Directory.Present(u.session.SubscriptionID, at).Grant.Access
	if given == entitlement.None || f.Kind == events.UnknownSession && !limit && !u.outlived {
		return effect{}, nil
	}
	state, _, err := bus.LoadUnchecked[access.Enforcement](ctx, a.Bus, u.place)
	if err != nil || state.First.IsZero() {
		return effect{}, err
	}
	last := state.LastEnd(u.began.Add(endTakes))
	switch {
	case u.outlived: // the place is of the present password; several sessions of a host are ended together
		vain := at.Sub(state.First) >= endTakes
		return effect{vain, vain}, nil
	case last.IsZero():
		return effect{}, nil
	case limit:
		vain := at.Sub(last) < turnsWithin
		return effect{vain, vain}, nil
	case !a.Entitled.Directory.Unchanged(u.session.SubscriptionID, last, at):
		return effect{}, nil
	}
	unpaid := f.Kind == events.UnpaidButOnline
	right, err := a.rightSince(ctx, f, last)
	if !right || err != nil {
		return effect{rests: !unpaid || at.Sub(last) < unpaidRests, vain: true}, err
	}
	return effect{rests: !unpaid && at.Sub(last) < turnsWithin}, nil
}

// rightAt is the subject of the difference that stands for a session without reports that is as it should be.
func rightAt(place id.Place) string { return "right " + place.String() }

// rightSince reports whether a session of the same device was seen as it should be after an instant: the difference
// that says so was opened then. One whose reports come has no such difference.
func (a *Auditor) rightSince(ctx context.Context, f Found, since time.Time) (bool, error) {
	if f.shown.reports {
		return a.rightAtFirst(ctx, f)
	}
	difference := access.DifferenceID(f.OrgID, f.DeviceID, events.UnknownSession, rightAt(f.shown.place))
	state, _, err := bus.LoadUnchecked[access.Difference](ctx, a.Bus, difference)
	return state.Since.After(since), err
}
