package main

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// tower starts a router that obeys requests to change or to end sessions, in the place of the one that connect has
// registered.
func (k *kit) tower(c apiClient, secret string) *handset.NAS {
	k.t.Helper()
	nas, err := handset.New(handset.Config{
		Server: k.app.radius.server.AccessAddr(), Accounting: k.app.radius.server.AccountingAddr(),
		Secret: []byte(secret), Clock: k.app.clock, Seed: 1,
		Pools: map[string]netip.Prefix{"homes": netip.MustParsePrefix("100.64.0.0/24")},
	})
	if err != nil {
		k.t.Fatal(err)
	}
	if err := nas.Start(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	atEnd(k.t, nas.Stop)
	device := k.must(c, "GET", "/nas/devices", nil).list("data")[0].text("id")
	k.must(c, "PATCH", "/nas/devices/"+device, map[string]any{"coaPort": nas.CoAAddr().Port()})
	return nas
}

// handset signs a customer in until it is accepted, and gives the recorded session.
func (k *kit) handset(c apiClient, nas *handset.NAS, who connection) string {
	k.t.Helper()
	var session string
	k.eventually("session of "+who.username, func(ctx context.Context) (bool, error) {
		if len(nas.Sessions()) == 0 {
			if _, err := nas.SignIn(ctx, handset.Customer{Name: who.username, Password: who.password}); err != nil {
				return false, err
			}
		}
		page := k.must(c, "GET", "/sessions?online=true&subscriberId="+who.subscriber, nil).list("data")
		if len(page) == 1 {
			session = page[0].text("id")
		}
		return len(page) == 1, nil
	})
	return session
}

// TestEnforcement_TheNetworkDoesWhatCustomersAreEntitledTo: a block, another password and a clerk's wish end a session
// at the router within seconds, and the log tells who caused it.
func TestEnforcement_TheNetworkDoesWhatCustomersAreEntitledTo(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	amina := k.connect(k.admin, "secret-of-acme", "amina")
	nas := k.tower(k.admin, "secret-of-acme")
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": amina.subscriber, "amount": 1000, "reference": "till 1",
	})
	offline := func(after string) {
		t.Helper()
		k.eventually("end of the session after "+after, func(context.Context) (bool, error) {
			online := k.must(k.admin, "GET", "/sessions?online=true", nil).list("data")
			return len(nas.Sessions()) == 0 && len(online) == 0, nil
		})
	}
	k.handset(k.admin, nas, amina)
	k.must(k.admin, "POST", "/subscribers/"+amina.subscriber+"/block", map[string]any{"reason": "fraud"})
	offline("a block")
	k.must(k.admin, "POST", "/subscribers/"+amina.subscriber+"/unblock", map[string]any{"reason": "cleared"})
	k.handset(k.admin, nas, amina)
	amina.password = "another-password"
	k.must(k.admin, "POST", "/subscriptions/"+amina.subscription+"/credentials", map[string]any{
		"password": amina.password,
	})
	offline("another password")
	session := k.handset(k.admin, nas, amina)
	k.refused(k.admin, "POST /sessions/"+session+"/disconnect", map[string]any{"reason": ""}, 422, "invalid_input")
	done := k.must(k.admin, "POST", "/sessions/"+session+"/disconnect", map[string]any{"reason": "moves house"})
	if done["ended"] != true || done.text("via") != "radius" || done["error"] != nil {
		t.Errorf("disconnected %v", done)
	}
	offline("a clerk's wish")
	k.handset(k.admin, nas, amina)
	device := k.must(k.admin, "GET", "/nas/devices", nil).list("data")[0].text("id")
	k.must(k.admin, "DELETE", "/nas/devices/"+device, nil)
	offline("the end of the router")
	k.writesOfPersons(4)
	for _, want := range []string{
		"ended: the customer is blocked.", "ended: the login or the address is another one.",
		"ended: a person wanted it.", "ended: its router was removed.",
	} {
		k.eventually("the timeline to tell "+want, func(context.Context) (bool, error) {
			rows := k.must(k.admin, "GET", "/subscribers/"+amina.subscriber+"/timeline", nil).list("data")
			return slices.ContainsFunc(rows, func(row answer) bool {
				return strings.HasSuffix(row.text("summary"), want)
			}), nil
		})
	}
}

// writesOfPersons waits until the audit log has so many writes to routers of users with an address.
func (k *kit) writesOfPersons(most int) {
	k.t.Helper()
	k.eventually("entries in the audit log", func(context.Context) (bool, error) {
		entries := k.must(k.admin, "GET", "/audit-log?action=router.write", nil).list("data")
		writes := 0
		for _, e := range entries {
			actor, _ := e["actor"].(map[string]any)
			if actor["kind"] == "user" && e["ip"] != nil {
				writes++
			}
		}
		if writes < most {
			return false, fmt.Errorf("%d of a person with an address in %v", writes, entries)
		}
		return true, nil
	})
}

