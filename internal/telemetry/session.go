package telemetry

import (
	"net/netip"
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
	IPv6       *netip.Addr `db:"ipv6"` // of the customer on the link
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
	Held            string // its addresses, as in holding

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

// sessionKey names a session as its router does, whichever user has it.
type sessionKey struct {
	device  id.Device
	session string
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
	byKey     map[sessionKey][]*Session
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
	odd       map[id.Device]int             // reports with a counter that was left out
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
		crowds: c, today: newGroup(), begun: map[id.Device]int{}, odd: map[id.Device]int{},
		crowded: map[id.Device]int{},
		jumps:   jumps, Directory: d, byName: map[nameKey][]*Session{},
		byKey: map[sessionKey][]*Session{}, newest: map[placeKey]*Session{},
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
	b.byKey[sessionKey{s.DeviceID, s.SessionKey}] = append(b.byKey[sessionKey{s.DeviceID, s.SessionKey}], s)
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
	r = b.believe(b.again(b.withUsername(r)))
	s := b.findSession(r)
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
	online := s.online(r)
	if started := r.At.Add(-online); started.Before(s.StartedAt) && s.StartedAt.Sub(started) <= r.tolerance() {
		s.StartedAt = started
	}
	b.describe(s, r, online)
	b.count(s, r, online)
	if r.Kind == Stop && (s.EndedBy != reported || s.endsElse(r.At)) {
		s.EndedAt, s.EndedBy, s.EndReason = new(r.At), reported, reason(r.Cause)
	}
}

// online is how long a session had lasted when its router made a report.
func (s *Session) online(r Report) time.Duration {
	switch {
	case r.Kind == Start:
		return 0
	case r.Online == 0: // not told
		return max(0, r.At.Sub(s.StartedAt))
	}
	d := r.At.Add(-r.Online).Sub(s.StartedAt)
	if s.window.behind && (d-s.window.shift).Abs() < d.Abs() {
		return r.Online + s.window.shift
	}
	return r.Online
}

// endsElse reports whether a stop tells another end than the one before: an earlier one, which was told again later, or
// a much later one, as when the router ended a session that had gone on after the first.
func (s *Session) endsElse(at time.Time) bool {
	return at.Before(*s.EndedAt) || at.Sub(*s.EndedAt) > startTolerance
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
	s.tellAddresses(r, newer)
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
			s.holdGranted(g)
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
	s.window.wide = s.window.wide || r.Gigawords
	s.window.speed = max(s.window.speed, s.RateDown, s.RateUp)
	var odd int
	b.changes, odd = s.window.add(sample{r.At.Unix(), r.counts(online)}, b.changes[:0])
	if odd > 0 {
		b.odd[s.DeviceID]++
	}
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
		if s.EndedBy == reported && s.UpdatedAt.Sub(*s.EndedAt) > startTolerance { // its router still reports it
			s.EndedAt, s.EndedBy, s.EndReason = nil, open, ""
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
