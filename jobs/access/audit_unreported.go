package accessjobs

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// onlyShown is a session that a router shows by RADIUS, and that enforcement does not bring right: its reports do not
// come (docs/rules/access-auditor.md#sessions-without-reports), or they tell nothing of what the router shows
// (docs/rules/access-auditor.md#what-reports-do-not-tell).
type onlyShown struct {
	session telemetry.Session // the one that was reported once, or what the router shows of it
	place   id.Place          // stands for all sessions of the device with what the customer is entitled to
	stamp   string            // of what the customer was entitled to when it was compared
	began   time.Time
	reports bool   // its reports come
	told    string // what people are told about its reports
	reason  string // why it is ended although access and speed are right; "" = they are not
	limit   int    // of the customer's sessions when it was compared
	// outlived says that it began before the password was changed by which its customer signs in.
	outlived bool
	// let says that this installation let it in: it has reported it once, or the router asks no other RADIUS server.
	// Others are never ended unasked.
	let bool
}

// unreported compares a row of RADIUS that no open session is. A customer's is compared with the entitlement. When it
// is right, only people can have its reports come again, and the button must not end it.
func (c *comparison) unreported(s routerplan.ObservedSession, login LocalLogin) {
	t := c.lost(s)
	if t != nil && !ours(t) {
		c.ofNobody(s, "RADIUS, but not this one, let in "+c.named(s), login)
		return
	}
	u, never := &onlyShown{told: ", and no session of it was reported"}, t == nil
	if never {
		t = c.shown(s)
		if t.SubscriptionID.IsZero() {
			c.ofNobody(s, "RADIUS let in "+c.named(s)+u.told, login)
			return
		}
		_, asks := c.reached(s.Hotspot)
		u.let = asks.PPP && !s.Hotspot || asks.Hotspot && s.Hotspot
	} else {
		u.told = ", and it was reported until " + t.UpdatedAt.UTC().Format(time.RFC3339) + " only"
		u.let = true
	}
	c.online[t.SubscriptionID] = true
	u.session, u.stamp = *t, c.k.Present(t.SubscriptionID).Grant.Stamp()
	u.session.EndedAt, u.place, u.began = nil, c.placeOf(s, t.SubscriptionID), c.began(s, *t)
	if ip, err := netip.ParseAddr(s.Address); err == nil {
		u.session.IP = &ip
	}
	if c.entitled(s, *t, u) && c.granted(s, u, never) {
		c.sits(s, u, login)
	}
}

// askForReports tells a person what to do about a session that is right and not reported.
const askForReports = "The customer is online as he should be, but this router's reports do not arrive. Look at its " +
	"accounting (/ppp aaa, or the profile of the hotspot), at UDP port 1813 on the way, and at its RADIUS secret. " +
	"Ending the session would help nobody."

// lost finds the session that a row was until its reports stopped: the one with the row's key, or of its device, that
// was reported while the row was there.
func (c *comparison) lost(s routerplan.ObservedSession) *telemetry.Session {
	var best *telemetry.Session
	began := c.k.At.Add(-s.Uptime)
	for i := range c.k.Silent {
		t := &c.k.Silent[i]
		is := t.Username == s.User && (t.Service == "hotspot") == s.Hotspot && !t.UpdatedAt.Add(settled).Before(began)
		if s.Key != "" {
			is = is && strings.EqualFold(t.SessionKey, s.Key)
		} else {
			is = is && s.MAC != "" && strings.EqualFold(t.MAC, s.MAC)
		}
		if is && (best == nil || t.UpdatedAt.After(best.UpdatedAt)) {
			best = t
		}
	}
	return best
}

// placeOf names the device of a customer at a router together with what the customer is entitled to. Ends are recorded
// under it, and differences named by it, so that a later session of the device is known to be one that followed. The
// text in it never changes, although reports can come: ids that the log has were made of it.
func (c *comparison) placeOf(s routerplan.ObservedSession, subscription id.Subscription) id.Place {
	return id.Derive[id.Place]("session without reports", c.k.Device.String(), subscription.String(), s.MAC,
		c.k.Present(subscription).Grant.Stamp())
}

// shown makes a session of what a router shows; its subscription is zero when nobody has or had its name. No report
// gave it an id, so it has that of its place.
func (c *comparison) shown(s routerplan.ObservedSession) *telemetry.Session {
	t := telemetry.Session{
		OrgID: c.k.Org, DeviceID: c.k.Device, SessionKey: s.Key, Username: s.User, MAC: s.MAC, Service: "pppoe",
	}
	if s.Hotspot {
		t.Service = "hotspot"
	}
	t.SubscriberID, t.SubscriptionID = c.k.Holder(s)
	t.ID = id.As[telemetry.SessionID](c.placeOf(s, t.SubscriptionID))
	return &t
}

