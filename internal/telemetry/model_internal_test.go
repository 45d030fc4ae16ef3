package telemetry

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// trueSession is one session of a customer at the modelled router, as it really happened.
type trueSession struct {
	key, user    string
	mac          string
	began, ended time.Time // ended is zero while it goes on
	down, up     uint64    // octets in the whole session
	// told are the octets when the newest report was made that has arrived.
	toldDown, toldUp uint64
	addresses        []trueAddress
	heard            time.Time // the newest report that came at once
}

// trueAddress is an address that a session had, until another one or its end.
type trueAddress struct {
	ip          netip.Addr
	from, until time.Time
	told        time.Time // when the first report told it; zero = none did
}

// router is a model of a router that counts octets rightly and reports them badly.
type router struct {
	t        *rapid.T
	now      time.Time
	device   id.Device
	narrow   bool // its counters have 32 bits, and it sends no Gigawords
	boots    int
	serial   int
	sessions []*trueSession
	mail     []delivery // reports that are under way
	lateness bool
}

// delivery is a report with the instant at which it arrives, and the session that it is about.
type delivery struct {
	at      time.Time
	report  Report
	session *trueSession
	down    uint64 // true octets when it was made; zero when the report does not tell them
	up      uint64
}

// tick is the time between two reports of a session.
const tick = 5 * time.Minute

// open lists the sessions that go on.
func (m *router) open() (list []*trueSession) {
	for _, s := range m.sessions {
		if s.ended.IsZero() {
			list = append(list, s)
		}
	}
	return list
}

// address draws an address that nobody else has.
func (m *router) address() netip.Addr {
	m.serial++
	return netip.AddrFrom4([4]byte{10, 50, byte(m.serial >> 8), byte(m.serial)})
}

// begin starts a session of a user who has none, with the name that the router gives next.
func (m *router) begin(user string) {
	for _, s := range m.open() {
		if s.user == user {
			return
		}
	}
	key := fmt.Sprintf("81%x%05x", m.boots%2, len(m.sessions)%5) // names come again, also after a reboot
	s := &trueSession{key: key, user: user, mac: "AA:BB:CC:00:11:" + user, began: m.now}
	s.addresses = []trueAddress{{ip: m.address(), from: m.now}}
	m.sessions = append(m.sessions, s)
	m.report(s, Start)
}

// end ends a session, with or without a report.
func (m *router) end(s *trueSession, stop bool) {
	s.ended = m.now
	s.addresses[len(s.addresses)-1].until = m.now
	if stop {
		m.report(s, Stop)
	}
}

// readdress gives a session another address.
func (m *router) readdress(s *trueSession) {
	s.addresses[len(s.addresses)-1].until = m.now
	s.addresses = append(s.addresses, trueAddress{ip: m.address(), from: m.now})
	m.report(s, Interim)
}

// report makes a report of a session, damages it, and sends it.
func (m *router) report(s *trueSession, kind Kind) {
	r := Report{
		Kind: kind, Device: m.device, Session: s.key, User: s.user, MAC: s.mac, Calling: s.mac,
		IP: s.addresses[len(s.addresses)-1].ip, Online: m.now.Sub(s.began), At: m.now, Down: s.down, Up: s.up,
		Gigawords: !m.narrow,
	}
	d := delivery{at: m.now, session: s, down: s.down, up: s.up}
	if m.narrow {
		r.Down, r.Up = r.Down%(1<<32), r.Up%(1<<32)
	}
	switch fault := rapid.IntRange(0, 11).Draw(m.t, "fault"); {
	case kind == Start:
		if fault < 3 {
			r.IP = netip.IPv4Unspecified()
		}
	case fault == 0: // without counters
		r.Down, r.Up, d.down, d.up = 0, 0, 0, 0
	case fault == 1 && r.Down > 1<<20: // a little lower than it was
		r.Down, d.down = r.Down-1<<20, 0
	case fault == 2:
		r.IP = netip.IPv4Unspecified()
	case fault == 3:
		r.IP = netip.Addr{}
	case fault == 4 && kind == Interim && s.heard.Sub(s.began) > 22*time.Minute: // the time alone goes back
		r.Online -= 15 * time.Minute
	}
	d.report = r
	if last := &s.addresses[len(s.addresses)-1]; r.IP == last.ip && last.told.IsZero() {
		last.told = m.now
	}
	m.send(d)
}

