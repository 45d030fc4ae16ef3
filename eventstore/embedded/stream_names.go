package embedded

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// Bounds of the names of streams in memory: enough for some 130,000. One that is dropped is read again.
const (
	namesKept = 24 << 20 // bytes
	nameBytes = 110      // of one, apart from the name
)

// streamNames finds the names of streams by their numbers, which never change. Rows of $all have numbers: to look the
// name up for each row costs the database more than the row. Safe for concurrent use.
type streamNames struct {
	queries *queries
	forgot  atomic.Int64 // counts calls of forget

	mu   sync.Mutex
	kept *weighedCache[int64, string]
}

// newStreamNames knows none yet.
func newStreamNames(q *queries) *streamNames {
	return &streamNames{queries: q, kept: newWeighedCache(namesKept, func(_ int64, name string) int {
		return len(name) + nameBytes
	})}
}

// forget forgets all names: after a fail-over of the database a number can be that of another stream, when a commit
// that was never acknowledged is lost.
func (n *streamNames) forget() {
	n.forgot.Add(1)
	n.purge()
}

// purge empties the memory.
func (n *streamNames) purge() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kept.Purge()
}

// get finds a name that is in memory.
func (n *streamNames) get(id int64) (name string, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept.Get(id)
}

// put remembers a name.
func (n *streamNames) put(id int64, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kept.put(id, name)
}

// fill gives rows the names of their streams. It reads those that are not in memory.
func (n *streamNames) fill(ctx context.Context, db querier, rows []record) error {
	var missing []int64
	unknown := map[int64]string{}
	for i := range rows {
		r := &rows[i]
		if i > 0 && r.streamID == rows[i-1].streamID && rows[i-1].stream != "" {
			r.stream = rows[i-1].stream
			continue
		}
		if name, known := n.get(r.streamID); known {
			r.stream = name
		} else if _, asked := unknown[r.streamID]; !asked {
			unknown[r.streamID] = ""
			missing = append(missing, r.streamID)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	before := n.forgot.Load()
	found, err := db.Query(ctx, n.queries.names, missing)
	if err != nil {
		return fmt.Errorf("read names of streams: %w", err)
	}
	var id int64
	var name string
	if _, err := pgx.ForEachRow(found, []any{&id, &name}, func() error {
		unknown[id] = name
		n.put(id, name)
		return nil
	}); err != nil {
		return fmt.Errorf("read names of streams: %w", err)
	}
	if n.forgot.Load() != before { // these may be of before
		n.purge()
	}
	for i := range rows {
		if rows[i].stream == "" {
			rows[i].stream = unknown[rows[i].streamID]
		}
	}
	return nil
}
