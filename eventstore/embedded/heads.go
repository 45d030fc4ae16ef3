package embedded

import (
	"bytes"
	"context"
	"fmt"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jackc/pgx/v5"
)

// headCapacity is the number of stream heads in memory. A missing head costs a share of one batched select.
const headCapacity = 200_000

// head is the end of one stream. The head of a metastream also has the metadata, which governs the described stream.
type head struct {
	id     int64 // number of the stream, 0 = the stream has no event
	last   int64 // last event number, -1 = the stream has no event
	isJSON bool
	meta   streamMeta // parsed last body, metastreams only
	body   []byte     // last body, metastreams of soft-deleted streams only: undeleting needs it again
	cut    bool       // it would be longer than what is kept
}

// bodyKept is the most bytes of a body that are kept for undeleting: the node itself writes less than 40.
const bodyKept = 1 << 10

// keeping drops the body unless undeleting needs it, and one of more than so many bytes.
func (h head) keeping(most int) head {
	switch {
	case !h.meta.softDeleted():
		h.body = nil
	case len(h.body) > most:
		h.body, h.cut = nil, true
	}
	return h
}

// emptyHead is the head of a stream without events, for which the zero head would claim event 0.
var emptyHead = head{last: -1}

// querier lets loadHeads and warm run on a pool, on one connection and on a batch.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// loadHeads reads the ends of streams in one round trip. The result has an entry for every given stream, and bodies of
// up to so many bytes.
func loadHeads(ctx context.Context, db querier, sql string, streams []string, bodies int) (map[string]head, error) {
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
		found[name] = h.keeping(bodies)
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
type headCache struct {
	lru *simplelru.LRU[string, head]
}

// newHeadCache makes a cache that knows no stream.
func newHeadCache() *headCache {
	lru, err := simplelru.NewLRU[string, head](headCapacity, nil)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return &headCache{lru: lru}
}

// put remembers a head, and of a body a copy, since it is a part of the message that brought it.
func (c *headCache) put(stream string, h head) {
	h = h.keeping(bodyKept)
	h.body = bytes.Clone(h.body)
	c.lru.Add(stream, h)
}
