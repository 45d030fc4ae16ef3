// Package bus executes commands: load the stream, fold it, decide, append with the revision read. Written once for all aggregates.
package bus

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Aggregate is what the bus needs to know of one kind of aggregate. S is its state, whose zero value means "does not
// exist"; C and E are its sealed interfaces of commands and events.
type Aggregate[S any, C commands.Command, E events.Event] struct {
	Category string
	// Evolve applies one recorded fact; it never fails.
	Evolve func(S, E) S
	// Decide gives the events that the command makes, none when it is so already, or a failure. Pure.
	Decide func(s S, c C, now time.Time) ([]E, error)
	// Owner is the organization that owns the state, zero for none yet or for the platform's own. The bus refuses a
	// command on behalf of another with NotFound (rules.md 25).
	Owner func(S) id.Organization
	// Claims lists the values that the state holds for itself; nil = none ever. The bus takes what the new state adds
	// before it appends, and releases what it drops after.
	Claims func(S) []commands.Claim
	// Close makes the last event of a full period, from which Evolve gives the state that the next begins with; nil =
	// the stream stays short by nature.
	Close func(S) E
}

// Result is what an accepted command led to.
type Result struct {
	Stream   string
	Revision uint64 // of the stream's last event
	Position uint64 // commit position that a read must have reached to show it
	Changed  bool   // false: it was so already, or the command had acted before
}
