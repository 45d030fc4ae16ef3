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

// Kinds of callbacks in the inbox; rows store them. Validation and malformed bodies are kept, and nothing follows.
const (
	CallbackPrompt       = "stk"
	CallbackConfirmation = "c2b_confirmation"
	CallbackValidation   = "c2b_validation"
	CallbackMalformed    = "malformed"
)

// How the inbox is handled. The sweep finds callbacks that a crash left behind and those whose retry is due.
const (
	inboxWorkers = 8
	inboxPage    = 4
	sweepEvery   = time.Second
	firstRetry   = time.Second
	lastRetry    = 5 * time.Minute
	handleLimit  = 30 * time.Second // of one callback: half the time for which Take reserves it
)

// Inbox handles the provider's callbacks: at once after Wake, and every sweepEvery those that are due. Several programs
// may each run one on the same database.
type Inbox struct {
	workers *Workers
	loops   *loop.Group
	// wake holds one signal for each worker. When it is full, all workers will look, and each goes on until
	// nothing is left.
	wake chan struct{}
}

// NewInbox makes an inbox; Start begins to handle callbacks.
func NewInbox(w *Workers) *Inbox {
	return &Inbox{workers: w, wake: make(chan struct{}, inboxWorkers), loops: loop.New(w.cfg.Logger)}
}

// Start begins to handle callbacks (internal/loop has the contract). All workers wait for Wake; the first one also
// looks every sweepEvery.
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

// Stop lets the callbacks that are being handled end, and returns then.
func (i *Inbox) Stop() { i.loops.Stop() }

// Wake is called after a callback was stored. It never blocks.
func (i *Inbox) Wake() { loop.Wake(i.wake) }

// handleAll is one round of a worker: it goes on until nothing is due. A worker that finds a full page wakes another.
// It always returns nil: HandleDue logs each error, and the row is tried again.
func (i *Inbox) handleAll(ctx context.Context) error {
	for ctx.Err() == nil && i.workers.HandleDue(ctx, i.Wake) > 0 {
	}
	return nil
}

// HandleDue handles one page of callbacks that are due and returns how many there were. more is called before a full
// page is handled, so that another worker can take the next one; nil = no other worker.
func (w *Workers) HandleDue(ctx context.Context, more func()) int {
	taken, err := w.cfg.Inbox.Take(ctx, inboxPage)
	if err != nil {
		if ctx.Err() == nil {
			w.cfg.Logger.WarnContext(ctx, "callbacks were not taken from the inbox", "error", err)
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

// handle handles one callback and stores the result. A callback is tried until it is done or refused; a repeat is
// harmless, because each command acts once.
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
		w.cfg.Logger.ErrorContext(ctx, "command of a callback was refused", "callback_id", t.ID, "kind", t.Kind,
			"error", err)
		err = w.cfg.Inbox.Done(ctx, t)
	default:
		w.cfg.Logger.WarnContext(ctx, "callback will be tried again", "callback_id", t.ID, "kind", t.Kind, "error", err)
		err = w.cfg.Inbox.Fail(ctx, t, causeOf(err), backoff(t.Attempts))
	}
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "result of a callback was not stored", "callback_id", t.ID, "error", err)
	}
}

// causeOf gives the text for the row's error: a failure's code, which holds nothing personal.
func causeOf(err error) string {
	if code := failure.CodeOf(err); code != "" {
		return code
	}
	return "internal"
}

// backoff gives the wait after this many attempts: 1 second, doubled each time, 5 minutes at most.
func backoff(attempts int) time.Duration {
	wait := firstRetry
	for range min(attempts, 20) - 1 {
		wait = min(2*wait, lastRetry)
	}
	return wait
}

// read parses a callback and executes its command. A positive wait means that the callback came before the attempt that
// it belongs to.
func (w *Workers) read(ctx context.Context, t vault.TakenCallback) (time.Duration, error) {
	switch t.Kind {
	case CallbackPrompt:
		return w.readPrompt(ctx, t)
	case CallbackConfirmation:
		return 0, w.readPaybill(ctx, t, mobilemoney.ParseC2B)
	case CallbackBillManager:
		return 0, w.readPaybill(ctx, t, parseBillManager)
	}
	return 0, nil // the inbox keeps the row
}

// fromProvider executes the command of a callback. The command id follows from the row, so a repeated delivery of the
// row acts once.
func (w *Workers) fromProvider(ctx context.Context, t vault.TakenCallback, cmd commands.Command) error {
	actor := events.Actor{Kind: events.ActorProvider, ID: commands.ProviderMobileMoney}
	if !t.Verified {
		actor = platformActor // the sender is not proved
	}
	_, err := w.execute(ctx, cmd, commands.Meta{
		CommandID: id.Derive[id.Command]("callback", t.ID.String(), cmd.CommandName()), Actor: actor,
		CorrelationID: t.ID.String(),
	})
	return err
}
