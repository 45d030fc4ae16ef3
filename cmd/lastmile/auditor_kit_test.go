package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// watched is a program whose auditor looks when it is asked, with routers that live by the same clock.
type watched struct {
	*kit
	now    *clock.Movable
	logins time.Time // when the tests signed in last
	r      simRouter
	lan    string // the PPPoE service of r
	plan   string
}

// watch starts a program with count routers, the first of which serves customers.
func watch(t *testing.T, count int, settings ...string) *watched {
	return watching(t, count, nil, settings...)
}

// watchKilled is watch with one router, of a program that can be killed.
func watchKilled(t *testing.T, killed *dies) *watched { return watching(t, 1, killed.reach) }

// watching is watch with a function that is called between two steps; nil = none.
func watching(t *testing.T, count int, step func(string), settings ...string) *watched {
	t.Helper()
	now := clock.NewMovable(clock.System(), 0)
	k := newKit(t, append([]string{"DEV_CLOCK=true", "ACCESS_AUDIT_INTERVAL=1000h", "FLEET_POLL_INTERVAL=1000h",
		"DRIFT_CHECK_INTERVAL=1000h"}, settings...)...)
	k.clock, k.foreign, k.step = now, letsEverybodyIn(t), step
	k.withCustomers(slices.Repeat([]string{"7.16"}, count)...).start().signIn()
	w := &watched{kit: k, now: now, logins: now.Now()}
	w.r = k.installed(0)
	w.lan = "pppoe-svc-" + k.service(w.r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})[:8]
	w.plan = k.fast()
	return w
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

// later moves the clock by steps that let nobody be silent for too long.
func (w *watched) later(d time.Duration) {
	w.t.Helper()
	for ; d > 0; d -= 4 * time.Minute {
		w.now.Advance(min(d, 4*time.Minute))
	}
	if w.now.Now().Sub(w.logins) > 10*time.Minute {
		w.root, _ = w.login("", testRootEmail, testPassword)
		w.admin, _ = w.login("acme", testAdminEmail, testPassword)
		w.logins = w.now.Now()
	}
}

// guest is a customer who has a device at the first router.
type guest struct {
	subscriber, subscription string
	device                   handset.Customer
}

// subscribes registers a customer with a login. number tells customers apart.
func (w *watched) subscribes(name string, number int) guest {
	w.t.Helper()
	who, _ := w.subscriber(fmt.Sprintf("2547110000%02d", number))
	made := w.must(w.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": who, "planId": w.plan, "username": name, "password": "login-of-" + name,
	})
	return guest{who, made.text("id"), handset.Customer{
		Server: w.lan, Password: "login-of-" + name, MAC: fmt.Sprintf("02:00:00:00:00:%02X", number),
	}}
}

// pays takes cash for a month.
func (w *watched) pays(g guest) {
	w.t.Helper()
	w.must(w.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": g.subscriber, "amount": 1000, "reference": id.New[id.Any]().String(),
	})
}

// dials switches a customer's device on and waits until it has a session that counts.
func (w *watched) dials(name string, g guest) {
	w.t.Helper()
	if err := w.r.SwitchOn(name, g.device); err != nil {
		w.t.Fatal(err)
	}
	online := func(s answer) bool { return s["endedAt"] == nil && s.text("subscriptionId") == g.subscription }
	w.sessionIs(name, "online", online)
	// It may have been ended, and begun anew, for what changed as it began.
	if err := w.r.Handsets().Idle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.sessionIs(name, "online", online)
}

// joins is a customer who has paid and is online.
func (w *watched) joins(name string, number int) guest {
	w.t.Helper()
	g := w.subscribes(name, number)
	w.pays(g)
	w.dials(name, g)
	return g
}

// idle waits until no look is under way or due.
func (w *watched) idle() {
	w.t.Helper()
	jobs := w.db.Namespace.Schema("river") + ".river_job"
	w.eventually("looks to end", func(ctx context.Context) (bool, error) {
		var n int
		err := w.db.Owner.QueryRow(ctx, `select count(*) from `+jobs+` where kind like 'access_audit_%'
			and state in ('available', 'running', 'retryable', 'pending', 'scheduled') and scheduled_at <= $1`,
			w.now.Now()).Scan(&n)
		return err == nil && n == 0, err
	})
}

// look has the auditor look twice at a router, and waits until what it recorded is shown.
func (w *watched) look(r simRouter) {
	w.t.Helper()
	if err := r.Idle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.must(w.admin, "POST", "/access-audits", map[string]any{"deviceId": r.device})
	w.idle()
	w.later(21 * time.Second)
	w.idle()
	w.caughtUp(accessviews.DifferencesName)
}

// compared reports whether the last look at a router compared it. One that could not changes no difference, and what is
// open then may be of long ago.
func (w *watched) compared(r simRouter) bool {
	w.t.Helper()
	return slices.ContainsFunc(w.all(w.admin, "/access-audits"), func(look answer) bool {
		return look.text("deviceId") == r.device && look["why"] == nil
	})
}

