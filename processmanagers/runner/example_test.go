package processrunner_test

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/exampletest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// presence is the state for one user: the newest session.
type presence struct{ Session id.Session }

// oneAtATime ends a user's earlier session when a new one starts. There is one instance for each user.
func oneAtATime() processmanagers.Process[presence] {
	return processmanagers.Process[presence]{
		Name: "one_at_a_time",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.SessionStarted) string { return e.UserID.String() }),
		},
		Decide: func(s presence, in processmanagers.Input, _ time.Time) (out processmanagers.Output, err error) {
			if in.Event == nil || s.Session.IsZero() {
				return out, nil // a refusal, or the first session
			}
			if e, ok := in.Event.Event.(events.SessionStarted); ok {
				end := commands.EndSession{SessionID: s.Session, UserID: e.UserID, Reason: "revoked"}
				out.Commands = append(out.Commands, end)
			}
			return out, nil
		},
		Evolve: func(s presence, in processmanagers.Input) presence {
			if in.Event == nil {
				return s
			}
			if e, ok := in.Event.Event.(events.SessionStarted); ok {
				s.Session = e.SessionID
			}
			return s
		},
	}
}

func Example() {
	t := exampletest.New()
	defer t.Done()
	ctx, kit := t.Context(), storetest.New(t) // a real event store node on a real PostgreSQL

	b := bus.New(bus.Config{Store: kit.Store, Claims: storetest.ClaimKey, Clock: clock.System()})
	bus.Register(b, identity.Sessions())
	f := feed.New(feed.FromStore(kit.Store), nil) // one reader of the log for all consumers
	t.Must(f.Start(ctx))
	t.Cleanup(f.Stop)
	r := processrunner.New(processrunner.Config{Feed: f, DB: kit.DB, Clock: clock.System(), Bus: b})
	r.Register(oneAtATime())
	t.Must(r.Start(ctx))
	t.Cleanup(r.Stop)

	// Jane signs in twice.
	jane, org := id.New[id.User](), id.New[id.Organization]()
	first, second := id.New[id.Session](), id.New[id.Session]()
	var last bus.Result
	for _, session := range []id.Session{first, second} {
		var err error
		last, err = b.Execute(ctx, commands.StartSession{SessionID: session, UserID: jane, OrgID: org}, commands.Meta{
			CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorUser, ID: jane.String()},
			CorrelationID: "jane's morning",
		})
		t.Must(err)
	}

	// The command of the process becomes an event, whose metadata has the actor and the cause.
	ended := kit.Store.Subscribe(ctx, last.Position, []string{events.SessionEnded{}.EventType()})
	defer ended.Close()
	for item, err := ended.Next(ctx); ; item, err = ended.Next(ctx) {
		t.Must(err)
		if item.Event == nil {
			continue // no event of this type up to here
		}
		meta := item.Event.Meta
		fmt.Println("first session ended:", meta.AggregateID == id.Any(first))
		fmt.Println("by", meta.Actor.Kind, meta.Actor.ID)
		fmt.Println("because of an event:", meta.CausationID != "", "in", meta.CorrelationID)
		break
	}
	// Output:
	// first session ended: true
	// by process one_at_a_time
	// because of an event: true in jane's morning
}
