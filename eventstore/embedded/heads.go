package embedded

import (
	"context"
	"fmt"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jackc/pgx/v5"
)

// headCapacity is how many stream heads the sequencer remembers; a miss costs a share of one batched select.
const headCapacity = 200_000

// head is the end of one stream. For a metastream it carries the body that rules the stream it describes.
type head struct {
	last   int64 // last event number, -1 = the stream has no event
	isJSON bool
	body   []byte     // last body, metastreams only
	meta   streamMeta // parsed body, metastreams only
}

// emptyHead is the head of a stream without events.
var emptyHead = head{last: -1}

// querier is what a pool and a connection have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// loadHeads reads the ends of streams in one round trip. Streams without events are in the answer too.
func loadHeads(ctx context.Context, db querier, sql string, streams []string) (map[string]head, error) {
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
	_, err = pgx.ForEachRow(rows, []any{&name, &h.last, &h.isJSON, &h.body}, func() error {
		h.meta = parseStreamMeta(h.isJSON, h.body)
		found[name] = h
		h.body = nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load heads: %w", err)
	}
	return found, nil
}

// related are the streams whose heads the rules for a stream need: itself, its metastream and, for a metastream, the
// stream it describes.
func related(stream string) []string {
	if isMetastream(stream) {
		return []string{stream, metastreamOf(stream), originalOf(stream)}
	}
	return []string{stream, metastreamOf(stream)}
}

// stateOf derives the rules' view of a stream from the heads of its related streams.
func stateOf(stream string, at func(string) head) streamState {
	own, meta := at(stream), at(metastreamOf(stream))
	state := streamState{last: own.last, tombstoned: own.last == tombstoneRevision, hasMetadata: meta.last >= 0}
	if isMetastream(stream) {
		// A metastream ends with its stream, and its own metadata is fixed.
		state.tombstoned = state.tombstoned || at(originalOf(stream)).last == tombstoneRevision
		return state
	}
	state.softDeleted = meta.meta.softDeleted()
	return state
}

// headCache is the sequencer's memory of stream heads. Not safe for concurrent use.
type headCache struct {
	lru *simplelru.LRU[string, head]
}

// newHeadCache makes an empty cache.
func newHeadCache() *headCache {
	lru, err := simplelru.NewLRU[string, head](headCapacity, nil)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return &headCache{lru: lru}
}

// put remembers a head. A metadata body is needed again only to undelete its stream, so others are not kept in memory.
func (c *headCache) put(stream string, h head) {
	if !h.meta.softDeleted() {
		h.body = nil
	}
	c.lru.Add(stream, h)
}
