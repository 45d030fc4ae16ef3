package bus_test

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/exampletest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// session is the state that the rules below need. The zero value is "does not exist".
type session struct {
	Owner id.Organization
	User  id.User
	Ended bool
}

// sessions defines the aggregate: a person has one sign-in at a time. The functions are pure.
func sessions() aggregates.Definition[session, commands.SessionCommand, events.SessionEvent] {
	return aggregates.Definition[session, commands.SessionCommand, events.SessionEvent]{
		Category: commands.SessionCategory,
		Commands: []commands.SessionCommand{commands.StartSession{}, commands.EndSession{}},
		Missing:  commands.ErrNoSession,
		Evolve: func(s session, e events.SessionEvent) session {
			switch e := e.(type) {
			case events.SessionStarted:
				s.Owner, s.User = e.OrgID, e.UserID
			case events.SessionEnded:
				s.Ended = true
			}
			return s
		},
		Decide: func(s session, c commands.SessionCommand, now time.Time) ([]events.SessionEvent, error) {
			switch c := c.(type) {
			case commands.StartSession:
				return []events.SessionEvent{
					events.SessionStarted{SessionID: c.SessionID, UserID: c.UserID, OrgID: c.OrgID, At: now},
				}, nil
			case commands.EndSession:
				if s.User.IsZero() {
					return nil, commands.ErrNoSession()
				}
				if !s.Ended {
					return []events.SessionEvent{
						events.SessionEnded{SessionID: c.SessionID, UserID: s.User, At: now},
					}, nil
				}
			}
			return nil, nil // the session has started already
		},
		Owner: func(s session) id.Organization { return s.Owner },
		Claims: func(s session) []commands.Claim {
			if s.User.IsZero() || s.Ended {
				return nil
			}
			return []commands.Claim{{Kind: "signed_in", Value: s.User.String(), Code: "signed_in_elsewhere"}}
		},
	}
}

func Example() {
	t := exampletest.New()
	defer t.Done()
	ctx, kit := t.Context(), storetest.New(t) // a real event store node on a real PostgreSQL

	b := bus.New(bus.Config{Store: kit.Store, Claims: storetest.ClaimKey, Clock: clock.System()})
	bus.Register(b, sessions())

	// The caller chooses all ids, also that of the command. A repeated call has the same id and acts once.
	org, jane := id.New[id.Organization](), id.New[id.User]()
	start := commands.StartSession{SessionID: id.New[id.Session](), UserID: jane, OrgID: org}
	meta := commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorUser, ID: jane.String()},
	}
	for range 2 {
		done, err := b.Execute(ctx, start, meta)
		fmt.Println("start: revision", done.Revision, "changed", done.Changed, err)
	}

	// A claim belongs to one aggregate only. The log decides which one was first.
	second := start
	second.SessionID, meta.CommandID = id.New[id.Session](), id.New[id.Command]()
	_, err := b.Execute(ctx, second, meta)
	fmt.Println("second session:", failure.CodeOf(err))

	// Reading folds the log. For another organization the aggregate does not exist.
	s, revision, err := bus.LoadOwned[session](ctx, b, org, start.SessionID)
	fmt.Println("read: ended", s.Ended, "revision", revision, err)
	_, _, err = bus.LoadOwned[session](ctx, b, id.New[id.Organization](), start.SessionID)
	fmt.Println("read by another:", failure.CodeOf(err))

	// A command may require the revision that its caller has seen.
	end := commands.EndSession{SessionID: start.SessionID, UserID: jane, Reason: "logout"}
	for _, seen := range []uint64{7, revision} {
		meta.CommandID, meta.ExpectedRevision = id.New[id.Command](), &seen
		done, err := b.Execute(ctx, end, meta)
		fmt.Printf("end, seen %d: changed %v %s\n", seen, done.Changed, failure.CodeOf(err))
	}
	// Output:
	// start: revision 0 changed true <nil>
	// start: revision 0 changed false <nil>
	// second session: signed_in_elsewhere
	// read: ended false revision 0 <nil>
	// read by another: session_not_found
	// end, seen 7: changed false stale_revision
	// end, seen 0: changed true
}
