package reportscases

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// mostHeld is how many held runs are told of; each day waits for the one before.
const mostHeld = 3

// held tells what waits for a person because far more of it would happen than usual.
func (r reading) held(ctx context.Context) error {
	runs, err := billingviews.RunsQuery{Views: r.Views}.List(ctx, r.org, "held", billingviews.RunKey{}, mostHeld)
	if err != nil {
		return err
	}
	for _, run := range runs {
		r.out.Faults = append(r.out.Faults, Fault{
			Kind: RunHeld, Root: Root{RootRun, run.ID.String(), run.Day().String()}, Since: null.Zero(run.HeldAt),
			Message: fmt.Sprintf("The billing run of %s is held: %d invoices, %d at most before.", run.Day(),
				null.Zero(run.Due), null.Zero(run.Usual)),
		})
	}
	if err := r.notInvoiced(ctx); err != nil {
		return err
	}
	if err := r.stillBatches(ctx); err != nil {
		return err
	}
	fuses, err := billingviews.FusesQuery{Views: r.Views}.List(ctx, r.org)
	if err != nil {
		return err
	}
	for _, fuse := range fuses {
		if !fuse.Held {
			continue
		}
		fault := Fault{
			Kind: CutsHeld, Root: Root{RootFuse, fuse.ID.String(), fuse.Day().String()}, Since: fuse.HeldAt,
			Message: fmt.Sprintf("Nobody else is cut: %d were on this day, %d at most before.", fuse.Count, fuse.Usual),
		}
		if fuse.Kind == events.FuseMessages {
			fault.Kind = MessagesHeld
			fault.Message = fmt.Sprintf("No more messages go: %d went on this day, %d at most before.", fuse.Count,
				fuse.Usual)
		}
		r.out.Faults = append(r.out.Faults, fault)
	}
	return r.tax(ctx)
}

// notInvoiced tells of the newest run that is finished, when it could not invoice everybody. Older ones do not count:
// who was left out is due again in each run after it.
func (r reading) notInvoiced(ctx context.Context) error {
	runs, err := billingviews.RunsQuery{Views: r.Views}.List(ctx, r.org, "finished", billingviews.RunKey{}, 1)
	if err != nil || len(runs) == 0 || runs[0].Failed == 0 {
		return err
	}
	run := runs[0]
	r.out.Faults = append(r.out.Faults, Fault{
		Kind: RunFailed, Root: Root{RootRun, run.ID.String(), run.Day().String()}, Since: null.Zero(run.FinishedAt),
		Message: fmt.Sprintf("The billing run of %s did not invoice everybody: %d are left.", run.Day(), run.Failed),
		Effects: []Effect{{Kind: NotInvoiced, Count: run.Failed}},
	})
	return nil
}

// batchPatience is how long nothing may be done on a batch: each part of one is tried again within minutes.
const batchPatience = time.Hour

// stillBatches tells of batches that do not go on, though they are not at their end.
func (r reading) stillBatches(ctx context.Context) error {
	since := r.Clock.Now().Add(-batchPatience)
	list, err := billingviews.BatchesQuery{Views: r.Views}.Still(ctx, r.org, since, mostHeld)
	for _, b := range list {
		name := cmp.Or(b.Title, b.Kind)
		r.out.Faults = append(r.out.Faults, Fault{
			Kind: BatchStill, Root: Root{RootBatch, b.ID.String(), name}, Since: b.Since,
			Message: fmt.Sprintf("A batch does not go on: %s.", name),
		})
	}
	return err
}

// tax tells which documents the tax authority has refused, and which have waited too long for it.
func (r reading) tax(ctx context.Context) error {
	open, err := billingviews.SignaturesQuery{Views: r.Views}.Attention(ctx, r.org, r.Clock.Now())
	if err != nil {
		return err
	}
	if open.Late > 0 {
		r.out.Faults = append(r.out.Faults, Fault{
			Kind: TaxLate, Root: Root{RootTax, "", strconv.Itoa(open.Late)}, Since: null.Zero(open.LateSince),
			Message: fmt.Sprintf("%d documents have waited for the tax authority for an hour or longer.", open.Late),
		})
	}
	if open.Refused > 0 {
		r.out.Faults = append(r.out.Faults, Fault{
			Kind: TaxRefused, Root: Root{RootTax, "", strconv.Itoa(open.Refused)}, Since: null.Zero(open.RefusedSince),
			Message: fmt.Sprintf("The tax authority has refused %d documents.", open.Refused),
		})
	}
	return r.webhooks(ctx)
}

// webhooks tells which of the organization's own systems are told of nothing, because nothing could be delivered.
func (r reading) webhooks(ctx context.Context) error {
	list, err := webhooksviews.EndpointsQuery{Views: r.Views}.Failing(ctx, r.org)
	for _, e := range list {
		r.out.Faults = append(r.out.Faults, Fault{
			Kind: WebhookDisabled, Root: Root{RootWebhook, e.ID.String(), e.Name()}, Since: e.StateAt,
			Message: fmt.Sprintf("%s is told of nothing: every delivery to it failed for days.", e.Name()),
		})
	}
	return err
}
