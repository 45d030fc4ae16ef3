package embedded

import (
	"context"
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

// resolver finds the events that links point to. A nil resolver resolves nothing.
type resolver struct{ log *logReader }

// resolve reads the targets of all links in a page. The result leaves out targets that are deleted, expired, truncated
// or never existed.
func (r *resolver) resolve(ctx context.Context, rows []record) (map[target]*record, error) {
	if r == nil {
		return nil, nil
	}
	wanted := map[target]struct{}{}
	heads := map[string]struct{}{}
	for i := range rows {
		if rows[i].kind != linkType {
			continue
		}
		if t, ok := parseLink(rows[i].data); ok {
			wanted[t] = struct{}{}
			for _, name := range related(t.stream) {
				heads[name] = struct{}{}
			}
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	return r.log.targets(ctx, wanted, heads)
}

// targets reads events by their places, together with the heads that decide whether they are visible, in one round
// trip.
func (l *logReader) targets(
	ctx context.Context, wanted map[target]struct{}, names map[string]struct{},
) (found map[target]*record, err error) {
	streams, revisions := make([]string, 0, len(wanted)), make([]int64, 0, len(wanted))
	for t := range wanted {
		streams, revisions = append(streams, t.stream), append(revisions, t.revision)
	}
	related := make([]string, 0, len(names))
	for name := range names {
		related = append(related, name)
	}
	err = l.retry(ctx, func() error {
		batch := &pgx.Batch{}
		batch.Queue(l.queries.heads, related)
		batch.Queue(l.queries.targets, streams, revisions)
		results := l.pool.SendBatch(ctx, batch)
		defer results.Close()
		heads, err := loadHeads(ctx, batchQuery{results}, "", nil)
		if err != nil {
			return err
		}
		rows, err := results.Query()
		if err != nil {
			return err
		}
		p, err := scanPage(rows, len(wanted))
		if err != nil {
			return err
		}
		found = make(map[target]*record, len(p.rows))
		for i := range p.rows {
			e := &p.rows[i]
			v := l.viewOf(e.stream, heads)
			if !v.state.tombstoned && !v.missing() && v.shows(e) {
				found[target{e.stream, e.revision}] = e
			}
		}
		return nil
	})
	return found, err
}
