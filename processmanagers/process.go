// Package processmanagers is the vocabulary of reactions over time: what goes into a process and what comes out. Each
// process is a package of pure functions; the runner does the rest.
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
	// Handles lists the event types wanted.
	Handles []string
	// Key is the instance an event belongs to, "" for none. Instances run in parallel, each in $all order.
	Key func(events.Envelope) string
	// Decide says what to do about an input, given the state before it. Pure.
	Decide func(s S, in Input, now time.Time) (Output, error)
	// Evolve is the state after the input. Pure.
	Evolve func(s S, in Input) S
	// Ended tells that the instance needs nothing more: its row is deleted. nil = never.
	Ended func(S) bool
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
