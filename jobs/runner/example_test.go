package jobrunner_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/exampletest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// signOff is a job's arguments: ids only.
type signOff struct {
	SessionID id.Session
	UserID    id.User
}

func (signOff) Kind() string { return "example_sign_off" } // stored in rows: it never changes

// worker calls the outside system and reports the outcome to the bus.
type worker struct {
	bus    *bus.Bus
	system *httptest.Server
}

// SignOff makes one attempt. An error asks for another one.
func (w worker) SignOff(ctx context.Context, args signOff, cause jobs.Cause) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, w.system.URL+"/"+args.SessionID.String(), nil)
	if err != nil {
		return jobrunner.GiveUp(err) // no attempt can help
	}
	answer, err := w.system.Client().Do(req)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	fmt.Println("attempt", cause.Attempt, "is answered", answer.StatusCode)
	if answer.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("sign off: %s", answer.Status)
	}
	outcome := commands.EndSession{SessionID: args.SessionID, UserID: args.UserID, Reason: "revoked"}
	_, err = w.bus.Execute(ctx, outcome, cause.Meta(outcome.CommandName()))
	return err
}

func Example() {
	t := exampletest.New()
	defer t.Done()
	ctx, kit := t.Context(), storetest.New(t) // a real event store node on a real PostgreSQL
	b := bus.New(bus.Config{Store: kit.Store, Claims: storetest.ClaimKey, Clock: clock.System()})
	bus.Register(b, identity.Sessions())

	// The outside system fails at the first call.
	var calls atomic.Int32
	system := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(system.Close)

	r := jobrunner.New(jobrunner.Config{DB: kit.DB})
	jobrunner.AddWorker(r, worker{b, system}.SignOff, jobrunner.Options{
		Timeout: 10 * time.Second, MaxAttempts: 5, Backoff: jobrunner.Doubling(20*time.Millisecond, time.Minute),
	})
	t.Must(r.Start(ctx))
	t.Cleanup(r.Stop)

	// A session starts, and a job is enqueued to end it. The second insert has the same job id and adds nothing.
	args := signOff{SessionID: id.New[id.Session](), UserID: id.New[id.User]()}
	cause := jobs.Cause{OrgID: id.New[id.Organization](), Actor: events.Actor{Kind: events.ActorUser, ID: "jane"}}
	begun, err := b.Execute(ctx, commands.StartSession{
		SessionID: args.SessionID, UserID: args.UserID, OrgID: cause.OrgID,
	}, commands.Meta{CommandID: id.New[id.Command](), OrgID: cause.OrgID, Actor: cause.Actor})
	t.Must(err)
	jobID := id.Derive[id.Any]("sign-off", args.SessionID.String())
	for range 2 {
		t.Must(r.Insert(ctx, args, jobID, cause, 0))
	}

	// The outcome is an event, on behalf of the actor who caused the job.
	ended := kit.Store.Subscribe(ctx, begun.Position, []string{events.SessionEnded{}.EventType()})
	defer ended.Close()
	for item, err := ended.Next(ctx); ; item, err = ended.Next(ctx) {
		t.Must(err)
		if item.Event != nil {
			fmt.Println("ended on behalf of", item.Event.Meta.Actor.ID)
			break
		}
	}
	// Output:
	// attempt 1 is answered 502
	// attempt 2 is answered 200
	// ended on behalf of jane
}
