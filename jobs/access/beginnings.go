package accessjobs

import (
	"context"
	"log/slog"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
)

// mostBeginnings is how many sessions may wait for their job; what is beyond is found by the next look at all sessions.
const mostBeginnings = 1_000

// Beginnings looks at each session when it begins. Between the accept and the first report the customer may have paid,
// or may have been cut: then the session has what was true at the accept, and no event follows that would tell. Safe
// for concurrent use.
type Beginnings struct {
	enforcer *Enforcer
	waiting  chan beginning
	loops    *loop.Group
}

// beginning is a session that began with something else than it should, or one that has to end because another began.
type beginning struct {
	org        id.Organization
	subscriber id.Subscriber
	session    telemetry.SessionID // that has to end; zero = what the subscriber's sessions should have is looked at
	reason     string
}

// NewBeginnings makes one that is not started.
func NewBeginnings(e *Enforcer) *Beginnings {
	return &Beginnings{enforcer: e, waiting: make(chan beginning, mostBeginnings), loops: loop.New(e.Logger)}
}

// Start begins to ask for jobs.
func (b *Beginnings) Start(ctx context.Context) error {
	return b.loops.Start(ctx, func(context.Context) error {
		b.loops.Go("sessions that begin", func(ctx context.Context) {
			for {
				select {
				case <-ctx.Done():
					return
				case one := <-b.waiting:
					b.ask(ctx, one)
				}
			}
		})
		return nil
	})
}

// Stop ends that; what waits is found by the next look at all sessions.
func (b *Beginnings) Stop() { b.loops.Stop() }

// Began compares a session, whose first report is durable, with what its subscription is entitled to. It does not wait.
func (b *Beginnings) Began(r telemetry.Report) {
	h, known := b.enforcer.Entitled.Directory.Holder(r.Org, r.Class, r.User, r.At)
	if !known || !h.Told {
		return
	}
	_, wrong := b.enforcer.wanted(telemetry.Session{
		SubscriptionID: h.SubscriptionID, Access: h.Grant.Access.String(), Stamp: h.Grant.Stamp(), MAC: r.MAC,
	}, b.enforcer.Clock.Now())
	if !wrong {
		return
	}
	b.put(beginning{org: r.Org, subscriber: h.SubscriberID})
}

// End has one session ended, because another one took its place. It does not wait.
func (b *Beginnings) End(org id.Organization, session telemetry.SessionID, reason string) {
	b.put(beginning{org: org, session: session, reason: reason})
}

// put adds a session that waits for its job.
func (b *Beginnings) put(one beginning) {
	select {
	case b.waiting <- one:
	default:
		b.enforcer.Logger.Warn("too many sessions begin to look at each", slog.String("reason", one.reason))
	}
}

// ask asks for the job of a session.
func (b *Beginnings) ask(ctx context.Context, one beginning) {
	var err error
	if one.session.IsZero() {
		err = b.enforcer.Queue.Insert(ctx, commands.EnforceAccess{SubscriberID: one.subscriber}, id.New[id.Any](),
			jobs.Cause{OrgID: one.org, Actor: platformActor}, 0)
	} else {
		err = b.enforcer.EndSoon(ctx, one.org, one.session, one.reason)
	}
	if err != nil && ctx.Err() == nil {
		b.enforcer.Logger.WarnContext(ctx, "a session that began is looked at later", slog.String("error", err.Error()))
	}
}
