package telemetry

import (
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// SessionID names one session of a customer.
type SessionID = id.Of[Session]

// Who knows that a session has ended.
const (
	open      int16 = 0
	reported  int16 = 1 // the router: final
	concluded int16 = 2 // we: a newer report of a lost session takes it back

	concludedSQL = `ended_by = 2` // to say so in the tables, and to ask for it
)

// Session is one connection of a customer's device, as far as reports tell. Instants are UTC, in whole seconds.
type Session struct {
	ID         SessionID
	OrgID      id.Organization
	DeviceID   id.Device
	Source     *netip.Addr // from which the router reports it; nil = not known
	SessionKey string      // Acct-Session-Id; not unique
	Username   string
	Calling    string // the MAC where there is one, else the calling station
	MAC        string
	Called     string
	Port       string
	Service    string
	NASPort    int64 // 0 = not known
	IP         *netip.Addr
	// The prefixes of IPv6: of the link to the customer, and for the customer's own networks; nil = none was told.
	FramedPrefix    *netip.Prefix
	DelegatedPrefix *netip.Prefix
	SubscriberID    id.Subscriber   // zero = not known whose it is
	SubscriptionID  id.Subscription // zero = not known
	Access          string
	RateDown        int64
	RateUp          int64
	StartedAt       time.Time
	UpdatedAt       time.Time  // instant of the newest report
	EndedAt         *time.Time // nil = open
	EndedBy         int16
	EndReason       string
	BytesDown       int64 // sent to the customer
	BytesUp         int64
	Seconds         int64
	Samples         []byte
	Stamp           string // as in Given

	window window
	// stored has the facts as they are in the tables; nil = the session is not there.
	stored  *facts
	kept    progress // as it is in the tables
	grew    bool     // a newer report than all before has come in this group
	touched bool
}

// Starts of the same session as different reports tell them differ by lateness, and by drift of the router's clock.
const (
	startTolerance = 5 * time.Minute
	driftTolerance = 1000 // a part of the time online
)

// nameKey finds a session by what the router calls it; several sessions can have one.
type nameKey struct {
	device        id.Device
	session, user string
}

// placeKey has one open session, as long as no report tells that an older one goes on beside it.
type placeKey struct {
	device        id.Device
	user, station string
}

// booking is a change of the usage of a subscription, at an instant.
type booking struct {
	org          id.Organization
	subscriber   id.Subscriber
	subscription id.Subscription
	change
}

// book has the sessions that a group of reports can touch, and the changes that follow from the reports. It is filled
// from the tables, folds the reports, and is written back.
type book struct {
	Directory
	byName    map[nameKey][]*Session
	newest    map[placeKey]*Session
	restarted map[id.Device]time.Time
	restarts  map[id.Device]id.Organization // routers whose restart this group tells
	ended     []SessionID                   // what the routers had before, but for reports of this group
	touched   []*Session
	bookings  []booking
	changes   []change        // room that is used again
	jumps     []time.Duration // of our clock
	come      time.Time       // no instant after it has come yet; zero = any may have
	aheadOf   []id.Device     // routers with a restart in the tables from before our clock was put back
	crowds    *crowds
	begun     map[id.Device]int             // sessions of this group that take the place of none
	today     group                         // sessions of this group, for the bounds of a day
	crowded   map[id.Device]int             // reports that were dropped because there are too many sessions
	heard     map[id.Organization]time.Time // the last report of this group
}

// newBook makes an empty book.
func newBook(d Directory, c *crowds) *book {
	var jumps []time.Duration
	if d.Jumps != nil {
		jumps = d.Jumps()
	}
	return &book{
		crowds: c, today: newGroup(), begun: map[id.Device]int{}, crowded: map[id.Device]int{},
		jumps: jumps, Directory: d, byName: map[nameKey][]*Session{}, newest: map[placeKey]*Session{},
		restarted: map[id.Device]time.Time{}, restarts: map[id.Device]id.Organization{},
		heard: map[id.Organization]time.Time{},
	}
}

// know adds a session of the tables, once.
func (b *book) know(s *Session) {
	key := nameKey{s.DeviceID, s.SessionKey, s.Username}
	for _, known := range b.byName[key] {
		if known.ID == s.ID {
			return
		}
	}
	b.byName[key] = append(b.byName[key], s)
	b.place(s)
}

// place makes a session the newest of its place if it is.
func (b *book) place(s *Session) {
	key := placeKey{s.DeviceID, s.Username, s.Calling}
	before := b.newest[key]
	if before == nil {
		b.newest[key] = s
		return
	}
	newer, older := s, before
	if !b.later(s, before) {
		newer, older = before, s
	}
	b.newest[key] = newer
	if s.touched || !older.over() && b.before(older, newer) {
		b.touch(older)
	}
}

// touch remembers that a session has to be settled and written.
func (b *book) touch(s *Session) {
	if !s.touched {
		s.touched = true
		b.touched = append(b.touched, s)
	}
}

// apply folds one clean report.
func (b *book) apply(r Report) {
	switch r.Kind {
	case On, Off:
		if r.At.After(b.restarted[r.Device]) {
			b.restarted[r.Device] = r.At
		}
		b.restarts[r.Device] = r.Org
		return
	case Start, Interim, Stop:
	default:
		return
	}
	r = b.believe(r)
	s := b.find(r)
	if s == nil {
		given := b.Resolve(r)
		if given.Forgotten || b.full(r, given) {
			return
		}
		s = b.begin(r)
		b.note(s, given)
	}
	b.touch(s)
	b.putStart(s, r)
	online := r.Online
	if online == 0 && r.Kind != Start {
		online = max(0, r.At.Sub(s.StartedAt))
	}
	if started := r.At.Add(-online); started.Before(s.StartedAt) && s.StartedAt.Sub(started) <= r.tolerance() {
		s.StartedAt = started
	}
	b.describe(s, r, online)
	b.count(s, r, online)
	if r.Kind == Stop && (s.EndedBy != reported || r.At.Before(*s.EndedAt)) {
		s.EndedAt, s.EndedBy, s.EndReason = new(r.At), reported, reason(r.Cause)
	}
}

// believe gives a report that came very late the instant at which it happened, where a known session proves it: its
// start and the time online lead there, and not to when the report came.
func (b *book) believe(r Report) Report {
	if r.Late == 0 || r.Online == 0 {
		return r
	}
	early := r
	early.At = r.At.Add(-r.Late)
	proves := func(r Report) bool {
		return slices.ContainsFunc(b.byName[nameKey{r.Device, r.Session, r.User}], func(s *Session) bool {
			return r.At.Add(-r.Online).Sub(s.StartedAt).Abs() <= r.tolerance()
		})
	}
	if proves(early) && !proves(r) {
		return early
	}
	return r
}

// find gives the session that a report is about, nil when it is a new one. A report without time online is about the
// newest of its name that had begun. A report that tells a start after the end that the router reported is about
// another session.
func (b *book) find(r Report) *Session {
	var best *Session
	var distance time.Duration
	for _, s := range b.byName[nameKey{r.Device, r.Session, r.User}] {
		if r.Online == 0 && r.Kind != Start {
			if best == nil || b.follows(r, s, best) {
				best = s
			}
			continue
		}
		if s.overBefore(r) {
			continue
		}
		if d := s.distance(r); d <= r.tolerance() && (best == nil || d < distance) {
			best, distance = s, d
		}
	}
	if best == nil && r.Online > 0 {
		best = b.findJumped(r)
	}
	return best
}

// starts are the starts that a report can tell, whether or not it is late.
func (r Report) starts() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if start := r.At.Add(-r.Online); yield(start) && r.Late > 0 {
			yield(start.Add(-r.Late))
		}
	}
}

