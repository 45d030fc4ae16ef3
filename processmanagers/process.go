package processmanagers

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// Process is one kind of reaction over time. S is the state of an instance as JSON keeps it; its zero value is a new
// one.
type Process[S any] struct {
	// Name is durable: checkpoint key, and part of the ids of commands and jobs.
	Name string
	// On lists each type of event that the process takes once, with the instance that an event of it belongs to.
	// Instances run in parallel, each in $all order.
	On []Handled
	// Decide says what to do about an input, given the state before it. Pure. An error stops the process, visibly,
	// until somebody has it tried again.
	Decide func(s S, in Input, now time.Time) (Output, error)
	// Evolve is the state after the input. Pure.
	Evolve func(s S, in Input) S
	// Ended reports that the instance needs nothing more: its row and its timers are deleted, and an event that comes
	// after all begins with the zero state. nil = never.
	Ended func(S) bool
}

// Handled is one type of event that a process takes. Most are made by On; a process whose key needs the metadata fills
// the fields itself.
type Handled struct {
	// Type is the name of the present version: events.Event.EventType.
	Type string
	// Key names the instance that an event of the type belongs to. The process never sees an event whose key is "".
	Key func(events.Envelope) string
}

// On handles events of type E. key names the instance that such an event belongs to, "" for none.
func On[E events.Event](key func(E) string) Handled {
	var none E
	return Handled{Type: none.EventType(), Key: func(e events.Envelope) string {
		event, _ := e.Event.(E)
		return key(event)
	}}
}

// Key names the instance that an event belongs to. It is "" for an event that the process does not handle.
func (p Process[S]) Key(e events.Envelope) string {
	for _, h := range p.On {
		if h.Type == e.Event.EventType() {
			return h.Key(e)
		}
	}
	return ""
}

// Input is one thing that happened to a process instance: exactly one field is set.
type Input struct {
	Event   *events.Envelope
	Timeout *Timeout
	Refusal *Refusal
}

// Timeout is a timer that came due.
type Timeout struct {
	Name string
	Due  time.Time
}

// Refusal is a command of the process that was refused for good.
type Refusal struct {
	Command string // its name
	Code    string // failure code
	Target  commands.Target
}

// Output is what a process wants done.
type Output struct {
	Commands []commands.Command // never with personal fields: they are stored as rows
	Jobs     []commands.Job
	Timers   []Timer
}

// Timer asks for a Timeout input. One of a name exists per instance: arming again moves it. A zero At disarms it.
type Timer struct {
	Name string
	At   time.Time
}
