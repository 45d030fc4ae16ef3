package billingjobs_test

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs/billing"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// began is the time of these tests; it stands still.
var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// kit is a real log with accounts, series, the read models of invoices and numbers, and the process that issues.
type kit struct {
	*coretest.Kit
	views *runner.Views
	clock *clock.Manual
}

// newKit starts a kit. Without issuing, documents get numbers and stay drafts.
func newKit(t testing.TB, issuing bool, more ...runner.Projection) *kit {
	t.Helper()
	k := &kit{clock: clock.NewManual(began)}
	models := append([]runner.Projection{billingviews.Numbering{}, billingviews.Invoices{}}, more...)
	k.Kit = coretest.New(t, k.clock, models...)
	bus.Register(k.Bus, billing.Accounts())
	bus.Register(k.Bus, billing.NumberSeries())
	k.views = k.Show(t)
	if issuing {
		p := processrunner.New(processrunner.Config{Feed: k.Feed(t), DB: k.DB, Clock: k.clock, Bus: k.Bus})
		p.Register(invoicing.DocumentProcess())
		coretest.Start(t, "processes", p)
	}
	return k
}

// numberer is a numberer on the kit that does not run by itself.
func (k *kit) numberer() *billingjobs.Numberer {
	return billingjobs.NewNumberer(billingjobs.Config{
		Bus: k.Bus, Query: billingviews.NumberingQuery{Views: k.views}, Clock: k.clock, Logger: storetest.Quiet(),
	})
}

// draft drafts an invoice for a new subscriber of an organization.
func (k *kit) draft(ctx context.Context, org id.Organization, prefix string) (id.Invoice, error) {
	c := commands.DraftInvoice{
		SubscriberID: id.New[id.Subscriber](), OrgID: org, InvoiceID: id.New[id.Invoice](), Currency: money.KES,
		Lines:  []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: money.Major(1500, money.KES)}},
		Prefix: prefix, DueOn: calendar.Date{Year: 2026, Month: time.March, Day: 8},
	}
	_, err := k.Bus.Execute(ctx, c, coretest.Operator(org))
	return c.InvoiceID, err
}

