package billingjobs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// runKit is a kit with organizations and subscriptions, on which billing runs work.
type runKit struct {
	*kit
	org       id.Organization
	processes *processrunner.Runner
}

// newRunKit starts a kit with subscriptions whose next period begins on 1 April, in Nairobi.
func newRunKit(t *testing.T, subscriptions int, also ...processmanagers.Any) *runKit {
	t.Helper()
	k := &runKit{
		kit: newKit(t, false, billingviews.Due{}, billingviews.Runs{}, billingviews.Batches{}),
		org: id.New[id.Organization](),
	}
	bus.Register(k.Bus, billing.Runs())
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, subscribers.Subscriptions())
	k.processes = processrunner.New(processrunner.Config{
		Feed: k.Feed(t), DB: k.DB, Clock: k.clock, Bus: billingcases.PeriodInvoices{Bus: k.Bus},
	})
	k.processes.Register(append(also, invoicing.Process(), invoicing.DocumentProcess())...)
	coretest.Start(t, "processes", k.processes)
	coretest.Start(t, "numbering", k.numberer())
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(k.org, "acme"))
	for n := range subscriptions {
		k.subscribe(t, events.Postpaid, "customer"+strconv.Itoa(n))
	}
	k.whenIssued(t, 0, subscriptions) // of their first parts
	k.WaitForAll(t, k.views, billingviews.DueName, billingviews.RunsName)
	return k
}

// subscribe gives somebody a plan for a month that is billed on the first day, and its first invoice.
func (k *runKit) subscribe(t *testing.T, mode events.BillingMode, name string) id.Subscription {
	t.Helper()
	create := commands.CreateSubscription{
		SubscriptionID: id.Derive[id.Subscription]("test", k.org.String(), name), OrgID: k.org,
		SubscriberID: id.Derive[id.Subscriber]("test", k.org.String(), name),
		PlanID:       id.New[id.Plan](), PlanVersion: 1, Timezone: "Africa/Nairobi", Username: personal.Of(name),
		PasswordRef: id.New[id.Secret](),
		Terms: events.PlanTerms{
			Name: "Home", Mode: mode, Price: money.Major(1500, money.KES), Period: calendar.Month, AnchorDay: 1,
		},
	}
	k.Run(t, coretest.Operator(k.org), create)
	return create.SubscriptionID
}

// worker is a new program: a bus that remembers nothing, on the same log.
func (k *runKit) worker() billingcases.RunWork {
	b := bus.New(bus.Config{Store: k.Store, Claims: storetest.ClaimKey, Clock: k.clock, Logger: storetest.Quiet()})
	bus.Register(b, billing.Accounts())
	bus.Register(b, billing.NumberSeries())
	bus.Register(b, billing.Runs())
	bus.Register(b, identity.Organizations())
	bus.Register(b, subscribers.Subscriptions())
	return billingcases.RunWork{Bus: b, Views: k.views, Clock: k.clock, Logger: storetest.Quiet()}
}

// request asks for the run of a date and gives its job.
func (k *runKit) request(t *testing.T, date calendar.Date) commands.MakeInvoicesDue {
	t.Helper()
	run := commands.BillingRunOf(k.org, date)
	k.Run(t, coretest.Operator(k.org), commands.RequestBillingRun{RunID: run, OrgID: k.org, Date: date})
	return commands.MakeInvoicesDue{RunID: run, OrgID: k.org, Date: date}
}

// meta makes the metadata of one attempt of a job.
func (k *runKit) meta() func(string) commands.Meta {
	return jobs.Cause{OrgID: k.org, JobID: id.New[id.Any]()}.Meta
}

