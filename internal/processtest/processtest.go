// Package processtest states the rules of a process as examples: given these events, when this input comes, then these
// commands, jobs and timers, nothing, or a stop. It needs no runner, but it treats a process as the runner does:
//
//   - The state goes through JSON after every input, as its row does. A field that JSON loses fails the test.
//   - An instance that ended begins again: the next input finds the zero state.
//   - All events of one example must be handled and belong to one instance.
//   - Commands must be valid and fit into rows, without personal text; so must the arguments of jobs.
//
// Every input is given twice to the same state, and both times Decide and Evolve must give the same and leave the state
// unchanged. In the runner this happens when a transaction fails: the same input comes again to the stored state. The
// ids of commands and jobs are derived from the input and their place in the output, so the second output must be the
// same and in the same order. An input never comes again to the state after it: the runner ignores an event at a
// position that the instance has had, and removes a timeout or a refusal in the transaction of its effect. Evolve may
// therefore count its inputs.
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

// Position is the position of each event in the log. Processes only pass the position on, to the jobs.
const Position = 42

// EventID is the id of every event of a type in the examples; processes derive other ids from it.
func EventID(e events.Event) id.Event { return id.Derive[id.Event]("processtest", e.EventType()) }

// recorded wraps an event as the runner does, without a stream.
func recorded(e events.Event, meta events.Metadata) events.Envelope {
	return events.Envelope{ID: EventID(e), Type: e.EventType(), Position: Position, Event: e, Meta: meta}
}

// Scenario is one example. Its methods do not change it but return the scenario that follows, so that several examples
// can go on from one.
type Scenario[S any] struct {
	t testing.TB
	p processmanagers.Process[S]

	now  time.Time       // of later inputs
	meta events.Metadata // of later events

	key   string // of the instance, "" before its first event
	state []byte // JSON, as in the instance's row; empty for a new instance
	last  *outcome[S]
}

// outcome is the result of the last input: an output and a state, or an error.
type outcome[S any] struct {
	output processmanagers.Output
	err    error
	state  S
	ended  bool
}

// For begins an example with a new instance. now is the time of every input until At.
func For[S any](t testing.TB, p processmanagers.Process[S], now time.Time) Scenario[S] {
	return Scenario[S]{t: t, p: p, now: now}
}

// Given gives the process events. Their outputs must be valid but are not compared.
func (s Scenario[S]) Given(list ...events.Event) Scenario[S] {
	s.t.Helper()
	for _, e := range list {
		s = s.When(e)
	}
	return s
}

// At sets the time of later inputs.
func (s Scenario[S]) At(now time.Time) Scenario[S] {
	s.now = now
	return s
}

// With sets the metadata of later events, for a process that takes more than the payload. Without it they have none.
func (s Scenario[S]) With(meta events.Metadata) Scenario[S] {
	s.meta = meta
	return s
}

// When gives the process an event.
func (s Scenario[S]) When(e events.Event) Scenario[S] {
	s.t.Helper()
	event := recorded(e, s.meta)
	return s.give(processmanagers.Input{Event: &event})
}

// WhenDue gives the process the timeout of a timer that was set for an instant. The timer need not have been set.
func (s Scenario[S]) WhenDue(timer string, at time.Time) Scenario[S] {
	s.t.Helper()
	return s.give(processmanagers.Input{Timeout: &processmanagers.Timeout{Name: timer, Due: at}})
}

// WhenRefused gives the process the final refusal of one of its commands, with a failure code.
func (s Scenario[S]) WhenRefused(c commands.Command, code string) Scenario[S] {
	s.t.Helper()
	return s.give(processmanagers.Input{
		Refusal: &processmanagers.Refusal{Command: c.CommandName(), Code: code, Target: c.Target(), Asked: c},
	})
}

// give gives the process an input and keeps the result.
func (s Scenario[S]) give(in processmanagers.Input) Scenario[S] {
	s.t.Helper()
	if s.last != nil && s.last.err != nil {
		s.t.Fatalf("the process stopped: %v", s.last.err)
	}
	in = in.DecidedAt(s.now)
	s.key = s.instance(in)
	row, before := s.state, s.read()
	output, err := s.decide(before, in)
	if err != nil {
		s.last = &outcome[S]{err: err, state: before}
		return s
	}
	after := s.evolve(before, in)
	s.state = s.write(after)
	ended := s.p.Ended != nil && s.p.Ended(after)
	if len(row) == 0 && !s.begins(in) {
		ended = true
	}
	s.last = &outcome[S]{output: output, state: after, ended: ended}
	if s.last.ended {
		s.state = nil
	}
	return s
}

// begins reports whether an input may begin an instance: as in the runner, a timeout, a refusal and an event that only
// follows others leave nothing when there is no instance.
func (s Scenario[S]) begins(in processmanagers.Input) bool {
	return in.Event != nil && !s.p.Erase().Follows(in.Event.Type)
}

// Then compares the whole output of the last input.
func (s Scenario[S]) Then(want processmanagers.Output) Scenario[S] {
	s.t.Helper()
	if diff := cmp.Diff(want, s.Output()); diff != "" {
		s.t.Fatalf("decided otherwise (-want +have)\n%s", diff)
	}
	return s
}

// ThenNothing wants an empty output of the last input.
func (s Scenario[S]) ThenNothing() Scenario[S] {
	s.t.Helper()
	return s.Then(processmanagers.Output{})
}

// Output returns the output of the last input, for tests that compare only parts.
func (s Scenario[S]) Output() processmanagers.Output {
	s.t.Helper()
	if s.outcome().err != nil {
		s.t.Fatalf("the process stopped: %v", s.last.err)
	}
	return s.last.output
}

// ThenStops wants Decide to return an error for the last input, which stops the process in the runner.
func (s Scenario[S]) ThenStops() Scenario[S] {
	s.t.Helper()
	if s.outcome().err == nil {
		s.t.Fatalf("want a stop, have %+v", s.last.output)
	}
	return s
}

// ThenEnded wants the instance to have ended with the last input, so that the runner removes its row.
func (s Scenario[S]) ThenEnded() Scenario[S] {
	s.t.Helper()
	if !s.outcome().ended {
		s.t.Fatalf("the instance does not end: %+v", s.last.state)
	}
	return s
}

// ThenGoesOn wants the instance not to have ended with the last input.
func (s Scenario[S]) ThenGoesOn() Scenario[S] {
	s.t.Helper()
	if s.outcome().ended {
		s.t.Fatalf("the instance ends: %+v", s.last.state)
	}
	return s
}

// ThenState compares the state after the last input.
func (s Scenario[S]) ThenState(want S, opts ...cmp.Option) Scenario[S] {
	s.t.Helper()
	if diff := cmp.Diff(want, s.outcome().state, opts...); diff != "" {
		s.t.Fatalf("state differs (-want +have)\n%s", diff)
	}
	return s
}

// outcome fails for a Then without an input before it.
func (s Scenario[S]) outcome() *outcome[S] {
	s.t.Helper()
	if s.last == nil {
		s.t.Fatalf("Then without When")
	}
	return s.last
}
