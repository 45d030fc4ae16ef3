package eventstore_test

import (
	"errors"
	"fmt"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/exampletest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

func Example() {
	t := exampletest.New()
	defer t.Done()
	ctx, store := t.Context(), storetest.New(t).Store // on a real node with a real PostgreSQL

	session := id.New[id.Session]()
	stream := "session-" + session.String()
	started := []eventstore.New{{
		Event: events.SessionStarted{SessionID: session, Method: "otp"},
		Meta:  events.Metadata{EventID: id.New[id.Event]()},
	}}
	ended := []eventstore.New{{
		Event: events.SessionEnded{SessionID: session, Reason: "logout"},
		Meta:  events.Metadata{EventID: id.New[id.Event]()},
	}}

	// The first append expects that the stream does not exist. Repeating it changes nothing and gives the same answer.
	first, err := store.Append(ctx, stream, eventstore.NoStream, started)
	fmt.Println("revision", first.Revision, err)
	again, err := store.Append(ctx, stream, eventstore.NoStream, started)
	fmt.Println("same append again:", again == first, err)

	// A writer that has not seen the newest event writes nothing, and the error has the stream's actual revision.
	_, err = store.Append(ctx, stream, eventstore.NoStream, ended)
	var wrong *eventstore.WrongRevisionError
	fmt.Println(errors.Is(err, eventstore.ErrWrongRevision), errors.As(err, &wrong), "it is at", wrong.Actual)
	second, err := store.Append(ctx, stream, wrong.Actual, ended)
	fmt.Println("revision", second.Revision, "after it in the log:", second.Position > first.Position, err)

	list, err := store.Read(ctx, stream, 0)
	t.Must(err)
	for _, e := range list {
		fmt.Println("read", e.Revision, e.Type)
	}

	// A subscription first gives the events that are in the log, then says that it has caught up, then gives new ones.
	sub := store.Subscribe(ctx, first.Position, []string{events.SessionEnded{}.EventType()})
	defer sub.Close()
	for item, err := sub.Next(ctx); !item.CaughtUp; item, err = sub.Next(ctx) {
		t.Must(err)
		if item.Event != nil {
			fmt.Println("subscribed to", item.Event.Type, item.Position == second.Position)
		}
	}
	// Output:
	// revision 0 <nil>
	// same append again: true <nil>
	// true true it is at 0
	// revision 1 after it in the log: true <nil>
	// read 0 identity.SessionStarted.v1
	// read 1 identity.SessionEnded.v1
	// subscribed to identity.SessionEnded.v1 true
}