// silentNames lists the usernames of rows of RADIUS that no open session is, each once.
func silentNames(o routerplan.Observed, k Known) []string {
	c := &comparison{o: o, k: k}
	c.index()
	var names []string
	for _, s := range o.Sessions {
		if s.Radius && c.known(s) == nil {
			names = append(names, s.User)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// knowSilent adds when a router was heard, and what is known about its sessions whose reports do not come.
func (a *Auditor) knowSilent(ctx context.Context, o routerplan.Observed, k *Known) (err error) {
	if names := silentNames(o, *k); len(names) > 0 {
		if k.Silent, err = a.Sessions.Silent(ctx, k.Device, names); err != nil {
			return err
		}
	}
	k.Heard, err = a.Sessions.Heard(ctx, k.Device, k.At, locksOutFor)
	return err
}

// bringShown brings right, unasked, what was seen twice of sessions that enforcement does not bring right. What
// fails is tried at the next look.
func (a *Auditor) bringShown(
	ctx context.Context, s seen, is func(id.Difference) bool, cause jobs.Cause,
) (changed bool) {
	for difference, f := range s.found {
		if f.shown == nil || !f.shown.let || f.byHand != "" || f.rests || !is(difference) ||
			a.pauses.rests(f.shown.session.ID, a.paced()) {
			continue
		}
		end := a.endUnreported
		if f.shown.reports {
			end = a.bringOpen
		}
		_, did, err := end(ctx, f, nil, cause)
		changed = changed || did
		switch {
		case errors.Is(err, errRefused):
			a.pauses.refused(f.shown.session.ID, a.paced())
		case errors.Is(err, errUnreachable), errors.Is(err, errIncomplete), ctx.Err() != nil:
			return changed
		case err != nil:
			a.Logger.WarnContext(ctx, "a session cannot be brought right",
				slog.String("device_id", f.DeviceID.String()), slog.String("error", err.Error()))
		}
	}
	return changed
}

// endUnreported ends a session whose reports do not come, at the router's own interface, which shows it; asked is of
// the person who wants it, nil = nobody. Nothing is done, and did is false, while reports wait, when a report has come
// meanwhile, when the customer is entitled to something else than when it was compared, and unasked when it would be in
// vain.
func (a *Auditor) endUnreported(
	ctx context.Context, f Found, asked *commands.Meta, cause jobs.Cause,
) (done result, did bool, err error) {
	u := f.shown
	lock, err := a.Locks.Lock(ctx, lockName(u.session.SubscriberID))
	if err != nil {
		return result{}, false, err
	}
	defer lock.Unlock()
	p := a.Entitled.Directory.Present(u.session.SubscriptionID, a.Clock.Now())
	if a.behind(ctx, f.OrgID) != "" || p.Grant.Stamp() != u.stamp || a.eased(u, p) {
		return result{}, false, nil
	}
	if heard, err := a.heard(ctx, u.session); err != nil || heard {
		return result{}, false, err
	}
	if asked == nil {
		if known, err := a.effectOf(ctx, f); err != nil || known.rests {
			return result{}, false, err
		}
	}
	c := change{
		action: events.EndOnline, reason: reasonOf(f, string(p.Code)), asked: asked, listed: true,
		after: events.SessionGrant{Access: p.Grant.Access.String(), Down: p.Grant.Down, Up: p.Grant.Up},
	}
	if p.Grant.Access != entitlement.None {
		c.place = u.place
	}
	done, err = a.act(ctx, u.session, c, cause)
	return done, err == nil, err
}

// reasonOf is why a session without reports is ended.
func reasonOf(f Found, code string) string {
	if f.Kind == events.WrongRate {
		return ReasonRate
	}
	return cmp.Or(f.shown.reason, code, ReasonAuditor)
}

// heard reports whether a session without reports has one that is open by now.
func (a *Auditor) heard(ctx context.Context, s telemetry.Session) (bool, error) {
	list, err := a.Sessions.OpenOf(ctx, s.SubscriberID)
	return slices.ContainsFunc(list, func(t telemetry.Session) bool {
		return t.ID == s.ID || t.DeviceID == s.DeviceID && t.Username == s.Username &&
			(strings.EqualFold(t.SessionKey, s.SessionKey) || s.SessionKey == "" && strings.EqualFold(t.MAC, s.MAC))
	}), err
}
