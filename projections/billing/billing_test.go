package billingviews_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// kit is the billing read models on a log in memory.
type kit struct {
	log         *feedtest.Log
	runner      *runner.Runner
	invoices    billingviews.InvoicesQuery
	statement   billingviews.StatementQuery
	collections billingviews.CollectionsQuery
}

// newKit starts the read models on an empty log.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{log: feedtest.New()}
	k.runner = runner.New(runner.Config{
		Feed: feedtest.Start(t, k.log), DB: pgtest.New(t), Clock: clock.NewManual(began),
	})
	k.runner.Register(billingviews.Invoices{}, billingviews.Statement{}, billingviews.Collections{},
		billingviews.Numbering{}, billingviews.Batches{})
	if err := k.runner.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(k.runner.Stop)
	k.invoices = billingviews.InvoicesQuery{Views: k.runner.Views()}
	k.statement = billingviews.StatementQuery{Views: k.runner.Views()}
	k.collections = billingviews.CollectionsQuery{Views: k.runner.Views()}
	return k
}

// tell appends events one by one, a minute apart, and waits until each is shown.
func (k *kit) tell(t *testing.T, org id.Organization, list ...events.Event) {
	t.Helper()
	for _, e := range list {
		position := k.log.Append(events.Metadata{OrgID: org, At: at(len(k.log.Events()))}, e)
		for _, name := range []string{
			billingviews.InvoicesName, billingviews.StatementName, billingviews.CollectionsName,
			billingviews.NumberingName, billingviews.BatchesName,
		} {
			coretest.WaitFor(t, k.runner.Views(), position, name)
		}
	}
}

// projectiontest compares the rows when the events come together, singly and twice.
func TestReadModels_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	for _, p := range []runner.Projection{billingviews.Invoices{}, billingviews.Statement{}} {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			s := projectiontest.NewStory(acme, began)
			for _, e := range slices.Concat(story(), losses(), onBillingDay(), carriedAndBack(dora)) {
				s.Add("account-story", e)
			}
			projectiontest.Check(t, p, s)
		})
	}
}

