package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

const (
	// refreshEvery is how late sessions are known that another program records.
	refreshEvery = time.Minute
	// startPatience is how long the first report of a sign-in may take. Until then it counts as a session.
	startPatience = 30 * time.Second
)

// ReasonLimit is why a session has to end that was replaced by a newer one elsewhere.
const ReasonLimit = "session_limit"

// LiveConfig has the parts of a Live.
type LiveConfig struct {
	Store *Store // nil = only what is observed is known
	Clock clock.Clock
	// SilentAfter is how long a session counts after its newest report where a new one would be refused: a little more
	// than the interval between two reports. So a stop that was lost keeps nobody out for longer.
	SilentAfter time.Duration
	// Limit gives how many sessions a subscription may have at the same time; 0 = not known, and then any number. It
	// must not call the Live. nil = not known of any.
	Limit func(subscription id.Subscription) int
	// End is told that a session has to end, and why. It returns at once, because a socket waits for it, and must not
	// call the Live. A session is named again when it still reports after SilentAfter.
	End    func(s LiveSession, reason string)
	Logger *slog.Logger // nil discards
}

// LiveSession is a session that has not ended as far as reports tell. Instants are UTC.
type LiveSession struct {
	ID             SessionID // zero = a sign-in that no report has told about yet
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

// Live knows in memory which sessions of subscriptions are open, and keeps the limit of how many there may be. It does
// not need the database: what it cannot learn from there in time counts as no session. Safe for concurrent use.
type Live struct {
	cfg   LiveConfig
	loops *loop.Group

	mu     sync.Mutex
	of     map[id.Subscription][]*occupant
	known  map[SessionID]*occupant
	missed []func() // changes since a refresh began; nil = there is none under way
	ended  uint64
}

// occupant is a session that counts, or a sign-in whose session is awaited.
type occupant struct {
	LiveSession
	ending bool      // End knows it, or will when it is reported; it does not count any more
	told   time.Time // when End was told; zero = not yet
}

// NewLive makes a Live that knows nothing.
func NewLive(cfg LiveConfig) *Live {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Live{
		cfg: cfg, loops: loop.New(cfg.Logger), of: map[id.Subscription][]*occupant{},
		known: map[SessionID]*occupant{},
	}
}

// Start reads the open sessions, and reads them again from time to time. Without the database it starts knowing none.
func (l *Live) Start(ctx context.Context) error {
	return l.loops.Start(ctx, func(ctx context.Context) error {
		l.tryRefresh(ctx)
		l.loops.Go("live sessions", func(ctx context.Context) {
			for loop.SleepUntil(ctx, l.cfg.Clock, l.cfg.Clock.Now().Add(refreshEvery)) {
				l.tryRefresh(ctx)
			}
		})
		return nil
	})
}

// Stop ends the reading. What is known stays.
func (l *Live) Stop() { l.loops.Stop() }

// Ended is how many sessions had to end since the start, because newer ones replaced them.
func (l *Live) Ended() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
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
}

// Admit decides about a sign-in, and reports false when it is refused. A device that signs in again is never refused,
// and counts once: a session of its MAC that the router cannot mean has to end, because it may be of a copy of the
// device. Two sign-ins at the same instant do not both count the other one as absent.
func (l *Live) Admit(s SignIn) bool {
	s.SessionKey, s.Calling = cleanText(s.SessionKey), cleanText(s.Calling) // as reports have them
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropAwaited(s.Subscription, s.At)
	silent := time.Time{}
	if s.Refuse {
		silent = s.At.Add(-l.cfg.SilentAfter)
	}
	switch others := l.others(s, silent); {
	case len(others) < s.Limit:
	case s.Refuse:
		return false
	default:
		for _, device := range others[:len(others)+1-s.Limit] {
			for _, o := range device {
				l.end(o)
			}
		}
	}
	for _, o := range l.of[s.Subscription] {
		if !o.ending && !o.ID.IsZero() && o.MAC == s.MAC && s.MAC != "" && !o.begunBy(s) {
			l.end(o)
		}
	}
	if s.SessionKey != "" || s.MAC != "" || s.Calling != "" {
		l.await(s)
	}
	return true
}

// begunBy reports whether a session can be the one that a sign-in begins or renews. Without a key of the sign-in each
// session of its router can.
func (o *occupant) begunBy(s SignIn) bool {
	return o.DeviceID == s.Device && (s.SessionKey == "" || o.SessionKey == s.SessionKey)
}

