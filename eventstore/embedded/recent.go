package embedded

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jackc/pgx/v5"
)

// recentCapacity is how many event ids are remembered for appends that name no exact revision. Their idempotency is
// best effort, as the protocol has it; an exact revision is compared with the log itself.
const recentCapacity = 1 << 17

// recentWarmUp is how many of them are read back at start, so that a retry across a restart is recognised too.
const recentWarmUp = 1 << 14

// identity is an event in its stream.
type identity struct {
	stream string
	id     uuid.UUID
}

// recentEvents finds events written lately by stream and id. Not safe for concurrent use.
type recentEvents struct {
	lru *simplelru.LRU[identity, seat]
}

// newRecentEvents makes an empty memory.
func newRecentEvents() *recentEvents {
	lru, err := simplelru.NewLRU[identity, seat](recentCapacity, nil)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return &recentEvents{lru: lru}
}

// warm reads the end of the log.
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
		r.lru.Add(found[i].identity, found[i].seat)
	}
	return nil
}
