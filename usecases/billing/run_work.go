package billingcases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// RunWork works billing runs: it invoices what is due by the end of a day. A run that is killed at any moment begins
// again with what is left: the read model tells what to look at, and each subscription decides for itself. Safe for
// concurrent use.
type RunWork struct {
	Bus    *bus.Bus
	Views  *runner.Views
	Clock  clock.Clock
	Logger *slog.Logger
}

// How a run works.
const (
	// runPage is the number of subscriptions that are read at a time.
	runPage = commands.MaxNumberBlock
	// runCrew is the number of them that are asked at the same time. The more, the more share each write of the log.
	runCrew = 256
)

// mostPeriods is how many postpaid periods of one subscription a run makes: as many weeks as there are in two years.
const mostPeriods = 104

// ErrRunBehind is the failure of Work when read models do not show the end of the log yet. Nothing was done.
var ErrRunBehind = errors.New("read models are behind the log")

// Work makes the invoices that are due in one organization, or holds the run. meta makes the metadata of its commands
// from their names. Fails: ErrRunBehind, organization_not_found, and as the log and the read models do; a repeat goes
// on.
func (w RunWork) Work(ctx context.Context, job commands.MakeInvoicesDue, meta func(string) commands.Meta) error {
	settings, err := usecases.BillingSettings(ctx, w.Bus, job.OrgID)
	if err != nil {
		return fmt.Errorf("settings of organization %s: %w", job.OrgID, err)
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return err
	}
	if shown, err := w.shown(ctx); err != nil || !shown {
		return cmp.Or(err, ErrRunBehind)
	}
	r := &makingRun{
		RunWork: w, job: job, metaOf: meta, by: billingviews.DueUntil(job.Date, zone, w.Clock.Now()),
	}
	began, err := r.begin(ctx)
	if err != nil || !began {
		return err
	}
	if err := r.makeAll(ctx); err != nil {
		return err
	}
	_, err = w.Bus.Execute(ctx, commands.FinishBillingRun{
		RunID: job.RunID, Failed: int(r.failed.Load()), Failures: r.failures,
	}, meta("finish"))
	return err
}

