package paymentsjobs

import (
	"context"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Kinds of callbacks in the inbox; rows store them. Validations are kept, and nothing follows.
const (
	CallbackPrompt       = "stk"
	CallbackConfirmation = "c2b_confirmation"
	CallbackValidation   = "c2b_validation"
)

// How the inbox is handled. The sweep finds callbacks that a crash left behind and those whose retry is due.
const (
	inboxWorkers = 8
	inboxPage    = 4
	sweepEvery   = time.Second
	awayPauseMax = 15 * time.Second      // between two tries while the inbox cannot be read, or the log not written
	storeRetry   = 50 * time.Millisecond // before the result of a callback is stored again, and doubled each time
	firstRetry   = time.Second
	lastRetry    = 5 * time.Minute
	handleLimit  = vault.InboxLease / (inboxPage + 1) // of one callback: a whole page fits into the time of its lease
	panicRetry   = time.Hour                          // a callback that panicked is tried again that much later
	hastenEvery  = time.Minute                        // what waits for longer than lastRetry is looked for so often
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
			i.loops.Go("callback inbox", func(ctx context.Context) { i.work(ctx, every) })
		}
		return nil
	})
}

// Stop lets the callbacks that are being handled end, and returns then.
func (i *Inbox) Stop() { i.loops.Stop() }

// Wake is called after a callback was stored. It never blocks.
func (i *Inbox) Wake() { loop.Wake(i.wake) }

// work makes rounds until ctx ends: when it is woken, and every so often. After a failure it waits, longer each time:
// without the database each round fails.
func (i *Inbox) work(ctx context.Context, every time.Duration) {
	pause := loop.Backoff{Min: sweepEvery, Max: awayPauseMax}
	round := func(ctx context.Context) error {
		err := i.handleAll(ctx)
		if err == nil {
			pause.Reset()
		}
		return err
	}
	for ctx.Err() == nil {
		if err := loop.Every(ctx, every, i.wake, round); err != nil {
			i.workers.cfg.Logger.WarnContext(ctx, "callbacks were not taken from the inbox", "error", err, "retry_in",
				pause.Pause())
			pause.Wait(ctx)
		}
	}
}

// handleAll is one round of a worker: it goes on until nothing is due. A worker that finds a full page wakes another.
func (i *Inbox) handleAll(ctx context.Context) error {
	for ctx.Err() == nil {
		if n, err := i.workers.HandleDue(ctx, i.Wake); n == 0 || err != nil {
			return err
		}
	}
	return nil
}

// HandleDue handles one page of callbacks that are due and returns how many there were. It fails when the page cannot
// be read; a callback that fails is tried again. more is called before a full page is handled, so that another worker
// can take the next one; nil = no other worker.
func (w *Workers) HandleDue(ctx context.Context, more func()) (int, error) {
	leave, err := w.cfg.Gate.Enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	if err := w.hasten(ctx); err != nil {
		return 0, err
	}
	leased, cancel := context.WithTimeout(ctx, vault.InboxLease)
	defer cancel()
	taken, err := w.cfg.Inbox.Take(ctx, inboxPage)
	if err != nil {
		return 0, err
	}
	if len(taken) == inboxPage && more != nil {
		more()
	}
	for _, t := range taken {
		w.handle(leased, t)
	}
	return len(taken), nil
}

// hasten lets no callback that may be money wait until the database's clock shows a time again to which it was put back
// from. It looks every hastenEvery.
func (w *Workers) hasten(ctx context.Context) error {
	now, last := w.steady.Now(), w.hastened.Load()
	if last != nil && !now.Before(*last) && now.Sub(*last) < hastenEvery {
		return nil
	}
	if err := w.cfg.Inbox.Hasten(ctx, lastRetry, CauseUnknownPrompt, causePanicked); err != nil {
		return err
	}
	w.hastened.Store(&now)
	return nil
}

// ending says how one try of a callback ended when nothing failed. The zero value is "done". With a wait it is tried
// again after that time; with a cause alone it is given up, which is an alarm.
type ending struct {
	wait  time.Duration
	cause string
}

// Causes of an ending; operators read them in the rows.
const (
	causeUnreadable = "unreadable"
	causePanicked   = "panicked"
	// causeLogAway is that of a callback that the event store did not take, because it is away: its failure's code.
	causeLogAway = "eventstore_unavailable"
	// causeDatabase is that of a callback that could not be handled because the database did not serve a statement of
	// it, as when a table is missing or damaged.
	causeDatabase = "database_unavailable"
	// causeLateAttempt is that of a callback whose attempt is ours and not shown yet: the token of its address says so.
	causeLateAttempt = "attempt_late"
	// causeUnknownAttempt is that of a callback that came before the answer to its prompt, or of an invented one.
	causeUnknownAttempt = "attempt_unknown"
	// CauseUnknownPrompt is that of a prompt's callback that belongs to no attempt of ours.
	CauseUnknownPrompt = "prompt_unknown"
)

