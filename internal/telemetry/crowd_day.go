package telemetry

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Bounds of the sessions that begin in one UTC day by our clock, as one program counts them from its start on. A row is
// kept for long, so it is not enough to bound those that are open.
const (
	strangersAtRouter = 5_000  // sessions without a customer at one router
	strangersOf       = 20_000 // sessions without a customer at all routers of an organization
	// wholeDay is how many sessions of a subscription are all kept; see spareDay for further ones. With one that is
	// deleted goes who had its address, so it is more than 16 devices that come and go every half an hour.
	wholeDay  = 1_000
	spareEach = 100 // of further ones, as many of the newest and as many of the longest
)

// thinSQL deletes sessions that have ended, but for so many that were reported last, since a repeat of a report would
// count again what they used, and for so many that were longest. Those whose end we concluded come before the longest
// ones, because their routers may go on to report them.
const thinSQL = `delete from {schema}.sessions where id in (
	select id from (select id, row_number() over (order by updated_at desc, id desc) as newest,
			row_number() over (order by ` + concludedSQL + ` desc, seconds desc, id) as longest
		from {schema}.sessions where id = any($1::uuid[]) and ended_at is not null) x
	where newest > $2 and longest > $2)`

// leftSQL reads which of some sessions are in the tables.
const leftSQL = `select id from {schema}.sessions where id = any($1::uuid[])`

// bounds are how many sessions there may be; tests have less.
type bounds struct{ open, strangersAtRouter, strangersOf, wholeDay, spareEach int }

// spareDay is from how many on the spare sessions of a subscription are thinned. When so many stay, because they are
// open, no further one may be.
func (m bounds) spareDay() int { return 3 * m.spareEach }

// beginnings are the sessions that began in a day.
type beginnings struct {
	day     time.Time
	routers map[id.Device]int       // sessions without a customer
	orgs    map[id.Organization]int // sessions without a customer
	lines   map[id.Subscription]*lineDay
}

// lineDay is the day of one subscription.
type lineDay struct {
	whole  int         // sessions that stay, wholeDay at most
	spare  []SessionID // further ones
	next   int         // how many of them are thinned next
	left   int         // of them when they were thinned last; more than were to be kept are open
	looked time.Time   // when they were
}

// newBeginnings makes an empty day.
func newBeginnings(day time.Time) beginnings {
	return beginnings{
		day: day, routers: map[id.Device]int{}, orgs: map[id.Organization]int{},
		lines: map[id.Subscription]*lineDay{},
	}
}

// group are the sessions that a group of reports begins.
type group struct {
	routers map[id.Device]int
	orgs    map[id.Organization]int
	lines   map[id.Subscription][]SessionID // also without any, to look at a subscription again
	gone    map[id.Subscription][]SessionID // spare sessions that have no rows any more; nil = nobody looked
	thinned map[id.Subscription]int         // how many rows were deleted
}

// newGroup makes an empty group.
func newGroup() group {
	return group{
		routers: map[id.Device]int{}, orgs: map[id.Organization]int{}, lines: map[id.Subscription][]SessionID{},
		gone: map[id.Subscription][]SessionID{}, thinned: map[id.Subscription]int{},
	}
}

// turn begins a new day when there is one.
func (c *crowds) turn(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if day := now.UTC().Truncate(24 * time.Hour); !day.Equal(c.today.day) {
		c.today = newBeginnings(day)
	}
}

// strangers are how many sessions without a customer began at a router and in an organization today.
func (c *crowds) strangers(r Report) (atRouter, of int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.today.routers[r.Device], c.today.orgs[r.Org]
}

// overrun reports whether so many spare sessions of a subscription are open that no further one may be.
func (c *crowds) overrun(subscription id.Subscription) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := c.today.lines[subscription]
	return line != nil && line.left >= c.most.spareDay()
}

