package paymentsjobs

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Config is shared by the workers and the inbox; every field but Gate, Pulls,
// NominatedNumber, PullsRefused and Ask is required.
type Config struct {
	Bus        *bus.Bus
	Views      *runner.Views
	Inbox      *vault.Inbox
	Statements *vault.Statements
	Addresses  Addresses
	Access     Access
	Clock      clock.Clock
	// Gate keeps callbacks waiting while the clock is moved; nil is always open.
	Gate   *clock.Gate
	Logger *slog.Logger
	// Pulls is where it is kept how far payments were asked for; nil = they are not asked for.
	Pulls *vault.Pulls
	// NominatedNumber is the phone of who answers for shortcodes towards the provider, when payments are asked for.
	NominatedNumber string
	// PullsRefused is NewPullsRefused; nil counts nothing.
	PullsRefused *prometheus.CounterVec
	// Ask does the work of AskToPay; nil = there is no payment page.
	Ask Asker
}

// Workers make the outside calls of the area payments and handle callbacks. Safe for concurrent use.
type Workers struct {
	cfg      Config
	payments paymentsviews.PaymentsQuery
	receipts paymentsviews.ReceiptsQuery
	matching paymentsviews.MatchingQuery
	gateways paymentsviews.GatewaysQuery
	// reconciliations knows the statements that were compared.
	reconciliations paymentsviews.ReconciliationsQuery

	queue    *jobrunner.Runner // set by Register; the sweep enqueues into it
	steady   clock.Clock
	hastened atomic.Pointer[time.Time] // by steady, when the inbox was last looked at for waits that are too long
}

// New calls nothing; Register and NewInbox put the workers to use.
func New(cfg Config) *Workers {
	return &Workers{
		cfg: cfg, payments: paymentsviews.PaymentsQuery{Views: cfg.Views},
		receipts:        paymentsviews.ReceiptsQuery{Views: cfg.Views},
		matching:        paymentsviews.MatchingQuery{Views: cfg.Views},
		gateways:        paymentsviews.GatewaysQuery{Views: cfg.Views},
		reconciliations: paymentsviews.ReconciliationsQuery{Views: cfg.Views}, steady: clock.Steady(cfg.Clock),
	}
}

// addressRegistration is how often the addresses of the shared paybill are registered again, and those of direct
// shortcodes compared; the first time is at start.
const addressRegistration = 24 * time.Hour

// findAttempts lets the search of a payer be tried for years, at the pace of its back-off: money is never forgotten
// because a read model stood still for a weekend. It is the largest number that the queue can store, less a reserve.
const findAttempts = 30_000

// Register adds the workers to the queue. A prompt is never sent twice, however often its job is tried: see
// SubmitPrompt.
func (w *Workers) Register(r *jobrunner.Runner) {
	jobrunner.AddWorker(r, w.SubmitPrompt, jobrunner.Options{
		Queue: "prompts", Timeout: 30 * time.Second, MaxAttempts: 20,
		Backoff: jobrunner.Doubling(time.Second, time.Minute),
	})
	jobrunner.AddWorker(r, w.AskToPay, jobrunner.Options{
		Queue: "prompts", Timeout: 30 * time.Second, MaxAttempts: 5,
		Backoff: jobrunner.Doubling(time.Second, 10*time.Second),
	})
	// Apart from the prompts: one that waits behind queries for two minutes is not sent any more.
	jobrunner.AddWorker(r, w.QueryPrompt, jobrunner.Options{
		Queue: "prompt_queries", Timeout: 30 * time.Second, MaxAttempts: 5,
	})
	jobrunner.AddWorker(r, w.FindPayer, jobrunner.Options{
		Queue: "receipts", Timeout: 20 * time.Second, MaxAttempts: findAttempts,
		Backoff: jobrunner.Doubling(time.Second, 10*time.Minute),
	})
	jobrunner.AddWorker(r, w.SweepMoney, jobrunner.Options{
		Queue: "receipts", Timeout: 30 * time.Second, MaxAttempts: 3,
	})
	jobrunner.Every(r, sweepInterval, commands.SweepMoney{})
	w.queue = r
	w.registerOperator(r)
	w.registerReconciliation(r)
	w.registerPull(r)
	jobrunner.OnDiscarded(r, w.PromptLost)
	jobrunner.OnDiscarded(r, w.PayerLost)
	jobrunner.OnDiscarded(r, w.RegistrationLost)
	jobrunner.AddWorker(r, w.RegisterShortcode, jobrunner.Options{Timeout: 30 * time.Second, MaxAttempts: 10})
	jobrunner.AddWorker(r, w.RegisterPlatform, jobrunner.Options{
		Timeout: 30 * time.Second, MaxAttempts: 100, Backoff: jobrunner.Doubling(5*time.Second, 10*time.Minute),
	})
	if w.cfg.Access.Platform.ShortCode != "" {
		jobrunner.EveryAndAtStart(r, addressRegistration, commands.RegisterPlatform{})
	}
	jobrunner.AddWorker(r, w.RefreshAddresses, jobrunner.Options{
		Timeout: 5 * time.Minute, MaxAttempts: 100, Backoff: jobrunner.Doubling(time.Minute, time.Hour),
	})
	jobrunner.EveryAndAtStart(r, addressRegistration, commands.RefreshAddresses{})
}

// report executes an outcome command on behalf of the actor who caused the job. A cancelled job still reports: the
// provider's answer must not be lost.
func (w *Workers) report(ctx context.Context, cause jobs.Cause, cmd commands.Command) (bus.Result, error) {
	meta := cause.Meta(cmd.CommandName())
	if cause.Actor.Kind == "" || meta.OrgID.IsZero() {
		meta.Actor = platformActor
	}
	return w.execute(ctx, cmd, meta)
}

// reportAsPlatform reports without an organization: matching looks for the payer in all of them.
func (w *Workers) reportAsPlatform(ctx context.Context, cause jobs.Cause, cmd commands.Command) error {
	meta := cause.Meta(cmd.CommandName())
	meta.OrgID, meta.Actor = id.Organization{}, platformActor
	_, err := w.execute(ctx, cmd, meta)
	return err
}

// platformActor is the actor of outcomes that no person caused.
var platformActor = events.Actor{Kind: events.ActorProcess, ID: "payments"}

// reportPatience bounds the recording of an outcome; a cancelled job waits that long at most.
const reportPatience = 15 * time.Second

// execute runs a command with a context that outlives the job, for at most reportPatience.
func (w *Workers) execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportPatience)
	defer cancel()
	return w.cfg.Bus.Execute(ctx, cmd, meta)
}

// refused reports whether an error stays the same however often the command is repeated.
func refused(err error) bool {
	switch failure.KindOf(err) {
	case failure.Malformed, failure.Denied, failure.NotFound, failure.Conflict, failure.Invalid:
		return failure.CodeOf(err) != "concurrent_change"
	case failure.Internal, failure.Unauthenticated, failure.Stale, failure.TooLarge, failure.Limited, failure.Refused,
		failure.Unavailable:
	}
	return false
}
