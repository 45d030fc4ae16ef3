package embedded

import (
	"context"
	"fmt"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
)

// namesKept bounds the names of streams in memory. One that is dropped is read again.
const namesKept = 1 << 17

// streamNames finds the names of streams by their numbers, which never change. Rows of $all have numbers: to look the
// name up for each row costs the database more than the row. Safe for concurrent use.
type streamNames struct {
	queries *queries
	kept    *lru.Cache[int64, string]
	forgot  atomic.Int64 // counts calls of forget
}

// newStreamNames knows none yet.
func newStreamNames(q *queries) *streamNames {
	kept, err := lru.New[int64, string](namesKept)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return &streamNames{queries: q, kept: kept}
}

// forget forgets all names: after a fail-over of the database a number can be that of another stream, when a commit
// that was never acknowledged is lost.
func (n *streamNames) forget() {
	n.forgot.Add(1)
	n.kept.Purge()
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
		if name, known := n.kept.Get(r.streamID); known {
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
		n.kept.Add(id, name)
		return nil
	}); err != nil {
		return fmt.Errorf("read names of streams: %w", err)
	}
	if n.forgot.Load() != before { // these may be of before
		n.kept.Purge()
	}
	for i := range rows {
		if rows[i].stream == "" {
			rows[i].stream = unknown[rows[i].streamID]
		}
	}
	return nil
}
