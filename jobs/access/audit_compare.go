package accessjobs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// settled is how long a session must have been open, or a customer refused, before it counts: reports that are on their
// way, and devices that dial again after a payment, need some time.
const settled = 2 * time.Minute

// Known has what we know about one router without asking it.
type Known struct {
	Org    id.Organization
	Device id.Device
	Open   []telemetry.Session   // that are thought to be on the router
	Silent []telemetry.Session   // that ended without a report of the router
	Heard  telemetry.RouterHeard // when the router's secret was refused, or a session reported
	// Refused have the customers whose last try was refused there, and who have had no session since, nor one that
	// another router shows. FirstAt is when they began to be refused.
	Refused []telemetry.Refusal
	// Present gives the entitlement of a subscription.
	Present func(id.Subscription) directory.Present
	// Ends gives the reason for which an open session would be ended because of what it was granted; "" = it would not,
	// nil = none ever.
	Ends func(telemetry.Session) string
	// AsSignedIn reports whether an open session has had since its sign-in what its customer is entitled to; nil = it
	// is not known.
	AsSignedIn func(telemetry.Session) bool
	// Limit is how many sessions a subscription may have at the same time; 0 = it is not known, nil = it never is.
	Limit func(id.Subscription) int
	// Refuses reports whether sessions beyond the limit are refused, so that the oldest ones stay; nil = never.
	Refuses func(id.Subscription) bool
	// Wronged reports whether a refusal contradicts what the log had at that time; nil = never.
	Wronged func(s id.Subscription, code directory.Code, refused time.Time) bool
	// Holder finds the subscription of a session by its name and device; zero = nobody has or had them.
	Holder func(routerplan.ObservedSession) (id.Subscriber, id.Subscription)
	// Voucher finds the voucher whose code is the name of a session; zero = none, nil = there are none.
	Voucher func(routerplan.ObservedSession) id.Voucher
	At      time.Time
}

// Found is one difference.
type Found struct {
	events.AccessDifference
	Expected, Actual string

	login   LocalLogin          // of unknown_session and local_bypass
	session telemetry.SessionID // of those about a session that is known
	shown   *onlyShown          // of those about a session that enforcement does not bring right; nil = of no such
	owner   id.Subscriber       // whose lock a change takes; also of a voucher
	code    string              // of the last refusal
	byHand  string              // what a person has to do, where no repair helps; "" = a repair may
	rests   bool                // it is not ended unasked, because that was in vain
	many    bool                // a router can show as many of them as it likes
	walled  bool                // the router has the session's address in the walled garden
	other   string              // another session at the same address, as people are told; "" = none
}

// Compare gives everything that a router shows and nobody is entitled to, and the other way round, ordered by id. It is
// pure (docs/rules/access-auditor.md#kinds).
func Compare(o routerplan.Observed, k Known) []Found {
	c := &comparison{o: o, k: k, seen: map[telemetry.SessionID]bool{}, found: map[id.Difference]Found{}}
	c.online, c.rows, c.told = map[id.Subscription]bool{}, map[id.Subscription][]seat{}, map[id.Subscription]bool{}
	c.index()
	for _, s := range o.Sessions {
		c.session(s)
	}
	c.share()
	c.stale()
	c.refused()
	c.ports()
	list := make([]Found, 0, len(c.found))
	for _, f := range c.found {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Found) int {
		return strings.Compare(a.DifferenceID.String(), b.DifferenceID.String())
	})
	return list
}

// mostOfNobody is how many sessions that nobody here has let in are shown of one router, each as a difference of its
// own. A router that another RADIUS server serves has thousands, and one that is not honest as many as it likes. So it
// can with more sessions than one of a customer whose reports do not come.
const mostOfNobody = 100

