package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// audits reads how often the auditor has looked at routers, with one outcome.
func (k *kit) audits(ctx context.Context, outcome string) (int, error) {
	text, err := scrape(ctx, "http://"+k.app.metricsListener.Addr()+"/metrics")
	_, rest, _ := strings.Cut(string(text), `lastmile_access_audits_total{outcome="`+outcome+`"} `)
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(line)
	return n, err
}

// looked has the auditor look at a router, and a second time where it found something.
func (k *kit) looked(r simRouter) {
	k.t.Helper()
	before, _ := k.audits(k.t.Context(), "compared")
	k.must(k.admin, "POST", "/access-audits", map[string]any{"deviceId": r.device})
	k.eventually("look of the auditor", func(ctx context.Context) (bool, error) {
		now, err := k.audits(ctx, "compared")
		unknown, _ := k.audits(ctx, "unknown")
		return now > before, errors.Join(err, fmt.Errorf("%d looks, %d of them without an answer", now, unknown))
	})
	k.advance(map[string]any{"advance": "30s"})
}

// differences lists the kinds that are open, sorted.
func (k *kit) differences() []string {
	k.t.Helper()
	var kinds []string
	for _, d := range k.all(k.admin, "/access-differences") {
		kinds = append(kinds, d.text("kind"))
	}
	slices.Sort(kinds)
	return kinds
}

// shows wants exactly some kinds after two looks at a router, or some more.
func (k *kit) shows(r simRouter, when string, want ...string) {
	k.t.Helper()
	slices.Sort(want)
	k.looked(r)
	k.eventually(fmt.Sprint(when, ": differences ", want), func(context.Context) (bool, error) {
		k.looked(r)
		got := k.differences()
		return slices.Equal(got, want), fmt.Errorf("%v", k.all(k.admin, "/access-differences"))
	})
}

// repairs presses the button of the only difference of a kind twice, and wants the outcomes.
func (k *kit) repairs(kind, first, second string) {
	k.t.Helper()
	list := k.all(k.admin, "/access-differences?kind="+kind)
	if len(list) != 1 {
		k.t.Fatalf("differences of %s: %v", kind, list)
	}
	path := "/access-differences/" + list[0].text("id") + "/repair"
	if got := k.must(k.admin, "POST", path, nil); got.text("outcome") != first {
		k.t.Errorf("first repair of %s: %v", kind, got)
	}
	if second == "" {
		k.refused(k.admin, "POST "+path, nil, 404, "difference_not_found")
	} else if got := k.must(k.admin, "POST", path, nil); got.text("outcome") != second {
		k.t.Errorf("second repair of %s: %v", kind, got)
	}
}

// TestAuditor_FindsEachDisturbanceAndEndsItOnRequest: a healthy router has no difference; each disturbance is exactly
// its kind, is repaired by a button that may be pressed twice, and is gone after the next look.
func TestAuditor_FindsEachDisturbanceAndEndsItOnRequest(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true", "ACCESS_AUDIT_INTERVAL=1000h",
		"METRICS_ADDR=127.0.0.1:0").withCustomers("7.16").start().signIn()
	r := k.installed(0)
	lan := "pppoe-svc-" + k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})[:8]
	spot := "hs-svc-" + k.service(r, map[string]any{"type": "hotspot", "parentInterface": "ether5"})[:8]
	who, _ := k.subscriber("254711000077")
	made := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": who, "planId": k.fast(), "username": "amina", "password": "login-of-amina",
	})
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": who, "amount": 1000, "reference": "till 1",
	})
	dials := handset.Customer{Server: lan, Password: "login-of-amina", MAC: "02:00:00:00:00:01"}
	if err := r.SwitchOn("amina", dials); err != nil {
		t.Fatal(err)
	}
	online := func(s answer) bool { return s["endedAt"] == nil && s.text("subscriptionId") == made.text("id") }
	k.sessionIs("amina", "online", online)
	k.advance(map[string]any{"advance": "3m"})
	k.shows(r, "healthy")

	k.wrongRate(r)
	k.localWays(r, lan, spot)
	told := fmt.Sprint(k.all(k.admin, "/subscribers/"+who+"/timeline"))
	for _, want := range []string{
		"The auditor found: the session has another speed than it should.",
		"A repair was asked for: the session has another speed than it should.",
		"The auditor does not find any more: the session has another speed than it should.",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the timeline lacks %q: %s", want, told)
		}
	}
}

// fast makes a plan that a port of 100 Mbit/s cannot give.
func (k *kit) fast() string {
	k.t.Helper()
	return k.must(k.admin, "POST", "/plans", map[string]any{
		"code": "fast", "name": "Fast", "kind": "pppoe", "price": 1000, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "month"},
		"rates":   map[string]int{"down": 200000, "up": 50000},
	}).text("id")
}

// wrongRate sets another speed by hand, and has it repaired.
func (k *kit) wrongRate(r simRouter) {
	k.t.Helper()
	if n := r.Disturb("queue/simple", router.Item{"name": "<pppoe-amina>"}, router.Item{
		"max-limit": "1000000/1000000",
	}); n != 1 {
		k.t.Fatalf("%d queues", n)
	}
	k.shows(r, "wrong rate", "wrong_rate")
	k.repairs("wrong_rate", "done", "gone")
	k.shows(r, "rate repaired")
}

// localWays lets devices in without RADIUS, and has them removed.
func (k *kit) localWays(r simRouter, lan, spot string) {
	k.t.Helper()
	do := func(menu string, item router.Item) {
		k.t.Helper()
		if _, err := r.Do(menu, "add", item); err != nil {
			k.t.Fatal(err)
		}
	}
	do("ppp/secret", router.Item{"name": "bypass", "password": "pw", "profile": "ppp-prof" + lan[len("pppoe"):]})
	local := handset.Customer{Name: "bypass", Password: "pw", Server: lan, MAC: "02:00:00:00:00:02"}
	if got, err := r.SignIn(k.t.Context(), local); err != nil || got.Outcome != handset.Accepted {
		k.t.Fatalf("%+v, %v", got, err)
	}
	k.shows(r, "local secret", "local_bypass")
	k.repairs("local_bypass", "done", "gone")
	if secrets := r.Snapshot(false)["ppp/secret"]; len(secrets) != 1 || secrets[0]["disabled"] != "true" {
		k.t.Errorf("secrets %v", secrets)
	}
	k.shows(r, "secret disabled")

	do("ip/hotspot/ip-binding", router.Item{"mac-address": "02:00:00:00:00:03", "type": "bypassed"})
	if _, err := r.Connect(router.Session{Kind: "hotspot", Server: spot, MAC: "02:00:00:00:00:03"}); err != nil {
		k.t.Fatal(err)
	}
	k.shows(r, "bypassed device", "local_bypass")
	k.repairs("local_bypass", "done", "gone")
	k.shows(r, "binding disabled")
	writes := map[string]int{}
	for _, e := range k.all(k.admin, "/audit-log?action=router.write") {
		detail, _ := e["detail"].(map[string]any)
		actor, _ := e["actor"].(map[string]any)
		if actor["kind"] == "user" && e["ip"] != nil {
			writes[fmt.Sprint(detail["path"])]++
		}
	}
	for _, path := range []string{"ppp/secret", "ppp/active", "ip/hotspot/ip-binding"} {
		if writes[path] == 0 {
			k.t.Errorf("no write to %s in the audit log: %v", path, writes)
		}
	}
}
