package accessjobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// start is the instant at which the tests begin, a Wednesday.
var start = time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)

// faults has the workers on a real log.
type faults struct {
	*coretest.Kit
	clock   *clock.Manual
	org     id.Organization
	views   *runner.Views
	workers accessjobs.Workers
	away    time.Time
	lines   map[id.Subscription]telemetry.Line
	heard   time.Time
	looks   map[id.Device]telemetry.Look
}

// newFaults makes an organization without customers.
func newFaults(t *testing.T) *faults {
	t.Helper()
	k := &faults{
		clock: clock.NewManual(start), org: id.New[id.Organization](), lines: map[id.Subscription]telemetry.Line{},
	}
	k.Kit = coretest.New(t, k.clock, accessviews.Dunning{}, accessviews.Differences{}, identityviews.Organizations{},
		paymentsviews.Receipts{})
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, access.Dunnings())
	bus.Register(k.Bus, access.Outages())
	k.Run(t, coretest.Operator(k.org), coretest.NewOrganization(k.org, "acme"))
	k.views = k.Show(t)
	queue := jobrunner.New(jobrunner.Config{DB: k.DB, Clock: k.clock, Logger: storetest.Quiet(), InsertOnly: true})
	k.workers = accessjobs.Workers{
		Bus: k.Bus, Views: k.views, Queue: queue, Clock: k.clock,
		Lines: func(
			context.Context, id.Organization, []id.Subscriber, telemetry.Fault,
		) (map[id.Subscription]telemetry.Line, time.Time, error) {
			return k.lines, k.heard, nil
		},
		Looks: func(context.Context, id.Organization) (map[id.Device]telemetry.Look, error) {
			return k.looks, nil
		},
		LookEvery:    5 * time.Minute,
		ProviderAway: func(context.Context, id.Organization) (time.Time, error) { return k.away, nil },
		Outage: func(ctx context.Context, org id.Organization) (time.Time, error) {
			o, _, err := bus.LoadUnchecked[access.Outage](ctx, k.Bus, org)
			if err != nil || !o.Lasts() {
				return time.Time{}, err
			}
			return o.From, nil
		},
	}
	k.workers.Register()
	coretest.Start(t, "jobs", queue)
	return k
}

// append records events at the beginning of a stream.
func (k *faults) append(t *testing.T, stream string, at time.Time, list ...events.Event) {
	t.Helper()
	var batch []eventstore.New
	for _, e := range list {
		batch = append(batch, eventstore.New{Event: e, Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: k.org, Action: "test", At: at,
			Actor: events.Actor{Kind: events.ActorOperator},
		}})
	}
	if _, err := k.Store.Append(t.Context(), stream, eventstore.NoStream, batch); err != nil {
		t.Fatal(err)
	}
}

// owing is a subscription whose due instant lies some time from the start.
func (k *faults) owing(t *testing.T, name string, due time.Duration, on id.Device) events.DunningSubject {
	t.Helper()
	s := events.DunningSubject{
		SubscriptionID: id.Derive[id.Subscription]("test", name), OrgID: k.org,
		SubscriberID: id.Derive[id.Subscriber]("test", name),
	}
	at := start.Add(due)
	k.append(t, "dunning-"+s.SubscriptionID.String(), start, events.DunningBegan{
		DunningSubject: s, DunningStep: events.DunningStep{DueAt: at, Due: money.Of(0, money.KES), At: start},
	}, events.DunningReviewed{
		DunningSubject: s, State: events.DunningReminding, At: start,
		Owed: events.DunningOwed{At: start, PaidUntil: at},
	})
	k.lines[s.SubscriptionID] = telemetry.Line{Device: on}
	return s
}

// follow does the job of a fault and gives the clock of a subscription.
func (k *faults) follow(t *testing.T, job commands.FollowFault, run string) {
	t.Helper()
	k.WaitForAll(t, k.views, accessviews.DunningName, accessviews.DifferencesName)
	cause := jobs.Cause{
		OrgID: k.org, Actor: events.Actor{Kind: events.ActorProcess}, JobID: id.Derive[id.Any]("test", run),
	}
	if err := k.workers.FollowFault(t.Context(), job, cause); err != nil {
		t.Fatal(err)
	}
}