// Owed reports whether a callback that was stored after an instant of the database's clock waits and may be genuine
// money: a verified one, unless it names a prompt or an attempt that nobody knows.
func Owed(ctx context.Context, inbox *vault.Inbox, after time.Time) (bool, error) {
	return inbox.Owed(ctx, after, CauseUnknownPrompt, causeUnknownAttempt)
}

// Untaken reports whether a callback that was stored within a time waits and may be genuine money, because the event
// store or the database did not serve its last try, or because nobody handles the inbox: it was not tried for as long
// as untried. What it says itself keeps none there.
func Untaken(ctx context.Context, inbox *vault.Inbox, within, untried time.Duration) (bool, error) {
	return inbox.Untaken(ctx, within, untried, causeLogAway, causeDatabase)
}

// handle handles one callback and stores the result. A callback is tried until it is done, refused or given up; a
// repeat is harmless, because each command acts once. leased ends with the lease, or when the program stops.
func (w *Workers) handle(leased context.Context, t vault.TakenCallback) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(leased), handleLimit)
	defer cancel()
	var end ending
	err := loop.Try(func() (err error) {
		end, err = w.read(ctx, t)
		return err
	})
	inbox := w.cfg.Inbox
	switch {
	case loop.StackOf(err) != "":
		w.cfg.Logger.ErrorContext(ctx, "callback panicked", "callback_id", t.ID, "kind", t.Kind, "error", err, "stack",
			loop.StackOf(err))
		end = ending{wait: panicRetry, cause: causePanicked}
	case err == nil:
	case refused(err):
		w.cfg.Logger.ErrorContext(ctx, "command of a callback was refused", "callback_id", t.ID, "kind", t.Kind,
			"error", err)
		end = ending{cause: causeOf(err)}
	default:
		w.cfg.Logger.WarnContext(ctx, "callback will be tried again", "callback_id", t.ID, "kind", t.Kind, "error", err)
		end = ending{wait: backoff(t.Attempts, causeOf(err)), cause: causeOf(err)}
	}
	w.store(leased, t, func(ctx context.Context) error {
		switch {
		case end.wait > 0:
			return inbox.Fail(ctx, t, end.cause, end.wait)
		case end.cause != "":
			return inbox.GiveUp(ctx, t, end.cause)
		}
		return inbox.Done(ctx, t)
	})
}

// store stores the result of a callback, and repeats that while the database does not take it: otherwise the callback
// would wait for the end of its lease.
func (w *Workers) store(leased context.Context, t vault.TakenCallback, result func(context.Context) error) {
	pause := loop.Backoff{Min: storeRetry, Max: sweepEvery}
	for {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(leased), handleLimit)
		err := result(ctx)
		cancel()
		if err == nil {
			return
		}
		w.cfg.Logger.WarnContext(leased, "result of a callback was not stored", "callback_id", t.ID, "error", err)
		if refused(err) || !pause.Wait(leased) { // another worker has the lease, or its time is over
			return
		}
	}
}

// causeOf gives the text for the row's error: a failure's code, which holds nothing personal.
func causeOf(err error) string {
	if postgres.Unserved(err) {
		return causeDatabase
	}
	if code := failure.CodeOf(err); code != "" {
		return code
	}
	return "internal"
}

// backoff gives the wait after this many attempts: 1 second, doubled each time, 5 minutes at most. Cuts wait for what
// the event store or the database did not serve, so that is tried soon after its return.
func backoff(attempts int, cause string) time.Duration {
	wait, longest := firstRetry, lastRetry
	if cause == causeLogAway || cause == causeDatabase {
		longest = awayPauseMax
	}
	for range min(attempts, 20) - 1 {
		wait = min(2*wait, longest)
	}
	return wait
}

// read parses a callback and executes its command.
func (w *Workers) read(ctx context.Context, t vault.TakenCallback) (ending, error) {
	switch t.Kind {
	case CallbackPrompt:
		return w.readPrompt(ctx, t)
	case CallbackConfirmation:
		return w.readPaybill(ctx, t, mobilemoney.ParseC2B)
	case CallbackBillManager:
		return w.readPaybill(ctx, t, parseBillManager)
	}
	if came, _, _ := strings.Cut(t.Kind, " "); ofResult(came) {
		return w.readResult(ctx, t)
	}
	return ending{}, nil // the inbox keeps the row
}

// fromProvider executes a command of a callback. The command id follows from the row, so a repeated delivery of the row
// acts once; step makes the difference between two commands of one name.
func (w *Workers) fromProvider(ctx context.Context, t vault.TakenCallback, cmd commands.Command, step ...string) error {
	actor := events.Actor{Kind: events.ActorProvider, ID: commands.ProviderMobileMoney}
	if !t.Verified {
		actor = platformActor // the sender is not proved
	}
	parts := append([]string{t.ID.String(), cmd.CommandName()}, step...)
	_, err := w.execute(ctx, cmd, commands.Meta{
		CommandID: id.Derive[id.Command]("callback", parts...), Actor: actor, CorrelationID: t.ID.String(),
	})
	return err
}