// few leaves out sessions of nobody that are too many, and says that there are more. Those that are recorded stay, so
// that the list does not change with each look. What is shown once of a customer stays, however many they are.
func few(list []Found, k Known, recorded []accessviews.DifferenceRow) []Found {
	is := map[id.Difference]bool{}
	for _, row := range recorded {
		is[row.ID] = true
	}
	places := mostOfNobody
	for _, f := range list {
		if f.many && is[f.DifferenceID] {
			places--
		}
	}
	var out []Found
	more := false
	for _, f := range list {
		if f.many && !is[f.DifferenceID] {
			if places--; places < 0 {
				more = true
				continue
			}
		}
		out = append(out, f)
	}
	if more {
		out = append(out, manyOfNobody(k))
	}
	return out
}

// manyOfNobody is the difference that stands for all sessions that few has left out.
func manyOfNobody(k Known) Found {
	return Found{
		AccessDifference: events.AccessDifference{
			DifferenceID: access.DifferenceID(k.Org, k.Device, events.UnknownSession, "more"), OrgID: k.Org,
			DeviceID: k.Device, Kind: events.UnknownSession,
		},
		Expected: "no session",
		Actual:   fmt.Sprintf("more than %d sessions that nobody here let in", mostOfNobody),
		byHand: "Look at the router's RADIUS clients and its own users: they let in more devices than can be shown. " +
			"When those that are shown have gone, others are.",
	}
}

// comparison is one run of Compare.
type comparison struct {
	o      routerplan.Observed
	k      Known
	byUser map[string][]*telemetry.Session
	limits map[string]string // of queues, by their target
	at     map[string][]int  // places of at most two sessions of different users, by their address
	seen   map[telemetry.SessionID]bool
	online map[id.Subscription]bool   // with a session whose reports do not come
	rows   map[id.Subscription][]seat // of sessions that may stay, but for their number
	told   map[id.Subscription]bool   // that has a difference about a session whose reports do not come
	found  map[id.Difference]Found
}

// index prepares the search for sessions and queues.
func (c *comparison) index() {
	c.byUser = map[string][]*telemetry.Session{}
	for i := range c.k.Open {
		s := &c.k.Open[i]
		c.byUser[s.Username] = append(c.byUser[s.Username], s)
	}
	c.at = make(map[string][]int, len(c.o.Sessions))
	for i, s := range c.o.Sessions {
		have := c.at[s.Address]
		if len(have) == 0 || len(have) == 1 && c.o.Sessions[have[0]].User != s.User {
			c.at[s.Address] = append(have, i)
		}
	}
	c.limits = make(map[string]string, len(c.o.Queues))
	for _, q := range c.o.Queues {
		c.limits[q.Target] = q.Limit
	}
}

// add keeps a difference; of several with one id the first counts.
func (c *comparison) add(f Found, subject string) {
	f.OrgID, f.DeviceID = c.k.Org, c.k.Device
	f.DifferenceID = access.DifferenceID(c.k.Org, c.k.Device, f.Kind, subject)
	if f.owner.IsZero() {
		f.owner = f.SubscriberID
	}
	if f.SubscriptionID == id.As[id.Subscription](f.SubscriberID) { // docs/rules/access-vouchers.md#sessions
		f.SubscriberID, f.SubscriptionID = id.Subscriber{}, id.Subscription{}
	}
	if _, twice := c.found[f.DifferenceID]; !twice {
		c.found[f.DifferenceID] = f
	}
}

// addShown keeps a difference about a session whose reports do not come, or that is beyond the limit because of those.
// Each one that the auditor has to end is a difference of its own, since enforcement does not, also when a host has
// several. A customer has one in any case, and more of them as long as there are not too many.
func (c *comparison) addShown(f Found, u *onlyShown) {
	subject := u.place.String()
	if f.shown == nil {
		subject = rightAt(u.place)
	} else if _, twice := c.found[access.DifferenceID(c.k.Org, c.k.Device, f.Kind, subject)]; twice {
		subject += " " + cmp.Or(u.session.SessionKey, fmt.Sprint(u.session.IP))
	}
	f.many, c.told[u.session.SubscriptionID] = c.told[u.session.SubscriptionID], true
	c.add(f, subject)
}