// thin gives the spare sessions of a subscription, with those that a group begins, when they have to be thinned.
func (c *crowds) thin(subscription id.Subscription, begun []SessionID, now time.Time) []SessionID {
	c.mu.Lock()
	defer c.mu.Unlock()
	line := c.today.lines[subscription]
	if line == nil {
		line = &lineDay{}
	}
	spare := slices.Concat(line.spare, begun[min(len(begun), c.most.wholeDay-line.whole):])
	late := line.left >= c.most.spareDay() && now.Sub(line.looked).Abs() >= countPause
	if len(spare) < max(c.most.spareDay(), line.next) && !late {
		return nil
	}
	return spare
}

// began takes over what a group has begun, and which of the spare sessions are gone.
func (c *crowds) began(g group, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for device, n := range g.routers {
		c.today.routers[device] += n
	}
	for org, n := range g.orgs {
		c.today.orgs[org] += n
	}
	for subscription, begun := range g.lines {
		line := c.today.lines[subscription]
		if line == nil {
			line = &lineDay{}
			c.today.lines[subscription] = line
		}
		stay := min(len(begun), c.most.wholeDay-line.whole)
		line.whole += stay
		line.spare = append(line.spare, begun[stay:]...)
		list, looked := g.gone[subscription]
		if !looked {
			continue
		}
		gone := set(list)
		line.spare = slices.DeleteFunc(line.spare, func(session SessionID) bool { return gone[session] })
		line.left, line.looked = len(line.spare), now
		line.next = line.left + c.most.spareEach
	}
}

// strange reports whether the session that a report would begin has no customer, and is one too many of this day.
func (b *book) strange(r Report, g Given) bool {
	if !g.Subscription.IsZero() {
		return false
	}
	atRouter, of := b.crowds.strangers(r)
	return atRouter+b.today.routers[r.Device] >= b.crowds.most.strangersAtRouter ||
		of+b.today.orgs[r.Org] >= b.crowds.most.strangersOf
}

// overrun reports whether the subscription of a report has so many open sessions that no further one may be, or whether
// its group has begun so many that this is not known.
func (b *book) overrun(g Given) bool {
	begun := len(b.today.lines[g.Subscription])
	if g.Subscription.IsZero() || begun < b.crowds.most.spareDay() && !b.crowds.overrun(g.Subscription) {
		return false
	}
	if _, noted := b.today.lines[g.Subscription]; !noted {
		b.today.lines[g.Subscription] = nil
	}
	return true
}

// note counts a session that has just begun.
func (b *book) note(s *Session, g Given) {
	if g.Subscription.IsZero() {
		b.today.routers[s.DeviceID]++
		b.today.orgs[s.OrgID]++
		return
	}
	b.today.lines[g.Subscription] = append(b.today.lines[g.Subscription], s.ID)
}

// queueThin deletes spare sessions of the subscriptions that have too many of them.
func (s *Store) queueThin(batch *pgx.Batch, b *book) {
	now := b.now()
	for subscription, begun := range b.today.lines {
		spare := s.crowds.thin(subscription, begun, now)
		if spare == nil {
			continue
		}
		list := keys(spare)
		batch.Queue(s.text(thinSQL), list, s.crowds.most.spareEach).
			Exec(func(done pgconn.CommandTag) error {
				if n := done.RowsAffected(); n > 0 {
					b.today.thinned[subscription] = int(n)
				}
				return nil
			})
		batch.Queue(s.text(leftSQL), list).Query(func(rows pgx.Rows) error {
			left, err := pgx.CollectRows(rows, pgx.RowTo[SessionID])
			kept := set(left)
			b.today.gone[subscription] = slices.DeleteFunc(spare, func(session SessionID) bool { return kept[session] })
			return err
		})
	}
}

// set tells quickly which sessions are in a list.
func set(list []SessionID) map[SessionID]bool {
	out := make(map[SessionID]bool, len(list))
	for _, one := range list {
		out[one] = true
	}
	return out
}

// keys are ids in the form that pgx encodes in arrays.
func keys(list []SessionID) []pgtype.UUID {
	out := make([]pgtype.UUID, len(list))
	for i, one := range list {
		out[i] = key(one)
	}
	return out
}