// send delivers a report: at once, late, twice or not at all.
func (m *router) send(d delivery) {
	if !m.lateness {
		m.mail, d.session.heard = append(m.mail, d), m.now
		return
	}
	switch rapid.IntRange(0, 9).Draw(m.t, "way") {
	case 0: // lost
	case 1: // twice
		m.mail = append(m.mail, d)
		d.at = d.at.Add(time.Minute)
		m.mail = append(m.mail, d)
	case 2: // late, as the router says
		d.at = d.at.Add(time.Duration(rapid.IntRange(1, 14).Draw(m.t, "minutes")) * time.Minute)
		m.mail = append(m.mail, d)
	default:
		m.mail, d.session.heard = append(m.mail, d), m.now
	}
}

// reboot ends all sessions at once. Their names can come again.
func (m *router) reboot(tells bool) {
	for _, s := range m.open() {
		m.end(s, false)
	}
	m.boots++
	m.now = m.now.Add(2 * time.Minute)
	if tells {
		m.mail = append(m.mail, delivery{at: m.now, report: Report{Kind: On, Device: m.device, At: m.now}})
	}
}

// play draws what happens in some hours.
func (m *router) play() {
	for range rapid.IntRange(6, 40).Draw(m.t, "ticks") {
		switch rapid.IntRange(0, 19).Draw(m.t, "event") {
		case 0, 1, 2, 3:
			m.begin(rapid.SampledFrom([]string{"01", "02", "03"}).Draw(m.t, "user"))
		case 4:
			if list := m.open(); len(list) > 0 {
				m.end(list[0], rapid.Bool().Draw(m.t, "stop"))
			}
		case 5, 6:
			if list := m.open(); len(list) > 0 {
				m.readdress(list[0])
			}
		case 7:
			m.reboot(rapid.Bool().Draw(m.t, "on"))
		}
		m.now = m.now.Add(tick)
		for _, s := range m.open() {
			s.down += uint64(rapid.IntRange(0, 1<<30).Draw(m.t, "down"))
			s.up += uint64(rapid.IntRange(0, 1<<27).Draw(m.t, "up"))
			m.report(s, Interim)
		}
	}
	slices.SortStableFunc(m.mail, func(a, b delivery) int { return a.at.Compare(b.at) })
}

// memory keeps sessions between groups as the tables do.
type memory struct {
	sessions  []*Session
	restarted map[id.Device]time.Time
	used      counts // of all subscriptions
}

// commit folds a group of reports as a commit does.
func (m *memory) commit(t *rapid.T, directory Directory, reports []Report) {
	b := newBook(directory, newCrowds())
	for device, at := range m.restarted {
		b.restarted[device] = at
	}
	for _, s := range m.sessions {
		if len(s.Samples) > 0 {
			w, err := decodeWindow(s.Samples)
			if err != nil {
				t.Fatal(err)
			}
			s.window = w
		}
		s.touched, s.grew = false, false
		s.stored, s.kept = new(s.facts()), s.progress()
		b.know(s)
	}
	for _, r := range reports {
		b.apply(r.clean())
	}
	for _, s := range m.sessions { // what a restart ends without a report
		if at := b.restarted[s.DeviceID]; !at.IsZero() {
			b.touch(s)
		}
	}
	b.settle()
	for _, s := range b.touched {
		if !slices.Contains(m.sessions, s) {
			m.sessions = append(m.sessions, s)
		}
	}
	for _, c := range b.bookings {
		m.used = m.used.plus(c.counts)
	}
	for device := range b.restarts {
		m.restarted[device] = b.restarted[device]
	}
}

// lose ends sessions of which nothing was heard for long.
func (m *memory) lose(before time.Time) {
	for _, s := range m.sessions {
		if s.EndedAt == nil && s.UpdatedAt.Before(before) {
			s.conclude(ReasonLost)
		}
	}
}

