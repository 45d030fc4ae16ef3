package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

const (
	// refreshEvery is how late sessions are known that another program records.
	refreshEvery = time.Minute
	// startPatience is how long the first report of a sign-in may take. Until then it counts as a session.
	startPatience = 30 * time.Second
	// mostKnown is how many sessions of a subscription are known: the highest limit of a plan and some more. Of those
	// that a router invents the ones without a report for the longest time are forgotten, so that no work of a Live
	// grows with them.
	mostKnown = 16 + 8
	// shards is the number of locks among which the subscriptions are divided.
	shards = 64
)

// LiveConfig has the parts of a Live.
type LiveConfig struct {
	Store *Store // nil = only what is observed is known
	Clock clock.Clock
	// SilentAfter is how long a session counts after its newest report where a new one would be refused: a little more
	// than the interval between two reports. So a stop that was lost keeps nobody out for longer.
	SilentAfter time.Duration
	// Limit gives how many sessions a subscription may have at the same time; 0 = not known, and then any number. nil =
	// not known of any. It is called without a lock.
	Limit func(subscription id.Subscription) int
	// End is told that sessions of a subscription have to end, because newer ones replaced them. It returns at once,
	// because a socket waits for it, and is called without a lock. What it forgets, or what goes on reporting, is found
	// in the tables (Store.SharedSubscriptions).
	End    func(Replaced)
	Logger *slog.Logger // nil discards
}

// Replaced has the sessions of one subscription that have to end.
type Replaced struct {
	OrgID          id.Organization
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	Sessions       []SessionID // at most mostKnown
	// MadeWay has those of them whose devices have no other session: other devices have their place.
	MadeWay []LiveSession
}

// LiveSession is a session that has not ended as far as reports tell. Instants are UTC.
type LiveSession struct {
	ID             SessionID
	OrgID          id.Organization
	DeviceID       id.Device
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	SessionKey     string // Acct-Session-Id
	Username       string
	Calling        string // the MAC where there is one, else the calling station
	MAC            string // "" = not known
	IP             *netip.Addr
	StartedAt      time.Time
	UpdatedAt      time.Time
}

// Live knows in memory which sessions of subscriptions are open, and notices those beyond the limit of how many there
// may be. It does not need the database: what it cannot learn from there in time counts as no session. Its work for one
// sign-in or report has a bound, whatever routers report, and customers hardly ever wait for each other's. Safe for
// concurrent use.
type Live struct {
	cfg    LiveConfig
	loops  *loop.Group
	shards [shards]shard
	ended  atomic.Uint64

	restarting sync.RWMutex
	restarts   map[id.Device]time.Time // when routers restarted last: nothing goes on that they reported before

	refreshing sync.Mutex
	missed     []Committed // since a refresh began; nil = there is none under way
}

// shard has a part of the subscriptions.
type shard struct {
	mu sync.Mutex
	of map[id.Subscription]*line // none is empty
}

// line has all that is known of one subscription. The lock of its shard guards it.
type line struct {
	sessions []*occupant // at most mostKnown, in no order
	awaited  []SignIn    // that were accepted, and whose sessions no report has told about yet
}

// occupant is a session that counts, until it has to end.
type occupant struct {
	LiveSession
	ending bool // End was told, or is about to be
}

// NewLive makes a Live that knows nothing.
func NewLive(cfg LiveConfig) *Live {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Live{cfg: cfg, loops: loop.New(cfg.Logger), restarts: map[id.Device]time.Time{}}
	for i := range l.shards {
		l.shards[i].of = map[id.Subscription]*line{}
	}
	return l
}

// Start reads the open sessions, and reads them again from time to time. Without the database it starts knowing none.
func (l *Live) Start(ctx context.Context) error {
	return l.loops.Start(ctx, func(ctx context.Context) error {
		l.tryRefresh(ctx)
		l.loops.Go("live sessions", func(ctx context.Context) {
			for loop.SleepFor(ctx, l.cfg.Clock, refreshEvery) {
				l.tryRefresh(ctx)
			}
		})
		return nil
	})
}

// Stop ends the reading. What is known stays.
func (l *Live) Stop() { l.loops.Stop() }

// Ended is how many sessions had to end since the start, because newer ones replaced them.
func (l *Live) Ended() uint64 { return l.ended.Load() }

// shard finds the shard of a subscription. The last octet of an id is a random one.
func (l *Live) shard(subscription id.Subscription) *shard {
	return &l.shards[subscription[len(subscription)-1]%shards]
}

// SignIn is a customer who has proven the password and may use the network, at an instant.
type SignIn struct {
	Subscription id.Subscription
	Device       id.Device
	SessionKey   string // Acct-Session-Id; "" = the router did not tell
	Calling      string // Calling-Station-Id
	MAC          string // "" = not known: every sign-in counts as another device
	At           time.Time
	Limit        int  // sessions at the same time, at least 1
	Refuse       bool // at the limit; else the oldest sessions have to end
	Yield        bool // it is refused at the limit also where others are not
}

// Admit decides about a sign-in, and reports false when it is refused. A device that signs in again is never refused,
// and counts once: a session of its MAC that the router cannot mean has to end, because it may be of a copy of the
// device. Where the limit refuses, two sign-ins at the same instant do not both count the other one as absent.
func (l *Live) Admit(s SignIn) bool {
	s.SessionKey, s.Calling = cleanText(s.SessionKey), cleanText(s.Calling) // as reports have them
	admitted, out := l.admitAt(l.shard(s.Subscription), s)
	l.tell(out)
	return admitted
}

