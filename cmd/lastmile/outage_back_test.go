package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// TestOutage_WhoDialsInAgainAfterAPowerCutWasHit: the power of a router is cut for twelve minutes. It tells nobody that
// its sessions are over, and when it is back, its customers dial in again. All of them are counted while it lasts, are
// told, are in the list afterwards, and get their day.
func TestOutage_WhoDialsInAgainAfterAPowerCutWasHit(t *testing.T) {
	t.Parallel()
	const customers = 3
	k, tower, logins := atOneTower(t, customers)
	before := k.paidUntils()
	dial := func(session string, online time.Duration, status rfc2866.AcctStatusType) {
		t.Helper()
		for n, c := range logins {
			k.dials(c, told{
				session: fmt.Sprint(session, n), mac: fmt.Sprint("AA-BB-CC-00-11-2", n), status: status, online: online,
			})
		}
	}
	dial("8100000", 0, rfc2866.AcctStatusType_Value_Start)
	k.advance(map[string]any{"advance": "5m"})
	dial("8100000", 5*time.Minute, rfc2866.AcctStatusType_Value_InterimUpdate)

	k.advance(map[string]any{"advance": "3m"})
	k.reaches(tower, false)
	k.advance(map[string]any{"advance": "10m5s"})
	at := k.outageOf("running", customers)
	k.eventually("all to be told", func(ctx context.Context) (bool, error) {
		o, err := k.admin.call(ctx, "GET", at, "", nil)
		return o.at("told.began.asked") == fmt.Sprint(customers), fmt.Errorf("%v %w", o["told"], err)
	})
	k.advance(map[string]any{"advance": "2m"})
	k.reaches(tower, true)
	dial("8200000", 0, rfc2866.AcctStatusType_Value_Start)
	k.advance(map[string]any{"advance": "2m5s"})
	if over := k.outageOf("ended", customers); over != at {
		t.Errorf("%s has ended, %s had begun", over, at)
	}
	if list := k.all(k.admin, at+"/customers"); len(list) != customers {
		t.Errorf("hit were %v", list)
	}
	for _, s := range k.all(k.admin, "/sessions?online=false") {
		if s.text("endReason") != "replaced" {
			t.Errorf("session %v", s)
		}
	}
	gift := k.must(k.admin, "POST", "/compensations", map[string]any{
		"outageId": at[len("/outages/"):], "give": "proportional", "reason": "The power was cut.",
	})
	if gift.at("customers") != fmt.Sprint(customers) {
		t.Errorf("previewed: %v", gift)
	}
	k.given(gift.text("id"))
	k.paidLater(before, 24*time.Hour)
}

// atOneTower starts a program with one router, which is polled and reports, and so many customers who have paid.
func atOneTower(t *testing.T, customers int) (k *kit, tower simRouter, logins []connection) {
	t.Helper()
	k = newKit(t, "DEV_CLOCK=true", "ACCESS_AUDIT_INTERVAL=10000h", "DRIFT_CHECK_INTERVAL=10000h")
	k.routers = (&outageCourse{kit: k}).nearRouter()
	k.start().signIn()
	k.must(k.admin, "PUT", "/settings/outages", map[string]any{
		"detect": true, "tell": true, "afterMinutes": 5, "public": true,
	})
	tower = simRouter{Router: k.routers.Routers()[0]}
	tower.device = k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "tower", "ipAddress": "203.0.113.20", "radiusSecret": "secret-of-acme", "apiUsername": "admin",
		"apiPassword": routerPassword, "apiPort": 80, "managementAddress": "127.0.0.1",
	}).text("id")
	plan := k.plan("home", 1500)
	for n := range customers {
		customer, account := k.subscriber(fmt.Sprint("25471100078", n))
		made := k.must(k.admin, "POST", "/subscriptions", map[string]any{
			"subscriberId": customer, "planId": plan, "username": fmt.Sprint("home-", n),
		})
		k.must(k.admin, "POST", "/payments/cash", map[string]any{
			"subscriberId": customer, "amount": 1500, "reference": "till " + account,
		})
		logins = append(logins, connection{
			secret: "secret-of-acme", username: fmt.Sprint("home-", n), password: made.text("password"),
			subscriber: customer, subscription: made.text("id"),
		})
		k.until(made.text("id"), "")
	}
	return k, tower, logins
}

// dials signs a device in and reports about its session.
func (k *kit) dials(c connection, r told) {
	k.t.Helper()
	var class []byte
	k.eventually("sign-in to be accepted", func(context.Context) (bool, error) {
		answer := k.dialFrom(r.mac, c.secret, c.username, c.password)
		class = rfc2865.Class_Get(answer)
		return answer.Code == radius.CodeAccessAccept, nil
	})
	k.report(c, class, r)
}

// reaches waits until a router answers, or does not.
func (k *kit) reaches(r simRouter, want bool) {
	k.t.Helper()
	r.SetFaults(router.Faults{Refuse: !want})
	if want {
		k.advance(map[string]any{"advance": coolDown})
	}
	k.eventually(fmt.Sprint("the router to be reached: ", want), func(ctx context.Context) (bool, error) {
		_, _ = k.admin.call(ctx, "GET", "/nas/devices/"+r.device+"/interfaces", "", nil) // asks the router
		device, err := k.admin.call(ctx, "GET", "/nas/devices/"+r.device, "", nil)
		return err == nil && (device["unreachableSince"] == nil) == want, err
	})
}

// outageOf waits until there is one outage in a state, with so many customers, and gives its path.
func (k *kit) outageOf(state string, customers int) (at string) {
	k.t.Helper()
	k.eventually("an outage that is "+state, func(ctx context.Context) (bool, error) {
		list, err := k.admin.call(ctx, "GET", "/outages?state="+state, "", nil)
		if err != nil || len(list.list("data")) != 1 {
			return false, fmt.Errorf("%v %w", list, err)
		}
		at = "/outages/" + list.list("data")[0].text("id")
		return true, nil
	})
	if o := k.must(k.admin, "GET", at, nil); o.at("customers") != fmt.Sprint(customers) {
		k.t.Errorf("%s with %d customers: %v", state, customers, o)
	}
	return at
}
