package cpejobs

import (
	"context"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/joined"
)

// countsKept is how long a count may be shown again, while this program writes no call.
const countsKept = time.Second

// Counts answers Informs.CountSince from memory, for those who ask again and again with instants that go on with the
// clock: the answer is at most a second old, and never older than what this program has written. Safe for concurrent
// use.
type Counts struct {
	informs *Informs
	shared  joined.Reads[id.Organization, []int]

	mu   sync.Mutex
	kept map[id.Organization]tally
}

// tally is an answer.
type tally struct {
	changes uint64 // of the tables by this program, before it was read
	at      []time.Time
	calls   []int
}

// NewCounts counts nothing yet.
func NewCounts(informs *Informs) *Counts {
	return &Counts{informs: informs, kept: map[id.Organization]tally{}}
}

// Since is Informs.CountSince. All who ask have the same number of instants, as far from each other. Nobody may change
// the counts.
func (c *Counts) Since(ctx context.Context, org id.Organization, at ...time.Time) ([]int, error) {
	c.mu.Lock()
	have, known := c.kept[org]
	c.mu.Unlock()
	if known && have.answers(c.informs.changes.Load(), at) {
		return have.calls, nil
	}
	return c.shared.Of(ctx, org, func(ctx context.Context) ([]int, error) {
		now := tally{changes: c.informs.changes.Load(), at: at}
		var err error
		if now.calls, err = c.informs.CountSince(ctx, org, at...); err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.kept[org] = now
		return now.calls, nil
	})
}

// answers reports whether a count is new enough for some instants.
func (c tally) answers(changes uint64, at []time.Time) bool {
	age := at[0].Sub(c.at[0])
	return changes == c.changes && age >= 0 && age < countsKept
}
