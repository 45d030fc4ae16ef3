// Package aggregates defines the parts that every aggregate has. Each area below has its rules as pure functions and
// exports them as definitions, such as billing.Accounts() and subscribers.Plans(). The bus, the test kits and the tools
// use these definitions.
package aggregates

import (
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Definition describes one kind of aggregate. S is its state, whose zero value means "does not exist"; C and E are its
// sealed interfaces of commands and events. All functions are pure and safe for concurrent use.
type Definition[S any, C commands.Command, E events.Event] struct {
	// Category begins the names of the aggregate's streams: one lower-case word that never changes.
	Category string
	// Commands lists the zero value of every command of the aggregate, each type once. The bus uses it to decode stored
	// commands.
	Commands []C
	// Missing is the failure for an id that does not exist. An aggregate of another organization gives the same
	// failure, so that a caller cannot find out which ids exist.
	Missing func() error
	// Evolve applies one recorded event. It never fails and never checks a rule.
	Evolve func(S, E) S
	// Decide returns the events that the command leads to, or a failure. No events means that the state is already as
	// asked. now is in UTC.
	Decide func(s S, c C, now time.Time) ([]E, error)
	// Until is the instant from which on a decision is not sent to the log any more; Decide must refuse the command
	// then. What was sent before and has no answer may be in the log. Zero, or nil = there is none.
	Until func(c C, decided []E) time.Time
	// Owner is the organization that the state belongs to; zero when there is none yet, or when the platform owns it.
	Owner func(S) id.Organization
	// Gone reports whether the aggregate has ended; reads by id then answer Missing. nil = an aggregate never ends.
	Gone func(S) bool
	// Claims lists the values that must be unique on the platform and belong to this state; nil = there are none. The
	// bus takes new claims before it appends and releases dropped ones after it.
	Claims func(S) []commands.Claim
	// Close makes the last event of a full period. Evolve turns that event into the first state of the next period. nil
	// = the stream always stays short and is never closed.
	Close func(S) E
	// Remembered is how many states the bus keeps in memory, where one instant asks for more than usual; 0 = the usual
	// number.
	Remembered int
	// First is the zero value of the command with which an aggregate begins, and which nearly always comes once: the
	// bus decides it on an empty state, and reads the stream when there is one. nil = every stream is read first.
	First C
	// ClosedAt completes a reopened state with the instant at which its period was closed; nil = nothing needs it.
	ClosedAt func(S, time.Time) S
}

// Reopen makes the first state of a period from the event that closed the period before. It fails for an opening that
// Close never wrote: one that Evolve cannot read, and one without a state, such as {} and null. The aggregate would
// otherwise count as one that does not exist, be begun anew, and be open to every organization. Whoever has an owner
// keeps it, so a state without one is none; a definition without Owner has no such check.
func (d Definition[S, C, E]) Reopen(closed E) (state S, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("opening of %s cannot be read: %v", d.Category, fault)
		}
	}()
	var none S
	state = d.Evolve(none, closed)
	if d.Owner != nil && d.Owner(state).IsZero() {
		return none, errors.New("opening of " + d.Category + " has no state")
	}
	return state, nil
}
