package accessjobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
)

// How many subscribers and subscriptions may wait for their job, of all and of one organization. What is beyond is
// found by the next look at all sessions.
const (
	mostBeginnings = 1_000
	mostOfOne      = mostBeginnings / 4
)

const (
	// mostReplaced is how many sessions one job names; others are found in the tables.
	mostReplaced = 32
	// beginningsPause is how long after jobs were asked for the next ones are. Each subscription has one at most then.
	beginningsPause = 200 * time.Millisecond
	// beginningsWarn is how often the log says at most that there were too many.
	beginningsWarn = time.Minute
)

// Beginnings looks at each session when it begins. Between the accept and the first report the customer may have paid,
// or may have been cut: then the session has what was true at the accept, and no event follows that would tell. Or a
// newer session has replaced others. However many sessions of a customer begin, one job for each need waits. Safe for
// concurrent use.
type Beginnings struct {
	enforcer *Enforcer
	loops    *loop.Group
	wake     chan struct{}

	mu      sync.Mutex
	waiting map[beginning]commands.Job
	of      map[id.Organization]int // how many wait
	missed  int                     // since the last warning
	warned  time.Time
}

// beginning names what a job is about.
type beginning struct {
	org          id.Organization
	subscriber   id.Subscriber
	subscription id.Subscription // with sessions beyond its limit; zero = what the subscriber's sessions should have
}

// NewBeginnings makes one that is not started.
func NewBeginnings(e *Enforcer) *Beginnings {
	return &Beginnings{
		enforcer: e, loops: loop.New(e.Logger), wake: make(chan struct{}, 1),
		waiting: map[beginning]commands.Job{}, of: map[id.Organization]int{},
	}
}

// Start begins to ask for jobs.
func (b *Beginnings) Start(ctx context.Context) error {
	return b.loops.Start(ctx, func(context.Context) error {
		b.loops.Go("sessions that begin", func(ctx context.Context) {
			for {
				select {
				case <-ctx.Done():
					return
				case <-b.wake:
				}
				b.askAll(ctx)
				if !loop.Sleep(ctx, beginningsPause) {
					return
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
	b.put(beginning{org: r.Org, subscriber: h.SubscriberID}, commands.EnforceAccess{SubscriberID: h.SubscriberID})
}

// End has sessions ended, because newer ones took their place, and their devices stay out. It does not wait.
func (b *Beginnings) End(r telemetry.Replaced) {
	b.enforcer.Entitled.Directory.MadeWay(r.MadeWay)
	job := commands.EnforceLimit{OrgID: r.OrgID, SubscriberID: r.SubscriberID, SubscriptionID: r.SubscriptionID}
	for _, s := range r.Sessions {
		job.Sessions = append(job.Sessions, id.As[id.Online](s))
	}
	b.put(beginning{r.OrgID, r.SubscriberID, r.SubscriptionID}, job)
}

// put adds a job that waits. One that waits for the same already is enough, with the sessions of both.
func (b *Beginnings) put(what beginning, job commands.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, waits := b.waiting[what]
	if !waits && (len(b.waiting) >= mostBeginnings || b.of[what.org] >= mostOfOne) {
		b.missed++
		return
	}
	if !waits {
		b.of[what.org]++
	}
	if limit, ok := before.(commands.EnforceLimit); ok {
		both := job.(commands.EnforceLimit)
		both.Sessions = append(limit.Sessions,
			both.Sessions[:min(len(both.Sessions), mostReplaced-len(limit.Sessions))]...)
		job = both
	}
	b.waiting[what] = job
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// askAll asks for the jobs that wait.
func (b *Beginnings) askAll(ctx context.Context) {
	b.mu.Lock()
	waiting := b.waiting
	b.waiting, b.of = map[beginning]commands.Job{}, map[id.Organization]int{}
	missed, now := b.missed, b.enforcer.Clock.Now()
	if now.Sub(b.warned).Abs() < beginningsWarn {
		missed = 0
	}
	if missed > 0 {
		b.missed, b.warned = 0, now
	}
	b.mu.Unlock()
	if missed > 0 {
		b.enforcer.Logger.WarnContext(ctx, "too many sessions begin to look at each", slog.Int("sessions", missed))
	}
	failed, last := 0, error(nil)
	for what, job := range waiting {
		cause := jobs.Cause{OrgID: what.org, Actor: platformActor}
		if err := b.enforcer.Queue.Insert(ctx, job, id.New[id.Any](), cause, 0); err != nil {
			failed, last = failed+1, err
		}
	}
	if failed > 0 && ctx.Err() == nil {
		b.enforcer.Logger.WarnContext(ctx, "sessions that began are looked at later", slog.Int("sessions", failed),
			slog.String("error", last.Error()))
	}
}
