package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
)

// restoredWithin is the longest time from a payment to the restored session that 99 of 100 customers may wait.
const restoredWithin = 5 * time.Second

// BenchmarkRestored measures the time from the moment in which a customer in the walled garden pays at the provider
// until his session is whole: callback, receipt, invoice, paid time, the end of the session, and the next sign-in of a
// router that dials every 50 ms.
func BenchmarkRestored(b *testing.B) {
	k := newKit(b, "DEV_CLOCK=true", "RATE_LIMIT_USER=1000000000", "RATE_LIMIT_WEBHOOK=1000000000").start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}})
	list := []connection{k.connect(k.admin, "secret-of-acme", "customer-0")}
	nas := k.tower(k.admin, "secret-of-acme")
	plan := k.must(k.admin, "GET", "/subscriptions/"+list[0].subscription, nil).text("planId")
	for n := 1; n < benchtest.Size(b, "RESTORED", 50); n++ {
		list = append(list, k.customer(plan, n))
	}
	for n, who := range list {
		k.pay(fmt.Sprintf("2547110001%02d", n%100), who.username, 1000)
		k.paidUntil(who.subscription, "")
		k.redials(nas, who)
	}
	everybody := func(walled string) {
		k.eventually("sessions with the list "+walled, func(context.Context) (bool, error) {
			for _, who := range list {
				if s := online(nas, who); s == nil || s.AddressList != walled {
					return false, nil
				}
			}
			return true, nil
		})
	}
	everybody("")
	for b.Loop() {
		k.advance(map[string]any{"advance": "840h"})
		everybody("walled-garden")
		var waits []time.Duration
		for n, who := range list {
			paid := time.Now()
			k.pay(fmt.Sprintf("2547110001%02d", n%100), who.username, 1000)
			k.eventually("whole session", func(context.Context) (bool, error) {
				s := online(nas, who)
				return s != nil && s.AddressList == "", nil
			})
			waits = append(waits, time.Since(paid))
		}
		benchtest.Latencies(b, "restored", waits, restoredWithin)
		benchtest.ReportTime(b, "restored", benchtest.Quantile(waits, 99), restoredWithin, 1)
	}
}

// customer registers one more customer with a login.
func (k *kit) customer(plan string, n int) connection {
	k.t.Helper()
	subscriber := k.must(k.admin, "POST", "/subscribers", map[string]any{
		"firstName": "Customer", "phone": fmt.Sprintf("+2547110001%02d", n%100),
	}).text("id")
	name := fmt.Sprintf("customer-%d", n)
	made := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": subscriber, "planId": plan, "username": name,
	})
	return connection{
		username: name, password: made.text("password"), subscriber: subscriber, subscription: made.text("id"),
	}
}
