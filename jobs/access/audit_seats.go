package accessjobs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// seat is one session of a customer that a router shows, and that may stay as far as it is looked at alone.
type seat struct {
	*onlyShown

	shown routerplan.ObservedSession
	login LocalLogin
}

// sits takes a session of a customer.
func (c *comparison) sits(s routerplan.ObservedSession, u *onlyShown, login LocalLogin) {
	of := u.session.SubscriptionID
	c.rows[of] = append(c.rows[of], seat{u, s, login})
}

// began is when a session began: as the router tells its age, else as it was reported.
func (c *comparison) began(s routerplan.ObservedSession, t telemetry.Session) time.Time {
	if t.StartedAt.IsZero() || s.Uptime > 0 {
		return c.k.At.Add(-s.Uptime)
	}
	return t.StartedAt
}

// share finds the sessions that are beyond the limit of their customer: as elsewhere the newest ones stay, or the
// oldest ones where the plan refuses more. Of two that began together the router shows the newer one later. A device
// that dialled again has one seat, which is the newest of its sessions; former ones have none beside others. When those
// whose reports come are beyond it by themselves, enforcement ends some; of others it does not know. The remaining
// sessions without reports are right, and not reported.
func (c *comparison) share() {
	for subscription, list := range c.rows {
		limit := 0
		if c.k.Limit != nil {
			limit = c.k.Limit(subscription)
		}
		slices.SortStableFunc(list, func(a, b seat) int { return a.began.Compare(b.began) })
		beside := "beside as many older ones"
		if c.k.Refuses == nil || !c.k.Refuses(subscription) {
			slices.Reverse(list)
			beside = "beside as many newer ones"
		}
		list, former := seated(list)
		open, ours := 0, 0
		for _, one := range list {
			if one.reports {
				open++
			}
		}
		for i, one := range list {
			stays := ours < limit // nobody is ended unasked for a session that another server may have let in
			if one.let {
				ours++
			}
			switch beyond := limit > 0 && i >= limit; {
			case beyond && (!one.reports || open <= limit):
				u := *one.onlyShown // another difference about the session keeps its own
				u.limit, u.let = limit, one.let && !stays
				if i >= former {
					beside = "beside a newer one of its device"
				}
				c.outdated(one.shown, &u, ReasonSessionLimit, fmt.Sprintf("sessions at a time: %d", limit), beside)
			case !one.reports:
				c.rightUnreported(one)
			}
		}
	}
}

// seated puts the former sessions of devices behind those that devices have now, and gives the place of the first.
func seated(list []seat) (all []seat, former int) {
	newest := map[string]time.Time{}
	for _, one := range list {
		if mac := one.shown.MAC; one.began.After(newest[mac]) {
			newest[mac] = one.began
		}
	}
	var last []seat
	for _, one := range list {
		if one.shown.MAC != "" && one.began.Before(newest[one.shown.MAC]) {
			last = append(last, one)
		} else {
			all = append(all, one)
		}
	}
	return append(all, last...), len(all)
}

// rightUnreported adds a session that is right, and that only people can have reported again.
func (c *comparison) rightUnreported(one seat) {
	t := one.session
	c.addShown(Found{
		AccessDifference: events.AccessDifference{
			Kind: events.UnknownSession, SubscriberID: t.SubscriberID, SubscriptionID: t.SubscriptionID,
		},
		Expected: "a session that is reported", Actual: "RADIUS let in " + c.named(one.shown) + one.told,
		login: one.login, byHand: askForReports, walled: c.walled(one.shown),
	}, one.onlyShown)
}

// granted compares what a session without reports was let in with, as far as it is known, and reports whether it would
// be let in so now. Of one that was never reported only name, device and beginning are known.
func (c *comparison) granted(s routerplan.ObservedSession, u *onlyShown, never bool) bool {
	t := u.session
	p := c.k.Present(t.SubscriptionID)
	var reason string
	switch {
	case never && s.MAC != "" && !p.Fits(shownAs(s), u.began):
		reason = ReasonWrongMAC
	case never && !p.Names(shownAs(s)):
		reason = ReasonChanged
	case never && p.Outlived(shownAs(s), u.began):
		reason, u.outlived = ReasonChanged, true
	case !never && c.k.Ends != nil:
		reason = c.k.Ends(t)
	}
	switch reason {
	case "":
		return true
	case ReasonWrongMAC:
		c.outdated(s, u, reason, "a device of the subscription", "which may not use it")
	case ReasonChanged:
		c.outdated(s, u, reason, "the present login and addresses", "by former ones")
	default:
		c.outdated(s, u, reason, p.Grant.Access.String(), "with "+cmp.Or(t.Access, entitlement.None.String()))
	}
	return false
}

// shownAs is a row of a router as the directory of sign-ins takes it.
func shownAs(s routerplan.ObservedSession) directory.Shown {
	return directory.Shown{Username: s.User, MAC: s.MAC, Hotspot: s.Hotspot}
}

// outdated adds a session that has to end although its access and speed are right, and that enforcement does not end.
func (c *comparison) outdated(s routerplan.ObservedSession, u *onlyShown, reason, expected, actual string) {
	t, p := u.session, c.k.Present(u.session.SubscriptionID)
	u.reason = reason
	if t.Access == "" { // never reported, and access and speed are those that it should have
		u.session.Access, u.session.RateDown, u.session.RateUp = p.Grant.Access.String(), p.Grant.Down, p.Grant.Up
	}
	byHand := ""
	if reason != ReasonSessionLimit { // the customer has others that stay
		byHand = c.offBecause(s, u)
	}
	c.addShown(Found{
		AccessDifference: events.AccessDifference{
			Kind: events.UnknownSession, SubscriberID: t.SubscriberID, SubscriptionID: t.SubscriptionID,
		},
		Expected: expected, Actual: "RADIUS let in " + c.named(s) + ", " + actual + u.told, session: t.ID, shown: u,
		byHand: byHand, walled: c.walled(s),
	}, u)
}

// eased reports whether a session may stay by now for what it was not right in: the device, or the number of sessions.
func (a *Auditor) eased(u *onlyShown, p directory.Present) bool {
	switch u.reason {
	case ReasonWrongMAC:
		return p.Fits(reportedAs(u.session), u.began)
	case ReasonSessionLimit:
		return a.Entitled.Directory.SessionLimit(u.session.SubscriptionID, a.Clock.Now()) > u.limit
	}
	return false
}

// ends is the reason for which an open session would be ended at an instant because of what it was granted; "" = it
// would not. A speed is compared with what the router shows instead.
func (e *Enforcer) ends(s telemetry.Session, at time.Time) string {
	c, wrong := e.wanted(s, at)
	if !wrong || c.adopt || c.action != events.EndOnline {
		return ""
	}
	return c.reason
}

// asSignedIn reports whether an open session has had since its sign-in what its customer is entitled to at an instant.
func (e *Enforcer) asSignedIn(s telemetry.Session, at time.Time) bool {
	entitled := e.Entitled.Directory
	return s.Stamp == entitled.Present(s.SubscriptionID, at).Grant.Stamp() &&
		entitled.Unchanged(s.SubscriptionID, s.StartedAt.Add(-directory.KnownWithin), at)
}
