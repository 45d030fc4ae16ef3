// Package processtest states the rules of a process as examples: given these events, when this input comes, then these
// commands, jobs and timers, nothing, or a stop. It needs no runner, but treats a process as the runner does:
//
//   - The state goes through JSON after every input, as its row does. A field that is lost on the way fails the test.
//   - An instance that ended begins anew: the next input finds the zero state.
//   - All events of one example must be handled and belong to one instance, or they would never meet.
//   - Commands must be valid and fit into rows, without personal text; so must the arguments of jobs.
//
// Every input is given twice to the same state, and both times Decide and Evolve must give the same and leave the state
// as it was. That is what can happen in the runner: a transaction fails, and the same input comes again to the state
// that is stored. The ids of commands and jobs follow from the input and their place in the output, so the second
// output must be the first one in the same order. What cannot happen is that an input reaches the state that it led to:
// the runner ignores an event at a position that the instance has taken, and takes the row of a timeout or a refusal
// away with its effect. Evolve may therefore count its inputs.
package processtest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Position is where each event of an example stands in the log. Processes only pass it on, to the jobs.
const Position = 42

// EventID identifies each event of a type; processes derive ids from it.
func EventID(e events.Event) id.Event { return id.Derive[id.Event]("processtest", e.EventType()) }

// recorded is an event as the runner hands it over.
func recorded(e events.Event) events.Envelope {
	return events.Envelope{ID: EventID(e), Type: e.EventType(), Position: Position, Event: e}
}

// Scenario is one example in the making. Its methods change nothing but give the scenario that follows, so that several
// examples can go on from one.
type Scenario[S any] struct {
	t   testing.TB
	p   processmanagers.Process[S]
	now time.Time

	key   string // of the instance, "" before its first event
	state []byte // as the instance's row has it; empty for a new instance
	last  *outcome[S]
}

// outcome is what the last input led to.
type outcome[S any] struct {
	output processmanagers.Output
	err    error
	state  S
	ended  bool
}

// For begins an example in which nothing has happened to the instance yet. now is the time of every input until At.
func For[S any](t testing.TB, p processmanagers.Process[S], now time.Time) Scenario[S] {
	return Scenario[S]{t: t, p: p, now: now}
}

// Given lets events have happened; what the process wanted done about them is checked for its form only.
func (s Scenario[S]) Given(list ...events.Event) Scenario[S] {
	s.t.Helper()
	for _, e := range list {
		s = s.When(e)
	}
	return s
}

// At moves the time.
func (s Scenario[S]) At(now time.Time) Scenario[S] {
	s.now = now
	return s
}

// When lets an event happen.
func (s Scenario[S]) When(e events.Event) Scenario[S] {
	s.t.Helper()
	event := recorded(e)
	return s.give(processmanagers.Input{Event: &event})
}

// WhenDue lets a timer come due that was armed for an instant.
func (s Scenario[S]) WhenDue(timer string, at time.Time) Scenario[S] {
	s.t.Helper()
	return s.give(processmanagers.Input{Timeout: &processmanagers.Timeout{Name: timer, Due: at}})
}

// WhenRefused lets a command of the process be refused for good, with a failure code.
func (s Scenario[S]) WhenRefused(c commands.Command, code string) Scenario[S] {
	s.t.Helper()
	return s.give(processmanagers.Input{
		Refusal: &processmanagers.Refusal{Command: c.CommandName(), Code: code, Target: c.Target()},
	})
}

// give lets the process take an input, and keeps what it led to.
func (s Scenario[S]) give(in processmanagers.Input) Scenario[S] {
	s.t.Helper()
	if s.last != nil && s.last.err != nil {
		s.t.Fatalf("the process stopped: %v", s.last.err)
	}
	s.key = s.instance(in)
	before := s.read()
	output, err := s.decide(before, in)
	if err != nil {
		s.last = &outcome[S]{err: err, state: before}
		return s
	}
	after := s.evolve(before, in)
	s.state = s.write(after)
	s.last = &outcome[S]{output: output, state: after, ended: s.p.Ended != nil && s.p.Ended(after)}
	if s.last.ended {
		s.state = nil
	}
	return s
}

// Then compares what the process wants done about the last input.
func (s Scenario[S]) Then(want processmanagers.Output) Scenario[S] {
	s.t.Helper()
	if diff := cmp.Diff(want, s.Output()); diff != "" {
		s.t.Fatalf("decided otherwise (-want +have)\n%s", diff)
	}
	return s
}

// ThenNothing wants nothing done about the last input.
func (s Scenario[S]) ThenNothing() Scenario[S] {
	s.t.Helper()
	return s.Then(processmanagers.Output{})
}

// Output is what the process wants done about the last input, for tests that look at parts.
func (s Scenario[S]) Output() processmanagers.Output {
	s.t.Helper()
	if s.outcome().err != nil {
		s.t.Fatalf("the process stopped: %v", s.last.err)
	}
	return s.last.output
}

// ThenStops wants the process to refuse the last input, which stops it.
func (s Scenario[S]) ThenStops() Scenario[S] {
	s.t.Helper()
	if s.outcome().err == nil {
		s.t.Fatalf("want a stop, have %+v", s.last.output)
	}
	return s
}

// ThenEnded wants the instance to need nothing more after the last input.
func (s Scenario[S]) ThenEnded() Scenario[S] {
	s.t.Helper()
	if !s.outcome().ended {
		s.t.Fatalf("the instance does not end: %+v", s.last.state)
	}
	return s
}

// ThenGoesOn wants the instance to be kept after the last input.
func (s Scenario[S]) ThenGoesOn() Scenario[S] {
	s.t.Helper()
	if s.outcome().ended {
		s.t.Fatalf("the instance ends: %+v", s.last.state)
	}
	return s
}

// ThenState compares the state that the last input led to.
func (s Scenario[S]) ThenState(want S, opts ...cmp.Option) Scenario[S] {
	s.t.Helper()
	if diff := cmp.Diff(want, s.outcome().state, opts...); diff != "" {
		s.t.Fatalf("state differs (-want +have)\n%s", diff)
	}
	return s
}

// outcome finds a Then without an input.
func (s Scenario[S]) outcome() *outcome[S] {
	s.t.Helper()
	if s.last == nil {
		s.t.Fatalf("Then without When")
	}
	return s.last
}
