package accessjobs

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
)

// ending is the change that ends a session whatever follows. The customer's router may dial again and get the same.
func ending(s telemetry.Session, reason string) change {
	return change{action: events.EndOnline, reason: reason, after: grantOf(s), anyway: true}
}

// Leave ends the sessions of a subscriber who is forgotten, before what is known about them is deleted. It fails while
// a router does not answer, and asks to be called again until it was seen that they have ended.
func (e *Enforcer) Leave(ctx context.Context, args commands.EnforceAccess, cause jobs.Cause) error {
	err := e.Enforce(ctx, args, cause)
	if err != nil {
		return err
	}
	list, err := e.Sessions.OpenOf(ctx, args.SubscriberID)
	for _, s := range list {
		if _, wrong := e.wanted(s, e.Clock.Now()); wrong {
			return errUnreachable
		}
	}
	return err
}

// Disconnected tells what came of a person's wish to end a session.
type Disconnected struct {
	Ended bool
	Via   events.EnforcementVia // "" = it had ended before, or it did not end
	Error string                // for the person, "" = none
}

// Disconnect ends a session while a person waits. meta says who. Where its customer could not sign in again nothing is
// done, and the person is told why, unless it is confirmed. One that is over because its reports stopped may go on at
// its router, so the router is asked, too. Fails: session_not_found.
func (e *Enforcer) Disconnect(
	ctx context.Context, session telemetry.SessionID, confirmed bool, meta commands.Meta,
) (Disconnected, error) {
	s, err := e.Sessions.Get(ctx, meta.OrgID, session)
	switch {
	case err != nil:
		return Disconnected{}, err
	case s == nil:
		return Disconnected{}, commands.ErrNoSession()
	case s.EndedAt != nil && s.EndReason != telemetry.ReasonLost && s.EndReason != telemetry.ReasonGone:
		return Disconnected{Ended: true}, nil
	}
	lock, err := e.Locks.Lock(ctx, lockName(s.SubscriberID))
	if err != nil {
		return Disconnected{}, err
	}
	defer lock.Unlock()
	c := ending(*s, ReasonOperator)
	c.asked, c.anyway = &meta, confirmed
	done, err := e.act(ctx, *s, c, causeOf(meta))
	var off *staysOff
	switch {
	case errors.As(err, &off):
		return Disconnected{Error: "The session goes on. " + off.why +
			" To put the customer off all the same, ask again with confirm=true."}, nil
	case errors.Is(err, errUnreachable), errors.Is(err, context.DeadlineExceeded):
		return Disconnected{Error: "The router did not answer. The session may go on."}, nil
	case errors.Is(err, errDenied):
		return Disconnected{Error: "The router says that it does not know this session, but it still reports it, and " +
			"its own interface does not answer. The session may go on. Try again in a few minutes."}, nil
	case errors.Is(err, errRefused):
		return Disconnected{Error: "The router refuses to end the session. It goes on."}, nil
	case errors.Is(err, errIncomplete):
		return Disconnected{Error: "Nobody of the organization can sign in at the moment, because a part of its " +
			"history cannot be read. The session goes on; the operator knows."}, nil
	case err != nil:
		return Disconnected{}, err
	}
	return Disconnected{Ended: true, Via: done.via}, nil
}
