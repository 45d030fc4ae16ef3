// Package aggregates says what an aggregate is. Each area below has the rules of its own, as pure functions, and
// exports them as definitions: billing.Accounts(), subscribers.Plans(). The bus, the test kits and the tools take them
// from there.
package aggregates

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Definition is one kind of aggregate. S is its state, whose zero value means "does not exist"; C and E are its sealed
// interfaces of commands and events. All functions are pure and safe for concurrent use.
type Definition[S any, C commands.Command, E events.Event] struct {
	// Category begins the names of its streams: one lower-case word, for ever.
	Category string
	// Commands lists the zero value of every command of the aggregate, each type once: the bus reads stored commands
	// by it.
	Commands []C
	// Missing is the failure for an id that nobody has. Another organization's aggregate is answered with the same, so
	// that the two cannot be told apart.
	Missing func() error
	// Evolve applies one recorded fact. It never fails and never judges.
	Evolve func(S, E) S
	// Decide gives the events that the command makes, none when it is so already, or a failure. now is in UTC.
	Decide func(s S, c C, now time.Time) ([]E, error)
	// Owner is the organization that the state belongs to; zero for none yet, or for the platform's own.
	Owner func(S) id.Organization
	// Gone says that the aggregate is over and is answered with Missing to those who read it by its id; nil = never.
	Gone func(S) bool
	// Claims lists the values that the state holds for itself alone; nil = none ever. The bus takes what a new state
	// adds before it appends, and releases what it drops afterwards.
	Claims func(S) []commands.Claim
	// Close makes the last event of a full period, from which Evolve gives the state that the next one begins with; nil
	// = the stream stays short by nature.
	Close func(S) E
}