// overBefore reports whether the router had ended a session before the start that a report tells. A report that has
// come before tells a later start when it is repeated, and is still about its session.
func (s *Session) overBefore(r Report) bool {
	if s.EndedBy != reported || !r.At.Add(-r.Online).After(*s.EndedAt) {
		return false
	}
	return r.Kind == Start || !slices.ContainsFunc(s.window.list, func(known sample) bool {
		return known.counts == r.counts(r.Online)
	})
}

// findJumped gives the session that a report is about when our clock has jumped since the report before: the report
// tells another start, but the session is open, nothing of it has become less, and either the jump is known, or two
// sessions would have been at the same time, or the session has begun at an instant that is still to come, or was
// brought from there. Later reports tell the start that this one tells.
func (b *book) findJumped(r Report) *Session {
	for _, s := range b.byName[nameKey{r.Device, r.Session, r.User}] {
		last := s.window.last()
		if s.EndedBy == reported || int64(r.Online/time.Second) < last.Seconds ||
			int64(r.Down) < last.Down || int64(r.Up) < last.Up { //nolint:gosec // bounded
			continue
		}
		start := r.At.Add(-r.Online)
		moved := start.Sub(s.StartedAt)
		overlap := minTime(r.At, s.UpdatedAt).Sub(maxTime(start, s.StartedAt))
		if overlap > r.tolerance() || b.ahead(s) || s.window.brought && s.EndReason != ReasonRestarted ||
			slices.ContainsFunc(b.jumps, func(jump time.Duration) bool {
				return min((moved-jump).Abs(), (moved-s.window.shift-jump).Abs()) <= r.tolerance()
			}) {
			switch {
			case b.ahead(s): // by this clock it began when it says now
				s.beginAt(start)
			case !s.window.brought:
				s.window.shift = moved.Truncate(time.Second)
			}
			return s
		}
	}
	return nil
}

// follows reports whether a report without time online is about a session rather than about another one of its name.
func (b *book) follows(r Report, s, other *Session) bool {
	begun := func(s *Session) bool { return b.ahead(s) || s.StartedAt.Sub(r.At) <= r.tolerance() }
	if begun(s) != begun(other) {
		return begun(s)
	}
	return b.later(s, other)
}

// tolerance is by how much the starts may differ that two reports of a session tell.
func (r Report) tolerance() time.Duration { return startTolerance + r.Online/driftTolerance }

