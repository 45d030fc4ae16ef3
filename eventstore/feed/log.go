// Package feed gives the log to many consumers at once. It reads and decodes one subscription to $all and keeps the
// newest events in memory. Every projection and process takes the events that it wants from there, in order. A consumer
// that is further behind reads pages from the log until memory reaches back to its position.
package feed

import (
	"context"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Log holds the calls of the event store that a feed makes.
type Log interface {
	// Head returns the position of the last event, 0 for an empty log.
	Head(ctx context.Context) (uint64, error)
	// EventAt returns the id of the event at a position, of whatever type; none when no event has exactly this
	// position. It fails with an eventstore.ShortLogError when the log ends before the position.
	EventAt(ctx context.Context, position uint64) (id.Event, error)
	// ReadAll returns up to max events after a position whose type is listed (nil = all types), or is a version of a
	// listed type that is not known, and the position to go
	// on from. No events and an unchanged position mean that the log has nothing after the position.
	ReadAll(ctx context.Context, after uint64, max int, types []string) ([]events.Envelope, uint64, error)
	// Follow reads the events after a position, of the same types, and then waits for new ones. mark is the newest
	// event up to the position that is known. The cursor ends with ctx, with an eventstore.OtherLogError when the log
	// turns out to be another one, or with an eventstore.ShortLogError when it ends before what was read.
	Follow(ctx context.Context, after uint64, mark eventstore.Mark, types []string) Cursor
}

// Cursor reads the log forward from one position. For one goroutine.
type Cursor interface {
	// Next waits for the next item. After an error the cursor is of no further use.
	Next(ctx context.Context) (Item, error)
}

// Undecodable replaces an event of the log that cannot be decoded. A consumer that wants its type must stop there;
// other consumers never see it.
type Undecodable struct {
	Type  string
	Cause error
	// Unknown is set when this version of the program does not know the type: a newer one has written the event.
	Unknown bool
}

// EventType is the type that the log has for the event.
func (u Undecodable) EventType() string { return u.Type }

// Item is one step of a cursor. An item without an Event says only that everything up to Position has been searched.
type Item struct {
	Event    *events.Envelope
	Position uint64
	Size     int // of the Event as it is stored, in bytes; 0 when it is not known
	// More says that Next gives another item at once: consumers are woken with the last one, and take all together.
	More bool
}
