package embedded

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// recentCapacity is the number of event ids remembered for appends without an exact revision. The protocol promises
// idempotency for those only as far as possible. An append with an exact revision is compared with the log itself.
const recentCapacity = 1 << 17

// recentWarmUp is the number of ids read back at start, so that a repeat after a restart is recognised too.
const recentWarmUp = 1 << 14

// identity is an event id within a stream: the same id in another stream is another event.
type identity struct {
	stream int64 // its number
	id     uuid.UUID
}

// recentEvents finds recently written events by stream and id. Not safe for concurrent use.
type recentEvents struct {
	seats  map[identity]seat
	order  []written // a ring, once it is full
	oldest int
}

// written is one event in the order of writing.
type written struct {
	identity
	position int64
}

// newRecentEvents makes a memory without events; see warm.
func newRecentEvents() *recentEvents { return &recentEvents{seats: map[identity]seat{}} }

// add remembers an event, and forgets the oldest one when there are too many.
func (r *recentEvents) add(event identity, at seat) {
	next := written{event, at.position}
	if len(r.order) < recentCapacity {
		r.order = append(r.order, next)
	} else {
		old := r.order[r.oldest]
		if r.seats[old.identity].position == old.position { // it was not written again
			delete(r.seats, old.identity)
		}
		r.order[r.oldest] = next
		r.oldest = (r.oldest + 1) % recentCapacity
	}
	r.seats[event] = at
}

// warm fills the memory with the newest events of the log.
func (r *recentEvents) warm(ctx context.Context, db querier, sql string) error {
	rows, err := db.Query(ctx, sql, recentWarmUp)
	if err != nil {
		return fmt.Errorf("read recent events: %w", err)
	}
	type row struct {
		identity
		seat
	}
	var found []row
	var one row
	_, err = pgx.ForEachRow(rows, []any{&one.stream, &one.id, &one.revision, &one.position}, func() error {
		found = append(found, one)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read recent events: %w", err)
	}
	for i := len(found) - 1; i >= 0; i-- { // oldest first, so that the newest are forgotten last
		r.add(found[i].identity, found[i].seat)
	}
	return nil
}
