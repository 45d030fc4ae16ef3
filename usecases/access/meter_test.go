package accesscases_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// half is a top-up of half of the line's cap.
var half = accesscases.TopUpInput{Bytes: 500, Reason: "the match"}

// line is an organization in Nairobi with a line that may use 1,000 bytes a day, and the accounting of its router.
type line struct {
	*coretest.Kit
	t            *testing.T
	clock        *clock.Manual
	store        *telemetry.Store
	org          id.Organization
	subscriber   id.Subscriber
	subscription id.Subscription
	router       id.Device
	zone         *time.Location
}

// newLine makes it at noon in Nairobi.
func newLine(t *testing.T) *line {
	t.Helper()
	now := clock.NewManual(time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC))
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{
		Kit: coretest.NewWithVault(t, vault.Config{Clock: now}), t: t, clock: now, org: id.New[id.Organization](),
		subscriber: id.New[id.Subscriber](), router: id.New[id.Device](), zone: zone,
	}
	bus.Register(l.Bus, identity.Organizations())
	bus.Register(l.Bus, subscribers.Subscribers())
	bus.Register(l.Bus, subscribers.Subscriptions())
	bus.Register(l.Bus, access.Usages())
	bus.Register(l.Bus, billing.Accounts())
	if l.store, err = telemetry.Open(t.Context(), l.DB); err != nil {
		t.Fatal(err)
	}
	l.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(l.org, "acme"))
	l.Run(t, coretest.Operator(l.org), coretest.NewSubscriber(l.subscriber, l.org, 0))
	l.subscription = l.subscribe(events.Cap{Bytes: 1000, Period: "day", Then: events.CapStop})
	return l
}

// subscribe makes a line with a cap for the customer.
func (l *line) subscribe(cap events.Cap) id.Subscription {
	l.t.Helper()
	made := id.New[id.Subscription]()
	l.Run(l.t, coretest.Operator(l.org), commands.CreateSubscription{
		SubscriptionID: made, OrgID: l.org, SubscriberID: l.subscriber, PlanID: id.New[id.Plan](), PlanVersion: 1,
		Username: personal.Of(made.String()),
		Timezone: "Africa/Nairobi", Terms: events.PlanTerms{
			Name: "Home", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: events.Postpaid,
			Period: calendar.Month, Access: events.AccessTerms{Cap: cap}.WithDefaults(),
		},
	})
	return made
}

// meter is a meter that has read the log as a program does when it starts.
func (l *line) meter() *accesscases.Meter {
	l.t.Helper()
	m, _ := l.meterWith(storetest.Quiet())
	return m
}

// meterWith is a meter with a log, and what fills it.
func (l *line) meterWith(logger *slog.Logger) (*accesscases.Meter, *runner.Memory) {
	l.t.Helper()
	m := accesscases.NewMeter(accesscases.MeterConfig{
		Bus: l.Bus, Store: l.store, Clock: l.clock, Logger: logger,
	})
	log := l.Feed(l.t)
	head, err := l.Store.Head(l.t.Context())
	if err == nil {
		err = log.Wait(l.t.Context(), head-1) // one that another meter has started may be behind
	}
	if err != nil {
		l.t.Fatal(err)
	}
	filled := runner.NewMemory(m, runner.Config{Feed: log, Logger: storetest.Quiet()})
	coretest.Start(l.t, "caps", filled)
	return m, filled
}

// uses reports what a session has used in all, and gives what the recorder tells.
func (l *line) uses(session string, online time.Duration, bytes uint64) []telemetry.Used {
	l.t.Helper()
	committed, err := l.store.Commit(l.t.Context(), telemetry.Directory{
		Resolve: func(telemetry.Report) telemetry.Given {
			return telemetry.Given{Subscriber: l.subscriber, Subscription: l.subscription}
		},
		Zone: func(id.Organization) *time.Location { return l.zone },
	}, []telemetry.Report{{
		Kind: telemetry.Interim, Org: l.org, Device: l.router, Session: session, User: "amina",
		MAC: "AA:BB:CC:00:11:22", Online: online, Down: bytes, At: l.clock.Now(),
	}})
	if err != nil {
		l.t.Fatal(err)
	}
	return committed.Used
}