// distance is between the start of a session and the one that a report tells, before or after our clock jumped.
func (s *Session) distance(r Report) time.Duration {
	d := r.At.Add(-r.Online).Sub(s.StartedAt)
	return min(d.Abs(), (d - s.window.shift).Abs())
}

// minTime is the earlier one of two instants.
func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// maxTime is the later one of two instants.
func maxTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// begin makes the session of a first report, whichever that is.
func (b *book) begin(r Report) *Session {
	s := &Session{
		ID: id.New[SessionID](), OrgID: r.Org, DeviceID: r.Device, SessionKey: r.Session, Username: r.User,
		Calling: r.station(), MAC: r.MAC, StartedAt: r.At.Add(-r.Online), UpdatedAt: r.At,
	}
	b.touch(s)
	b.know(s)
	return s
}

// describe takes over what a report says about a session, unless a newer one has said it.
func (b *book) describe(s *Session, r Report, online time.Duration) {
	newer := len(s.window.list) == 0 || int64(online/time.Second) >= s.window.last().Seconds
	if r.IP.IsValid() && (newer || s.IP == nil) {
		s.IP = new(r.IP.Unmap())
	}
	keep := func(into **netip.Prefix, prefix netip.Prefix) {
		if prefix.IsValid() && (newer || *into == nil) {
			*into = new(prefix.Masked())
		}
	}
	keep(&s.FramedPrefix, r.Link)
	keep(&s.DelegatedPrefix, r.Network)
	if r.Source.IsValid() && (newer || s.Source == nil) {
		s.Source = new(r.Source.Unmap())
	}
	if r.NASPort != 0 && (newer || s.NASPort == 0) {
		s.NASPort = int64(r.NASPort)
	}
	tell := func(into *string, text string) {
		if text != "" && (newer || *into == "") {
			*into = text
		}
	}
	tell(&s.Called, r.Called)
	tell(&s.Port, r.Port)
	tell(&s.Service, r.Service)
	if s.SubscriptionID.IsZero() {
		if g := b.Resolve(r); !g.Subscription.IsZero() {
			s.SubscriberID, s.SubscriptionID = g.Subscriber, g.Subscription
			s.Access, s.RateDown, s.RateUp = g.Access, g.RateDown, g.RateUp
			s.Stamp = g.Stamp
		}
	}
}

// counts are the counters of a clean report after a time online.
func (r Report) counts(online time.Duration) counts {
	return counts{
		Down: int64(r.Down), Up: int64(r.Up), Seconds: int64(online / time.Second), //nolint:gosec // bounded
	}
}

// count takes over the counters of a report, and books what was used since the one before it.
func (b *book) count(s *Session, r Report, online time.Duration) {
	before := s.window.last()
	b.changes = s.window.add(sample{r.At.Unix(), r.counts(online)}, b.changes[:0])
	for _, c := range b.changes {
		all := counts{s.BytesDown, s.BytesUp, s.Seconds}.plus(c.counts)
		s.BytesDown, s.BytesUp, s.Seconds = all.Down, all.Up, all.Seconds
		if !s.SubscriptionID.IsZero() {
			b.bookings = append(b.bookings, booking{s.OrgID, s.SubscriberID, s.SubscriptionID, c})
		}
	}
	if last := s.window.last(); last.Seconds > before.Seconds {
		s.grew = true
	}
	if last := s.window.last(); last != (sample{}) {
		s.UpdatedAt = time.Unix(last.at, 0).UTC()
	}
}

// settle decides which of the touched sessions are open. It depends on the reports, not on their order: a session that
// its router did not end is over when its place has a newer one and it is not heard beside that one, or when its router
// restarted after its last report, as after one from when our clock was ahead.
func (b *book) settle() {
	b.touchRestarted()
	for _, s := range b.touched {
		newest := b.newest[placeKey{s.DeviceID, s.Username, s.Calling}]
		restart := b.restarted[s.DeviceID]
		before := newest != nil && b.before(s, newest)
		switch {
		case before && !s.over():
			s.bring(newest.StartedAt.Add(-time.Second))
		case b.restartedSince(s):
			s.bring(restart.Add(-time.Second))
		}
		switch {
		case s.EndedBy == reported, before && s.over():
		case newest != nil && newest != s && b.later(newest, s) && !s.outlives(newest):
			s.conclude(ReasonReplaced)
		case s.StartedAt.Before(restart) && !s.UpdatedAt.After(restart):
			s.conclude(ReasonRestarted)
		case s.EndedBy == concluded && (s.EndReason == ReasonLost || s.EndReason == ReasonGone) && !s.grew:
		default:
			s.EndedAt, s.EndedBy, s.EndReason = nil, open, ""
		}
		s.Samples = s.window.encode()
	}
}

// outlives reports whether a report of a session came so long after the start of a newer one that both went on beside
// each other: from two devices with a copied MAC, or by two services of a router.
func (s *Session) outlives(newer *Session) bool {
	return s.UpdatedAt.Sub(newer.StartedAt) > startTolerance
}

// conclude ends a session at its last report.
func (s *Session) conclude(why string) {
	s.EndedAt, s.EndedBy, s.EndReason = new(s.UpdatedAt), concluded, why
}
