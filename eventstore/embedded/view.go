package embedded

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// view is what a reader may see of a stream at one moment.
type view struct {
	state    streamState
	lowest   int64 // first visible revision
	bornFrom int64 // creation time, in ticks, below which events have expired
}

// missing tells whether the stream reads as not found.
func (v view) missing() bool { return v.state.last < 0 || v.state.softDeleted }

// shows tells whether an event of the stream is still visible.
func (v view) shows(r *record) bool {
	return r.revision >= v.lowest && r.revision != tombstoneRevision && r.created >= v.bornFrom
}

// viewOf derives the view from the heads of a stream's related streams.
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

// open reads a stream's view and a first page of it in one round trip. The view is never younger than the page.
func (l *logReader) open(ctx context.Context, stream, sql string, from int64, limit int) (v view, p page, err error) {
	err = l.retry(ctx, func() error {
		batch := &pgx.Batch{}
		batch.Queue(l.queries.heads, related(stream))
		batch.Queue(sql, stream, from, limit)
		results := l.pool.SendBatch(ctx, batch)
		defer results.Close()
		heads, err := loadHeads(ctx, batchQuery{results}, "", nil)
		if err != nil {
			return err
		}
		v = l.viewOf(stream, heads)
		rows, err := results.Query()
		if err != nil {
			return err
		}
		p, err = scanPage(rows, limit)
		return err
	})
	return v, p, err
}

// view reads only a stream's view.
func (l *logReader) view(ctx context.Context, stream string) (v view, err error) {
	err = l.retry(ctx, func() error {
		heads, err := loadHeads(ctx, l.pool, l.queries.heads, related(stream))
		if err == nil {
			v = l.viewOf(stream, heads)
		}
		return err
	})
	return v, err
}

// batchQuery lets a queued statement's answer be read where a query is expected.
type batchQuery struct{ results pgx.BatchResults }

// Query is the next queued statement's answer; the arguments were queued with it.
func (b batchQuery) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return b.results.Query()
}