// dunning folds the dunning of a subscription from the log.
func (k *faults) dunning(t *testing.T, s events.DunningSubject) access.Dunning {
	t.Helper()
	d, _, err := bus.LoadUnchecked[access.Dunning](t.Context(), k.Bus, s.SubscriptionID)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFollowFault_StopsTheClocksOfThoseWhomItConcernsOnce(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	tower, mast := id.New[id.Device](), id.New[id.Device]()
	here := k.owing(t, "here", -time.Hour, tower)
	moved := k.owing(t, "moved", -time.Hour, tower)
	there := k.owing(t, "there", -time.Hour, mast)
	soon := k.owing(t, "soon", 3*time.Hour, tower)
	job := commands.FollowFault{OrgID: k.org, Cause: "no_line:x:1", DeviceID: tower, From: start.Add(-3 * time.Minute)}
	for n := range 2 {
		k.follow(t, job, fmt.Sprint("begins", n))
	}
	if d := k.dunning(t, here); len(d.Stopped) != 1 || !d.Stopped[job.Cause].Equal(job.From) {
		t.Errorf("stopped %+v", d.Stopped)
	}
	for _, s := range []events.DunningSubject{there, soon} {
		if d := k.dunning(t, s); len(d.Stopped) > 0 {
			t.Errorf("%s is stopped: %+v", s.SubscriptionID, d.Stopped)
		}
	}
	k.lines[moved.SubscriptionID] = telemetry.Line{Device: mast}
	k.clock.Advance(3*time.Hour + 5*time.Minute)
	k.follow(t, job, "round")
	if d := k.dunning(t, moved); len(d.Stopped) != 0 || len(d.Pauses) != 1 {
		t.Errorf("who has a line at another router: %+v %+v", d.Stopped, d.Pauses)
	}
	if d := k.dunning(t, soon); len(d.Stopped) != 1 {
		t.Errorf("whose clock came to run meanwhile: %+v", d.Stopped)
	}
	job.Until = start.Add(3 * time.Hour)
	late := k.owing(t, "late", time.Hour, tower) // no round has seen it
	for n := range 2 {
		k.follow(t, job, fmt.Sprint("ends", n))
	}
	for _, s := range []events.DunningSubject{here, soon, late} {
		d := k.dunning(t, s)
		if len(d.Stopped) != 0 || len(d.Pauses) != 1 || !d.Pauses[0].From.Equal(job.From) ||
			!d.Pauses[0].Until.Equal(job.Until) {
			t.Errorf("%s: %+v %+v", s.SubscriptionID, d.Stopped, d.Pauses)
		}
	}
}

// Who bought an hour gets no days from a fault; who named a policy for it, bought a month, or pays by invoice does.
func TestFollowFault_StopsNoClockOfPlansThatEndWithTheirTime(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	sold := func(name string, due time.Duration, terms events.PlanTerms) events.DunningSubject {
		s := k.owing(t, name, due, id.Device{})
		k.append(t, "subscription-"+s.SubscriptionID.String(), start, events.SubscriptionCreated{
			SubscriptionID: s.SubscriptionID, OrgID: s.OrgID, SubscriberID: s.SubscriberID, Terms: terms,
		})
		return s
	}
	bought := func(period calendar.Period) events.PlanTerms {
		return events.PlanTerms{Mode: events.Prepaid, Period: period}
	}
	patient := bought(calendar.Hour)
	patient.Access.DunningPolicy = "patient"
	invoiced := events.PlanTerms{Mode: events.Postpaid, Period: calendar.Day}
	want := map[events.DunningSubject]int{
		sold("an hour that is over", -time.Hour, bought(calendar.Hour)):       0,
		sold("a day that ends soon", 5*time.Minute, bought(calendar.Day)):     0,
		sold("an hour with days of grace", -time.Hour, patient):               1,
		sold("a month that ends soon", 5*time.Minute, bought(calendar.Month)): 1,
		sold("a month that is over", -time.Hour, bought(calendar.Month)):      1,
		sold("a day by invoice", 5*time.Minute, invoiced):                     1,
	}
	k.follow(t, commands.FollowFault{OrgID: k.org, Cause: "no_payment:x:1", From: start.Add(-2 * time.Hour)}, "begins")
	for s, stopped := range want {
		if d := k.dunning(t, s); len(d.Stopped) != stopped {
			t.Errorf("%+v: stopped %+v, want %d", s, d.Stopped, stopped)
		}
	}
}

func TestFollowFault_WhoReportsHasALine(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	tower := id.New[id.Device]()
	job := commands.FollowFault{OrgID: k.org, Cause: "no_line:x:1", DeviceID: tower, From: start.Add(-3 * time.Minute)}
	online := k.owing(t, "online", -time.Hour, tower)
	quiet := k.owing(t, "quiet", -time.Hour, tower)
	back := k.owing(t, "back", -time.Hour, tower)
	k.follow(t, job, "begins")
	k.clock.Advance(time.Hour)
	pauses := func(s events.DunningSubject, stopped int, lengths ...time.Duration) {
		t.Helper()
		var got []time.Duration
		d := k.dunning(t, s)
		for _, p := range d.Pauses {
			got = append(got, p.Until.Sub(p.From))
		}
		if len(d.Stopped) != stopped || !slices.Equal(got, lengths) {
			t.Errorf("stopped %v, pauses %v, want %d and %v", d.Stopped, got, stopped, lengths)
		}
	}
	k.lines[online.SubscriptionID] = telemetry.Line{Device: tower, Since: job.From}
	k.follow(t, job, "round")
	pauses(online, 0, 0) // its session spans the fault: the pause is taken back
	pauses(quiet, 1)
	k.heard = start.Add(57 * time.Minute)
	newcomer := k.owing(t, "newcomer", time.Hour, tower)
	k.follow(t, job, "the router reports")
	pauses(quiet, 0, time.Hour)
	pauses(back, 0, time.Hour)
	pauses(newcomer, 0)
	job.Until = start.Add(time.Hour)
	k.follow(t, job, "ends")
	pauses(newcomer, 0)
	pauses(online, 0, 0)
}

// Who is online at another router that does not report it has a line, for as long as that router is looked at.
func TestFollowFault_WhoIsSeenAtAnotherRouterHasALine(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	tower, mast := id.New[id.Device](), id.New[id.Device]()
	job := commands.FollowFault{OrgID: k.org, Cause: "no_line:x:1", DeviceID: tower, From: start.Add(-3 * time.Minute)}
	moved, here := k.owing(t, "moved", -time.Hour, tower), k.owing(t, "here", -time.Hour, tower)
	k.append(t, "accessdifference-"+moved.SubscriptionID.String(), start, events.AccessDifferenceOpened{
		AccessDifference: events.AccessDifference{
			DifferenceID: id.New[id.Difference](), OrgID: k.org, SubscriberID: moved.SubscriberID,
			SubscriptionID: moved.SubscriptionID, DeviceID: mast, Kind: events.UnknownSession,
		},
		Since: start, At: start,
	})
	k.follow(t, job, "nobody looks")
	if d := k.dunning(t, moved); len(d.Stopped) != 1 {
		t.Errorf("stopped %+v", d.Stopped)
	}
	k.clock.Advance(time.Hour)
	k.looks = map[id.Device]telemetry.Look{mast: {DeviceID: mast, LookedAt: new(k.clock.Now())}}
	k.follow(t, job, "round")
	if d := k.dunning(t, moved); len(d.Stopped) != 0 || !d.Pauses[0].Until.Equal(k.clock.Now()) {
		t.Errorf("who is seen at another router: %+v %+v", d.Stopped, d.Pauses)
	}
	if d := k.dunning(t, here); len(d.Stopped) != 1 {
		t.Errorf("who is not: %+v", d.Stopped)
	}
}

// A sign of the line that was known once stays so, in all parts of a job.
func TestFollowFault_WhatWasHeardStaysKnown(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	tower := id.New[id.Device]()
	s := k.owing(t, "owing", -time.Hour, tower)
	job := commands.FollowFault{
		OrgID: k.org, Cause: "no_line:x:1", DeviceID: tower, From: start.Add(-time.Hour), Until: start,
	}
	k.heard = start.Add(-30 * time.Minute)
	k.follow(t, job, "ends")
	k.heard = time.Time{}
	var args []byte
	next := `select args -> 'args' from ` + k.DB.Namespace.Schema("river") + `.river_job
		where kind = 'access_follow_fault'`
	if err := k.DB.Owner.QueryRow(t.Context(), next).Scan(&args); err != nil {
		t.Fatal(err)
	}
	var again commands.FollowFault
	if err := json.Unmarshal(args, &again); err != nil {
		t.Fatal(err)
	}
	k.follow(t, again, "makes sure")
	if d := k.dunning(t, s); len(d.Stopped)+len(d.Pauses) != 0 {
		t.Errorf("stopped %+v, pauses %+v", d.Stopped, d.Pauses)
	}
}

func TestFollowFault_ASessionThatSpansTheFaultTakesThePauseBack(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	tower := id.New[id.Device]()
	job := commands.FollowFault{OrgID: k.org, Cause: "no_line:x:1", DeviceID: tower, From: start.Add(-3 * time.Minute)}
	spans, away := k.owing(t, "spans", -time.Hour, tower), k.owing(t, "away", -time.Hour, tower)
	k.follow(t, job, "begins")
	k.clock.Advance(time.Hour)
	k.lines[spans.SubscriptionID] = telemetry.Line{Device: tower, Since: job.From}
	k.heard, job.Until = start.Add(time.Hour), start.Add(time.Hour)
	k.follow(t, job, "ends")
	if d := k.dunning(t, spans); len(d.Stopped) != 0 || !d.Pauses[0].Until.Equal(d.Pauses[0].From) {
		t.Errorf("who was online: %+v %+v", d.Stopped, d.Pauses)
	}
	if d := k.dunning(t, away); len(d.Stopped) != 0 || !d.Pauses[0].Until.Equal(job.Until) {
		t.Errorf("who was not: %+v %+v", d.Stopped, d.Pauses)
	}
}

// paid records receipts of mobile money at an instant.
func (k *faults) paid(t *testing.T, at time.Time, n int) {
	t.Helper()
	for range n {
		r := id.New[id.Receipt]()
		k.append(t, "receipt-"+r.String(), at, events.ReceiptRecorded{
			ReceiptID: r, OrgID: k.org, Amount: money.Major(100, money.KES), Channel: commands.ChannelPaybill,
			PaidAt: at, RecordedAt: at,
		})
	}
}

// watch looks at all organizations and gives since when customers cannot pay; zero = they can.
func (k *faults) watch(t *testing.T, run string) time.Time {
	t.Helper()
	k.WaitForAll(t, k.views, paymentsviews.ReceiptsName, identityviews.OrganizationsName)
	err := k.workers.WatchPayments(t.Context(), commands.WatchPayments{}, jobs.Cause{ // as periodic work is enqueued
		JobID: id.Derive[id.Any]("watch", run),
	})
	if err != nil {
		t.Fatal(err)
	}
	from, err := k.workers.Outage(t.Context(), k.org)
	if err != nil {
		t.Fatal(err)
	}
	return from
}

func TestWatchPayments_SilenceCountsWhereThereAreAlwaysReceipts(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	last := start.Add(-2 * time.Hour)
	k.paid(t, last, 1)
	for week := 1; week <= 3; week++ {
		k.paid(t, last.AddDate(0, 0, -7*week).Add(time.Hour), 20)
	}
	if from := k.watch(t, "new"); !from.IsZero() {
		t.Errorf("an organization of three weeks has an outage since %v", from)
	}
	k.paid(t, last.AddDate(0, 0, -28).Add(time.Hour), 19)
	if from := k.watch(t, "small"); !from.IsZero() {
		t.Errorf("a small organization has an outage since %v", from)
	}
	k.paid(t, last.AddDate(0, 0, -28).Add(time.Hour), 1)
	if from := k.watch(t, "silent"); !from.Equal(last) {
		t.Errorf("the outage is since %v, want %v", from, last)
	}
	k.paid(t, start.Add(-time.Minute), 1) // a receipt came at last
	if from := k.watch(t, "over"); !from.IsZero() {
		t.Errorf("the outage lasts since %v", from)
	}
	o, _, err := bus.LoadUnchecked[access.Outage](t.Context(), k.Bus, k.org)
	if err != nil || !o.Until.Equal(start.Add(-time.Minute)) {
		t.Errorf("outage %+v, %v", o, err)
	}
}

func TestWatchPayments_AProviderThatIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	k.away = start.Add(-time.Minute)
	if from := k.watch(t, "short"); !from.IsZero() {
		t.Errorf("a minute is an outage since %v", from)
	}
	k.clock.Advance(10 * time.Minute)
	if from := k.watch(t, "long"); !from.Equal(k.away) {
		t.Errorf("the outage is since %v, want %v", from, k.away)
	}
	k.clock.Advance(80 * time.Hour)
	if from := k.watch(t, "for days"); !from.IsZero() {
		t.Errorf("the outage lasts since %v", from)
	}
	if from := k.watch(t, "for days again"); !from.IsZero() {
		t.Errorf("the outage began again: %v", from)
	}
	told, err := bus.HistoryUnchecked[access.Outage](t.Context(), k.Bus, k.org)
	if err != nil || len(told) != 2 {
		t.Fatalf("%d events, %v", len(told), err)
	}
	for _, e := range told {
		if want := (events.Actor{Kind: events.ActorProcess, ID: "outages"}); e.Meta.Actor != want {
			t.Errorf("%T is of %+v", e.Event, e.Meta.Actor)
		}
	}
}

func TestFollowFault_OfAFaultThatWasRecordedWithoutAnActor(t *testing.T) {
	t.Parallel()
	k := newFaults(t)
	s := k.owing(t, "owes", -time.Hour, id.New[id.Device]())
	k.WaitForAll(t, k.views, accessviews.DunningName, accessviews.DifferencesName)
	job := commands.FollowFault{OrgID: k.org, Cause: "payments", From: start.Add(-3 * time.Minute)}
	cause := jobs.Cause{OrgID: k.org, JobID: id.New[id.Any]()}
	if err := k.workers.FollowFault(t.Context(), job, cause); err != nil {
		t.Fatal(err)
	}
	told, err := bus.HistoryUnchecked[access.Dunning](t.Context(), k.Bus, s.SubscriptionID)
	if err != nil || len(told) == 0 {
		t.Fatalf("%d events, %v", len(told), err)
	}
	last := told[len(told)-1]
	if want := (events.Actor{Kind: events.ActorProcess, ID: "jobs"}); last.Meta.Actor != want {
		t.Errorf("%T is of %+v", last.Event, last.Meta.Actor)
	}
}
