package paymentsjobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// BillManager is the part of the bill manager's client that the jobs use. [mobilemoney.Bills] has it.
type BillManager interface {
	Ready() error
	Send(ctx context.Context, by mobilemoney.Account, bills []mobilemoney.Bill) (mobilemoney.BillAnswer, error)
	Cancel(ctx context.Context, by mobilemoney.Account, reference string) (mobilemoney.BillAnswer, error)
	Acknowledge(
		ctx context.Context, by mobilemoney.Account, p mobilemoney.BillPayment,
	) (mobilemoney.BillAnswer, error)
}

// BillsConfig of Bills; every field is required.
type BillsConfig struct {
	Bus         *bus.Bus
	Views       *runner.Views
	Secrets     *vault.Secrets
	Manager     BillManager
	Credentials mobilemoney.Credentials // the platform's at the bill manager
	OptIn       id.Shortcode
	Refused     *prometheus.CounterVec // of NewBillsRefused
	// Alone gives the right to be the only one at work, and what gives it back; false = another program has it.
	Alone  func(ctx context.Context) (release func(), alone bool, err error)
	Clock  clock.Clock
	Logger *slog.Logger
}

// Bills does what is due at the bill manager. Safe for concurrent use.
type Bills struct {
	cfg   BillsConfig
	pace  clock.Clock // for lengths of time that this program measures
	bills paymentsviews.BillsQuery
	rest  rest
}

// NewBills calls nothing.
func NewBills(cfg BillsConfig) *Bills {
	return &Bills{cfg: cfg, pace: clock.Pace(cfg.Clock), bills: paymentsviews.BillsQuery{Views: cfg.Views}}
}

// How the work is done: how often it is looked for, how long one run may take, how many bills of an organization are
// taken one by one before the next one has its turn, how many turns a run has, and how many commands go side by side. A
// bill that was in doubt billsDoubts times waits for a person; so does one about which billsDoubts calls in a row were
// not answered clearly. Between these it waits, twice as long each time, and a turn makes billsUnclear of them at most.
const (
	billsInterval = 5 * time.Second
	billsTimeout  = 10 * time.Minute
	billsPage     = 100
	billsTurns    = 100
	billsMissed   = 3 // calls about which nothing is known, upon which a run ends
	billsCrew     = 8
	billsDoubts   = 12
	billsUnclear  = 5
	billsRetry    = 10 * time.Second
	billsRetries  = time.Hour   // between two of them at most
	billsSlack    = time.Minute // by which the clocks of two programs differ at most
)

// BillsWorking is how long the bill manager may be at work on a call whose answer was lost. That it does not know a
// bill means nothing until then: it may take the bill yet, and the customer would have two of one invoice.
const BillsWorking = 5 * time.Minute

// ElsewhereAfter is how long a bill stays at the bill manager whose invoice was paid: that it was paid there may not be
// told yet. The confirmation of the paybill is often faster than the bill manager's report.
const ElsewhereAfter = 5 * time.Minute

// Register adds the workers to the queue.
func (b *Bills) Register(r *jobrunner.Runner) {
	jobrunner.AddWorker(r, b.Tend, jobrunner.Options{Queue: "bills", Timeout: billsTimeout, MaxAttempts: 3})
	jobrunner.AddWorker(r, b.Report, jobrunner.Options{
		Queue: "receipts", Timeout: 20 * time.Second, MaxAttempts: findAttempts,
		Backoff: jobrunner.Doubling(time.Second, 10*time.Minute),
	})
	jobrunner.Every(r, billsInterval, commands.TendBills{})
}

// errBillsAway ends a run: the bill manager does not work, or nobody knows what it did.
var errBillsAway = errors.New("the bill manager cannot be reached")

// errBillsNotSent ends a run in the same way: the provider lets the platform make no call.
var errBillsNotSent = fmt.Errorf("%w: nothing was sent", errBillsAway)

// errBillUnclear is the failure of a call about one bill, of which nobody knows what came. It is about no other bill.
var errBillUnclear = errors.New("the bill manager gives no clear answer about a bill")

// Tend does everything that is due at the bill manager, organization by organization, so that one with many bills does
// not keep the others waiting. One program does it at a time: a bill that was offered, and whose outcome is not
// recorded, is then one of a run that has ended, and is in doubt. What a run leaves, the next one does.
func (b *Bills) Tend(ctx context.Context, _ commands.TendBills, cause jobs.Cause) error {
	release, alone, err := b.cfg.Alone(ctx)
	if err != nil || !alone {
		return err
	}
	defer release()
	orgs, err := b.bills.BusyOrgs(ctx, b.due())
	if err != nil || len(orgs) == 0 || b.cfg.Manager.Ready() != nil {
		return err
	}
	by, key, err := b.account(ctx)
	if err != nil || b.rest.holds(by.AppKey, b.pace.Now()) {
		return err
	}
	r := run{by: by, cause: cause, calls: &calls{}}
	b.tend(ctx, r, orgs)
	b.rest.after(by.AppKey, b.pace.Now(), *r.calls)
	return b.tell(ctx, key, *r.calls)
}

// run has what all turns of one run share.
type run struct {
	by    mobilemoney.Account
	cause jobs.Cause
	calls *calls
}

