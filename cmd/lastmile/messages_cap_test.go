package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
)

// TestMessages_TheUseOfACapIsToldOnce: a customer's router reports the use. The customer is told at 80 and at 100
// percent, once each, whatever is reported again, after restarts, and after the cap has reset. The next day is another
// one.
func TestMessages_TheUseOfACapIsToldOnce(t *testing.T) {
	t.Parallel()
	const phone = "+254711000077"
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.messageHours("00:00", "24:00")
	k.withoutText("invoice", "receipt")
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	tomorrow := time.Now().In(zone).AddDate(0, 0, 1)
	k.advance(map[string]any{"to": time.Date(tomorrow.Year(), tomorrow.Month(), tomorrow.Day(), 12, 0, 0, 0, zone)})
	c := k.capped(k.admin, k.connect(k.admin, "secret-of-acme", "amina"))
	class := rfc2865.Class_Get(k.online(c))
	k.uses(c, class, time.Second, 790)
	k.uses(c, class, 2*time.Second, 800)
	k.templates(phone, "cap_warned")
	restart := func() {
		k.app.Stop()
		k.start()
		k.admin, _ = k.login("acme", testAdminEmail, testPassword)
		k.root, _ = k.login("", testRootEmail, testPassword)
	}
	restart()
	k.uses(c, class, 2*time.Second, 800) // a repeat
	k.uses(c, class, 3*time.Second, 990)
	k.uses(c, class, 4*time.Second, 1000)
	k.templates(phone, "cap_warned", "cap_stopped")
	k.uses(c, class, 5*time.Second, 1200)
	restart()
	k.uses(c, class, 6*time.Second, 1300)
	k.checkTexts(phone, k.must(k.admin, "GET", "/subscribers/"+c.subscriber, nil).text("accountNumber"), zone, "800 ")

	k.advance(map[string]any{"advance": "24h"})
	k.eventually("the reset", func(context.Context) (bool, error) { return k.happened(c, "CapReset") == 1, nil })
	k.online(c)
	k.templates(phone, "cap_warned", "cap_stopped")
	k.report(c, class, told{
		session: "81000010", mac: "AA-BB-CC-00-11-33", status: rfc2866.AcctStatusType_Value_InterimUpdate,
		online: time.Minute, down: 900,
	})
	k.templates(phone, "cap_warned", "cap_stopped", "cap_warned")
	rows := k.all(k.admin, "/messages?subscriberId="+c.subscriber)
	if len(rows) != 3 {
		t.Errorf("the list has %v", rows)
	}
}

// TestMessages_AKillWhileTheyAreSentLosesNoneAndRepeatsNone kills the program with SIGKILL while many customers are
// told of their cap, several times.
func TestMessages_AKillWhileTheyAreSentLosesNoneAndRepeatsNone(t *testing.T) {
	t.Parallel()
	const rounds, together = 3, 12
	ports := childPorts{access: freePort(t), acct: freePort(t)}
	k := newKit(t, "RADIUS_AUTH_ADDR="+ports.access, "RADIUS_ACCT_ADDR="+ports.acct)
	k.radius = ports
	program := k.spawn(freePort(t))
	k.signIn()
	k.messageHours("00:00", "24:00")
	crowd := k.crowd(rounds * together)
	interrupted := 0
	for round := range rounds {
		before := k.toldAll(t.Context())
		for n, c := range crowd[round*together : (round+1)*together] {
			k.report(c, nil, told{
				session: fmt.Sprintf("81%06x", round*together+n), mac: "AA-BB-CC-00-11-33",
				status: rfc2866.AcctStatusType_Value_InterimUpdate, online: time.Second, down: 900,
			})
		}
		k.eventually("the first messages", func(ctx context.Context) (bool, error) {
			return len(k.toldAll(ctx)) > len(before), nil
		})
		if len(k.toldAll(t.Context())) < (round+1)*together {
			interrupted++
		}
		program.kill9()
		program = k.spawn(program.addr)
		k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	}
	k.eventually("all messages", func(ctx context.Context) (bool, error) {
		list := k.toldAll(ctx)
		return len(list) >= len(crowd), fmt.Errorf("%d messages", len(list))
	})
	k.eventually("all messages to be listed as sent", func(context.Context) (bool, error) {
		return len(k.all(k.admin, "/messages?state=sent")) == len(crowd), nil
	})
	times := map[string]int{}
	for _, to := range k.toldAll(t.Context()) {
		times[to]++
	}
	for to, n := range times {
		if n != 1 {
			t.Errorf("%s was told %d times", to, n)
		}
	}
	if all := k.all(k.admin, "/messages"); len(times) != len(crowd) || len(all) != len(crowd) {
		t.Errorf("%d of %d customers were told, by %d messages", len(times), len(crowd), len(all))
	}
	t.Logf("%d of %d kills came while messages were to be sent", interrupted, rounds)
}

// crowd makes customers with a capped line each, and a router.
func (k *kit) crowd(count int) []connection {
	k.t.Helper()
	first := k.connect(k.admin, "secret-of-acme", "amina")
	plan := k.must(k.admin, "POST", "/plans", map[string]any{
		"code": "capped", "name": "Capped", "kind": "pppoe", "price": 1000, "currency": "KES",
		"billing": map[string]string{"mode": "postpaid", "period": "month"},
		"rates":   map[string]any{"down": 10000, "up": 5000},
		"cap":     map[string]any{"bytes": 1000, "period": "month", "then": "stop"},
	}).text("id")
	list := make([]connection, count)
	for n := range list {
		subscriber, _ := k.subscriber(fmt.Sprintf("2547110005%02d", n))
		made := k.must(k.admin, "POST", "/subscriptions", map[string]any{
			"subscriberId": subscriber, "planId": plan, "username": fmt.Sprint("capped", n),
		})
		list[n] = connection{first.secret, made.text("username"), made.text("password"), subscriber, made.text("id")}
	}
	k.online(list[count-1]) // the last one is known
	return list
}

// toldAll lists the addresses of all kept messages; none while the program does not answer.
func (k *kit) toldAll(ctx context.Context) []string {
	r, err := k.admin.call(ctx, http.MethodGet, "/dev/messages", "", nil)
	if err != nil {
		return nil
	}
	var list []string
	for _, m := range r.list("data") {
		if strings.HasPrefix(m.text("template"), "cap_") {
			list = append(list, m.text("to"))
		}
	}
	return list
}