// known finds the open session that a router's row is.
func (c *comparison) known(s routerplan.ObservedSession) *telemetry.Session {
	for _, t := range c.byUser[s.User] {
		is := (t.Service == "hotspot") == s.Hotspot
		if s.Key != "" {
			is = is && strings.EqualFold(t.SessionKey, s.Key)
		} else {
			is = is && (t.MAC == "" || s.MAC == "" || strings.EqualFold(t.MAC, s.MAC)) &&
				(t.IP == nil || s.Address == "" || t.IP.String() == s.Address)
		}
		if is {
			return t
		}
	}
	return nil
}

// session compares one row of an active list.
func (c *comparison) session(s routerplan.ObservedSession) {
	t := c.known(s)
	if t != nil {
		c.seen[t.ID] = true
	}
	login := LocalLogin{
		Session: OnlineSession{Hotspot: s.Hotspot, User: s.User, Key: s.Key, Address: s.Address, MAC: s.MAC},
		Local:   !s.Radius, Bypass: s.Bypass, MAC: s.MAC,
	}
	switch {
	case s.Trial && s.User == trialUser(s.MAC): // not a customer, and the operator's offer
	case !s.Radius:
		f := Found{
			AccessDifference: events.AccessDifference{Kind: events.LocalBypass},
			Expected:         "customers sign in by RADIUS", Actual: c.wayIn(s), login: login, many: true,
			walled: c.walled(s),
		}
		f.SubscriberID, f.SubscriptionID = c.k.Holder(s)
		c.add(f, c.subjectName(s))
	case ours(t):
		u := c.reported(s, *t)
		c.entitled(s, *t, u)
		c.sits(s, u, login)
	case s.Uptime < settled && (t == nil || c.k.At.Sub(t.StartedAt) < settled):
	case t == nil:
		c.unreported(s, login)
	default:
		c.ofNobody(s, "RADIUS, but not this one, let in "+c.named(s), login)
	}
}

// ours reports whether a session was let in by this installation, as its reports tell.
func ours(t *telemetry.Session) bool { return t != nil && !t.SubscriptionID.IsZero() && t.Stamp != "" }

// ofNobody adds a session that RADIUS let in, and that is not known to be one of this installation.
func (c *comparison) ofNobody(s routerplan.ObservedSession, actual string, login LocalLogin) {
	f := Found{
		AccessDifference: events.AccessDifference{Kind: events.UnknownSession},
		Expected:         "no session", Actual: actual, login: login, many: true, walled: c.walled(s),
	}
	f.SubscriberID, f.SubscriptionID = c.k.Holder(s)
	c.add(f, c.subjectName(s))
}

// walled reports whether the router has the address of a session in the walled garden.
func (c *comparison) walled(s routerplan.ObservedSession) bool {
	walled, _ := c.o.Walled(s.Address)
	return walled
}

// trialUser is the name that a hotspot gives the trial of a device. Only the way of the login proves one: a person can
// make a user with such a name.
func trialUser(mac string) string { return "T-" + mac }

// wayIn tells how a device came in without RADIUS.
func (c *comparison) wayIn(s routerplan.ObservedSession) string {
	switch {
	case s.Bypass:
		return "an ip-binding bypassed of the hotspot lets in the device " + s.MAC + " at " + s.Address
	case s.Hotspot:
		return "a local hotspot user let in " + c.named(s)
	}
	return "a local PPP secret let in " + c.named(s)
}

// named names a session for people. That of a voucher is named by its id: whoever has the code has the voucher.
func (c *comparison) named(s routerplan.ObservedSession) string {
	out := fmt.Sprintf("%q", spoken(s.User))
	if v := c.voucher(s); !v.IsZero() {
		out = "the voucher " + v.String()
	}
	if s.MAC != "" {
		out += ", device " + s.MAC
	}
	return out
}

// mostSpoken is the number of letters of a router's text that people are shown.
const mostSpoken = 64