// tend has organizations take turns.
func (b *Bills) tend(ctx context.Context, r run, orgs []id.Organization) {
	missed := 0
	orgs = fromAnother(orgs, b.cfg.Clock.Now())
	for range billsTurns {
		var busy []id.Organization
		for _, org := range orgs {
			more, err := b.turn(ctx, r, org)
			switch {
			case ctx.Err() != nil, failure.CodeOf(err) == mobilemoney.CodeAppKeyRefused:
				b.cfg.Logger.WarnContext(ctx, "bills wait", "org_id", org, "error", err)
				return
			case errors.Is(err, errBillsAway):
				b.cfg.Logger.WarnContext(ctx, "bills of an organization wait", "org_id", org, "error", err)
				if missed++; missed == billsMissed || b.cfg.Manager.Ready() != nil {
					return
				}
			case err != nil:
				b.cfg.Logger.ErrorContext(ctx, "bills of an organization wait", "org_id", org, "error", err)
			case more:
				busy = append(busy, org)
			}
		}
		if orgs = busy; len(orgs) == 0 {
			break
		}
	}
}

// fromAnother begins a list at another organization in each run, so that none is always behind one that takes long.
func fromAnother(orgs []id.Organization, now time.Time) []id.Organization {
	first := int(now.Unix()/int64(billsInterval/time.Second)) % len(orgs) //nolint:gosec // a time after 1970
	return append(slices.Clone(orgs[first:]), orgs[:first]...)
}

// due says what is to be done by now. Pauses and ages are lengths: what is later than any of them explains was recorded
// before the machine's clock was put back, and keeps nothing waiting.
func (b *Bills) due() paymentsviews.BillsDue {
	now := b.cfg.Clock.Now()
	return paymentsviews.BillsDue{
		Now: now, SettledBefore: now.Add(-ElsewhereAfter), LastSettled: now.Add(billsSlack),
		LastRetry: now.Add(billsRetries + billsSlack),
	}
}

// account is how the bill manager knows the platform, and where the vault has the key. Fails: bill_opt_in_not_found.
func (b *Bills) account(ctx context.Context) (by mobilemoney.Account, ref id.Secret, err error) {
	optIn, _, err := bus.LoadUnchecked[payments.BillOptIn](ctx, b.cfg.Bus, b.cfg.OptIn)
	switch {
	case err != nil:
		return by, ref, err
	case optIn.Key.IsZero():
		return by, ref, commands.ErrNoBillOptIn()
	}
	key, err := b.cfg.Secrets.Get(ctx, optIn.Key)
	return mobilemoney.Account{Credentials: b.cfg.Credentials, AppKey: secrets.Text(key)}, optIn.Key, err
}

// turn does a part of the work of one organization, and reports whether there may be more.
func (b *Bills) turn(ctx context.Context, r run, org id.Organization) (more bool, err error) {
	settings, _, err := bus.LoadUnchecked[payments.BillManager](ctx, b.cfg.Bus, org) // the id is the organization's own
	if err != nil {
		return false, err
	}
	t := &turn{Bills: b, run: r, org: org}
	rows, err := b.bills.Busy(ctx, org, b.due(), billsPage)
	if err != nil {
		return false, err
	}
	missed, err := t.oneByOne(ctx, rows)
	if err != nil {
		return false, err
	}
	if settings.Left {
		if err := t.leave(ctx); err != nil {
			return false, err
		}
	}
	waiting, err := b.bills.Waiting(ctx, org, b.due(), mobilemoney.MaxBills)
	switch {
	case err != nil:
		return false, err
	case !settings.On:
		err = t.recall(ctx, waiting, events.BillTurnedOff)
	case len(waiting) > 0:
		err = t.send(ctx, waiting)
	}
	if err = cmp.Or(err, missed); err != nil {
		return false, err
	}
	return t.worked > 0, b.cfg.Views.WaitFor(ctx, paymentsviews.BillsName, t.position)
}

// turn is the work on some bills of one organization.
type turn struct {
	*Bills
	run
	org      id.Organization
	worked   int
	position uint64 // of the last event
}

// do executes a command about a bill. Each command has an id of its own: what a bill has done already changes nothing.
func (t *turn) do(ctx context.Context, cmd commands.Command) error {
	meta := t.cause.Meta(cmd.CommandName())
	meta.CommandID, meta.OrgID, meta.Actor = id.New[id.Command](), t.org, platformActor
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportPatience)
	defer cancel()
	done, err := t.cfg.Bus.Execute(ctx, cmd, meta)
	if err == nil && done.Changed {
		t.noted(done.Position)
	}
	return err
}

// each executes a command about each of some bills, some of them side by side.
func (t *turn) each(ctx context.Context, n int, make func(i int) commands.Command) error {
	results := newResults(n)
	err := loop.Each(context.WithoutCancel(ctx), billsCrew, n, func(i int) error {
		one := &turn{Bills: t.Bills, run: t.run, org: t.org}
		err := one.do(ctx, make(i))
		results[i] = *one
		return err
	})
	t.gather(results)
	return err
}

// newResults has a place for each of n turns that go side by side.
func newResults(n int) []turn { return make([]turn, n) }

// gather adds what turns that went side by side have done.
func (t *turn) gather(list []turn) {
	for _, one := range list {
		t.worked += one.worked
		t.position = max(t.position, one.position)
	}
}

// noted counts a change.
func (t *turn) noted(position uint64) {
	t.worked++
	t.position = max(t.position, position)
}

// recall takes bills back.
func (t *turn) recall(ctx context.Context, rows []paymentsviews.BillRow, reason string) error {
	return t.each(ctx, len(rows), func(i int) commands.Command {
		return commands.RecallBill{InvoiceID: rows[i].InvoiceID, Reason: reason}
	})
}

// leave takes all bills back of an organization that takes money on a shortcode of its own.
func (t *turn) leave(ctx context.Context) error {
	rows, err := t.bills.Leaving(ctx, t.org, mobilemoney.MaxBills)
	if err != nil {
		return err
	}
	return t.recall(ctx, rows, events.BillTurnedOff)
}