// modelDirectory knows whose all sessions are.
func modelDirectory() Directory {
	one, sub := id.New[id.Subscriber](), id.New[id.Subscription]()
	return Directory{
		Resolve: func(Report) Given { return Given{Subscriber: one, Subscription: sub} },
		Zone:    func(id.Organization) *time.Location { return time.UTC },
	}
}

// groups are the reports as they arrive, and when the last one of each group does. It notes what the router has told.
func (m *router) groups() (groups [][]Report, at []time.Time) {
	for len(m.mail) > 0 {
		n := min(len(m.mail), rapid.IntRange(1, 4).Draw(m.t, "group"))
		var group []Report
		for _, d := range m.mail[:n] {
			if d.session != nil {
				d.session.toldDown = max(d.session.toldDown, d.down)
				d.session.toldUp = max(d.session.toldUp, d.up)
			}
			group = append(group, d.report)
			m.t.Logf("%s: %s %s %s at %s for %s with %d %d", d.at.Format("15:04"), d.report.Kind, d.report.User,
				d.report.Session, d.report.At.Format("15:04"), d.report.Online, d.report.Down, d.report.Up)
		}
		groups, at = append(groups, group), append(at, m.mail[n-1].at)
		m.mail = m.mail[n:]
	}
	return groups, at
}

// deliver hands over the reports in groups, as they arrive.
func (m *router) deliver(into *memory, directory Directory) {
	groups, at := m.groups()
	for i, group := range groups {
		into.commit(m.t, directory, group)
		into.lose(at[i].Add(-modelPatience))
	}
}

// modelPatience is how long a session of the model is silent before it is lost.
const modelPatience = 20 * time.Minute

// ModelSession has the facts of a session that a test compares with the tables.
type ModelSession struct {
	Key, User string
	Started   time.Time
	Down, Up  int64
}

// ModelStory has the reports of a modelled router, and the sessions that follow from them in memory.
type ModelStory struct {
	Groups   [][]Report // in the order in which they arrive
	At       []time.Time
	Sessions []ModelSession
	Real     [2]int64 // octets that the router has counted, down and up
	Told     [2]int64 // octets that its reports have told
}

// ModelOf makes a story that depends on the seed alone.
func ModelOf(seed int, device id.Device) ModelStory {
	return rapid.Custom(func(t *rapid.T) (story ModelStory) {
		m, into := modelRouter(t, true), &memory{restarted: map[id.Device]time.Time{}}
		m.device = device
		m.play()
		story.Groups, story.At = m.groups()
		directory := modelDirectory()
		for i, group := range story.Groups {
			into.commit(t, directory, group)
			into.lose(story.At[i].Add(-modelPatience))
		}
		for _, s := range into.sessions {
			story.Sessions = append(story.Sessions, ModelSession{
				s.SessionKey, s.Username, s.StartedAt.UTC(), s.BytesDown, s.BytesUp,
			})
		}
		for _, s := range m.sessions {
			story.Real[0], story.Real[1] = story.Real[0]+int64(s.down), story.Real[1]+int64(s.up)
			story.Told[0], story.Told[1] = story.Told[0]+int64(s.toldDown), story.Told[1]+int64(s.toldUp)
		}
		return story
	}).Example(seed)
}

// modelRouter is a router at the beginning of a story.
func modelRouter(t *rapid.T, lateness bool) *router {
	return &router{
		t: t, now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), device: id.New[id.Device](),
		narrow: rapid.Bool().Draw(t, "narrow"), lateness: lateness,
	}
}

