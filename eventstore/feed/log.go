// Package feed hands the log to many consumers at once: one subscription to $all is read and decoded once, kept in
// memory for a while, and every projection and process takes from it what it wants, in order. A consumer that is
// further behind than memory reaches reads pages from the log until it gets there.
package feed

import (
	"context"

	"github.com/lastmile-isp/lastmile/events"
)

// Log is what a feed needs of the event store.
type Log interface {
	// Head is the position of the last event, 0 for an empty log.
	Head(ctx context.Context) (uint64, error)
	// ReadAll gives up to max events after a position whose type is listed (nil = all), and the position to go on from.
	// No events and an unchanged position mean that the end was reached.
	ReadAll(ctx context.Context, after uint64, max int, types []string) ([]events.Envelope, uint64, error)
	// Follow reads the events after a position whose type is listed (nil = all), and waits for new ones. It ends with
	// ctx.
	Follow(ctx context.Context, after uint64, types []string) Cursor
}

// Cursor is a place in the log that moves forward.
type Cursor interface {
	// Next waits for the next item.
	Next(ctx context.Context) (Item, error)
}

// Undecodable stands in for an event of the log that cannot be read: poison for who wants its type, nothing to others.
type Undecodable struct {
	Type  string
	Cause error
}

// EventType is the type as it stands in the log.
func (u Undecodable) EventType() string { return u.Type }

// Item is one step of a cursor. Without an Event it says only that everything up to Position has been seen.
type Item struct {
	Event    *events.Envelope
	Position uint64
}