// counts makes a meter do its work.
func (l *line) counts(m *accesscases.Meter) {
	l.t.Helper()
	if !m.Round(l.t.Context()) {
		l.t.Fatal("the meter has to try again")
	}
}

// recorded folds the stream of the line, and gives the number of its events.
func (l *line) recorded() (access.Usage, uint64) {
	l.t.Helper()
	state, revision, err := bus.LoadUnchecked[access.Usage](l.t.Context(), l.Bus, l.subscription)
	if err != nil {
		l.t.Fatal(err)
	}
	return state, revision
}

// topUps is the use case on the line.
func (l *line) topUps() accesscases.TopUps {
	return accesscases.TopUps{Bus: l.Bus, Store: l.store, Clock: l.clock}
}

func TestMeter_WhatAKillWithheldIsFoundAtTheNextStart(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	killed := l.meter()
	killed.Take(l.uses("1", time.Minute, 1000)) // and its program ends before the command
	if s, _ := l.recorded(); s.Reached {
		t.Fatal("recorded without a command")
	}
	restarted := l.meter()
	l.counts(restarted)
	s, revision := l.recorded()
	if !s.Began || !s.Reached || s.Used != 1000 || !s.Period.ResetsAt.Equal(l.clock.Now().Add(12*time.Hour)) {
		t.Errorf("recorded %+v", s)
	}
	l.counts(restarted)
	l.counts(killed) // both programs run
	l.counts(l.meter())
	if _, again := l.recorded(); again != revision {
		t.Errorf("%d events, then %d", revision, again)
	}
}

// TestMeter_OrganizationsAreCountedInTurn: very many lines of one reach their caps at once, then one line of another.
func TestMeter_OrganizationsAreCountedInTurn(t *testing.T) {
	t.Parallel()
	m := accesscases.NewMeter(accesscases.MeterConfig{})
	var used []telemetry.Used
	for i, org := range []id.Organization{id.New[id.Organization](), id.New[id.Organization]()} {
		for range []int{100, 1}[i] {
			made := events.SubscriptionCreated{SubscriptionID: id.New[id.Subscription](), OrgID: org}
			m.Apply(events.Envelope{Event: made})
			used = append(used, telemetry.Used{Org: org, Subscription: made.SubscriptionID})
		}
	}
	m.Take(used)
	m.Take(used) // told again, each is counted once
	if m.Next() != used[0].Subscription || m.Next() != used[100].Subscription {
		t.Error("the other organization has no turn")
	}
	for i := range 99 {
		if m.Next() != used[i+1].Subscription {
			t.Fatalf("line %d is not counted in its turn", i+1)
		}
	}
	if !m.Next().IsZero() {
		t.Error("one is counted twice")
	}
}

func TestMeter_UseSurvivesANewSessionAndBeginsAnewWithTheDay(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	m := l.meter()
	for i, session := range []string{"1", "2", "3"} {
		m.Take(l.uses(session, time.Second, 300))
		l.counts(m)
		l.clock.Advance(time.Hour)
		if s, _ := l.recorded(); s.Warned != (i == 2) || s.Reached {
			t.Fatalf("after session %s: %+v", session, s)
		}
	}
	l.clock.Advance(12 * time.Hour)
	m.Take(l.uses("4", time.Second, 900))
	l.counts(l.meter())
	s, _ := l.recorded()
	if s.Period.Starts != (calendar.Date{Year: 2026, Month: 3, Day: 21}) || s.Used != 900 || !s.Warned || s.Reached {
		t.Errorf("on the next day: %+v", s)
	}
	l.subscription = l.subscribe(events.Cap{Bytes: 1000, Period: "day", Then: events.CapStop})
	l.counts(l.meter())
	if s, _ := l.recorded(); s.Began {
		t.Errorf("a new subscription has %+v", s)
	}
}

