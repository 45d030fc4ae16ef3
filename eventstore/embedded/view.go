package embedded

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// view says which events of a stream a reader may see at one moment.
type view struct {
	state    streamState
	lowest   int64 // first visible revision
	bornFrom int64 // creation time, in ticks, below which events have expired
}

// missing reports whether reads answer that the stream does not exist.
func (v view) missing() bool { return v.state.last < 0 || v.state.softDeleted }

// shows reports whether an event of the stream is visible. A tombstone never is.
func (v view) shows(r *record) bool {
	return r.revision >= v.lowest && r.revision != tombstoneRevision && r.created >= v.bornFrom
}

// reveals reports whether a link to an event of the stream is resolved.
func (v view) reveals(r *record) bool { return !v.state.tombstoned && !v.missing() && v.shows(r) }

// viewOf derives the view of a stream from the heads of its related streams and the present time.
func (l *logReader) viewOf(stream string, heads map[string]head) view {
	at := func(name string) head {
		if h, ok := heads[name]; ok {
			return h
		}
		return emptyHead
	}
	meta := metastreamMeta
	if !isMetastream(stream) {
		meta = at(metastreamOf(stream)).meta
	}
	state := stateOf(stream, at)
	return view{state: state, lowest: meta.lowest(state.last), bornFrom: meta.bornAfter(l.now())}
}

// open reads a stream's view and its first page in one round trip. The view is read before the page.
func (l *logReader) open(
	ctx context.Context, stream, sql string, from int64, size extent,
) (v view, p page, err error) {
	err = l.retry(ctx, func() error {
		batch := &pgx.Batch{}
		batch.Queue(l.queries.heads, related(stream))
		batch.Queue(sql, stream, from, size.rows, size.bytes)
		results := l.pool.SendBatch(ctx, batch)
		defer results.Close()
		heads, err := loadHeads(ctx, batchQuery{results}, "", nil, false)
		if err != nil {
			return err
		}
		v = l.viewOf(stream, heads)
		rows, err := results.Query()
		if err != nil {
			return err
		}
		if p, err = scanPage(rows, size); err == nil {
			p.ofStream(stream)
		}
		return err
	})
	return v, p, err
}

// view reads a stream's view without a page.
func (l *logReader) view(ctx context.Context, stream string) (v view, err error) {
	err = l.retry(ctx, func() error {
		heads, err := loadHeads(ctx, l.pool, l.queries.heads, related(stream), false)
		if err == nil {
			v = l.viewOf(stream, heads)
		}
		return err
	})
	return v, err
}

// batchQuery is a querier that returns the next result of a batch.
type batchQuery struct{ results pgx.BatchResults }

// Query ignores its arguments, because the statement is in the batch already.
func (b batchQuery) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return b.results.Query()
}
