package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// When books are checked by themselves.
const (
	// booksHour is the hour of the organization's local time from which its books of the day before are checked.
	booksHour = 3
	// booksEvery is the time between two looks at which organizations are due, by the clock that can be moved. The
	// first look follows so long after the start.
	booksEvery = 15 * time.Minute
	// secondLook is the time, by the machine's clock, after which faults are looked at again before they count. After
	// the clock was moved, everything is late for a moment.
	secondLook = time.Minute
	// booksPatience bounds one reading for some organizations, so that a log that does not answer does not keep the
	// others waiting.
	booksPatience = time.Hour
)

// booksLock is held by the program that checks the books.
const booksLock = "nightly books"

// codeUnchecked stands in the metric for organizations without a result of their latest night.
const codeUnchecked = "not_checked"

// booksFaultsDesc is the metric that alarms on.
var booksFaultsDesc = prometheus.NewDesc("lastmile_books_faults",
	"Faults that the latest check of each organization's books has found, by code; not_checked counts organizations "+
		"whose books were not checked since their latest night began.",
	[]string{"code"}, nil)

// nightlyBooks checks the books of every organization once in each of its nights, those whose night has come together,
// and those first that were tried longest ago. Of several programs only one does it, until it ends. It changes nothing
// in the books. What it has found outlives the program.
type nightlyBooks struct {
	doctor bookscases.Doctor
	clock  clock.Clock
	db     *postgres.DB
	kept   *vault.BookChecks
	logger *slog.Logger
	loops  *loop.Group
	again  time.Duration // secondLook, but for tests

	register bookscases.Register // only the loop uses it

	mu      sync.Mutex
	leading bool                // this program checks, and no other one does
	tenants []bookscases.Tenant // with the platform; nil before the first look
	checks  map[id.Organization]vault.BookCheck
}

// startNightlyBooks starts the check of the books and shows its metric.
func (a *App) startNightlyBooks(ctx context.Context) error {
	n := newNightlyBooks(newDoctor(a.storage, a.clock), a.clock, a.storage, a.logger)
	if err := a.metrics.Register(n); err != nil {
		return err
	}
	return a.life.startBeside(ctx, "nightly check of the books", stopEngines, n)
}