// others are the sessions of other devices than the one that signs in, by device, without those that are silent since
// before an instant. The device that began last is the last one. The caller holds the lock.
func (l *Live) others(s SignIn, silent time.Time) [][]*occupant {
	var devices [][]*occupant
	for _, o := range l.of[s.Subscription] {
		if o.ending || o.MAC == s.MAC && s.MAC != "" || o.UpdatedAt.Before(silent) {
			continue
		}
		at := slices.IndexFunc(devices, func(device []*occupant) bool { return o.MAC != "" && device[0].MAC == o.MAC })
		if at < 0 {
			devices = append(devices, []*occupant{o})
		} else {
			devices[at] = append(devices[at], o)
		}
	}
	newest := func(device []*occupant) time.Time {
		return slices.MaxFunc(device, func(a, b *occupant) int { return a.StartedAt.Compare(b.StartedAt) }).StartedAt
	}
	slices.SortStableFunc(devices, func(a, b []*occupant) int { return newest(a).Compare(newest(b)) })
	return devices
}

// await lets a sign-in count until its session is reported. The caller holds the lock.
func (l *Live) await(s SignIn) {
	next := &occupant{LiveSession: LiveSession{
		DeviceID: s.Device, SubscriptionID: s.Subscription, SessionKey: s.SessionKey,
		Calling: cmp.Or(s.MAC, s.Calling), MAC: s.MAC, StartedAt: s.At, UpdatedAt: s.At,
	}}
	l.remove(s.Subscription, func(o *occupant) bool {
		return o.ID.IsZero() && o.awaits(next.LiveSession)
	})
	l.of[s.Subscription] = append(l.of[s.Subscription], next)
}

// awaits reports whether a session, or a later sign-in, is the one that a sign-in has announced: by its key, or by the
// calling station where one of both has no key.
func (o *occupant) awaits(s LiveSession) bool {
	switch {
	case o.DeviceID != s.DeviceID:
		return false
	case o.SessionKey != "" && s.SessionKey != "":
		return o.SessionKey == s.SessionKey
	}
	return o.Calling != "" && o.Calling == s.Calling
}

// dropAwaited forgets sign-ins whose session did not come. The caller holds the lock.
func (l *Live) dropAwaited(subscription id.Subscription, now time.Time) {
	l.remove(subscription, func(o *occupant) bool {
		return o.ID.IsZero() && now.Sub(o.StartedAt).Abs() > startPatience
	})
}

// remove takes occupants out. The caller holds the lock.
func (l *Live) remove(subscription id.Subscription, which func(*occupant) bool) {
	list := slices.DeleteFunc(l.of[subscription], which)
	if len(list) == 0 {
		delete(l.of, subscription)
		return
	}
	l.of[subscription] = list
}

// end lets a session end; one that is not reported yet ends when it is. The caller holds the lock.
func (l *Live) end(o *occupant) {
	o.ending = true
	if o.ID.IsZero() {
		return
	}
	if o.told.IsZero() {
		l.ended++
	}
	o.told = l.cfg.Clock.Now()
	if l.cfg.End != nil {
		l.cfg.End(o.LiveSession, ReasonLimit)
	}
}

// Observe takes over what a commit has changed.
func (l *Live) Observe(c Committed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	take := func() { l.observe(c) }
	if l.missed != nil {
		l.missed = append(l.missed, take)
	}
	take()
}

// observe takes over a commit; a repetition changes nothing. The caller holds the lock.
func (l *Live) observe(c Committed) {
	for device, at := range c.Restarts {
		for _, o := range l.known {
			if o.DeviceID == device && o.StartedAt.Before(at) && !o.UpdatedAt.After(at) {
				l.forget(o)
			}
		}
	}
	over := func(s *Session) bool { return s.EndedAt != nil || s.SubscriptionID.IsZero() }
	for _, s := range c.Sessions { // first, because a session that replaces another one is in the same commit
		if o := l.known[s.ID]; o != nil && over(s) {
			l.forget(o)
		}
	}
	for _, s := range c.Sessions {
		if over(s) {
			continue
		}
		if o := l.known[s.ID]; o != nil {
			o.LiveSession = s.live()
			continue
		}
		l.meet(s.live())
		l.trim(s.SubscriptionID)
	}
}

