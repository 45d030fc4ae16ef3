package main

import (
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/processmanagers/access/dunning"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// wholePass is the number of subscriptions of the aim: a pass over all of them under 10 seconds.
const wholePass = 50_000

// passKit is the log, the bus and the process runner of a program, without its other readers of the log.
type passKit struct {
	*coretest.Kit
	org   id.Organization
	clock *clock.Manual
	now   time.Time
}

// BenchmarkDunningPass measures a pass: at one instant the reviews of all BENCH_DUNNING_PASS subscriptions of an
// organization are due. A subscription has one timer, at its next step or reminder. So the busiest instant is the one
// at which the grace of all customers with the same due date is over, and in "all" each of them takes its step. In
// "tenth" every tenth one does, and the others find nothing new. It ends when every timer has fired, every command is
// executed and the process knows every step. The limit is appends a second to the same log. The metric pass_s is the
// time for 50,000 subscriptions, which should be under 10.
func BenchmarkDunningPass(b *testing.B) {
	n := benchtest.Size(b, "DUNNING_PASS", wholePass)
	b.Run("all", func(b *testing.B) { benchPass(b, n, 1) })
	b.Run("tenth", func(b *testing.B) { benchPass(b, n, 10) })
}

// benchPass measures a pass over n subscriptions in which one of moves takes its step.
func benchPass(b *testing.B, n, moves int) {
	for b.Loop() {
		k := newPassKit(b)
		k.start(b)
		at := k.owe(b, n, moves)
		began := time.Now()
		k.clock.Advance(at.Sub(k.now))
		k.settle(b, at, n)
		took := time.Since(began).Seconds()
		if got := k.entered(b); got != n/moves {
			b.Fatalf("%d steps, want %d", got, n/moves)
		}
		rate := float64(n) / took
		benchtest.Report(b, "reviews/s", rate, appendRate(b, k.Store), benchtest.NoAim)
		b.ReportMetric(wholePass/rate, "pass_s")
	}
}

// newPassKit makes an organization.
func newPassKit(b *testing.B) *passKit {
	b.Helper()
	k := &passKit{org: id.New[id.Organization](), now: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)}
	k.clock = clock.NewManual(k.now)
	small := pgtest.New(b) // its end drops the tables; programs have more connections
	db, err := postgres.Open(b.Context(), postgres.Config{URL: pgtest.URL(b), Namespace: small.Namespace})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(db.Close)
	store := storetest.On(b, db)
	k.Kit = &coretest.Kit{Kit: store, Bus: bus.New(bus.Config{
		Store: store.Store, Claims: storetest.ClaimKey, Clock: k.clock, Logger: storetest.Quiet(),
	})}
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, access.DunningPolicies())
	bus.Register(k.Bus, access.Dunnings())
	k.Run(b, coretest.Operator(k.org), coretest.NewOrganization(k.org, "acme"))
	return k
}

// start starts the process runner with the process of dunning alone.
func (k *passKit) start(b *testing.B) {
	b.Helper()
	r := processrunner.New(processrunner.Config{
		Feed: k.Feed(b), DB: k.DB, Clock: k.clock, Bus: accesscases.NewReviews(k.Bus, k.Bus, k.clock),
	})
	r.Register(dunning.Process())
	coretest.Start(b, "processes", r)
}

// owe makes subscriptions that are overdue, waits for their first reviews, and makes the next ones due at one instant,
// which it gives: the one of the next step of one in some subscriptions.
func (k *passKit) owe(b *testing.B, n, moves int) time.Time {
	b.Helper()
	var group sync.WaitGroup
	for writer := range benchWriters {
		group.Go(func() {
			for i := writer; i < n; i += benchWriters {
				until := k.now.Add(-25 * time.Hour)
				if i%moves == 0 {
					until = k.now.Add(-49 * time.Hour)
				}
				if err := k.overdue(b, until); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	k.settle(b, k.now, n)
	var at time.Time
	schema := k.DB.Namespace.Schema("processes")
	err := k.DB.Owner.QueryRow(b.Context(), `select min(due_at) from `+schema+`.timers`).Scan(&at)
	if err == nil {
		_, err = k.DB.Owner.Exec(b.Context(), `update `+schema+`.timers set due_at = $1`, at)
	}
	if err == nil {
		_, err = k.DB.Owner.Exec(b.Context(),
			`vacuum analyze `+schema+`.timers, `+schema+`.instances, `+schema+`.commands`)
	}
	if err != nil {
		b.Fatal(err)
	}
	return at
}

// overdue makes a subscription whose paid time has ended.
func (k *passKit) overdue(b *testing.B, until time.Time) error {
	s := events.DunningSubject{
		SubscriptionID: id.New[id.Subscription](), OrgID: k.org, SubscriberID: id.New[id.Subscriber](),
	}
	var batch []eventstore.New
	for _, e := range []events.Event{
		events.SubscriptionCreated{
			SubscriptionID: s.SubscriptionID, OrgID: k.org, SubscriberID: s.SubscriberID,
			Terms: events.PlanTerms{Mode: events.Prepaid, Price: money.Major(1500, money.KES)},
		},
		events.SubscriptionExtended{
			SubscriptionID: s.SubscriptionID, SubscriberID: s.SubscriberID, PaidUntil: until,
		},
	} {
		batch = append(batch, eventstore.New{Event: e, Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: k.org, Action: "bench", At: k.now,
			Actor: events.Actor{Kind: events.ActorOperator},
		}})
	}
	_, err := k.Store.Append(b.Context(), "subscription-"+s.SubscriptionID.String(), eventstore.NoStream, batch)
	return err
}

// settle waits until the process has a timer for each of n subscriptions, none due at an instant or before, and no
// command waits. It asks seldom, for the cheapest first, and counts at the end only, because the server has its own
// work to do: a look at the commands goes over every row that was deleted.
func (k *passKit) settle(b *testing.B, at time.Time, n int) {
	b.Helper()
	schema := k.DB.Namespace.Schema("processes")
	for {
		var busy bool
		err := k.DB.Owner.QueryRow(b.Context(), `select exists (select from `+schema+`.timers
			where process = 'dunning' and org = $2 and due_at <= $1)`, at, k.org.String()).Scan(&busy)
		if err == nil && !busy {
			err = k.DB.Owner.QueryRow(b.Context(), `select exists (select from `+schema+`.commands)`).Scan(&busy)
		}
		later := 0
		if err == nil && !busy {
			err = k.DB.Owner.QueryRow(b.Context(), `select count(*) from `+schema+`.timers
				where due_at > $1::timestamptz + interval '1 hour'`, at).Scan(&later)
		}
		if err != nil {
			b.Fatal(err)
		}
		if later == n {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// entered is the number of subscriptions that have come into the walled garden.
func (k *passKit) entered(b *testing.B) int {
	b.Helper()
	for count, at := 0, uint64(0); ; {
		list, next, err := k.Store.ReadAll(b.Context(), at, 1<<30, []string{events.WalledGardenEntered{}.EventType()})
		if err != nil {
			b.Fatal(err)
		}
		if next == at {
			return count
		}
		count, at = count+len(list), next
	}
}
