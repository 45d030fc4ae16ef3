package processmanagers

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// Process is one kind of reaction over time. S is the state of an instance, stored as JSON; its zero value is the state
// of a new instance.
type Process[S any] struct {
	// Name keys the checkpoint and is part of the ids of commands and jobs: never rename it.
	Name string
	// On lists each type of event that the process handles, once, with the key of the event's instance. Instances run
	// in parallel; each takes its events in the order of $all.
	On []Handled
	// Decide returns the outputs for an input, given the state before the input. Pure. An error stops the instance,
	// visibly, until a person makes it try again.
	Decide func(s S, in Input, now time.Time) (Output, error)
	// Evolve returns the state after the input. Pure.
	Evolve func(s S, in Input) S
	// Ended reports that the instance waits for nothing more: its row and its timers are deleted. A later event of the
	// same key begins with the zero state. So does a late refusal or timeout, but it leaves no row. nil = instances
	// never end.
	Ended func(S) bool
}

// Handled is one type of event that a process handles. Use On to make it; only a process whose key needs the metadata
// of the event fills the fields itself.
type Handled struct {
	// Type is the name of the event's present version, from events.Event.EventType.
	Type string
	// Key names the instance of an event of this type. The process never sees an event whose key is "".
	Key func(events.Envelope) string
	// Follows is set for an event that only follows others of its instance. When the instance has ended, or never
	// began, the event is acted on and leaves no row.
	Follows bool
	// Brief reports that the next event of the instance will most probably come at once and end it, or that the program
	// will say that nothing is left to be done; nil = never. The runner waits a moment for that. An event that follows
	// others of its instance may be brief only where it makes no difference whether they came before it.
	Brief func(events.Envelope) bool
}

// Follow is On for an event that begins no instance (Handled.Follows).
func Follow[E events.Event](key func(E) string) Handled {
	h := On(key)
	h.Follows = true
	return h
}

// Brief is On for an event that can begin a brief instance (Handled.Brief).
func Brief[E events.Event](key func(E) string, brief func(E) bool) Handled {
	h := On(key)
	h.Brief = func(e events.Envelope) bool {
		event, _ := e.Event.(E)
		return brief(event)
	}
	return h
}

// On handles events of type E. key returns the key of an event's instance, "" for an event of no instance.
func On[E events.Event](key func(E) string) Handled {
	var none E
	return Handled{Type: none.EventType(), Key: func(e events.Envelope) string {
		event, _ := e.Event.(E)
		return key(event)
	}}
}

// Key names the instance of an event. It is "" for an event that the process does not handle.
func (p Process[S]) Key(e events.Envelope) string {
	for _, h := range p.On {
		if h.Type == e.Event.EventType() {
			return h.Key(e)
		}
	}
	return ""
}

// Input is one reason for an instance to act: exactly one field is set.
type Input struct {
	Event   *events.Envelope
	Timeout *Timeout
	Refusal *Refusal
}

// Timeout is a timer that came due. What has been waited for is measured to At: after an outage, or when a clock was
// moved, a timer fires long after Due, and looks that would have come in between never come.
type Timeout struct {
	Name string
	Due  time.Time // the time for which it was armed, UTC
	At   time.Time // when it is decided, UTC; never before Due
}

// DecidedAt returns the input with the instant at which it is decided.
func (in Input) DecidedAt(now time.Time) Input {
	if in.Timeout != nil {
		t := *in.Timeout
		if t.At = t.Due; now.After(t.Due) {
			t.At = now.UTC()
		}
		in.Timeout = &t
	}
	return in
}

// Refusal reports that a command of the process was refused and will not be tried again.
type Refusal struct {
	Command string // name of its type
	Code    string // failure code
	Target  commands.Target
	Asked   commands.Command // the refused command itself
}

// Output has the effects that a process asks for. All are stored in one transaction with the new state; commands and
// jobs are executed after it.
type Output struct {
	Commands []commands.Command // without personal fields, since they are stored as rows
	Jobs     []commands.Job
	Timers   []Timer
}

// Acts reports whether there are effects other than timers.
func (o Output) Acts() bool { return len(o.Commands) > 0 || len(o.Jobs) > 0 }

// Timer asks for a Timeout input at a time. An instance has at most one timer of a name: arming it again moves it, and
// a zero At disarms it.
type Timer struct {
	Name string
	At   time.Time
}