// shown waits until the read models show all that the log has.
func (w RunWork) shown(ctx context.Context) (bool, error) {
	now := func(context.Context) (bool, error) { return true, nil }
	for _, name := range []string{billingviews.DueName, billingviews.RunsName} {
		if ok, err := w.Views.WaitWhole(ctx, name, now); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// makingRun is one attempt of a run.
type makingRun struct {
	RunWork
	job      commands.MakeInvoicesDue
	metaOf   func(name string) commands.Meta
	by       billingviews.DueBy
	failed   atomic.Int64
	mu       sync.Mutex
	failures []events.BillingFailure
}

// begin counts what is due, and reports whether the run goes on.
func (r *makingRun) begin(ctx context.Context) (bool, error) {
	runs := billingviews.RunsQuery{Views: r.Views}
	due, err := billingviews.DueQuery{Views: r.Views}.Count(ctx, r.job.OrgID, r.by)
	if err != nil {
		return false, fmt.Errorf("count what is due: %w", err)
	}
	usual, err := runs.Usual(ctx, r.job.OrgID, r.job.Date)
	if err != nil {
		return false, fmt.Errorf("look for the usual: %w", err)
	}
	row, err := runs.Get(ctx, r.job.OrgID, r.job.RunID)
	if err != nil {
		return false, fmt.Errorf("read run %s: %w", r.job.RunID, err)
	}
	if row != nil {
		due += row.Made
	}
	if r.job.Again {
		again, err := billingviews.DueQuery{Views: r.Views}.CountAgain(ctx, r.job.OrgID, r.job.RunID, r.by)
		if err != nil {
			return false, fmt.Errorf("count what waits since an undo: %w", err)
		}
		due += again
	}
	_, err = r.Bus.Execute(ctx, commands.BeginBillingRun{RunID: r.job.RunID, Due: due, Usual: usual},
		r.metaOf("begin"))
	if err != nil {
		return false, err
	}
	run, _, err := bus.LoadOwned[billing.Run](ctx, r.Bus, r.job.OrgID, r.job.RunID)
	return run.State == billing.RunBegan, err
}

// makeAll takes the subscriptions page by page, so that memory does not grow with their number.
func (r *makingRun) makeAll(ctx context.Context) error {
	due := billingviews.DueQuery{Views: r.Views}
	if r.job.Again {
		err := r.makeEach(ctx, func(after billingviews.DueKey) ([]billingviews.DueRow, error) {
			return due.ListAgain(ctx, r.job.OrgID, r.job.RunID, after, runPage)
		})
		if err != nil {
			return err
		}
	}
	return r.makeEach(ctx, func(after billingviews.DueKey) ([]billingviews.DueRow, error) {
		return due.List(ctx, r.job.OrgID, r.by, after, runPage)
	})
}

// makeEach makes the pages that next gives, until one is empty.
func (r *makingRun) makeEach(
	ctx context.Context, next func(after billingviews.DueKey) ([]billingviews.DueRow, error),
) error {
	var after billingviews.DueKey
	for {
		page, err := next(after)
		if err != nil {
			return fmt.Errorf("list what is due: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		if err := r.makePage(ctx, page); err != nil {
			return err
		}
		after = page[len(page)-1].DueKey
	}
}

// makePage makes the invoices of some subscriptions: it makes their periods due and drafts their invoices side by side,
// numbers all drafts in one append, and issues them. It fails when the log is away, so that the job comes again; the
// processes of invoices finish what was begun (docs/rules/billing.md#billing-runs).
func (r *makingRun) makePage(ctx context.Context, page []billingviews.DueRow) error {
	settings, err := usecases.BillingSettings(ctx, r.Bus, r.job.OrgID)
	if err != nil {
		return err
	}
	numbers := numberBlocks{
		makingRun: r, prefix: settings.InvoicePrefix, until: r.Clock.Now().Add(ownTime),
		series: commands.SeriesOf(r.job.OrgID, commands.InvoiceDocument, settings.InvoicePrefix),
	}
	if err := numbers.look(ctx); err != nil {
		return err
	}
	drafts := make([][]commands.DraftInvoice, len(page))
	err = loop.Each(ctx, runCrew, len(page), func(n int) error {
		err := loop.Try(func() (err error) {
			drafts[n], err = r.draft(ctx, settings, page[n])
			return err
		})
		return r.refused(ctx, page[n].SubscriptionID, err)
	})
	if err != nil {
		return err
	}
	var invoices []commands.DraftInvoice
	for _, list := range drafts {
		invoices = append(invoices, list...)
	}
	for block := range slices.Chunk(invoices, commands.MaxNumberBlock) {
		if err := r.issue(ctx, &numbers, block); err != nil {
			return err
		}
	}
	return nil
}

// ownTime is how long nobody else grants numbers to what a page has drafted: less than the read model of numbers keeps
// them for the run, because the clocks of two programs differ.
const ownTime = 15 * time.Second

// numberBlocks grants numbers to what a page has drafted.
type numberBlocks struct {
	*makingRun
	series id.Series
	prefix string
	until  time.Time // from then on the batcher of numbers may have granted some
	last   int64     // number of the series, granted before the drafts were made or to other documents
}

// look reads the last number of the series.
func (b *numberBlocks) look(ctx context.Context) error {
	state, _, err := bus.LoadOwned[billing.Numbering](ctx, b.Bus, b.job.OrgID, b.series)
	if err != nil && failure.KindOf(err) != failure.NotFound {
		return err
	}
	b.last = state.Last
	return nil
}

// grant gives the next numbers to drafts. It gives none when the time is over: then they wait for the batcher, like
// any other document.
func (b *numberBlocks) grant(ctx context.Context, drafts []commands.DraftInvoice) ([]events.Event, error) {
	block := commands.GrantNumbers{
		SeriesID: b.series, OrgID: b.job.OrgID, Document: commands.InvoiceDocument, Prefix: b.prefix,
		RunID: b.job.RunID, Documents: make([]commands.NumberedDocument, len(drafts)),
	}
	for i, d := range drafts {
		block.Documents[i] = commands.NumberedDocument{
			DocumentID: id.As[id.Any](d.InvoiceID), SubscriberID: d.SubscriberID,
		}
	}
	for b.Clock.Now().Before(b.until) { // asked after the last number was read
		block.After = b.last
		done, err := b.Bus.Execute(ctx, block, b.meta("number"))
		if err != nil {
			return nil, err
		}
		if done.Changed {
			b.last += int64(len(drafts))
			return done.Events, nil
		}
		if err := b.look(ctx); err != nil { // somebody else's document was numbered
			return nil, err
		}
	}
	return nil, nil
}

// draft makes the periods of a subscription due that are due, one of a prepaid one and all that have begun of a
// postpaid one, and drafts their invoices.
func (r *makingRun) draft(
	ctx context.Context, settings events.BillingSettings, row billingviews.DueRow,
) (drafts []commands.DraftInvoice, err error) {
	for range mostPeriods {
		done, err := r.Bus.Execute(ctx, commands.MakePeriodDue{
			SubscriptionID: row.SubscriptionID, On: r.job.Date, RunID: r.job.RunID, Again: r.job.Again,
		}, r.meta("due"))
		if err != nil {
			return drafts, err
		}
		for _, e := range done.Events {
			period, ok := e.(events.PeriodDue)
			if !ok {
				continue
			}
			draft, drafted, err := r.draftOne(ctx, settings, period)
			if err != nil {
				return drafts, err
			}
			if drafted { // otherwise its process was faster, and has it numbered
				drafts = append(drafts, draft)
			}
		}
		if !done.Changed || row.Prepaid {
			return drafts, nil
		}
	}
	return drafts, nil
}

// draftOne drafts the invoice of a period, and reports false when it was drafted before.
func (r *makingRun) draftOne(
	ctx context.Context, settings events.BillingSettings, period events.PeriodDue,
) (commands.DraftInvoice, bool, error) {
	asked := commands.DraftOf(period)
	called, err := extrasCalled(ctx, r.Bus, asked)
	if err != nil {
		return commands.DraftInvoice{}, false, err
	}
	draft, err := DraftUnder(settings, asked, called)
	if err != nil {
		return draft, false, err
	}
	done, err := r.Bus.Execute(ctx, draft, r.meta("draft"))
	return draft, done.Changed, err
}

// issue numbers drafts and issues them.
func (r *makingRun) issue(ctx context.Context, numbers *numberBlocks, drafts []commands.DraftInvoice) error {
	granted, err := numbers.grant(ctx, drafts)
	if err != nil {
		return err
	}
	return loop.Each(ctx, runCrew, len(granted), func(n int) error {
		number, _ := granted[n].(events.NumberGranted)
		err := loop.Try(func() error {
			_, err := r.Bus.Execute(ctx, commands.IssueInvoice{
				SubscriberID: drafts[n].SubscriberID, InvoiceID: drafts[n].InvoiceID, Number: number.Number,
			}, r.meta("issue"))
			return err
		})
		return r.refused(ctx, drafts[n].SubscriptionID, err)
	})
}

// meta is that of a command of the run. Each has an id of its own, because the states decide what is to be done again.
func (r *makingRun) meta(name string) commands.Meta {
	meta := r.metaOf(name)
	meta.CommandID, meta.CorrelationID = id.New[id.Command](), r.job.RunID.String()
	return meta
}

// refused notes a subscription whose invoice could not be made, if err says so: it stays due for a later run, or its
// processes go on with it. An error that comes from an outage is returned.
func (r *makingRun) refused(ctx context.Context, subscription id.Subscription, err error) error {
	if err == nil || usecases.Away(ctx, err) {
		return err
	}
	r.Logger.WarnContext(ctx, "an invoice was not made", "run", r.job.RunID.String(),
		"subscription", subscription.String(), "error", err, "stack", loop.StackOf(err))
	r.failed.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failures) < commands.MaxBillingFailures {
		r.failures = append(r.failures,
			events.BillingFailure{SubscriptionID: subscription, Code: usecases.ItemCode(err)})
	}
	return nil
}