// TestUsage_IsNeverMoreThanTheRouterCountedAndNeverLessThanHalf: whatever happens to reports on their way and in the
// router.
func TestUsage_IsNeverMoreThanTheRouterCountedAndNeverLessThanHalf(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		m, into := modelRouter(r, true), &memory{restarted: map[id.Device]time.Time{}}
		m.play()
		m.deliver(into, modelDirectory())
		var real, told counts
		for _, s := range m.sessions {
			real = real.plus(counts{Down: int64(s.down), Up: int64(s.up)})
			told = told.plus(counts{Down: int64(s.toldDown), Up: int64(s.toldUp)})
		}
		switch {
		case into.used.Down > real.Down, into.used.Up > real.Up:
			r.Fatalf("%+v is counted of %+v\n%s", into.used, real, into.story(m))
		case into.used.Down < told.Down/2, into.used.Up < told.Up/2:
			r.Fatalf("only %+v is counted of %+v that were told\n%s", into.used, told, into.story(m))
		}
	})
}

// TestSessions_NoneOfOneNameOverlap: what is stored has no two sessions of one name at a router at the same time.
func TestSessions_NoneOfOneNameOverlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		m, into := modelRouter(r, true), &memory{restarted: map[id.Device]time.Time{}}
		m.play()
		m.deliver(into, modelDirectory())
		slices.SortFunc(into.sessions, func(a, b *Session) int {
			return cmp.Or(cmp.Compare(a.Username, b.Username), cmp.Compare(a.SessionKey, b.SessionKey),
				a.StartedAt.Compare(b.StartedAt))
		})
		for i := 1; i < len(into.sessions); i++ {
			a, b := into.sessions[i-1], into.sessions[i]
			if a.Username == b.Username && a.SessionKey == b.SessionKey &&
				a.UpdatedAt.Sub(b.StartedAt) > startTolerance+time.Minute {
				r.Fatalf("%s goes on until %s, and another one begins %s\n%s", a.SessionKey, a.UpdatedAt, b.StartedAt,
					into.story(m))
			}
		}
		if len(into.sessions) > len(m.sessions) {
			r.Fatalf("%d sessions of %d\n%s", len(into.sessions), len(m.sessions), into.story(m))
		}
	})
}

// TestAddresses_WhoHadOneIsRightWheneverReportsToldIt: no report is lost, but addresses are left out or
// zeros. Between a change and the report of it nobody can know.
func TestAddresses_WhoHadOneIsRightWheneverReportsToldIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		m, into := modelRouter(r, false), &memory{restarted: map[id.Device]time.Time{}}
		m.play()
		m.deliver(into, modelDirectory())
		for _, s := range m.sessions {
			for _, a := range s.addresses {
				from := a.told
				if from.IsZero() { // no report told it
					continue
				}
				until := a.until
				if until.IsZero() {
					until = m.now
				}
				for at := from; at.Before(until); at = at.Add(tick) {
					if who := into.had(a.ip, at); who != s.user {
						r.Fatalf("%s had %s at %s, found %q\n%s", s.user, a.ip, at.Format("15:04"), who, into.story(m))
					}
				}
				if who := into.had(a.ip, from.Add(-24*time.Hour)); who != "" {
					r.Fatalf("%s is found to have had %s a day before", who, a.ip)
				}
			}
		}
	})
}

// had gives the user who had an address at an instant; "" = nobody, or several.
func (m *memory) had(ip netip.Addr, at time.Time) (user string) {
	for _, s := range m.sessions {
		for _, a := range s.Addresses() {
			last := s.UpdatedAt
			if a.Until != nil {
				last = *a.Until
			}
			if a.Prefix.Addr() != ip || at.Before(a.From) || at.After(last) {
				continue
			}
			if user != "" && user != s.Username {
				return "several"
			}
			user = s.Username
		}
	}
	return user
}

// story prints what happened and what is stored.
func (m *memory) story(of *router) (text string) {
	for _, s := range of.sessions {
		text += fmt.Sprintf("true %s %s %s–%s %d %d told %d %d\n", s.user, s.key, s.began.Format("15:04"),
			s.ended.Format("15:04"), s.down, s.up, s.toldDown, s.toldUp)
	}
	for _, s := range m.sessions {
		text += fmt.Sprintf("kept %s %s %s–%s %v %s %d %d\n", s.Username, s.SessionKey, s.StartedAt.Format("15:04"),
			s.UpdatedAt.Format("15:04"), s.EndedAt, s.EndReason, s.BytesDown, s.BytesUp)
	}
	return text
}
