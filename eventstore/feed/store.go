package feed

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
)

// FromStore is the log of an event store.
func FromStore(s *eventstore.Store) Log { return storeLog{s} }

// storeLog adapts a store: an event that cannot be decoded is handed on as Undecodable, so that it stops only who wants
// it.
type storeLog struct{ store *eventstore.Store }

// Head is the store's.
func (l storeLog) Head(ctx context.Context) (uint64, error) { return l.store.Head(ctx) }

// ReadAll is the store's.
func (l storeLog) ReadAll(
	ctx context.Context, after uint64, limit int, types []string,
) ([]events.Envelope, uint64, error) {
	found, next, err := l.store.ReadAll(ctx, after, limit, types)
	var bad *catalog.UndecodableError
	if errors.As(err, &bad) {
		return append(found, *undecodable(bad)), bad.Position, nil
	}
	return found, next, err
}

// Follow subscribes.
func (l storeLog) Follow(ctx context.Context, after uint64, types []string) Cursor {
	return &storeCursor{ctx: ctx, store: l.store, types: types, sub: l.store.Subscribe(ctx, after, types)}
}

// storeCursor is a subscription that is begun anew behind an event that it cannot decode.
type storeCursor struct {
	ctx   context.Context //nolint:containedctx // bounds the subscriptions, not a call
	store *eventstore.Store
	types []string
	sub   *eventstore.Subscription
}

// Next waits for the next item.
func (c *storeCursor) Next(ctx context.Context) (Item, error) {
	item, err := c.sub.Next(ctx)
	var bad *catalog.UndecodableError
	if errors.As(err, &bad) {
		c.sub.Close()
		c.sub = c.store.Subscribe(c.ctx, bad.Position, c.types)
		return Item{Event: undecodable(bad), Position: bad.Position}, nil
	}
	return Item{Event: item.Event, Position: item.Position}, err
}

// undecodable is an envelope without its event.
func undecodable(bad *catalog.UndecodableError) *events.Envelope {
	return &events.Envelope{
		Stream: bad.Stream, Revision: bad.Revision, Position: bad.Position, Type: bad.Type,
		Event: Undecodable{Type: bad.Type, Cause: bad},
	}
}
