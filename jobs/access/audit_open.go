package accessjobs

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
)

// reported is a session whose reports come, and tell what it was granted, and not whether the router does so
// (docs/rules/access-auditor.md#what-reports-do-not-tell).
func (c *comparison) reported(s routerplan.ObservedSession, t telemetry.Session) *onlyShown {
	return &onlyShown{
		session: t, place: c.placeOf(s, t.SubscriptionID), stamp: c.k.Present(t.SubscriptionID).Grant.Stamp(),
		began: c.began(s, t), reports: true, let: true,
	}
}

// addOpen keeps a difference about a session whose reports come. The speed is for people
// (docs/rules/access-auditor.md#what-reports-do-not-tell).
func (c *comparison) addOpen(f Found, t telemetry.Session) {
	if f.Kind == events.WrongRate {
		f.shown = nil
	}
	c.add(f, access.DeviceSubject(t.SubscriptionID, t.MAC))
}

// rightAtFirst reports whether a session whose reports come was as it should be when it began: the difference was not
// found by the first looks at it.
func (a *Auditor) rightAtFirst(ctx context.Context, f Found) (bool, error) {
	state, _, err := bus.LoadUnchecked[access.Difference](ctx, a.Bus, f.DifferenceID)
	found := a.Clock.Now()
	if state.Open {
		found = state.Since
	}
	return found.Sub(f.shown.began) > 2*a.Every+secondLook, err
}

// bringOpen brings a session whose reports come to what it is entitled to, on the ways of enforcement. Where the
// session is thought to be right, and the router shows something else, the speed is set once more or the session is
// ended, so that the customer's device signs in again and gets everything. asked is of the person who wants it, nil =
// nobody. did is false when it has ended; and unasked when enforcement brings it right, when the customer is entitled
// to something else than when it was compared, and when it would be in vain.
func (a *Auditor) bringOpen(
	ctx context.Context, f Found, asked *commands.Meta, cause jobs.Cause,
) (done result, did bool, err error) {
	lock, err := a.Locks.Lock(ctx, lockName(f.owner))
	if err != nil {
		return result{}, false, err
	}
	defer lock.Unlock()
	s, err := a.sessionOf(ctx, f)
	if err != nil || s == nil {
		return result{}, false, err
	}
	c, wrong := a.wanted(*s, a.Clock.Now())
	if asked == nil {
		if idle, err := a.leavesOpen(ctx, f, wrong); err != nil || idle {
			return result{}, false, err
		}
	}
	if !wrong {
		c = a.again(*s, f.Kind)
	}
	if c.asked = asked; asked == nil {
		c.reason = reasonOf(f, string(a.Entitled.Directory.Present(s.SubscriptionID, a.Clock.Now()).Code))
	}
	if !wrong && f.shown != nil { // so that the next session of the device is known to be one that followed
		c.place = f.shown.place
	}
	done, err = a.act(ctx, *s, c, cause)
	return done, err == nil, err
}

// leavesOpen reports whether nothing is done unasked about a session whose reports come. wrong says that enforcement
// brings it right.
func (a *Auditor) leavesOpen(ctx context.Context, f Found, wrong bool) (bool, error) {
	p := a.Entitled.Directory.Present(f.shown.session.SubscriptionID, a.Clock.Now())
	if wrong || a.behind(ctx, f.OrgID) != "" || p.Grant.Stamp() != f.shown.stamp {
		return true, nil
	}
	known, err := a.effectOf(ctx, f)
	return known.rests, err
}
