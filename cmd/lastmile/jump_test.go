package main

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// advance moves the program's clock by one request, signs in again, and gives the new time.
func (k *kit) advance(body map[string]any) time.Time {
	k.t.Helper()
	now := timeOf(k.t, k.must(k.root, "POST", "/dev/clock", body))
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	return now
}

// toThirtyDays moves the clock to the middle of the next month that has 30 days, so that what a test expects of lengths
// and first days of months does not depend on the day on which it runs.
func (k *kit) toThirtyDays() {
	k.t.Helper()
	now := k.app.clock.Now()
	for next := time.Month(1); ; next++ {
		middle := time.Date(now.Year(), now.Month()+next, 15, 9, 0, 0, 0, time.UTC)
		if middle.AddDate(0, 1, -15).Day() == 30 {
			k.advance(map[string]any{"to": middle})
			return
		}
	}
}

// daily makes a plan that is paid day by day and gives its id.
func (k *kit) daily(mode string) string {
	k.t.Helper()
	return k.must(k.admin, "POST", "/plans", map[string]any{
		"code": "daily-" + mode, "name": "Daily " + mode, "kind": "pppoe", "price": 100, "currency": "KES",
		"billing": map[string]string{"mode": mode, "period": "day"},
		"rates":   map[string]int{"down": 10000, "up": 5000},
	}).text("id")
}

// subscribe gives a subscriber a plan and returns the id of the subscription.
func (k *kit) subscribe(subscriber, plan string) string {
	k.t.Helper()
	return k.must(k.admin, "POST", "/subscriptions",
		map[string]string{"subscriberId": subscriber, "planId": plan}).text("id")
}

// subscription reads a subscription from the log until it is as it should be.
func (k *kit) subscription(which, what string, holds func(subscribers.Subscription) bool) subscribers.Subscription {
	k.t.Helper()
	var s subscribers.Subscription
	k.eventually(what, func(ctx context.Context) (bool, error) {
		var err error
		s, _, err = bus.LoadUnchecked[subscribers.Subscription](ctx, k.app.engines.bus,
			id.Must[id.Subscription](which))
		return err == nil && holds(s), err
	})
	return s
}

// paidPeriods is the condition that all periods are paid, and their number.
func paidPeriods(n int) func(subscribers.Subscription) bool {
	return func(s subscribers.Subscription) bool {
		for _, p := range s.Periods {
			if p.State != subscribers.PeriodPaid {
				return false
			}
		}
		return len(s.Periods) == n
	}
}

// One jump over several days: what fell due is made up for in order, each period once. Nobody is charged for prepaid
// days that nobody renewed in time, and nothing is renewed without money.
func TestDevClock_AJumpOverDaysMakesRenewalsInOrderEachOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	prepaid := k.daily("prepaid")
	payer, account := k.subscriber("254711000101")
	poor, _ := k.subscriber("254711000102")
	regular, _ := k.subscriber("254711000103")
	paying, unpaid := k.subscribe(payer, prepaid), k.subscribe(poor, prepaid)
	postpaid := k.subscribe(regular, k.daily("postpaid"))
	k.issued(payer, 1)
	k.pay("254711000101", account, 500)
	k.subscription(paying, "the first day to be paid", paidPeriods(1))
	first := k.subscription(postpaid, "the first day to be due",
		func(s subscribers.Subscription) bool { return len(s.Periods) == 1 })

	now := k.advance(map[string]any{"advance": "84h"}) // three days and a half
	k.subscription(paying, "the renewal", paidPeriods(2))
	s := k.subscription(postpaid, "all days to be due",
		func(s subscribers.Subscription) bool { return len(s.Periods) >= 4 })
	from := first.Course().Places[0].From
	for i, place := range s.Course().Places {
		if want := from.Add(time.Duration(i) * 24 * time.Hour); !place.From.Equal(want) || s.Periods[i].Ordinal != i+1 {
			t.Errorf("postpaid day %d is number %d from %v, want from %v", i+1, s.Periods[i].Ordinal, place.From, want)
		}
	}
	until := k.subscription(paying, "the renewal", paidPeriods(2)).PaidUntil()
	if late := until.Sub(now.Add(24 * time.Hour)); late.Abs() > time.Minute {
		t.Errorf("paid until %v, want a day after the jump to %v", until, now)
	}

	k.advance(map[string]any{"to": until.Add(-time.Hour)}) // renewed before its end, it continues there
	s = k.subscription(paying, "the next renewal", paidPeriods(3))
	if want := until.Add(24 * time.Hour); !s.PaidUntil().Equal(want) {
		t.Errorf("paid until %v, want %v", s.PaidUntil(), want)
	}
	k.subscription(postpaid, "one more day", func(s subscribers.Subscription) bool { return len(s.Periods) == 5 })
	k.issued(payer, 3)
	k.issued(regular, 5)
	k.issued(poor, 1)
	if s := k.subscription(unpaid, "it is there",
		func(subscribers.Subscription) bool { return true }); len(s.Periods) != 1 ||
		!s.PaidUntil().IsZero() {
		t.Errorf("without money: %+v", s)
	}
	k.balanceIsItsEvents(payer)
}

// A prompt whose callback was lost is asked about when its time has come, and one that nobody answers expires.
func TestDevClock_AJumpAsksAboutPromptsAndEndsThem(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.faults(provider.Faults{DropCallbacks: 1})
	lost, _ := k.subscriber("254711000111")
	silent, _ := k.subscriber("254711000112")
	if err := k.sim.SetPhone("254711000112", provider.Phone{Behaviour: "silent"}); err != nil {
		t.Fatal(err)
	}
	paid, open := k.prompt(lost, 300), k.prompt(silent, 200)
	k.settled()
	k.advance(map[string]any{"advance": "31s"})
	k.paid(paid, "SUCCESS")
	if now := k.must(k.admin, "GET", "/payments/"+open, nil); now.text("status") != "PENDING" {
		t.Errorf("a prompt that the provider knows as open is %v", now)
	}
	k.advance(map[string]any{"advance": "25h"})
	k.paid(open, "FAILED")
}

// A job that is due in an hour runs right after a jump over it, and a jump waits for jobs and requests that run.
func TestDevClock_AJumpRunsDueJobsAndWaitsForRunningWork(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	ctx := t.Context()
	if err := k.app.engines.jobs.Insert(ctx, commands.SweepMoney{}, id.New[id.Any](), jobs.Cause{},
		time.Hour); err != nil {
		t.Fatal(err)
	}
	leave, err := k.app.gates.jobs.Enter(ctx)
	if err != nil {
		t.Fatal(err)
	}
	before, moved := k.app.clock.Now(), make(chan error, 1)
	go func() {
		_, err := k.root.call(ctx, "POST", "/dev/clock", "", map[string]any{"advance": "3601s"})
		moved <- err
	}()
	k.isShut(&k.app.gates.jobs)
	select {
	case err := <-moved:
		t.Fatalf("the clock was moved during a job: %v", err)
	default:
	}
	if k.app.clock.Now().Sub(before) >= time.Hour {
		t.Error("a running job sees the new time")
	}
	leave()
	if err := <-moved; err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	k.eventually("the job", func(ctx context.Context) (done bool, err error) {
		err = k.db.Owner.QueryRow(ctx, `select not exists (select from `+k.db.Namespace.Schema("river")+`.river_job
			where state = 'scheduled')`).Scan(&done)
		return done, err
	})
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the job ran %v after the jump", took)
	}
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.must(k.root, "POST", "/dev/clock", map[string]any{"advance": "240h"})
	k.eventually("a program in good health", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == 200, nil
	})
}