// burst drafts many invoices, some at the same time.
func (k *kit) burst(t testing.TB, org id.Organization, prefix string, count int) {
	t.Helper()
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for n := worker; n < count; n += 8 {
				if _, err := k.draft(t.Context(), org, prefix); err != nil {
					t.Errorf("draft: %v", err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// grants lists the numbers of a series in the order of the log, over all its periods.
func (k *kit) grants(t testing.TB, org id.Organization, prefix string) (list []events.NumberGranted) {
	t.Helper()
	series := commands.SeriesOf(org, commands.InvoiceDocument, prefix)
	for position, done := uint64(0), false; !done; {
		page, err := k.Feed(t).Next(t.Context(), position, feed.Want(nil), 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			if g, ok := e.Event.(events.NumberGranted); ok && g.SeriesID == series {
				list = append(list, g)
			}
		}
		position = page.UpTo
		done = position >= k.Feed(t).Head()
	}
	return list
}

// checkSeries wants the numbers from 1 to count, each for a document of its own.
func checkSeries(t testing.TB, list []events.NumberGranted, count int) {
	t.Helper()
	if len(list) != count {
		t.Errorf("%d numbers for %d documents", len(list), count)
	}
	have := map[id.Any]bool{}
	for i, g := range list {
		if have[g.DocumentID] || g.Seq != int64(i)+1 {
			t.Fatalf("grant %d is %+v; its document had a number: %v", i, g, have[g.DocumentID])
		}
		have[g.DocumentID] = true
	}
}

// issuedAll waits until so many invoices of an organization are issued.
func (k *kit) issuedAll(t testing.TB, org id.Organization, count int, patience time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	q := billingviews.InvoicesQuery{Views: k.views}
	for {
		var left int
		_, err := k.views.WaitUntil(ctx, billingviews.InvoicesName, func(ctx context.Context) (bool, error) {
			drafts, err := q.List(ctx, org, billingviews.InvoiceFilter{State: "draft"}, billingviews.InvoiceKey{}, 1)
			left = len(drafts)
			return left == 0, err
		})
		switch {
		case err != nil:
			t.Fatalf("%d drafts are left: %v", left, err)
		case left == 0:
			return
		}
	}
}

// size is the number of drafts of the burst, and how long another organization's invoice may take: 1,500 in the tests,
// on a machine that others may share, or NUMBERING_DRAFTS on a calm one.
func size(t testing.TB) (drafts int, patience time.Duration) {
	text := os.Getenv("NUMBERING_DRAFTS")
	if text == "" {
		return 1500, 10 * time.Second
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("NUMBERING_DRAFTS: %v", err)
	}
	return n, time.Second
}

// A run's drafts get numbers without gap or repeat, and another organization's invoices are issued meanwhile, each
// within a second. `NUMBERING_DRAFTS=50000 go test -timeout 60m -run Burst ./jobs/billing` runs it at full size.
func TestNumberer_BurstHasNoGapsAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	k := newKit(t, true)
	acme, other := id.New[id.Organization](), id.New[id.Organization]()
	count, patience := size(t)
	k.burst(t, acme, "ACME", count)
	k.WaitForAll(t, k.views, billingviews.NumberingName, billingviews.InvoicesName)
	coretest.Start(t, "numbering", k.numberer())
	const singles = 5
	for range singles {
		k.issueOne(t, other, patience)
	}
	if left := count - len(k.grants(t, acme, "ACME")); left < count/2 {
		t.Errorf("the others waited for the burst: %d of %d are left", left, count)
	}
	started := clock.System().Now()
	k.issuedAll(t, acme, count, time.Minute+time.Duration(count)*50*time.Millisecond)
	t.Logf("%d drafts were issued after %s", count, clock.System().Now().Sub(started).Round(time.Millisecond))
	checkSeries(t, k.grants(t, acme, "ACME"), count)
	checkSeries(t, k.grants(t, other, "LAKE"), singles)
}

// issueOne drafts an invoice and waits until it is issued, which must not take longer than patience.
func (k *kit) issueOne(t testing.TB, org id.Organization, patience time.Duration) {
	t.Helper()
	began := clock.System().Now()
	invoice, err := k.draft(t.Context(), org, "LAKE")
	for final := false; !final && err == nil; {
		final, err = billingviews.InvoicesQuery{Views: k.views}.WaitFinal(t.Context(), org, invoice)
	}
	took := clock.System().Now().Sub(began)
	t.Logf("the single invoice was issued after %s", took.Round(time.Millisecond))
	if err != nil || took > patience {
		t.Errorf("the single invoice took %s: %v", took, err)
	}
}

// Two programs grant the same series at the same time, each from its own view of the log.
func TestNumberer_TwoProgramsGiveEachDocumentOneNumber(t *testing.T) {
	t.Parallel()
	k := newKit(t, true)
	coretest.Start(t, "numbering", k.numberer())
	coretest.Start(t, "numbering of another program", k.numberer())
	acme := id.New[id.Organization]()
	k.burst(t, acme, "ACME", 300)
	k.issuedAll(t, acme, 300, time.Minute)
	checkSeries(t, k.grants(t, acme, "ACME"), 300)
}

// Blocks follow the issues: what was granted and is not issued bounds what is granted next, for a minute at most.
func TestNumberer_NextBlockWaitsForTheIssuesOfTheLast(t *testing.T) {
	t.Parallel()
	k := newKit(t, false)
	n, acme := k.numberer(), id.New[id.Organization]()
	k.burst(t, acme, "ACME", 100)
	grant := func(want bool) {
		t.Helper()
		k.WaitForAll(t, k.views, billingviews.NumberingName)
		if got, _, err := n.Grant(t.Context()); got != want || err != nil {
			t.Fatalf("granted %v, want %v: %v", got, want, err)
		}
	}
	grant(true)
	grant(false)
	if list := k.grants(t, acme, "ACME"); len(list) != 64 {
		t.Errorf("the first block has %d numbers", len(list))
	}
	k.clock.Advance(time.Minute + time.Second) // their issue fails; the series goes on
	grant(true)
	grant(false)
	checkSeries(t, k.grants(t, acme, "ACME"), 100)
}

// A view that is behind the log, as while it is being built, proposes documents that have numbers: nothing is granted.
func TestNumberer_OldViewGrantsNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, false)
	acme := id.New[id.Organization]()
	k.burst(t, acme, "ACME", 3)
	k.WaitForAll(t, k.views, billingviews.NumberingName)
	list, err := billingviews.NumberingQuery{Views: k.views}.Documents(t.Context(),
		commands.SeriesOf(acme, commands.InvoiceDocument, "ACME"), began, 10)
	if err != nil || len(list) != 3 || list[0].Last != 0 {
		t.Fatalf("waiting %+v, %v", list, err)
	}
	if granted, _, err := k.numberer().Grant(t.Context()); !granted || err != nil {
		t.Fatalf("granted %v, %v", granted, err)
	}
	old := commands.GrantNumbers{
		SeriesID: commands.SeriesOf(acme, commands.InvoiceDocument, "ACME"), OrgID: acme,
		Document: commands.InvoiceDocument, Prefix: "ACME",
	}
	for _, d := range list {
		old.Documents = append(old.Documents, commands.NumberedDocument{
			DocumentID: d.DocumentID, SubscriberID: d.SubscriberID,
		})
	}
	if done := k.Run(t, coretest.Operator(acme), old); done.Changed {
		t.Error("documents got a second number")
	}
	checkSeries(t, k.grants(t, acme, "ACME"), 3)
}

// The organization with the fewest documents on their way comes first.
func TestNumberer_SmallSeriesComesBeforeALargeOne(t *testing.T) {
	t.Parallel()
	k := newKit(t, false)
	n, acme, other := k.numberer(), id.New[id.Organization](), id.New[id.Organization]()
	k.burst(t, acme, "ACME", 30)
	k.WaitForAll(t, k.views, billingviews.NumberingName)
	if granted, _, err := n.Grant(t.Context()); !granted || err != nil {
		t.Fatalf("granted %v, %v", granted, err)
	}
	k.burst(t, acme, "ACME", 10)
	k.burst(t, other, "LAKE", 1)
	k.WaitForAll(t, k.views, billingviews.NumberingName)
	if granted, _, err := n.Grant(t.Context()); !granted || err != nil {
		t.Fatalf("granted %v, %v", granted, err)
	}
	if a, o := len(k.grants(t, acme, "ACME")), len(k.grants(t, other, "LAKE")); a != 30 || o != 1 {
		t.Errorf("%d and %d numbers: the large series came first", a, o)
	}
}

// tries is a clock that tells of each look at the series.
type tries struct {
	clock.Clock
	made chan struct{}
}

// Now implements clock.Clock.
func (c tries) Now() time.Time {
	select {
	case c.made <- struct{}{}:
	default:
	}
	return c.Clock.Now()
}

// TestNumberer_ADatabaseThatIsAwayFillsNoLog: it tries again and again, and tells it once.
func TestNumberer_ADatabaseThatIsAwayFillsNoLog(t *testing.T) {
	t.Parallel()
	k := newKit(t, false)
	var lines strings.Builder
	c := tries{k.clock, make(chan struct{})}
	n := billingjobs.NewNumberer(billingjobs.Config{
		Bus: k.Bus, Query: billingviews.NumberingQuery{Views: k.views}, Clock: c,
		Logger: slog.New(slog.NewTextHandler(&lines, nil)),
	})
	k.DB.Close()
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		<-c.made
	}
	n.Stop()
	if told := strings.Count(lines.String(), "numbers are not granted"); told != 1 {
		t.Errorf("told %d times:\n%s", told, lines.String())
	}
}
