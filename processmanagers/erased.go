package processmanagers

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/lastmile-isp/lastmile/events"
)

// Any is a process with a state of any type. Every Process[S] implements it, so that a list can hold all processes.
type Any interface {
	// Erase returns the process in a form that does not name the type of its state.
	Erase() Erased
}

// Erased is a process over states as the runner stores them. Its functions are pure and safe for concurrent use.
type Erased struct {
	Name  string   // as Process.Name
	Types []string // of the events that it handles, in the order of Process.On
	Key   func(events.Envelope) string
	// Follows reports whether events of a type begin no instance (Handled.Follows).
	Follows func(eventType string) bool
	// Brief reports whether an event begins a brief instance (Handled.Brief).
	Brief func(events.Envelope) bool
	// Step calls Decide and Evolve for an input.
	Step func(state *Stored, in Input, now time.Time) (Stepped, error)
}

// Stored is the state of an instance as it is stored. Several steps from one state read its JSON once.
type Stored struct {
	JSON []byte // empty for a new instance
	read any    // nil before the first step
}

// Stepped is the result of one input; with Ended set, State is no longer needed.
type Stepped struct {
	State  []byte // JSON
	Same   bool   // a timeout or a refusal left the stored state as it was
	Output Output
	Ended  bool
}

// Erase implements Any.
func (p Process[S]) Erase() Erased {
	types := make([]string, len(p.On))
	for i, h := range p.On {
		types[i] = h.Type
	}
	return Erased{Name: p.Name, Types: types, Key: p.Key, Follows: p.follows, Brief: p.brief, Step: p.step}
}

// follows is the Follows of the erased process.
func (p Process[S]) follows(eventType string) bool {
	for _, h := range p.On {
		if h.Type == eventType {
			return h.Follows
		}
	}
	return false
}

// brief is the Brief of the erased process.
func (p Process[S]) brief(e events.Envelope) bool {
	for _, h := range p.On {
		if h.Type == e.Event.EventType() {
			return h.Brief != nil && h.Brief(e)
		}
	}
	return false
}

// step is the Step of the erased process. It fails when the stored JSON does not fit S.
func (p Process[S]) step(state *Stored, in Input, now time.Time) (next Stepped, err error) {
	s, known := state.read.(S)
	if !known && len(state.JSON) > 0 {
		if err := json.Unmarshal(state.JSON, &s); err != nil {
			return Stepped{}, fmt.Errorf("read state: %w", err)
		}
		state.read = s
	}
	in = in.DecidedAt(now)
	if next.Output, err = p.Decide(s, in, now); err != nil {
		return Stepped{}, err
	}
	after := p.Evolve(s, in)
	next.Ended = p.Ended != nil && p.Ended(after)
	if in.Event == nil && len(state.JSON) > 0 && reflect.DeepEqual(s, after) { // mostly: it need not be written again
		next.State, next.Same = state.JSON, true
		return next, nil
	}
	if next.State, err = json.Marshal(after); err != nil {
		return Stepped{}, fmt.Errorf("write state: %w", err)
	}
	return next, nil
}
