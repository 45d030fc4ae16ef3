package paymentsjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Kinds of callbacks in the inbox.
const (
	CallbackPrompt       = "stk"
	CallbackConfirmation = "c2b_confirmation"
	CallbackValidation   = "c2b_validation"
	CallbackMalformed    = "malformed"
)

// How the inbox is worked. The sweep finds what a crash left behind, and what is to be tried again.
const (
	inboxWorkers = 8
	inboxPage    = 4
	sweepEvery   = time.Second
	firstRetry   = time.Second
	lastRetry    = 5 * time.Minute
	handleLimit  = 30 * time.Second // half the lease
)

// Inbox handles the provider's callbacks: at once when it is woken, and whatever is due now and then. Several programs
// may run one each on the same database.
type Inbox struct {
	workers *Workers
	loops   *loop.Group
	// wake holds as many signals as there are workers: when it is full, enough will look, and each goes on until
	// nothing is left.
	wake chan struct{}
}

// NewInbox makes an inbox that has not begun.
func NewInbox(w *Workers) *Inbox {
	return &Inbox{workers: w, wake: make(chan struct{}, inboxWorkers), loops: loop.New(w.cfg.Logger)}
}

// Start begins to handle callbacks (internal/loop has the contract). The workers wait for Wake; one of them also looks
// every sweepEvery.
func (i *Inbox) Start(ctx context.Context) error {
	return i.loops.Start(ctx, func(context.Context) error {
		for n := range inboxWorkers {
			every := sweepEvery
			if n > 0 {
				every = 0
			}
			i.loops.Go("callback inbox", func(ctx context.Context) { _ = loop.Every(ctx, every, i.wake, i.handleAll) })
		}
		return nil
	})
}

// Stop lets callbacks at hand be finished, and returns when they are.
func (i *Inbox) Stop() { i.loops.Stop() }

// Wake tells that a callback was stored. It never blocks.
func (i *Inbox) Wake() { loop.Wake(i.wake) }

// handleAll is a round of one worker: it goes on until nothing is due. Who finds a full page wakes another. It never
// fails: what went wrong is logged and tried again.
func (i *Inbox) handleAll(ctx context.Context) error {
	for ctx.Err() == nil && i.workers.HandleDue(ctx, i.Wake) > 0 {
	}
	return nil
}

// HandleDue handles a page of callbacks that are due, and tells how many there were. more is called before a full page:
// others may go on with the next; nil = nobody else is there.
func (w *Workers) HandleDue(ctx context.Context, more func()) int {
	taken, err := w.cfg.Inbox.Take(ctx, inboxPage)
	if err != nil {
		if ctx.Err() == nil {
			w.cfg.Logger.WarnContext(ctx, "callbacks are not taken", "error", err)
		}
		return 0
	}
	if len(taken) == inboxPage && more != nil {
		more()
	}
	for _, t := range taken {
		w.handle(ctx, t)
	}
	return len(taken)
}

// handle handles one callback and notes how it went. It is never given up, and never handled half: commands act once.
func (w *Workers) handle(ctx context.Context, t vault.TakenCallback) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handleLimit)
	defer cancel()
	retryIn, err := w.read(ctx, t)
	switch {
	case err == nil && retryIn == 0:
		err = w.cfg.Inbox.Done(ctx, t)
	case err == nil:
		err = w.cfg.Inbox.Fail(ctx, t, "attempt_unknown", retryIn)
	case refused(err):
		w.cfg.Logger.ErrorContext(ctx, "callback is refused", "callback_id", t.ID, "kind", t.Kind, "error", err)
		err = w.cfg.Inbox.Done(ctx, t)
	default:
		w.cfg.Logger.WarnContext(ctx, "callback will be tried again", "callback_id", t.ID, "kind", t.Kind, "error", err)
		err = w.cfg.Inbox.Fail(ctx, t, causeOf(err), backoff(t.Attempts))
	}
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "callback is not settled", "callback_id", t.ID, "error", err)
	}
}

// causeOf is a failure's code: nothing personal.
func causeOf(err error) string {
	if code := failure.CodeOf(err); code != "" {
		return code
	}
	return "internal"
}

// backoff doubles from the first to the last wait.
func backoff(attempts int) time.Duration {
	wait := firstRetry
	for range min(attempts, 20) - 1 {
		wait = min(2*wait, lastRetry)
	}
	return wait
}

// read understands a callback and does what it asks. A positive wait means that it came too early.
func (w *Workers) read(ctx context.Context, t vault.TakenCallback) (time.Duration, error) {
	switch t.Kind {
	case CallbackPrompt:
		return w.readPrompt(ctx, t)
	case CallbackConfirmation:
		return 0, w.readPaybill(ctx, t, mobilemoney.ParseC2B)
	case CallbackBillManager:
		return 0, w.readPaybill(ctx, t, parseBillManager)
	}
	return 0, nil // kept for the record
}

// fromProvider executes a command that a callback led to: the same one at every delivery of the same row.
func (w *Workers) fromProvider(ctx context.Context, t vault.TakenCallback, cmd commands.Command) error {
	actor := events.Actor{Kind: events.ActorProvider, ID: commands.ProviderMobileMoney}
	if !t.Verified {
		actor = platformActor // nobody knows who sent it
	}
	_, err := w.execute(ctx, cmd, commands.Meta{
		CommandID: id.Derive[id.Command]("callback", t.ID.String(), cmd.CommandName()), Actor: actor,
		CorrelationID: t.ID.String(),
	})
	return err
}