// spoken makes a text of a router fit for people and for the database: it can be of any length, and have bytes that are
// no letters.
func spoken(text string) string {
	var out []rune
	for _, letter := range text {
		switch {
		case len(out) == mostSpoken:
			return string(out) + "…"
		case unicode.IsPrint(letter):
			out = append(out, letter)
		default:
			out = append(out, unicode.ReplacementChar)
		}
	}
	return string(out)
}

// voucher finds the voucher whose code is the name of a session; zero = none.
func (c *comparison) voucher(s routerplan.ObservedSession) id.Voucher {
	if c.k.Voucher == nil {
		return id.Voucher{}
	}
	return c.k.Voucher(s)
}

// subjectName tells sessions of nobody apart, and stays the same when one of them dials again. It has no code of a
// voucher: ids are no secrets, and can be tried against all codes.
func (c *comparison) subjectName(s routerplan.ObservedSession) string {
	if s.Bypass {
		return "bypass " + cmp.Or(s.MAC, s.Address)
	}
	name := s.User
	if v := c.voucher(s); !v.IsZero() {
		name = v.String()
	}
	return fmt.Sprint(s.Hotspot, " ", s.MAC, " ", name)
}

// entitled compares a session of a customer with what its subscription is entitled to, and reports whether it is right.
func (c *comparison) entitled(s routerplan.ObservedSession, t telemetry.Session, u *onlyShown) bool {
	p := c.k.Present(t.SubscriptionID)
	walled, dynamic := c.o.Walled(s.Address)
	open := func(kind events.AccessDifferenceKind, expected, actual, byHand string) bool {
		f := Found{
			AccessDifference: events.AccessDifference{
				Kind: kind, SubscriberID: t.SubscriberID, SubscriptionID: t.SubscriptionID,
			},
			Expected: expected, Actual: actual, session: t.ID, byHand: byHand, shown: u, walled: walled,
		}
		if f.other = c.otherAt(s); f.other != "" { // who that is is not recorded under this customer's key
			f.Actual += "; another session of the router has the same address"
		}
		if u.reports {
			if kind == events.PaidButWalledIn && byHand == "" {
				f.Actual += c.staysIn(s, u)
			}
			c.addOpen(f, t)
			return false
		}
		f.Actual += u.told
		f.byHand = cmp.Or(byHand, c.offBecause(s, u))
		c.addShown(f, u)
		return false
	}
	switch given := p.Grant.Access; {
	case given == entitlement.None:
		return open(events.UnpaidButOnline, "offline: "+string(p.Code), "online", "")
	case given == entitlement.WalledGarden && !walled && s.Address != "":
		return open(events.UnpaidButOnline, "walled garden: "+string(p.Code), "online without the walled garden", "")
	case given != entitlement.WalledGarden && walled && dynamic && u.reports && c.k.AsSignedIn != nil &&
		c.k.AsSignedIn(t):
		return open(events.PaidButWalledIn, given.String(),
			"in the walled garden by an entry that is not of the sign-in",
			cmp.Or(sharedAddress(c.otherAt(s)), walledByOther))
	case given != entitlement.WalledGarden && walled && dynamic:
		return open(events.PaidButWalledIn, given.String(), "in the walled garden", "")
	case given != entitlement.WalledGarden && walled:
		return open(events.PaidButWalledIn, given.String(), "in the walled garden by an entry that a person made",
			"Remove the entry of the customer's address from the address list walled-garden of the router: a person "+
				"made it.")
	}
	if limit, wrong := c.wrongLimit(s, p); wrong {
		return open(events.WrongRate, spokenRate(p.Grant.Down, p.Grant.Up), limit, "")
	}
	return true
}

// wrongLimit finds a queue of a session with another limit than it should have. A customer without a limit needs no
// queue. A PPPoE session whose interface the router does not tell is believed.
func (c *comparison) wrongLimit(s routerplan.ObservedSession, p directory.Present) (string, bool) {
	target := s.Interface
	if s.Hotspot {
		target = s.Address
	}
	limit, has := c.limits[target]
	up, down, _ := strings.Cut(limit, "/")
	switch {
	case target == "":
		return "", false
	case !has:
		return "no limit", p.RateLimit != ""
	}
	return "down/up " + spoken(down) + "/" + spoken(up) + " bit/s",
		!sameSpeed(up, p.Grant.Up) || !sameSpeed(down, p.Grant.Down)
}

