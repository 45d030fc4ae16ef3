package main

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/events"
)

// later is a customer who pays afterwards.
type later struct{ id, account, phone, line string }

// payingLater makes a customer for each choice of billWhileSuspended.
func (k *kit) payingLater() map[string]later {
	k.t.Helper()
	of := map[string]later{}
	for by, phone := range map[string]string{"yes": "254711000621", "no": "254711000622", "days": "254711000623"} {
		plan := k.must(k.admin, "POST", "/plans", map[string]any{
			"code": "later-" + by, "name": "Later", "kind": "pppoe", "price": 1000, "billWhileSuspended": by,
			"billing": map[string]string{"mode": "postpaid", "period": "month"},
			"rates":   map[string]int{"down": 10000, "up": 5000},
		}).text("id")
		c := later{phone: phone}
		c.id, c.account = k.subscriber(phone)
		c.line = k.subscribe(c.id, plan)
		of[by] = c
	}
	return of
}

// TestSuspendedBilling_WhoIsCutOffIsNotBilled follows three customers who do not pay afterwards for what they had, each
// on a plan with another choice, until they pay everything at last.
func TestSuspendedBilling_WhoIsCutOffIsNotBilled(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.dunningDays(nil)
	begun := k.app.clock.Now()
	of := k.payingLater()
	for _, c := range of {
		k.issued(c.id, 1)
	}
	k.advance(map[string]any{"to": k.monthsAfter(begun, 1, 0).AddDate(0, 0, 5)})
	var cut time.Time
	for _, c := range of {
		cut = k.dunning(c.line, events.DunningWalledGarden).Entered[0].At
		k.issued(c.id, 2) // begun before the cut
	}
	k.advance(map[string]any{"to": k.monthsAfter(begun, 3, 0).AddDate(0, 0, 2)})
	k.issued(of["yes"].id, 4)
	for _, by := range []string{"no", "days"} {
		k.issued(of[by].id, 2)
		s := k.must(k.admin, "GET", "/subscriptions/"+of[by].line, nil)
		since, err := time.Parse(time.RFC3339Nano, s.text("unbilledSince"))
		if err != nil || since.Sub(cut).Abs() > time.Minute {
			t.Errorf("%s: not billed since %v, cut at %v: %v", by, since, cut, err)
		}
		if next := k.must(k.admin, "GET", "/subscriptions/"+of[by].line+"/upcoming", nil).list("data"); len(next) > 0 {
			t.Errorf("%s: %v is to come while the service is cut off", by, next)
		}
	}
	paid := k.app.clock.Now()
	for by, amount := range map[string]int{"yes": 4000, "no": 2000, "days": 2000} {
		k.pay(of[by].phone, of[by].account, amount)
	}
	for _, c := range of {
		k.dunning(c.line, events.DunningNone)
	}
	no := k.subscription(of["no"].line, "the next period", func(s subscribers.Subscription) bool {
		return len(s.Periods) == 3
	})
	if from := no.Course().Places[2].From; from.Sub(paid).Abs() > time.Minute {
		t.Errorf("no: the next period begins at %v, paid at %v", from, paid)
	}
	days := k.subscription(of["days"].line, "billing to go on", func(s subscribers.Subscription) bool {
		return s.Suspended.IsZero()
	})
	off := paid.Sub(cut)
	if end, want := days.Course().Places[1].To, k.monthsAfter(begun, 2, 0).Add(off); end.Sub(want).Abs() > time.Minute {
		t.Errorf("days: the second period ends at %v, want %v", end, want)
	}
	k.issued(of["no"].id, 3)
	k.soundBooks()
	k.refused(k.admin, "PATCH /plans/"+no.PlanID.String(), map[string]any{"billWhileSuspended": "never"}, 422,
		"invalid_input")
}
