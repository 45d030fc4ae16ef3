package feed

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// FromStore adapts an event store for New.
func FromStore(s *eventstore.Store) Log { return storeLog{s} }

// storeLog turns an event that cannot be decoded into Undecodable, so that it stops only the consumers that want it.
type storeLog struct{ store *eventstore.Store }

// Head asks the store on every call; nothing is cached.
func (l storeLog) Head(ctx context.Context) (uint64, error) { return l.store.Head(ctx) }

// EventAt reads one event, which need not be readable.
func (l storeLog) EventAt(ctx context.Context, position uint64) (id.Event, error) {
	return l.store.EventAt(ctx, position)
}

// ReadAll ends a page at an event that cannot be decoded.
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

// Follow subscribes at once, also when Next is never called. The subscription ends with ctx.
func (l storeLog) Follow(ctx context.Context, after uint64, mark eventstore.Mark, types []string) Cursor {
	return &storeCursor{ctx: ctx, store: l.store, types: types, sub: l.store.Resume(ctx, after, mark, types)}
}

// storeCursor is a subscription. After an event that cannot be decoded it subscribes again behind that event.
type storeCursor struct {
	ctx   context.Context //nolint:containedctx // bounds the subscriptions, not a call
	store *eventstore.Store
	types []string
	sub   *eventstore.Subscription
}

// Next returns an Undecodable for an event that cannot be decoded. Other errors may pass.
func (c *storeCursor) Next(ctx context.Context) (Item, error) {
	item, err := c.sub.Next(ctx)
	var bad *catalog.UndecodableError
	if errors.As(err, &bad) {
		c.sub.Close()
		c.sub = c.store.Resume(c.ctx, bad.Position, eventstore.Mark{Position: bad.Position, ID: bad.ID}, c.types)
		return Item{Event: undecodable(bad), Position: bad.Position}, nil
	}
	return Item{Event: item.Event, Position: item.Position, Size: item.Size, More: item.More}, err
}

// undecodable makes an envelope with all the facts but the event and its metadata, of which it has the organization
// where that can be read.
func undecodable(bad *catalog.UndecodableError) *events.Envelope {
	return &events.Envelope{
		ID: bad.ID, Stream: bad.Stream, Revision: bad.Revision, Position: bad.Position, Type: bad.Type,
		Meta:  events.Metadata{OrgID: bad.OrgID},
		Event: Undecodable{Type: bad.Type, Cause: bad, Unknown: errors.Is(bad, catalog.ErrUnknownType)},
	}
}
