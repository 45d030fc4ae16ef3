package embedded

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// A block has 1<<blockBits positions. Blocks are small against a log, and large against what is kept of each.
const (
	blockBits   = 10
	blocksAdded = 64     // by one statement
	blocksRead  = 10_000 // by one query
	typesKnown  = 4096   // those beyond count as one, which every filter wants
)

// blockOf is the block of a position. Positions begin with 1.
func blockOf(position int64) int64 { return (position - 1) >> blockBits }

// typeSet is a set of numbers of event types, as bits.
type typeSet []uint64

// with adds a number.
func (s typeSet) with(n int) typeSet {
	for len(s) <= n/64 {
		s = append(s, 0)
	}
	s[n/64] |= 1 << (n % 64)
	return s
}

// meets reports whether two sets have a number in common.
func (s typeSet) meets(other typeSet) bool {
	for i := range min(len(s), len(other)) {
		if s[i]&other[i] != 0 {
			return true
		}
	}
	return false
}

// typeBlocks knows which event types the blocks of the log have, from the first one on, without those at the end that
// are not full or not looked at yet. A block may have none, and types of events that were removed since it was looked
// at. Safe for concurrent use.
type typeBlocks struct {
	mu     sync.RWMutex
	number map[string]int // of each type; 0 is that of all which are too many, and of "" for what is malformed
	names  []string       // of the types, by number; 0 has none
	blocks []typeSet
}

// newTypeBlocks knows no block.
func newTypeBlocks() *typeBlocks {
	return &typeBlocks{number: map[string]int{"": 0}, names: []string{""}}
}

// known is the number of blocks that are known.
func (b *typeBlocks) known() int64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return int64(len(b.blocks))
}

// add makes the next block known.
func (b *typeBlocks) add(types []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var set typeSet
	for _, name := range types {
		n, known := b.number[name]
		if !known && len(b.names) < typesKnown {
			n = len(b.names)
			b.number[name] = n
			b.names = append(b.names, name)
		}
		set = set.with(n)
	}
	b.blocks = append(b.blocks, set)
}

// next is the first position from one on at which an event may be that a filter by type admits. The filter is asked
// once about each type, and nobody waits for that but its reader.
func (b *typeBlocks) next(from int64, f *filter) int64 {
	if f == nil || f.byStream {
		return from
	}
	b.mu.RLock()
	names, blocks := b.names, b.blocks // both only grow
	b.mu.RUnlock()
	block := max(0, blockOf(from))
	if block >= int64(len(blocks)) {
		return from
	}
	if f.seen == 0 {
		f.wanted = f.wanted.with(0)
	}
	for n := max(1, f.seen); n < len(names); n++ {
		if f.admitsSubject(names[n]) {
			f.wanted = f.wanted.with(n)
		}
	}
	f.seen = len(names)
	for block < int64(len(blocks)) && !blocks[block].meets(f.wanted) {
		block++
	}
	return max(from, block<<blockBits+1)
}

// typeLooker looks at full blocks and keeps which types they have, beside the writing of events.
type typeLooker struct {
	pool    *pgxpool.Pool
	queries *queries
	tail    *tail
	blocks  *typeBlocks
	failed  func(error)
}

// run looks until ctx ends. What cannot be looked at is looked at later: until then readers read it.
func (l *typeLooker) run(ctx context.Context) {
	pause := loop.Backoff{Min: time.Second, Max: time.Minute}
	for ctx.Err() == nil {
		err := l.look(ctx)
		if err == nil {
			pause.Reset()
			loop.Wait(ctx, l.tail.filled)
			continue
		}
		if ctx.Err() == nil {
			l.failed(err)
			pause.Wait(ctx)
		}
	}
}

// look makes all full blocks known.
func (l *typeLooker) look(ctx context.Context) error {
	for noted := int64(-1); ; { // the block that was noted last, but is not known
		full, from := l.tail.last.Load()>>blockBits, l.blocks.known()
		if from >= full {
			return nil
		}
		if err := l.read(ctx, from, full); err != nil {
			return err
		}
		switch {
		case l.blocks.known() > from:
			continue
		case noted == from:
			return fmt.Errorf("note the types of events: block %d is not there", from)
		}
		noted = from
		upTo := min(full, from+blocksAdded)
		_, err := l.pool.Exec(ctx, l.queries.addTypeBlocks, blockBits, from, upTo)
		if err != nil {
			return fmt.Errorf("note the types of events: %w", err)
		}
	}
}

// read makes the blocks known that were looked at before, up to a full one.
func (l *typeLooker) read(ctx context.Context, from, full int64) error {
	rows, err := l.pool.Query(ctx, l.queries.typeBlocks, from, full, blocksRead)
	if err != nil {
		return fmt.Errorf("read the types of events: %w", err)
	}
	var block int64
	var types []string
	_, err = pgx.ForEachRow(rows, []any{&block, &types}, func() error {
		if block == l.blocks.known() {
			l.blocks.add(types)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the types of events: %w", err)
	}
	return nil
}