// spokenRate writes speeds in kbit/s.
func spokenRate(down, up int64) string {
	if down == 0 && up == 0 {
		return "no limit"
	}
	return fmt.Sprintf("down/up %d/%d kbit/s", down, up)
}

// stale finds sessions that are thought to be open, and that the router does not show.
func (c *comparison) stale() {
	for _, t := range c.k.Open {
		ours := t.Service == "pppoe" || t.Service == "hotspot"
		if t.SubscriptionID.IsZero() && t.Username == trialUser(t.MAC) {
			continue // it is closed when it is silent for long
		}
		if c.seen[t.ID] || !ours || c.k.At.Sub(t.StartedAt) < settled {
			continue
		}
		c.add(Found{
			AccessDifference: events.AccessDifference{
				Kind: events.StaleSession, SubscriberID: t.SubscriberID, SubscriptionID: t.SubscriptionID,
			},
			Expected: "a session that was reported", Actual: "the router does not have it", session: t.ID,
		}, t.ID.String())
	}
}

// noneSince ends the sentence about a refusal. A later sign-in may have succeeded without a report of its session.
const noneSince = "; no session was reported since"

// refused finds customers who have paid, and whose last try, as far as it is known, was refused. Devices dial for as
// long as they are refused, so what counts is how long they have been. A refusal that followed from the entitlement is
// over with the next try, so it counts only where no other one comes, or where whoever answered did not know what is
// paid.
func (c *comparison) refused() {
	for _, r := range c.k.Refused {
		began, code, todo := r.FirstAt, directory.Code(r.Code), blocked[directory.Code(r.Code)]
		actual := "a sign-in was refused: " + r.Code
		wronged := c.k.Wronged != nil && c.k.Wronged(r.SubscriptionID, code, r.At)
		switch {
		case wronged:
			actual, todo = actual+", although the log had what gives access", answeredByOld
		case code == directory.CodeNoSession:
			actual = "sign-ins were accepted, and no session began: " + r.Code
		case code.Entitles():
			began = r.At
		}
		p := c.k.Present(r.SubscriptionID)
		if c.online[r.SubscriptionID] || p.Grant.Access < entitlement.Throttled ||
			!wronged && c.k.At.Sub(began) < settled {
			continue
		}
		c.add(Found{
			AccessDifference: events.AccessDifference{
				Kind: events.PaidButOffline, SubscriberID: r.SubscriberID, SubscriptionID: r.SubscriptionID,
			},
			Expected: p.Grant.Access.String(), Actual: actual + noneSince, code: r.Code, byHand: todo,
		}, r.SubscriptionID.String())
	}
}

// ports finds physical ports that are slower than what a customer behind them has.
func (c *comparison) ports() {
	fastest := map[string]int64{} // kbit/s by server
	for _, t := range c.k.Open {
		if c.seen[t.ID] && !t.SubscriptionID.IsZero() {
			g := c.k.Present(t.SubscriptionID).Grant
			fastest[t.Called] = max(fastest[t.Called], g.Down, g.Up)
		}
	}
	need := map[string]int64{} // by port
	for _, p := range c.o.Ports {
		need[p.Name] = max(need[p.Name], fastest[p.Server])
	}
	for _, p := range c.o.Ports {
		if p.Rate >= need[p.Name] {
			continue
		}
		c.add(Found{
			AccessDifference: events.AccessDifference{Kind: events.PortBelowPlan},
			Expected:         fmt.Sprintf("a port of at least %d kbit/s", need[p.Name]),
			Actual:           fmt.Sprintf("port %s has %d kbit/s", spoken(p.Name), p.Rate),
			byHand: "Look at the cable and the other end of port " + spoken(p.Name) + ": they have agreed on a " +
				"speed below what customers behind it pay for.",
		}, p.Name)
	}
}
