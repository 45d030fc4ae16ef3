package embedded

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Bounds of the stream heads in memory: enough for 200,000 streams with usual names. A missing head costs a share of
// one batched select.
const (
	headsKept = 48 << 20 // bytes
	headBytes = 160      // of one, apart from its name and body
)

// head is the end of one stream. The head of a metastream also has the metadata, which governs the described stream.
type head struct {
	id     int64 // number of the stream, 0 = the stream has no event
	last   int64 // last event number, -1 = the stream has no event
	isJSON bool
	meta   streamMeta // parsed last body, metastreams only
	body   []byte     // last body, metastreams of soft-deleted streams only: undeleting needs it again
}

// emptyHead is the head of a stream without events, for which the zero head would claim event 0.
var emptyHead = head{last: -1}

// querier lets loadHeads and warm run on a pool, on one connection and on a batch.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// loadHeads reads the ends of streams in one round trip. The result has an entry for every given stream, and no bodies
// unless they are asked for.
func loadHeads(ctx context.Context, db querier, sql string, streams []string, bodies bool) (map[string]head, error) {
	rows, err := db.Query(ctx, sql, streams)
	if err != nil {
		return nil, fmt.Errorf("load heads: %w", err)
	}
	found := make(map[string]head, len(streams))
	for _, s := range streams {
		found[s] = emptyHead
	}
	var name string
	var h head
	_, err = pgx.ForEachRow(rows, []any{&name, &h.id, &h.last, &h.isJSON, &h.body}, func() error {
		h.meta = parseStreamMeta(h.isJSON, h.body)
		body := h.body
		if h.body = nil; bodies && h.meta.softDeleted() {
			h.body = body
		}
		found[name] = h
		h.body = nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load heads: %w", err)
	}
	return found, nil
}

// related lists the streams whose heads the rules need: the stream itself, its metastream and, for a metastream, the
// stream that it describes.
func related(stream string) []string {
	if isMetastream(stream) {
		return []string{stream, metastreamOf(stream), originalOf(stream)}
	}
	return []string{stream, metastreamOf(stream)}
}

// stateOf derives the facts for the rules from the heads of the related streams.
func stateOf(stream string, at func(string) head) streamState {
	own, meta := at(stream), at(metastreamOf(stream))
	state := streamState{last: own.last, tombstoned: own.last == tombstoneRevision, hasMetadata: meta.last >= 0}
	if isMetastream(stream) {
		// A tombstone of the stream also ends its metastream; a metastream cannot be soft-deleted.
		state.tombstoned = state.tombstoned || at(originalOf(stream)).last == tombstoneRevision
		return state
	}
	state.softDeleted = meta.meta.softDeleted()
	return state
}

// headCache remembers the heads used last. Not safe for concurrent use: only the sequencer uses it.
type headCache struct{ *weighedCache[string, head] }

// newHeadCache makes a cache that knows no stream.
func newHeadCache() *headCache {
	return &headCache{newWeighedCache(headsKept, func(stream string, h head) int {
		return len(stream) + len(h.body) + headBytes
	})}
}

// put remembers a head. It drops the body unless the stream is soft-deleted: only undeleting needs the body again. Of
// the body it keeps a copy, since that is a part of the message that brought it.
func (c *headCache) put(stream string, h head) {
	if !h.meta.softDeleted() {
		h.body = nil
	}
	h.body = bytes.Clone(h.body)
	c.weighedCache.put(stream, h)
}
