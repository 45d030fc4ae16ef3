package embedded

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// target is the place that a link points to.
type target struct {
	stream   string
	revision int64
}

// parseLink reads the data of a link, "<number>@<stream>", split at the first '@'; false when it is malformed.
func parseLink(data []byte) (target, bool) {
	number, stream, ok := strings.Cut(string(data), "@")
	if !ok || !storable(stream) {
		return target{}, false
	}
	n, err := strconv.ParseInt(number, 10, 64)
	return target{stream, n}, err == nil && n >= 0
}

// resolver finds the events that links point to, as many at a time as the memory for them allows. A nil resolver
// resolves nothing. For one reader.
type resolver struct {
	log   *logReader
	limit int // links that are resolved at a time; it follows the size of the events that they point to
}

// newResolver begins with as many links as the first page of a read has rows.
func newResolver(log *logReader) *resolver { return &resolver{log: log, limit: firstPage} }

// resolved holds the targets of the links in the first rows of a page. It leaves out targets that are deleted, expired,
// truncated or never existed.
type resolved struct {
	events map[target]*record
	rows   int // as many rows of the page are covered
	room   share
}

// resolve reads the targets of links from the beginning of a page on, until its rows end or the memory for targets is
// full. It covers at least one row. The caller frees the room when it is done with the targets.
func (r *resolver) resolve(ctx context.Context, rows []record) (resolved, error) {
	done := resolved{rows: len(rows)}
	if r == nil {
		return done, nil
	}
	var wanted []target // in the order of their first links
	var at []int        // the row of the first link to each
	known := map[target]struct{}{}
	for i := range rows {
		t, ok := parseLink(rows[i].data)
		if rows[i].kind != linkType || !ok {
			continue
		}
		if _, twice := known[t]; twice {
			continue
		}
		if len(wanted) == r.limit {
			done.rows = i
			break
		}
		known[t] = struct{}{}
		wanted, at = append(wanted, t), append(at, i)
	}
	if len(wanted) == 0 {
		return done, nil
	}
	done.room, _ = r.log.tryShare(ctx)
	found, v, err := r.log.targets(ctx, wanted, extent{len(wanted), done.room.bytes})
	for err == nil && found.large > done.room.bytes {
		done.room.free()
		if done.room, err = takeShare(ctx, r.log.memory.targets, found.large); err == nil {
			found, v, err = r.log.targets(ctx, wanted, extent{len(wanted), done.room.bytes})
		}
	}
	if err != nil {
		done.room.free()
		return resolved{}, err
	}
	done.events = make(map[target]*record, len(found.rows))
	for i := range found.rows {
		e := &found.rows[i]
		if v.of(e.stream).reveals(e) {
			done.events[target{e.stream, e.revision}] = e
		}
	}
	if n := len(found.rows); n > 0 && n < len(wanted) {
		last := target{found.rows[n-1].stream, found.rows[n-1].revision}
		if i := slices.Index(wanted, last); found.more && i+1 < len(wanted) {
			done.rows = at[i+1]
		}
	}
	r.limit = nextLimit(r.limit, found.rows, pageBytes)
	return done, nil
}

// targets reads events by their places, in that order, together with the heads that decide whether they are visible, in
// one round trip.
func (l *logReader) targets(ctx context.Context, wanted []target, size extent) (found page, v views, err error) {
	streams, revisions := make([]string, len(wanted)), make([]int64, len(wanted))
	var names []string
	for i, t := range wanted {
		streams[i], revisions[i] = t.stream, t.revision
		names = append(names, related(t.stream)...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	err = l.retry(ctx, func() error {
		batch := &pgx.Batch{}
		batch.Queue(l.queries.heads, names)
		batch.Queue(l.queries.targets, streams, revisions, size.bytes)
		results := l.pool.SendBatch(ctx, batch)
		defer results.Close()
		heads, err := loadHeads(ctx, batchQuery{results}, "", nil, false)
		if err != nil {
			return err
		}
		rows, err := results.Query()
		if err != nil {
			return err
		}
		v = views{l, heads}
		found, err = scanPage(rows, size)
		return err
	})
	return found, v, err
}

// views gives the views of streams whose heads were read together.
type views struct {
	log   *logReader
	heads map[string]head
}

// of gives the view of one stream, as it was when the heads were read.
func (v views) of(stream string) view { return v.log.viewOf(stream, v.heads) }
