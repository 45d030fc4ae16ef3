package processmanagers_test

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// shift is the state of one instance, stored as JSON between inputs: the user at work, and whether the shift is over.
type shift struct {
	User  id.User
	Ended bool
}

// shifts ends a session 8 hours after its start, for users who forget to sign off. There is one instance for each
// session.
func shifts() processmanagers.Process[shift] {
	return processmanagers.Process[shift]{
		Name: "shifts", // keys checkpoint and command ids: never rename it
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.SessionStarted) string { return e.SessionID.String() }),
			processmanagers.On(func(e events.SessionEnded) string { return e.SessionID.String() }),
		},
		Decide: decideShift,
		Evolve: evolveShift,
		Ended:  func(s shift) bool { return s.Ended },
	}
}

// decideShift returns the outputs for an input. It sees the state before the input.
func decideShift(s shift, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil:
		session, err := id.Parse[id.Session](in.Timeout.Name)
		end := commands.EndSession{SessionID: session, UserID: s.User, Reason: "revoked"}
		return processmanagers.Output{Commands: []commands.Command{end}}, err
	case in.Refusal != nil: // the session has ended already
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.SessionStarted:
		over := processmanagers.Timer{Name: e.SessionID.String(), At: now.Add(8 * time.Hour)}
		return processmanagers.Output{Timers: []processmanagers.Timer{over}}, nil
	}
	return processmanagers.Output{}, nil // the end of an instance deletes its timers
}

// evolveShift returns the state after the input.
func evolveShift(s shift, in processmanagers.Input) shift {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.SessionStarted:
		s.User = e.UserID
	case events.SessionEnded:
		s.Ended = true
	}
	return s
}

// A process is two pure functions, so a test can call them with events by hand. Package processrunner calls them with
// the events of the log.
func Example() {
	p, morning := shifts(), time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	session := id.Must[id.Session]("0195a000-0000-7000-8000-000000000001")
	started := events.Envelope{Event: events.SessionStarted{SessionID: session, UserID: id.New[id.User]()}}
	fmt.Println("instance", p.Key(started))

	var state shift
	in := processmanagers.Input{Event: &started}
	out, err := p.Decide(state, in, morning)
	state = p.Evolve(state, in)
	fmt.Println("timer at", out.Timers[0].At.Format(time.TimeOnly), err)

	in = processmanagers.Input{Timeout: &processmanagers.Timeout{Name: out.Timers[0].Name, Due: out.Timers[0].At}}
	out, err = p.Decide(state, in, out.Timers[0].At)
	state = p.Evolve(state, in)
	fmt.Println("command", out.Commands[0].CommandName(), err)

	in = processmanagers.Input{Event: &events.Envelope{Event: events.SessionEnded{SessionID: session}}}
	fmt.Println("ended", p.Ended(p.Evolve(state, in)))
	// Output:
	// instance 0195a000-0000-7000-8000-000000000001
	// timer at 16:00:00 <nil>
	// command identity.EndSession <nil>
	// ended true
}
