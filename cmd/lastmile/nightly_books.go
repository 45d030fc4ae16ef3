package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// When books are checked by themselves.
const (
	// booksHour is the hour of the organization's local time from which its books of the day before are checked.
	booksHour = 3
	// booksEvery is the time between two looks at which organizations are due, by the clock that can be moved. The
	// first look follows so long after the start: then every organization is due, so that the metric is known again.
	booksEvery = 15 * time.Minute
	// secondLook is the time, by the machine's clock, after which faults are looked at again before they count. After
	// the clock was moved, everything is late for a moment.
	secondLook = time.Minute
	// booksPatience bounds one check, so that a log that does not answer does not keep the other organizations waiting.
	booksPatience = time.Hour
)

// codeUnchecked stands in the metric for organizations whose books could not be checked.
const codeUnchecked = "not_checked"

// booksFaultsDesc is the metric that alarms on.
var booksFaultsDesc = prometheus.NewDesc("lastmile_books_faults",
	"Faults that the nightly check of the books has found, by code; not_checked counts organizations.",
	[]string{"code"}, nil)

// nightlyBooks checks the books of every organization once in each of its nights. Of several programs only one does
// it, until it ends. It changes nothing in the books.
type nightlyBooks struct {
	doctor bookscases.Doctor
	clock  clock.Clock
	db     *postgres.DB
	logger *slog.Logger
	loops  *loop.Group
	again  time.Duration // secondLook, but for tests

	mu      sync.Mutex
	leading bool                               // this program checks, and no other one does
	checked map[id.Organization]calendar.Date  // the latest night whose check is done; only run uses it
	results map[id.Organization]map[string]int // faults by code
}

// startNightlyBooks starts the check of the books and shows its metric.
func (a *App) startNightlyBooks(ctx context.Context) error {
	n := newNightlyBooks(newDoctor(a.storage, a.clock), a.clock, a.storage.db, a.logger)
	if err := a.metrics.Register(n); err != nil {
		return err
	}
	return a.life.startBeside(ctx, "nightly check of the books", stopEngines, n)
}

// newNightlyBooks makes the check without starting it.
func newNightlyBooks(
	doctor bookscases.Doctor, c clock.Clock, db *postgres.DB, logger *slog.Logger,
) *nightlyBooks {
	return &nightlyBooks{
		doctor: doctor, clock: c, db: db, logger: logger, loops: loop.New(logger), again: secondLook,
		checked: map[id.Organization]calendar.Date{}, results: map[id.Organization]map[string]int{},
	}
}

// Start begins the loop; it never fails.
func (n *nightlyBooks) Start(ctx context.Context) error {
	return n.loops.Start(ctx, func(context.Context) error {
		n.loops.Go("nightly check of the books", n.run)
		return nil
	})
}

// Stop ends the loop and breaks off a check that is under way.
func (n *nightlyBooks) Stop() { n.loops.Stop() }

// run looks again and again for organizations whose night has come, while no other program does it.
func (n *nightlyBooks) run(ctx context.Context) {
	var lock *postgres.Lock
	defer func() { n.follow(lock) }()
	for ctx.Err() == nil {
		if lock != nil && lock.Ping(ctx) != nil {
			n.follow(lock)
			lock = nil
		}
		if lock == nil {
			lock, _, _ = n.db.TryLock(ctx, "nightly books") // tried again in the next round
		}
		n.leads(lock != nil)
		if !loop.SleepUntil(ctx, n.clock, n.clock.Now().Add(booksEvery)) {
			return
		}
		if lock != nil {
			n.round(ctx)
		}
	}
}

// follow gives the lead up; nil is no lead.
func (n *nightlyBooks) follow(lock *postgres.Lock) {
	if lock != nil {
		lock.Unlock()
	}
}

// leads notes whether this program checks the books. One that stops to check them forgets what it has found.
func (n *nightlyBooks) leads(leads bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.leading = leads; !leads {
		clear(n.results)
		clear(n.checked)
	}
}

// round checks every organization whose night has come, one after the other, and the platform by UTC.
func (n *nightlyBooks) round(ctx context.Context) {
	tenants, err := n.doctor.Tenants(ctx)
	if err != nil {
		n.note(ctx, bookscases.Tenant{Slug: platformBooks}, bookscases.Report{}, err)
		return
	}
	for _, t := range append(tenants, bookscases.Tenant{Slug: platformBooks, Zone: time.UTC}) {
		night := nightOf(n.clock.Now(), t.Zone)
		if ctx.Err() != nil || n.checked[t.ID] == night {
			continue
		}
		report, err := n.check(ctx, t.ID)
		if ctx.Err() != nil {
			return
		}
		n.note(ctx, t, report, err)
		if err == nil {
			n.checked[t.ID] = night
		}
	}
}

// nightOf is the local date whose night the instant belongs to: it changes at booksHour.
func nightOf(now time.Time, zone *time.Location) calendar.Date {
	return calendar.On(now.Add(-booksHour*time.Hour), zone)
}

// check checks the books of one organization. Faults count when a second look shows faults, too; those of the second
// look are reported.
func (n *nightlyBooks) check(ctx context.Context, org id.Organization) (bookscases.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, booksPatience)
	defer cancel()
	report, err := n.doctor.Books(ctx, org)
	if err != nil || len(report.Faults) == 0 || !loop.Sleep(ctx, n.again) {
		return report, err
	}
	return n.doctor.Books(ctx, org)
}

// note keeps the result for the metric and logs it. Every fault has a line, so that the log tells what to look at.
func (n *nightlyBooks) note(ctx context.Context, t bookscases.Tenant, report bookscases.Report, err error) {
	counts := map[string]int{}
	for _, f := range report.Faults {
		counts[string(f.Code)]++
		n.logger.ErrorContext(ctx, "fault in the books", "org_id", t.ID, "code", string(f.Code), "fault", f.String())
	}
	if err != nil {
		counts[codeUnchecked] = 1
		n.logger.ErrorContext(ctx, "books not checked", "org_id", t.ID, "slug", t.Slug, "error", err.Error())
	} else {
		n.logger.InfoContext(ctx, "books checked", "org_id", t.ID, "slug", t.Slug, "faults", len(report.Faults),
			"nobodys_receipts", len(report.Unowned))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.results[t.ID] = counts
}

// Describe implements prometheus.Collector.
func (n *nightlyBooks) Describe(to chan<- *prometheus.Desc) { to <- booksFaultsDesc }

// Collect implements prometheus.Collector. A program that does not check shows nothing, and before the first check only
// that nothing was checked, because a 0 would look like health.
func (n *nightlyBooks) Collect(to chan<- prometheus.Metric) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.leading {
		return
	}
	sums := map[string]int{codeUnchecked: 1}
	if len(n.results) > 0 {
		sums[codeUnchecked] = 0
		for _, code := range bookscases.Codes() {
			sums[string(code)] = 0
		}
	}
	for _, counts := range n.results {
		for code, count := range counts {
			sums[code] += count
		}
	}
	for code, sum := range sums {
		to <- prometheus.MustNewConstMetric(booksFaultsDesc, prometheus.GaugeValue, float64(sum), code)
	}
}