// redials has the customer's router dial whenever it has no session, as routers do, until the test ends.
func (k *kit) redials(nas *handset.NAS, who connection) {
	ctx := k.t.Context()
	go func() {
		for loop.Sleep(ctx, 50*time.Millisecond) {
			if online(nas, who) == nil {
				_, _ = nas.SignIn(ctx, handset.Customer{Name: who.username, Password: who.password})
			}
		}
	}()
}

// online is the session of a customer at a router; nil without one.
func online(nas *handset.NAS, who connection) *handset.Session {
	for _, s := range nas.Sessions() {
		if s.User == who.username {
			return &s
		}
	}
	return nil
}

// TestEnforcement_WalledInAndRestoredByAPayment moves the clock through a customer's whole circle: a session in the
// paid time, in the grace, in the walled garden, and whole again after the payment, without anybody's help.
func TestEnforcement_WalledInAndRestoredByAPayment(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}})
	amina := k.connect(k.admin, "secret-of-acme", "amina")
	nas := k.tower(k.admin, "secret-of-acme")
	k.pay("254711000077", "amina", 1000)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(amina.subscription, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.redials(nas, amina)
	has := func(list, rate string) {
		t.Helper()
		k.eventually("session with the list "+list, func(context.Context) (bool, error) {
			s := online(nas, amina)
			return s != nil && s.AddressList == list && strings.HasPrefix(s.RateLimit, rate), nil
		})
	}
	has("", "5M/10M")
	k.advance(map[string]any{"to": until.Add(time.Minute)})
	k.dunning(amina.subscription, events.DunningReminding)
	has("", "5M/10M")
	k.advance(map[string]any{"to": until.AddDate(0, 0, 3).Add(time.Hour)})
	k.dunning(amina.subscription, events.DunningWalledGarden)
	has("walled-garden", "2M/2M")
	k.pay("254711000077", "amina", 1000)
	has("", "5M/10M")
}

// TestEnforcement_ALateRouterHoldsUpNobody: a router that does what it is asked and answers after the last try is not
// taken for a silent one, although its own interface cannot be reached.
func TestEnforcement_ALateRouterHoldsUpNobody(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	all := []connection{k.connect(k.admin, "secret-of-acme", "c0")}
	plan := k.must(k.admin, "GET", "/plans", nil).list("data")[0].text("id")
	for i := range 11 {
		who, _ := k.subscriber(fmt.Sprintf("2547110%05d", i))
		made := k.must(k.admin, "POST", "/subscriptions", map[string]any{
			"subscriberId": who, "planId": plan, "username": fmt.Sprintf("late%d", i),
		})
		all = append(all, connection{
			secret: all[0].secret, username: made.text("username"), password: made.text("password"), subscriber: who,
		})
	}
	nas := k.tower(k.admin, "secret-of-acme")
	for i, who := range all {
		k.must(k.admin, "POST", "/payments/cash", map[string]any{
			"subscriberId": who.subscriber, "amount": 1000, "reference": fmt.Sprintf("till %d", i),
		})
		k.eventually("sign-in of "+who.username, func(ctx context.Context) (bool, error) {
			got, err := nas.SignIn(ctx, handset.Customer{Name: who.username, Password: who.password})
			return got.Outcome == handset.Accepted, err
		})
	}
	k.eventually("sessions to be known", func(context.Context) (bool, error) {
		return len(k.all(k.admin, "/sessions?online=true")) == len(all), nil
	})
	if err := nas.SetFaults(handset.Faults{Dynamic: handset.Slow, DynamicDelayMs: 4000}); err != nil {
		t.Fatal(err)
	}
	for _, who := range all {
		k.must(k.admin, "POST", "/subscribers/"+who.subscriber+"/block", map[string]any{"reason": "fraud"})
	}
	k.eventually("all to be offline", func(context.Context) (bool, error) {
		return len(nas.Sessions()) == 0, fmt.Errorf("%d are online", len(nas.Sessions()))
	})
	k.eventually("the ends to be recorded", func(context.Context) (bool, error) {
		done := k.all(k.admin, "/audit-log?action=router.write")
		return len(done) == len(all), fmt.Errorf("%d ends", len(done))
	})
	for _, state := range k.app.breakers.States() {
		if state.Kind == accessjobs.BreakerKind && !state.OpenedAt.IsZero() {
			t.Errorf("breaker %+v", state)
		}
	}
}