// meet adds a session, which takes the place of its sign-in. The caller holds the lock.
func (l *Live) meet(s LiveSession) {
	o := &occupant{LiveSession: s}
	unwanted := false
	l.remove(s.SubscriptionID, func(sign *occupant) bool {
		its := sign.ID.IsZero() && sign.awaits(s)
		unwanted = unwanted || its && sign.ending
		return its
	})
	l.of[s.SubscriptionID] = append(l.of[s.SubscriptionID], o)
	l.known[s.ID] = o
	if unwanted {
		l.end(o)
	}
}

// forget removes a session. The caller holds the lock.
func (l *Live) forget(o *occupant) {
	delete(l.known, o.ID)
	l.remove(o.SubscriptionID, func(other *occupant) bool { return other == o })
}

// live is the part of a session that Live knows.
func (s *Session) live() LiveSession {
	return LiveSession{
		ID: s.ID, OrgID: s.OrgID, DeviceID: s.DeviceID, SubscriberID: s.SubscriberID,
		SubscriptionID: s.SubscriptionID, SessionKey: s.SessionKey, Username: s.Username, Calling: s.Calling,
		MAC: s.MAC, IP: s.IP, StartedAt: s.StartedAt, UpdatedAt: s.UpdatedAt,
	}
}

// liveSQL reads what LiveSession has of all open sessions.
const liveSQL = `select id, org_id, device_id, subscriber_id, subscription_id, session_key, username, calling, mac,
	ip, started_at, updated_at from {schema}.sessions where ended_at is null and subscription_id is not null`

// tryRefresh reads the open sessions. Without the database what is known stays.
func (l *Live) tryRefresh(ctx context.Context) {
	if l.cfg.Store == nil {
		return
	}
	if err := l.refresh(ctx); err != nil && ctx.Err() == nil {
		l.cfg.Logger.WarnContext(ctx, "live sessions were not read", slog.String("error", err.Error()))
	}
}

// refresh replaces what is known by the open sessions of the tables, and by what was committed meanwhile.
func (l *Live) refresh(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, commitPatience)
	defer cancel()
	l.mu.Lock()
	l.missed = []func(){}
	l.mu.Unlock()
	list, err := l.cfg.Store.live(limited)
	fresh := NewLive(l.cfg) // filled without the lock, for which sockets wait
	for _, s := range list {
		fresh.meet(s)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	missed := l.missed
	l.missed = nil
	if err != nil {
		return err
	}
	l.replaceBy(fresh)
	for _, change := range missed {
		change()
	}
	return nil
}

// replaceBy takes over what another Live knows. Sign-ins whose sessions are awaited stay, and sessions that have to end
// do not count again. What is beyond a limit has to end: sessions that another program or a late report has told, and
// those of a limit that is lower now. The caller holds the lock.
func (l *Live) replaceBy(fresh *Live) {
	var found []LiveSession // that this one does not know yet
	for session, o := range fresh.known {
		if before := l.known[session]; before != nil {
			o.ending, o.told = before.ending, before.told
			if !o.told.IsZero() && o.UpdatedAt.Sub(o.told) > l.cfg.SilentAfter { // whoever was told has given up
				l.end(o)
			}
		} else {
			found = append(found, o.LiveSession)
		}
	}
	for _, s := range found {
		fresh.forget(fresh.known[s.ID])
	}
	now := l.cfg.Clock.Now()
	for subscription, occupants := range l.of {
		for _, o := range occupants {
			if o.ID.IsZero() && now.Sub(o.StartedAt).Abs() <= startPatience {
				fresh.of[subscription] = append(fresh.of[subscription], o)
			}
		}
	}
	l.known, l.of = fresh.known, fresh.of
	for _, s := range found {
		l.meet(s)
	}
	for subscription, occupants := range l.of {
		if len(occupants) > 1 {
			l.trim(subscription)
		}
	}
}

// live reads the open sessions that belong to a subscription, of all organizations.
func (s *Store) live(ctx context.Context) ([]LiveSession, error) {
	rows, err := s.db.Owner.Query(ctx, s.text(liveSQL))
	if err != nil {
		return nil, fmt.Errorf("read live sessions: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[LiveSession])
	if err != nil {
		return nil, fmt.Errorf("read live sessions: %w", err)
	}
	return list, nil
}