// run reads a run from the log.
func (k *runKit) run(t *testing.T, run id.BillingRun) billing.Run {
	t.Helper()
	s, _, err := bus.LoadOwned[billing.Run](t.Context(), k.Bus, k.org, run)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// end is the end of the log.
func (k *runKit) end(t *testing.T) uint64 {
	t.Helper()
	end, err := k.Feed(t).End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// history lists all events of the log after a position, in their order, to its end.
func (k *runKit) history(t *testing.T, position uint64) (list []*events.Envelope) {
	t.Helper()
	for end := k.end(t); position < end; { // the head may not have come so far yet
		page, err := k.Feed(t).Next(t.Context(), position, feed.Want(nil), 1000)
		if err != nil {
			t.Fatal(err)
		}
		list, position = append(list, page.Events...), page.UpTo
	}
	return list
}

// april is the first day of April.
var april = calendar.Date{Year: 2026, Month: time.April, Day: 1}

func TestRuns_MakeWhatIsDueAndNothingTwice(t *testing.T) {
	t.Parallel()
	k := newRunKit(t, 12)
	waits := k.subscribe(t, events.Prepaid, "waits") // for its first payment
	k.clock.Advance(april.Start(time.UTC).Sub(began))
	job := k.request(t, april)
	from := k.end(t)
	if err := k.worker().Work(t.Context(), job, k.meta()); err != nil {
		t.Fatal(err)
	}
	made := k.perSubscription(t, from)
	if delete(made.issued, waits); len(made.due) != 12 || len(made.issued) != 12 {
		t.Fatalf("%d due, %d issued", len(made.due), len(made.issued))
	}
	if s := k.run(t, job.RunID); s.State != billing.RunFinished {
		t.Errorf("the run is %v", s.State)
	}
	// The same date again, and the same job.
	from = k.end(t)
	job = k.request(t, april)
	for range 2 {
		if err := k.worker().Work(t.Context(), job, k.meta()); err != nil {
			t.Fatal(err)
		}
	}
	if again := k.perSubscription(t, from); len(again.due) != 0 {
		t.Errorf("made again: %v", again.due)
	}
}

// madeByRun counts what was made for each subscription.
type madeByRun struct {
	due, drafted, issued map[id.Subscription]int
	numbers              map[string]int
}

// perSubscription reads what was made since a position. Nothing must be voided.
func (k *runKit) perSubscription(t *testing.T, from uint64) madeByRun {
	t.Helper()
	m := madeByRun{
		due: map[id.Subscription]int{}, drafted: map[id.Subscription]int{}, issued: map[id.Subscription]int{},
		numbers: map[string]int{},
	}
	for _, e := range k.history(t, from) {
		switch e := e.Event.(type) {
		case events.PeriodDue:
			m.due[e.SubscriptionID]++
		case events.InvoiceDrafted:
			m.drafted[e.SubscriptionID]++
		case events.InvoiceIssued:
			m.issued[e.SubscriptionID]++
			m.numbers[e.Number]++
		case events.InvoiceVoided:
			t.Errorf("%s was voided: %s", e.Number, e.Reason.Reveal())
		}
	}
	return m
}

// grownUntil looks whenever the log has grown, and reports whether what it looks for came within a minute.
func (k *runKit) grownUntil(t *testing.T, came func() bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		head := k.Feed(t).Head() // before the look, so that nothing is missed
		if came() {
			return true
		}
		if k.Feed(t).Wait(ctx, head) != nil {
			return false
		}
	}
}

// whenIssued waits until so many subscriptions have an invoice that was issued after a position.
func (k *runKit) whenIssued(t *testing.T, from uint64, count int) (m madeByRun) {
	t.Helper()
	k.grownUntil(t, func() bool {
		m = k.perSubscription(t, from)
		return len(m.issued) >= count
	})
	return m
}

// TestRuns_KilledAtAnyPointMissNothingAndMakeNothingTwice ends the work after numbers of events by chance, each time
// with a bus that remembers nothing, and lets the processes and the batcher of numbers do what was left.
func TestRuns_KilledAtAnyPointMissNothingAndMakeNothingTwice(t *testing.T) {
	t.Parallel()
	const customers = 40
	k := newRunKit(t, customers)
	k.clock.Advance(april.Start(time.UTC).Sub(began))
	job := k.request(t, april)
	from := k.end(t)
	seed := k.workKilled(t, job, customers)
	for _, name := range []string{invoicing.Process().Name, invoicing.DocumentProcess().Name} {
		if err := k.processes.WaitFor(t.Context(), name, k.end(t)); err != nil {
			t.Fatal(err)
		}
	}
	k.clock.Advance(3 * time.Minute) // the processes finish what was begun
	m := k.whenIssued(t, from, customers)
	for subscription, n := range m.due {
		if n != 1 || m.drafted[subscription] != 1 || m.issued[subscription] != 1 {
			t.Errorf("%s (seed %d): %d due, %d drafted, %d issued", subscription, seed, n, m.drafted[subscription],
				m.issued[subscription])
		}
	}
	if len(m.due) != customers || len(m.numbers) != customers {
		t.Errorf("%d subscriptions, %d numbers (seed %d)", len(m.due), len(m.numbers), seed)
	}
	for n := range customers { // the first parts have the numbers before
		if number := fmt.Sprintf("ACME-%04d", customers+n+1); m.numbers[number] != 1 {
			t.Errorf("%s is on %d invoices (seed %d)", number, m.numbers[number], seed)
		}
	}
}

// workKilled works a run with programs that are killed after up to some appends each, until it is done. It gives the
// seed of that.
func (k *runKit) workKilled(t *testing.T, job commands.MakeInvoicesDue, most int) (seed uint64) {
	t.Helper()
	seed = rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a repeatable test
	meta := k.meta()
	for kills := 0; ; kills++ {
		if kills == 50 {
			t.Fatalf("the run does not finish (seed %d)", seed)
		}
		ctx, kill := context.WithCancel(t.Context())
		after := k.Feed(t).Head() + 1 + uint64(dice.IntN(most)) //nolint:gosec // small
		go func() {
			defer kill()
			_ = k.Feed(t).Wait(ctx, after-1)
		}()
		err := k.worker().Work(ctx, job, meta)
		kill()
		if err == nil && k.run(t, job.RunID).State == billing.RunFinished {
			t.Logf("finished after %d kills", kills)
			return seed
		}
		k.WaitForAll(t, k.views, billingviews.DueName, billingviews.RunsName)
	}
}
