package telemetry

import (
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Bounds of the open sessions of one router. No router that is in use has as many customers.
const (
	mostOpen   = 20_000
	countPause = time.Minute // between two counts of one router, at least
)

// countOpenSQL counts the open sessions of routers, also of those that have none.
const countOpenSQL = `select k.device, (select count(*) from {schema}.sessions s
		where s.device_id = k.device and s.ended_at is null)
	from unnest($1::uuid[]) k (device)`

// crowds knows about how many sessions are open at each router: their number when they were counted, and what commits
// of this program have begun and ended since. Other programs' commits are known after the next count. Safe for
// concurrent use.
type crowds struct {
	mu    sync.Mutex
	most  bounds
	of    map[id.Device]crowd
	today beginnings
}

// newCrowds makes one that knows nothing yet.
func newCrowds() *crowds {
	return &crowds{
		most: bounds{mostOpen, strangersAtRouter, strangersOf, wholeDay, spareEach}, of: map[id.Device]crowd{},
		today: newBeginnings(time.Time{}),
	}
}

// crowd has the number of one router.
type crowd struct {
	open    int
	counted time.Time
}

// uncounted are the routers of reports whose sessions have to be counted: nothing is known of them, or they have as
// many as they may and were not counted for a while.
func (c *crowds) uncounted(reports []Report, now time.Time) []pgtype.UUID {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []pgtype.UUID
	seen := map[id.Device]bool{}
	for _, r := range reports {
		if seen[r.Device] {
			continue
		}
		seen[r.Device] = true
		known, ok := c.of[r.Device]
		if !ok || known.open >= c.most.open && now.Sub(known.counted).Abs() >= countPause {
			list = append(list, key(r.Device))
		}
	}
	return list
}

// take takes over counts of what was committed.
func (c *crowds) take(rows pgx.Rows, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var device id.Device
	var n int
	_, err := pgx.ForEachRow(rows, []any{&device, &n}, func() error {
		c.of[device] = crowd{n, now}
		return nil
	})
	return err
}

// open is the number of open sessions of a router.
func (c *crowds) open(device id.Device) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[device].open
}

// changed takes over by how much a commit has changed the numbers.
func (c *crowds) changed(by map[id.Device]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for device, n := range by {
		known := c.of[device]
		known.open = max(0, known.open+n)
		c.of[device] = known
	}
}

// forget makes the routers of reports count again, because nobody knows what the database has done with them.
func (c *crowds) forget(reports []Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range reports {
		delete(c.of, r.Device)
	}
}

// now is the present by our clock, zero when nobody tells it.
func (b *book) now() time.Time {
	if b.Now == nil {
		return time.Time{}
	}
	return b.Directory.Now()
}

// full reports whether there are as many sessions as may be, so that the one that a report would begin is not kept:
// open ones of the router or the subscription, or of a day without a customer. One that takes the place of an open
// session is kept up to twice as many. One of a subscription that has ended is kept always, so that its use counts.
func (b *book) full(r Report, g Given) bool {
	if b.strange(r, g) {
		b.crowded[r.Device]++
		return true
	}
	if r.Kind == Stop {
		return false
	}
	if b.overrun(g) {
		b.crowded[r.Device]++
		return true
	}
	most := b.crowds.most.open
	before := b.newest[placeKey{r.Device, r.User, r.station()}]
	replaces := before != nil && before.EndedAt == nil
	if replaces {
		most *= 2
	}
	if b.crowds.open(r.Device)+b.begun[r.Device] >= most {
		b.crowded[r.Device]++
		return true
	}
	if !replaces {
		b.begun[r.Device]++
	}
	return false
}

// opened is by how many the open sessions of routers become more, without what their restarts end.
func (b *book) opened() map[id.Device]int {
	by := map[id.Device]int{}
	for _, s := range b.touched {
		was := s.stored != nil && s.kept.ended.IsZero()
		if is := s.EndedAt == nil; is && !was {
			by[s.DeviceID]++
		} else if was && !is {
			by[s.DeviceID]--
		}
	}
	return by
}
