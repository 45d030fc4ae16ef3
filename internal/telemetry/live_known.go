package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Observe takes over what a commit has changed.
func (l *Live) Observe(c Committed) {
	l.refreshing.Lock()
	if l.missed != nil {
		l.missed = append(l.missed, c)
	}
	l.refreshing.Unlock()
	l.observe(c)
}

// observe takes over a commit; a repetition changes nothing.
func (l *Live) observe(c Committed) {
	l.restart(c.Restarts)
	for _, s := range c.Sessions { // first, because a session that replaces another one is in the same commit
		if s.EndedAt != nil {
			l.forget(s)
		}
	}
	for _, s := range c.Sessions {
		if s.EndedAt == nil && !s.SubscriptionID.IsZero() && l.meet(s.live()) {
			l.tell(l.trim(s.SubscriptionID))
		}
	}
}

// restart notes when routers restarted. What they reported before is over, however many sessions that are.
func (l *Live) restart(routers map[id.Device]time.Time) {
	if len(routers) == 0 {
		return
	}
	l.restarting.Lock()
	defer l.restarting.Unlock()
	for device, at := range routers {
		if known := l.restarts[device]; at.After(known) || l.early(known) {
			l.restarts[device] = at
		}
	}
}

// early reports whether an instant is from when our clock was ahead.
func (l *Live) early(at time.Time) bool { return at.After(l.cfg.Clock.Now().Add(leastSet)) }

// forgetEarly forgets restarts from when our clock was ahead.
func (l *Live) forgetEarly() {
	l.restarting.Lock()
	defer l.restarting.Unlock()
	maps.DeleteFunc(l.restarts, func(_ id.Device, at time.Time) bool { return l.early(at) })
}

// over reports whether a session is from before its router restarted.
func (l *Live) over(o *occupant) bool {
	l.restarting.RLock()
	at, restarted := l.restarts[o.DeviceID]
	l.restarting.RUnlock()
	return restarted && !l.early(at) && o.StartedAt.Before(at) && !o.UpdatedAt.After(at)
}

// meet takes over the present state of a session. A new one takes the place of its sign-in. It reports whether the
// subscription has to be looked at, because it has several sessions now.
func (l *Live) meet(s LiveSession) (several bool) {
	at := l.shard(s.SubscriptionID)
	at.mu.Lock()
	defer at.mu.Unlock()
	known := at.of[s.SubscriptionID]
	if known == nil {
		known = &line{}
		at.of[s.SubscriptionID] = known
	}
	if o := known.find(s.ID); o != nil {
		o.LiveSession = s
		return false
	}
	known.awaited = slices.DeleteFunc(known.awaited, func(a SignIn) bool { return a.announces(s) })
	known.add(&occupant{LiveSession: s}, l.cfg.Clock.Now().Add(Slack))
	return len(known.sessions) > 1
}

// find is the session with an id, nil when it is not known. The caller holds the lock.
func (k *line) find(session SessionID) *occupant {
	for _, o := range k.sessions {
		if o.ID == session {
			return o
		}
	}
	return nil
}

// add adds a session. Beyond mostKnown one that is ending is forgotten, or else the one that was not heard of for the
// longest time; reports that have not come yet are from when our clock was ahead. The caller holds the lock.
func (k *line) add(o *occupant, come time.Time) {
	if k.sessions = append(k.sessions, o); len(k.sessions) <= mostKnown {
		return
	}
	least := slices.MinFunc(k.sessions, func(a, b *occupant) int {
		if a.ending != b.ending {
			if a.ending {
				return -1
			}
			return 1
		}
		return cmp.Or(inOrder(a.UpdatedAt, b.UpdatedAt, come), inOrder(a.StartedAt, b.StartedAt, come))
	})
	k.sessions = slices.DeleteFunc(k.sessions, func(other *occupant) bool { return other == least })
}

// forget removes a session that has ended.
func (l *Live) forget(s *Session) {
	at := l.shard(s.SubscriptionID)
	at.mu.Lock()
	defer at.mu.Unlock()
	if known := at.of[s.SubscriptionID]; known != nil {
		known.sessions = slices.DeleteFunc(known.sessions, func(o *occupant) bool { return o.ID == s.ID })
		at.keep(s.SubscriptionID, known)
	}
}

// Online reports whether a session of a subscription is known.
func (l *Live) Online(subscription id.Subscription) bool {
	at := l.shard(subscription)
	at.mu.Lock()
	defer at.mu.Unlock()
	known := at.of[subscription]
	return known != nil && len(known.sessions) > 0
}

// Has reports whether a device, named by its MAC, is online with a subscription as far as is known. "" is no device.
func (l *Live) Has(subscription id.Subscription, mac string) bool {
	at := l.shard(subscription)
	at.mu.Lock()
	defer at.mu.Unlock()
	known := at.of[subscription]
	return mac != "" && known != nil && slices.ContainsFunc(known.sessions, func(o *occupant) bool {
		return o.MAC == mac && !l.over(o)
	})
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

// refresh replaces what is known by the open sessions of the tables, and by what was committed meanwhile. A socket
// waits for one shard at most.
func (l *Live) refresh(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, commitPatience)
	defer cancel()
	l.forgetEarly()
	l.refreshing.Lock()
	l.missed = []Committed{}
	l.refreshing.Unlock()
	fresh := NewLive(l.cfg)
	err := l.cfg.Store.live(limited, func(s LiveSession) { fresh.meet(s) })
	if err == nil {
		for i := range l.shards {
			l.shards[i].replace(fresh.shards[i].of, l.cfg.Clock.Now())
		}
	}
	for {
		l.refreshing.Lock()
		missed := l.missed
		if l.missed = l.missed[:0:0]; err != nil || len(missed) == 0 {
			l.missed = nil
			l.refreshing.Unlock()
			return err
		}
		l.refreshing.Unlock()
		for _, c := range missed {
			l.observe(c)
		}
	}
}

// replace takes over what was read. Sign-ins whose sessions are awaited stay, and sessions that have to end do not
// count again.
func (at *shard) replace(fresh map[id.Subscription]*line, now time.Time) {
	at.mu.Lock()
	defer at.mu.Unlock()
	before := at.of
	at.of = fresh
	for subscription, was := range before {
		known := fresh[subscription]
		if known == nil {
			known = &line{}
		}
		for _, o := range was.sessions {
			if same := known.find(o.ID); same != nil {
				same.ending = o.ending
			}
		}
		known.awaited = slices.DeleteFunc(was.awaited, func(a SignIn) bool {
			return a.late(now) || slices.ContainsFunc(known.sessions, func(o *occupant) bool {
				return a.announces(o.LiveSession)
			})
		})
		at.keep(subscription, known)
	}
}

// live visits the open sessions that belong to a subscription, of all organizations.
func (s *Store) live(ctx context.Context, visit func(LiveSession)) error {
	rows, err := s.db.Owner.Query(ctx, s.text(liveSQL))
	if err == nil {
		defer rows.Close()
		for rows.Next() {
			one, err := pgx.RowToStructByName[LiveSession](rows)
			if err != nil {
				return fmt.Errorf("read live sessions: %w", err)
			}
			visit(one)
		}
		err = rows.Err()
	}
	if err != nil {
		return fmt.Errorf("read live sessions: %w", err)
	}
	return nil
}
