package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// trim marks the sessions of a subscription beyond its limit, which have to end. It is for sessions that no sign-in
// could count: those whose reports came late, that another program has let in, or that are of two devices with one MAC.
func (l *Live) trim(subscription id.Subscription) (out Replaced) {
	limit := 0
	if l.cfg.Limit != nil {
		limit = l.cfg.Limit(subscription)
	}
	at := l.shard(subscription)
	at.mu.Lock()
	defer at.mu.Unlock()
	known := at.of[subscription]
	if known == nil {
		return out
	}
	var counts []*occupant
	for _, o := range known.sessions {
		if !o.ending && !l.over(o) {
			counts = append(counts, o)
		}
	}
	of := func(o *occupant) *LiveSession { return &o.LiveSession }
	ending := beyond(counts, of, limit, l.cfg.Clock.Now().Add(Slack))
	for _, o := range ending {
		l.end(o, &out)
	}
	for _, o := range ending {
		if !slices.ContainsFunc(counts, func(c *occupant) bool { return !c.ending && o.sameMAC(&c.LiveSession) }) {
			out.MadeWay = append(out.MadeWay, o.LiveSession)
		}
	}
	return out
}

// beyond gives the oldest of the sessions of one subscription beyond a limit, 0 = none, and of each MAC all but the
// newest one. It puts the list in order, the newest first. What is later than come is from when our clock was ahead.
func beyond[T any](list []T, of func(T) *LiveSession, limit int, come time.Time) (out []T) {
	if len(list) < 2 {
		return nil
	}
	slices.SortFunc(list, func(a, b T) int {
		x, y := of(a), of(b)
		return cmp.Or(inOrder(y.StartedAt, x.StartedAt, come), slices.Compare(y.ID[:], x.ID[:]))
	})
	var kept []*LiveSession // the newest ones
	for _, one := range list {
		switch s := of(one); {
		case slices.ContainsFunc(kept, s.sameToRouter): // an end of it would end the other one
		case limit > 0 && len(kept) >= limit, slices.ContainsFunc(kept, s.sameMAC):
			out = append(out, one)
		default:
			kept = append(kept, s)
		}
	}
	return out
}

// sameToRouter reports whether a router cannot tell two sessions apart.
func (s *LiveSession) sameToRouter(other *LiveSession) bool {
	return s.DeviceID == other.DeviceID && s.SessionKey == other.SessionKey && s.Username == other.Username
}

// sameMAC reports whether two sessions are of the same MAC.
func (s *LiveSession) sameMAC(other *LiveSession) bool { return s.MAC != "" && s.MAC == other.MAC }

// SharedSubscription is a subscription with several open sessions.
type SharedSubscription struct {
	OrgID          id.Organization
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	Sessions       int64
	Copied         bool // two of the sessions have the same MAC
}

// sharedSQL counts by MAC first, because a count of distinct values would sort all open sessions.
const sharedSQL = `select org_id, subscriber_id, subscription_id, sum(n)::bigint as sessions,
	coalesce(max(n) filter (where mac <> ''), 1) > 1 as copied
	from (select org_id, subscriber_id, subscription_id, mac, count(*) as n from {schema}.sessions
		where ended_at is null and subscription_id is not null and subscriber_id is not null
		group by org_id, subscriber_id, subscription_id, mac) as devices
	group by org_id, subscriber_id, subscription_id having sum(n) > 1 order by random()`

// SharedSubscriptions lists the subscriptions of all organizations with several open sessions, each time in another
// order: who takes only a part of them reaches all in time.
func (s *Store) SharedSubscriptions(ctx context.Context) ([]SharedSubscription, error) {
	rows, err := s.db.Owner.Query(ctx, s.text(sharedSQL))
	if err != nil {
		return nil, fmt.Errorf("count open sessions: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[SharedSubscription])
	if err != nil {
		return nil, fmt.Errorf("count open sessions: %w", err)
	}
	return list, nil
}

// mostBeyond bounds the sessions of one answer of Beyond.
const mostBeyond = 200

// Limited is a subscription whose sessions are limited.
type Limited struct {
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	Limit          int         // 0 = none
	Replaced       []SessionID // by newer ones, as the caller knows
	Now            time.Time
}

// Beyond lists open sessions of a subscription that have to end, at most mostBeyond at a time: those beyond the limit,
// those of a MAC with a newer one, and those that were replaced.
func (s *Store) Beyond(ctx context.Context, of Limited) ([]Session, error) {
	come := of.Now.Add(Slack)
	list, err := s.open(ctx, `x.subscriber_id = $1 and x.subscription_id = $2
		order by x.started_at > $4, x.started_at desc, x.id desc limit $3`,
		of.SubscriberID.UUID(), of.SubscriptionID.UUID(), of.Limit+mostBeyond, come)
	if err != nil {
		return nil, err
	}
	var out, rest []*Session
	for i := range list {
		if slices.Contains(of.Replaced, list[i].ID) {
			out = append(out, &list[i])
		} else {
			rest = append(rest, &list[i])
		}
	}
	live := func(s *Session) *LiveSession { live := s.live(); return &live }
	out = append(out, beyond(rest, live, of.Limit, come)...)
	end := make([]Session, len(out))
	for i, one := range out {
		end[i] = *one
	}
	return end, nil
}