func TestMeter_AnotherZoneMovesTheEndOfThePeriod(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	m := l.meter()
	m.Take(l.uses("1", time.Minute, 1000))
	l.counts(m)
	billing := coretest.NewOrganization(l.org, "acme").Billing
	billing.Timezone = "Europe/Berlin"
	l.Run(t, coretest.Operator(l.org), commands.AdoptBillingSettings{OrgID: l.org, Billing: billing})
	l.counts(l.meter())
	s, _ := l.recorded()
	if want := time.Date(2026, 3, 20, 23, 0, 0, 0, time.UTC); !s.Reached || !s.Period.ResetsAt.Equal(want) {
		t.Errorf("recorded %+v", s)
	}
}

func TestTopUps_AddOnceUnderAKeyAndGiveAccessBack(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	m := l.meter()
	m.Take(l.uses("1", time.Minute, 1200))
	l.counts(m)
	asked := coretest.Keyed(l.org)
	first, _, err := l.topUps().Add(t.Context(), asked, l.subscription, half)
	coretest.Refused(t, "add", err, "")
	again, _, err := l.topUps().Add(t.Context(), asked, l.subscription, half)
	coretest.Refused(t, "repeat", err, "")
	s, _ := l.recorded()
	if first != again || s.Reached || len(s.TopUps) != 1 || s.TopUps[0].Bytes != 500 {
		t.Errorf("%s, then %s: %+v", first, again, s)
	}
	// What the recorder had told and nobody had counted yet is known to the top-up.
	l.clock.Advance(time.Minute)
	l.uses("1", 2*time.Minute, 2500)
	_, _, err = l.topUps().Add(t.Context(), coretest.Keyed(l.org), l.subscription, half)
	coretest.Refused(t, "add more", err, "")
	if s, _ := l.recorded(); s.Used != 2500 || s.Reached {
		t.Errorf("after another one: %+v", s)
	}
	l.counts(l.meter())
	if s, _ := l.recorded(); !s.Reached {
		t.Errorf("more than both was used: %+v", s)
	}
}

func TestTopUps_AreRefused(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	add := func(org id.Organization, to id.Subscription, bytes int64) error {
		_, _, err := l.topUps().Add(t.Context(), coretest.Ask(org), to, accesscases.TopUpInput{Bytes: bytes})
		return err
	}
	coretest.Refused(t, "nothing", add(l.org, l.subscription, 0), "invalid_input")
	coretest.Refused(t, "another organization's", add(id.New[id.Organization](), l.subscription, 1),
		"subscription_not_found")
	_, _, err := l.topUps().Add(t.Context(), coretest.Ask(l.org), l.subscription, accesscases.TopUpInput{
		Bytes: 1, Price: "1.005",
	})
	coretest.Refused(t, "a wrong price", err, "invalid_input")
	coretest.Refused(t, "without a cap", add(l.org, l.subscribe(events.Cap{}), 1), "no_cap")
	l.Run(t, coretest.Operator(l.org), commands.EndSubscription{SubscriptionID: l.subscription, Reason: "moved"})
	coretest.Refused(t, "ended", add(l.org, l.subscription, 1), "subscription_ended")
}

