package billingviews_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// TestRuns_APageLosesNobodyWhoseInvoiceIsDraftedMeanwhile: a run has three invoices, one of which its process drafts
// after the first page was read, as after a failure of the run. All three are to be told of.
func TestRuns_APageLosesNobodyWhoseInvoiceIsDraftedMeanwhile(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(billingviews.Due{}, billingviews.Runs{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	happens := func(list ...events.Event) {
		for _, e := range list {
			last := log.Append(events.Metadata{OrgID: acme, At: at(1)}, e)
			coretest.WaitFor(t, r.Views(), last, billingviews.RunsName)
		}
	}
	forPeriod := func(n, of int, minor int64) events.Event {
		d := drafted(n, amina, minor, n, 20)
		d.SubscriptionID = line(of)
		return d
	}
	happens(
		events.BillingRunRequested{RunID: runOne, OrgID: acme, Date: runDay, At: at(0)},
		due(1, 3, time.Time{}, runOne), due(2, 4, time.Time{}, runOne), due(3, 5, time.Time{}, runOne),
		forPeriod(3, 1, 1500_00), forPeriod(4, 2, 700_00),
		events.BillingRunFinished{RunID: runOne, OrgID: acme, Date: runDay, Failed: 1, At: at(1)},
	)
	q := billingviews.RunsQuery{Views: r.Views()}
	var told []id.Invoice
	page := func(after id.Invoice) id.Invoice {
		rows, err := q.MadeFrom(t.Context(), acme, billingviews.MadePart{RunID: runOne, After: after, Max: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			return id.Invoice{}
		}
		told = append(told, rows[0].InvoiceID)
		return rows[0].InvoiceID
	}
	after := page(id.Invoice{})
	happens(forPeriod(5, 3, 2000_00))
	for !after.IsZero() {
		after = page(after)
	}
	// Of a run that is repeated later, nothing is news any more.
	rows, err := q.MadeFrom(t.Context(), acme, billingviews.MadePart{RunID: runOne, Since: at(2), Max: 9})
	if err != nil || len(rows) > 0 {
		t.Errorf("made since: %v, %v", rows, err)
	}
	slices.SortFunc(told, func(a, b id.Invoice) int { return bytes.Compare(a[:], b[:]) })
	want := []id.Invoice{invoiceID(3), invoiceID(4), invoiceID(5)}
	slices.SortFunc(want, func(a, b id.Invoice) int { return bytes.Compare(a[:], b[:]) })
	if !slices.Equal(told, want) {
		t.Errorf("told of %v", told)
	}
}