func TestInvoices_Filters(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, story()...)
	yes, no := true, false
	day := func(d int) calendar.Date { return calendar.Date{Year: 2026, Month: 3, Day: d} }
	for name, c := range map[string]struct {
		org    id.Organization
		filter billingviews.InvoiceFilter
		want   []int
	}{
		"all, newest first": {acme, billingviews.InvoiceFilter{}, []int{7, 6, 5, 4, 3, 2, 1}},
		"of a subscriber":   {acme, billingviews.InvoiceFilter{SubscriberID: brian}, []int{7, 6, 4}},
		"paid":              {acme, billingviews.InvoiceFilter{State: "paid"}, []int{5, 4}},
		"partially paid":    {acme, billingviews.InvoiceFilter{State: "partially_paid"}, []int{1}},
		"voided":            {acme, billingviews.InvoiceFilter{State: "voided"}, []int{7, 3, 2}},
		"draft":             {acme, billingviews.InvoiceFilter{State: "draft"}, []int{6}},
		"overdue":           {acme, billingviews.InvoiceFilter{Overdue: &yes, Today: day(11)}, []int{1}},
		"due today":         {acme, billingviews.InvoiceFilter{Overdue: &yes, Today: day(10)}, nil},
		"not overdue": {
			acme, billingviews.InvoiceFilter{Overdue: &no, Today: day(11)}, []int{7, 6, 5, 4, 3, 2},
		},
		"of somebody, not voided": {acme, billingviews.InvoiceFilter{SubscriberID: amina, State: "paid"}, []int{5}},
		"of another tenant":       {other, billingviews.InvoiceFilter{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, err := k.invoices.List(t.Context(), c.org, c.filter, billingviews.InvoiceKey{}, 100)
			if err != nil {
				t.Fatal(err)
			}
			var want, got []id.Invoice
			for _, n := range c.want {
				want = append(want, invoiceID(n))
			}
			for _, r := range rows {
				got = append(got, r.ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("invoices (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvoices_PagesVisitEveryRowOnceWhileRowsAreAdded(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for n := range 5 {
		k.tell(t, acme, drafted(n, amina, 100, 0, 10)) // all drafted in one minute: the id decides the order
	}
	var seen []id.Invoice
	var after billingviews.InvoiceKey
	for page := 0; ; page++ {
		rows, err := k.invoices.List(t.Context(), acme, billingviews.InvoiceFilter{}, after, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			seen = append(seen, r.ID)
		}
		after = billingviews.InvoiceKey{DraftedAt: rows[len(rows)-1].DraftedAt, ID: rows[len(rows)-1].ID}
		k.tell(t, acme, drafted(100+page, amina, 100, 1+page, 10)) // newer than the key: not on later pages
	}
	for n := range 5 {
		if !slices.Contains(seen, invoiceID(n)) {
			t.Errorf("invoice %d was not visited", n)
		}
	}
	if len(seen) != 5 {
		t.Errorf("%d rows were visited, want 5", len(seen))
	}
}

func TestInvoices_GetShowsWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, story()...)
	d, err := k.invoices.Get(t.Context(), acme, invoiceID(1))
	if err != nil || d == nil {
		t.Fatalf("invoice: %v, %v", d, err)
	}
	if d.Number != "ACME-0001" || d.State != "partially_paid" || d.Total() != kes(116000) || d.Paid() != kes(60000) ||
		d.Due() != kes(36000) || d.Credited() != kes(20000) {
		t.Errorf("invoice is %s %s: total %s, paid %s, due %s", d.Number, d.State, d.Total(), d.Paid(), d.Due())
	}
	var sum int64
	for _, a := range d.Allocations {
		sum += a.AmountMinor
	}
	if len(d.Allocations) != 1 || sum != d.PaidMinor || len(d.CreditNotes) != 1 ||
		d.CreditNotes[0].Number != "ACME-CN-0001" {
		t.Errorf("allocations %+v, credit notes %+v", d.Allocations, d.CreditNotes)
	}
	if !d.Overdue(calendar.Date{Year: 2026, Month: 3, Day: 11}) || d.Overdue(calendar.Date{
		Year: 2026, Month: 3, Day: 10,
	}) {
		t.Error("it is overdue on the 11th, not on the 10th")
	}
	if d, err := k.invoices.Get(t.Context(), other, invoiceID(1)); d != nil || err != nil {
		t.Errorf("another tenant got %v, %v", d, err)
	}
}

func TestInvoices_WaitFinalSeesTheIssue(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, drafted(1, amina, 100, 0, 10))
	waited := make(chan error, 1)
	go func() {
		final, err := k.invoices.WaitFinal(context.Background(), acme, invoiceID(1))
		if err == nil && !final {
			err = fmt.Errorf("still a draft")
		}
		waited <- err
	}()
	k.tell(t, acme, issued(1, amina, 100, 1, 10))
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

// TestStatement_KindsAreThoseOfLines reads them from the source, so that none is without words.
func TestStatement_KindsAreThoseOfLines(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("statement.go")
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, found := range regexp.MustCompile(`kind: +"([a-z_]+)"`).FindAllSubmatch(source, -1) {
		written = append(written, string(found[1]))
	}
	slices.Sort(written)
	if diff := cmp.Diff(slices.Compact(written), billingviews.StatementKinds()); diff != "" {
		t.Errorf("(-written +kinds)\n%s", diff)
	}
	taken := billingviews.StatementRow{Kind: "write_off_recovered", Number: "ACME-0001", DebitMinor: -100}
	if said := taken.Description(); said != "Written-off invoice ACME-0001 no longer paid" {
		t.Errorf("%q", said)
	}
	refund := billingviews.StatementRow{Kind: "refund_failed"} // of money without a number
	if said := refund.Description(); said != "Refund of payment failed" {
		t.Errorf("%q", said)
	}
}

func TestStatement_RunningBalanceAndCauses(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, story()...)
	rows, err := k.statement.Lines(t.Context(), acme, amina, billingviews.StatementKey{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(rows)
	var got []string
	var received, balance int64
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s | %s | %s | %s | %s | %s", r.Kind, r.Description(), r.Debit().Decimal(),
			r.Credit().Decimal(), r.Balance().Decimal(), r.CauseType))
		received += r.CreditMinor
		if balance += r.DebitMinor - r.CreditMinor; balance != r.BalanceMinor {
			t.Errorf("balance is %d after %s, want %d", r.BalanceMinor, r.Description(), balance)
		}
	}
	want := []string{
		"invoice | Invoice ACME-0001 | 1160.00 | 0.00 | 1160.00 | invoice",
		"payment | Payment QGH0000001 by paybill | 0.00 | 400.00 | 760.00 | receipt",
		"invoice | Invoice ACME-0002 | 50.00 | 0.00 | 810.00 | invoice",
		"invoice_voided | Invoice ACME-0002 voided: typo | -50.00 | 0.00 | 760.00 | invoice",
		"payment | Payment QGH0000002 by phone prompt | 0.00 | 600.00 | 160.00 | receipt",
		"credit_note | Credit note ACME-CN-0001 for invoice ACME-0001: outage | -200.00 | 0.00 | -40.00 | credit_note",
		"payment_withdrawn | Payment QGH0000001 withdrawn: reversed | 0.00 | -400.00 | 360.00 | receipt",
		"invoice | Invoice ACME-0005 | 0.00 | 0.00 | 360.00 | invoice",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if received != 60000 { // the withdrawn payment is subtracted
		t.Errorf("credits sum to %d", received)
	}
}

func TestStatement_BalancesAndPages(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, story()...)
	for subscriber, want := range map[id.Subscriber]string{amina: "360.00", brian: "-340.00"} {
		newest, err := k.statement.Lines(t.Context(), acme, subscriber, billingviews.StatementKey{}, 1)
		if err != nil || len(newest) != 1 || newest[0].Balance().Decimal() != want {
			t.Errorf("newest line %+v, %v; want a balance of %s", newest, err, want)
		}
	}
	if rows, err := k.statement.Lines(t.Context(), other, amina, billingviews.StatementKey{}, 1); len(rows) > 0 ||
		err != nil {
		t.Errorf("another tenant got %v, %v", rows, err)
	}
	first, err := k.statement.Lines(t.Context(), acme, amina, billingviews.StatementKey{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := k.statement.Lines(t.Context(), acme, amina, billingviews.StatementKey{Position: first[2].Position},
		100)
	if err != nil || len(first)+len(rest) != 8 || rest[0].Position >= first[2].Position {
		t.Errorf("pages of %d and %d lines, %v", len(first), len(rest), err)
	}
}