// TestMeter_ABatchOfVouchersIsForgottenWithItsLastOne: when each of them was used or voided, counted once, whichever of
// both came first. Until then the cap counts for those that are left.
func TestMeter_ABatchOfVouchersIsForgottenWithItsLastOne(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	m := accesscases.NewMeter(accesscases.MeterConfig{Clock: clock.NewManual(now)})
	org, batch := id.New[id.Organization](), id.New[id.VoucherBatch]()
	voucher := func() events.VoucherSubject {
		return events.VoucherSubject{VoucherID: id.New[id.Voucher](), OrgID: org, BatchID: batch}
	}
	used, void, last := voucher(), voucher(), voucher()
	redeemed := func(v events.VoucherSubject) events.Event {
		return events.VoucherRedeemed{VoucherSubject: v, At: now, EndsAt: now.Add(time.Hour)}
	}
	cap := events.Cap{Bytes: 1000, Period: "day", Then: events.CapStop}
	for i, e := range []events.Envelope{
		{Event: events.VoucherBatchMade{
			BatchID: batch, OrgID: org, Count: 3, Terms: events.PlanTerms{Access: events.AccessTerms{Cap: cap}},
		}},
		{Event: redeemed(used)},
		{Event: events.VoucherVoided{VoucherSubject: used, Redeemed: true}, Revision: 1},
		{Event: events.VoucherVoided{VoucherSubject: void}},
		{Event: redeemed(void), Revision: 1}, // it was before the voiding
		{Event: redeemed(last)},
	} {
		m.Apply(e)
		if got, left := m.Batches(), min(1, 5-i); got != left {
			t.Errorf("%d batches after %T", got, e.Event)
		}
	}
	for _, v := range []id.Voucher{{}, void.VoucherID, last.VoucherID} { // the first one has been voided since
		if got := m.Next(); got != id.As[id.Subscription](v) {
			t.Errorf("%s is counted, not %s", got, v)
		}
	}
}

// TestMeter_AClockThatWasAheadTakesNoVouchersCapAway: a voucher is redeemed while the clock is ahead, or a program
// starts at that time. When the clock is put right, what the vouchers in use have used counts. Those that have ended
// are forgotten a day later.
func TestMeter_AClockThatWasAheadTakesNoVouchersCapAway(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	org, batch := id.New[id.Organization](), id.New[id.VoucherBatch]()
	redeemed := func(at time.Time) events.Envelope {
		return events.Envelope{Meta: events.Metadata{At: at}, Event: events.VoucherRedeemed{
			VoucherSubject: events.VoucherSubject{VoucherID: id.New[id.Voucher](), OrgID: org, BatchID: batch},
			At:             at, EndsAt: at.AddDate(0, 0, 7),
		}}
	}
	ahead := now.AddDate(0, 4, 0)
	log := []events.Envelope{
		{Event: events.VoucherBatchMade{BatchID: batch, OrgID: org, Count: 9, Terms: events.PlanTerms{
			Access: events.AccessTerms{Cap: events.Cap{Bytes: 1000, Period: "month", Then: events.CapStop}},
		}}}, redeemed(now), redeemed(ahead), redeemed(now.Add(time.Hour)),
	}
	first, _ := log[1].Event.(events.VoucherRedeemed)
	voucher := id.As[id.Subscription](first.VoucherID)
	for name, clocks := range map[string][]time.Time{
		"meanwhile": {now, now, ahead, now}, "at the start": {ahead, ahead, ahead, ahead},
		"elsewhere": {now, now, now, now},
	} {
		machine := clock.NewManual(now)
		m := accesscases.NewMeter(accesscases.MeterConfig{Clock: machine})
		for n, e := range log {
			machine.Set(clocks[n])
			m.Apply(e)
		}
		for !m.Next().IsZero() { // what is wanted by now
		}
		machine.Set(now.Add(2 * time.Hour))
		m.Take([]telemetry.Used{{
			Org: org, Subscription: voucher, Step: "month", Bytes: 1000,
			Starts: calendar.On(now.AddDate(0, 0, -19), time.UTC),
		}})
		if got := m.Next(); got != voucher {
			t.Errorf("%s: %s is counted", name, got)
		}
		for _, day := range []int{8, 10} {
			machine.Set(now.AddDate(0, 0, day))
			m.Apply(redeemed(machine.Now()))
		}
		if got := m.Lines(); got != 3 { // the two of these days, and the one that began when the clock was ahead
			t.Errorf("%s: %d vouchers are followed", name, got)
		}
	}
}