// shows wants exactly some kinds after two looks that compared a router, or some more, and gives the differences by
// kind.
func (w *watched) shows(r simRouter, when string, want ...string) map[string]answer {
	w.t.Helper()
	slices.Sort(want)
	out := map[string]answer{}
	w.eventually(fmt.Sprint(when, ": differences ", want), func(context.Context) (bool, error) {
		w.look(r)
		list := w.all(w.admin, "/access-differences?deviceId="+r.device)
		var kinds []string
		for _, d := range list {
			kinds = append(kinds, d.text("kind"))
			out[d.text("kind")] = d
		}
		slices.Sort(kinds)
		return slices.Equal(kinds, want) && w.compared(r), fmt.Errorf("%v", list)
	})
	return out
}

// says wants the sentences of a difference.
func (w *watched) says(d answer, expected, actual string) {
	w.t.Helper()
	if d.text("expected") != expected || d.text("actual") != actual {
		w.t.Errorf("%s: expected %q, actual %q; want %q, %q", d.text("kind"), d.text("expected"), d.text("actual"),
			expected, actual)
	}
}

// repair presses the button of a difference and gives the outcome, or the code of a refusal.
func (w *watched) repair(d answer) string {
	w.t.Helper()
	got, err := w.admin.call(w.t.Context(), "POST", "/access-differences/"+d.text("id")+"/repair", "", nil)
	if no := asAPIError(err); no != nil {
		return no.Code
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return got.text("outcome")
}

// repairs presses the button twice: it is done once, and afterwards the router shows the difference no more. Both the
// second press and a look close it.
func (w *watched) repairs(d answer) {
	w.t.Helper()
	if got := w.repair(d); got != "done" {
		w.t.Errorf("first repair of %s: %s", d.text("kind"), got)
	}
	if got := w.repair(d); got != "gone" && got != "difference_not_found" {
		w.t.Errorf("second repair of %s: %s", d.text("kind"), got)
	}
}

// told counts the rows of a customer's timeline with a sentence.
func (w *watched) told(g guest, sentence string) (n int) {
	w.t.Helper()
	for _, row := range w.all(w.admin, "/subscribers/"+g.subscriber+"/timeline") {
		if strings.Contains(row.text("summary"), sentence) {
			n++
		}
	}
	return n
}

// isTold waits until a sentence is in the timeline of a customer so often, and wants it there no more often.
func (w *watched) isTold(g guest, sentence string, times int) {
	w.t.Helper()
	n := 0
	w.eventually("sentences of the timeline", func(context.Context) (bool, error) {
		n = w.told(g, sentence)
		return n >= times, fmt.Errorf("%q is told %d times, not %d", sentence, n, times)
	})
	if n != times {
		w.t.Errorf("%q is told %d times, not %d", sentence, n, times)
	}
}

// tells wants a difference to be opened and closed so often in the timeline of a customer.
func (w *watched) tells(g guest, what string, times int) {
	w.t.Helper()
	for _, begins := range []string{"The auditor found: ", "The auditor does not find any more: "} {
		w.isTold(g, begins+what, times)
	}
}

// disturbs changes dynamic rows of a router, and wants one of them.
func (w *watched) disturbs(r simRouter, menu string, match, props router.Item) {
	w.t.Helper()
	if n := r.Disturb(menu, match, props); n != 1 {
		w.t.Fatalf("%d rows of %s with %v", n, menu, match)
	}
}

// do types a command at a router's console.
func (w *watched) do(r simRouter, menu, command string, args router.Item) {
	w.t.Helper()
	if _, err := r.Do(menu, command, args); err != nil {
		w.t.Fatal(err)
	}
}

// routerWrites counts the entries of writes in the audit log whose path begins so, by the kind of who caused them. Each
// must have a time, and those of people an address.
func (w *watched) routerWrites(path string) map[string]int {
	w.t.Helper()
	out := map[string]int{}
	for _, e := range w.all(w.admin, "/audit-log?action=router.write") {
		detail, _ := e["detail"].(map[string]any)
		actor, _ := e["actor"].(map[string]any)
		if at, _ := detail["path"].(string); !strings.HasPrefix(at, path) {
			continue
		}
		out[fmt.Sprint(actor["kind"])]++
		if e["at"] == nil || actor["kind"] == "user" && (e["ip"] == nil || e.text("requestId") == "") {
			w.t.Errorf("write to %s without time, address or request: %v", path, e)
		}
	}
	return out
}

// foreignRADIUS is the address of a RADIUS server that is not the platform's.
var foreignRADIUS = netip.MustParseAddr("198.51.100.9")

// foreignSecret is shared by that server and its routers.
const foreignSecret = "foreign-secret"

// letsEverybodyIn starts a RADIUS server that accepts every sign-in and every report, and gives its place.
func letsEverybodyIn(t *testing.T) netip.AddrPort {
	t.Helper()
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	atEnd(t, func() { _ = socket.Close() })
	go func() {
		buffer := make([]byte, radius.MaxPacketLength)
		for {
			n, from, err := socket.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			asked, err := radius.Parse(buffer[:n], []byte(foreignSecret))
			if err != nil {
				continue
			}
			answer := asked.Response(radius.CodeAccessAccept)
			if asked.Code == radius.CodeAccountingRequest {
				answer.Code = radius.CodeAccountingResponse
			}
			if text, err := answer.Encode(); err == nil {
				_, _ = socket.WriteToUDPAddrPort(text, from)
			}
		}
	}()
	return socket.LocalAddr().(*net.UDPAddr).AddrPort()
}