// admitAt decides about a sign-in in the shard of its subscription.
func (l *Live) admitAt(at *shard, s SignIn) (admitted bool, out Replaced) {
	at.mu.Lock()
	defer at.mu.Unlock()
	known := at.of[s.Subscription]
	if known == nil {
		known = &line{}
	}
	admitted, out = l.admit(known, s)
	at.keep(s.Subscription, known)
	return admitted, out
}

// keep remembers a line that is not empty. The lock is held.
func (at *shard) keep(subscription id.Subscription, known *line) {
	if len(known.sessions)+len(known.awaited) == 0 {
		delete(at.of, subscription)
	} else {
		at.of[subscription] = known
	}
}

// admit decides about a sign-in, and marks the sessions that have to end. The caller holds the lock.
func (l *Live) admit(known *line, s SignIn) (admitted bool, out Replaced) {
	known.awaited = slices.DeleteFunc(known.awaited, func(a SignIn) bool { return a.late(s.At) })
	others := l.others(known, s)
	beyond := max(0, len(others)+1-max(1, s.Limit))
	if beyond > 0 && (s.Refuse || s.Yield) {
		return false, out
	}
	for _, device := range others[:beyond] {
		for _, o := range device.sessions {
			l.end(o, &out)
			out.MadeWay = append(out.MadeWay, o.LiveSession)
		}
	}
	for _, o := range known.sessions {
		if !o.ending && !l.over(o) && o.MAC == s.MAC && s.MAC != "" && !o.begunBy(s) {
			l.end(o, &out)
		}
	}
	if s.Refuse && (s.SessionKey != "" || s.MAC != "" || s.Calling != "") {
		known.awaited = slices.DeleteFunc(known.awaited, func(a SignIn) bool {
			return s.MAC != "" && a.MAC == s.MAC || a.announces(s.session())
		})
		known.awaited = append(known.awaited, s)
	}
	return true, out
}

// late reports whether the session of a sign-in is awaited no more at an instant.
func (s SignIn) late(now time.Time) bool { return now.Sub(s.At).Abs() > startPatience }

// session has all that a sign-in tells about its session.
func (s SignIn) session() LiveSession {
	return LiveSession{DeviceID: s.Device, SessionKey: s.SessionKey, Calling: cmp.Or(s.MAC, s.Calling), MAC: s.MAC}
}

// announces reports whether a session, or a later sign-in, is the one of a sign-in: by its key, or by the calling
// station where one of both has no key.
func (s SignIn) announces(o LiveSession) bool {
	switch calling := cmp.Or(s.MAC, s.Calling); {
	case s.Device != o.DeviceID:
		return false
	case s.SessionKey != "" && o.SessionKey != "":
		return s.SessionKey == o.SessionKey
	default:
		return calling != "" && calling == o.Calling
	}
}

// begunBy reports whether a session can be the one that a sign-in begins or renews. Without a key of the sign-in each
// session of its router can.
func (o *occupant) begunBy(s SignIn) bool {
	return o.DeviceID == s.Device && (s.SessionKey == "" || o.SessionKey == s.SessionKey)
}

// equipment is one device of a customer with what it has open: a session, or several that a copy of its MAC began.
type equipment struct {
	mac      string // "" = not known
	began    time.Time
	sessions []*occupant // none for one whose sign-in is awaited
}

// others are the devices other than the one that signs in. Where the limit refuses, sign-ins that are awaited are among
// them, and sessions without a report for long are not. The device that began last is the last one: what has not come
// yet is from when our clock was ahead. The caller holds the lock.
func (l *Live) others(known *line, s SignIn) []equipment {
	var devices []equipment
	come := s.At.Add(Slack)
	add := func(mac string, began time.Time, o ...*occupant) {
		if mac == s.MAC && s.MAC != "" {
			return
		}
		at := slices.IndexFunc(devices, func(e equipment) bool { return mac != "" && e.mac == mac })
		if at < 0 {
			at, devices = len(devices), append(devices, equipment{mac: mac, began: began})
		}
		if inOrder(began, devices[at].began, come) > 0 {
			devices[at].began = began
		}
		devices[at].sessions = append(devices[at].sessions, o...)
	}
	for _, o := range known.sessions {
		if !o.ending && !l.over(o) && !(s.Refuse && o.UpdatedAt.Before(s.At.Add(-l.cfg.SilentAfter))) {
			add(o.MAC, o.StartedAt, o)
		}
	}
	for _, a := range known.awaited {
		add(a.MAC, a.At)
	}
	slices.SortStableFunc(devices, func(a, b equipment) int { return inOrder(a.began, b.began, come) })
	return devices
}

// end marks a session that has to end, and adds it to those of its subscription. The caller holds the lock.
func (l *Live) end(o *occupant, out *Replaced) {
	o.ending = true
	l.ended.Add(1)
	out.OrgID, out.SubscriberID, out.SubscriptionID = o.OrgID, o.SubscriberID, o.SubscriptionID
	out.Sessions = append(out.Sessions, o.ID)
}

// tell has sessions ended, if there are any. The caller holds no lock.
func (l *Live) tell(r Replaced) {
	if len(r.Sessions) > 0 && l.cfg.End != nil {
		l.cfg.End(r)
	}
}