// newNightlyBooks makes the check without starting it.
func newNightlyBooks(doctor bookscases.Doctor, c clock.Clock, s *storage, logger *slog.Logger) *nightlyBooks {
	return &nightlyBooks{
		doctor: doctor, clock: c, db: s.db, kept: s.vault.BookChecks, logger: logger, loops: loop.New(logger),
		again: secondLook, checks: map[id.Organization]vault.BookCheck{},
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
			lock, _, _ = n.db.TryLock(ctx, booksLock) // tried again in the next round
		}
		n.leads(ctx, lock != nil)
		if !loop.SleepFor(ctx, n.clock, booksEvery) {
			return
		}
		if lock != nil && clock.Ahead(n.clock) >= 0 { // the demo makes its past: its books are checked at the present
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

// leads notes whether this program checks the books. One that begins to shows what was found before; one that stops
// forgets it.
func (n *nightlyBooks) leads(ctx context.Context, leads bool) {
	checks := map[id.Organization]vault.BookCheck{}
	if leads {
		var err error
		if checks, err = n.kept.Load(ctx); err != nil {
			n.logger.WarnContext(ctx, "checks of books were not loaded", "error", err)
			return // tried again in the next round
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.checks = checks
	if n.leading = leads; !leads {
		n.tenants = nil
	}
}

// round checks every organization whose night has come, and the platform by UTC. Those whose books are in memory
// together are checked together; what was found is kept after each reading.
func (n *nightlyBooks) round(ctx context.Context) {
	tenants, err := n.doctor.Tenants(ctx, &n.register)
	if err != nil {
		n.notChecked(ctx, err, id.Organization{})
		return
	}
	readings, err := n.due(ctx, append(tenants, bookscases.Tenant{Slug: platformBooks, Zone: time.UTC}))
	if err != nil {
		return
	}
	for _, r := range readings {
		if ctx.Err() != nil {
			return
		}
		n.check(ctx, r)
	}
}

// due shares out the organizations whose night has come, those first that were tried longest ago.
func (n *nightlyBooks) due(ctx context.Context, tenants []bookscases.Tenant) ([]bookscases.Reading, error) {
	n.mu.Lock()
	n.tenants = tenants
	due := slices.DeleteFunc(slices.Clone(tenants), n.isChecked)
	slices.SortStableFunc(due, func(a, b bookscases.Tenant) int {
		return n.checks[a.ID].TriedAt.Compare(n.checks[b.ID].TriedAt)
	})
	n.mu.Unlock()
	if len(due) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, booksPatience)
	defer cancel()
	list := orgsOf(due)
	readings, err := n.doctor.Readings(ctx, list)
	if err != nil {
		n.notChecked(ctx, err, list...)
	}
	return readings, err
}

// isChecked reports whether the books of an organization were checked since its latest night began. The caller holds
// the lock.
func (n *nightlyBooks) isChecked(t bookscases.Tenant) bool {
	at := n.checks[t.ID].CheckedAt
	return !at.IsZero() && nightOf(at, t.Zone) == nightOf(n.clock.Now(), t.Zone)
}

// nightOf is the local date whose night the instant belongs to: it changes at booksHour.
func nightOf(now time.Time, zone *time.Location) calendar.Date {
	return calendar.On(now.Add(-booksHour*time.Hour), zone)
}

// check checks the books of the organizations of a reading and keeps the results. That they were tried is kept before:
// organizations whose check ends the program, or its patience, are behind the others the next time. Faults count when a
// second look shows faults, too; those of the second look are kept.
func (n *nightlyBooks) check(ctx context.Context, r bookscases.Reading) {
	at := n.clock.Now()
	for _, org := range r.Orgs {
		if err := n.kept.Try(ctx, org, at); err != nil {
			n.notChecked(ctx, err, r.Orgs...)
			return
		}
		n.note(org, func(c *vault.BookCheck) { c.TriedAt = at })
	}
	faulty := n.look(ctx, r, at, false)
	if len(faulty) > 0 && loop.Sleep(ctx, n.again) {
		n.look(ctx, r.Of(faulty), at, true)
	}
}

// look reads the books of organizations and keeps the results. Those with faults are left out and listed, unless the
// look is the last one.
func (n *nightlyBooks) look(ctx context.Context, r bookscases.Reading, at time.Time, last bool) []id.Organization {
	patient, cancel := context.WithTimeout(ctx, booksPatience)
	defer cancel()
	reports, err := n.doctor.Books(patient, r)
	if err != nil {
		n.notChecked(ctx, err, r.Orgs...)
	}
	var faulty []id.Organization
	for _, report := range reports {
		err := report.Err
		switch {
		case err == nil && len(report.Faults) > 0 && !last:
			faulty = append(faulty, report.Org)
		case err == nil:
			err = n.keep(ctx, report, at)
		}
		if err != nil {
			n.notChecked(ctx, err, report.Org)
		}
	}
	return faulty
}

// keep stores the result of a check that began at an instant.
func (n *nightlyBooks) keep(ctx context.Context, report bookscases.Report, at time.Time) error {
	counts := map[string]int{}
	for _, f := range report.Faults { // each has a line, so that the log tells what to look at
		counts[string(f.Code)]++
		n.logger.ErrorContext(ctx, "fault in the books", "org_id", report.Org, "code", string(f.Code), "fault",
			f.String())
	}
	if err := n.kept.Keep(ctx, report.Org, at, counts); err != nil {
		return err
	}
	n.logger.InfoContext(ctx, "books checked", "org_id", report.Org, "slug", n.slug(report.Org), "faults",
		len(report.Faults), "nobodys_receipts", len(report.Unowned))
	n.note(report.Org, func(c *vault.BookCheck) { c.CheckedAt, c.Faults = at, counts })
	return nil
}

// note changes what is known about the check of one organization.
func (n *nightlyBooks) note(org id.Organization, change func(*vault.BookCheck)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.checks[org]
	change(&c)
	n.checks[org] = c
}

// slug is that of an organization; the platform's stands for an unknown one.
func (n *nightlyBooks) slug(org id.Organization) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slugOf(n.tenants, org)
}

// notChecked logs why the books of organizations were not checked. The metric counts them without that. A program that
// is stopped says nothing: the next one checks them.
func (n *nightlyBooks) notChecked(ctx context.Context, err error, orgs ...id.Organization) {
	for _, org := range orgs {
		if ctx.Err() == nil {
			n.logger.ErrorContext(ctx, "books not checked", "org_id", org, "slug", n.slug(org), "error", err.Error())
		}
	}
}

// Describe implements prometheus.Collector.
func (n *nightlyBooks) Describe(to chan<- *prometheus.Desc) { to <- booksFaultsDesc }

// Collect implements prometheus.Collector. A program that does not check shows nothing. One that has not looked yet
// which organizations there are shows that something is not checked, because a 0 would look like health; so would zeros
// of the other codes before the first check.
func (n *nightlyBooks) Collect(to chan<- prometheus.Metric) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.leading {
		return
	}
	sums := map[string]int{codeUnchecked: 0}
	if n.tenants == nil {
		sums[codeUnchecked] = 1
	}
	for _, t := range n.tenants {
		if !n.isChecked(t) {
			sums[codeUnchecked]++
		}
	}
	for _, c := range n.checks {
		if c.CheckedAt.IsZero() {
			continue
		}
		for _, code := range bookscases.Codes() {
			sums[string(code)] += c.Faults[string(code)]
		}
	}
	for code, sum := range sums {
		to <- prometheus.MustNewConstMetric(booksFaultsDesc, prometheus.GaugeValue, float64(sum), code)
	}
}
