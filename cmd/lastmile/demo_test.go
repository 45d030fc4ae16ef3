package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/vault"
)

// TestDemo_SecondStartReusesTheData: the first start makes the demo ISP, the second finds it and makes nothing twice;
// serve refuses the data, whose passwords are public.
func TestDemo_SecondStartReusesTheData(t *testing.T) {
	t.Parallel()
	k := newPrivateKit(t)
	first := k.demo(func() {
		admin, _ := k.loginAt("demo.lastmile.test", demoAdminEmail)
		if n := len(k.all(admin, "/subscribers")); n != len(presentCustomers) {
			t.Errorf("%d subscribers, want %d", n, len(presentCustomers))
		}
		states := map[string]int{}
		for _, s := range k.all(admin, "/subscriptions") {
			states[s.text("state")]++
		}
		if states["active"] == 0 || states["pending"] == 0 || states["paused"] == 0 {
			t.Errorf("subscriptions are not in several states: %v", states)
		}
		if n := len(k.all(admin, "/receipts?state=suspense")); n != 1 {
			t.Errorf("%d receipts in suspense, want 1", n)
		}
		if out := k.command("doctor", "books"); !strings.Contains(out, "demo: 0 faults") {
			t.Errorf("the books of the demo: %s", out)
		}
		k.showsBoxes(admin)
		k.watchesCustomers(routersOf(k.screen))
	})
	second := k.demo(func() {
		admin, _ := k.loginAt("demo.lastmile.test", demoAdminEmail)
		k.showsBoxes(admin)
		if n := len(k.all(admin, "/subscribers")); n != len(presentCustomers) {
			t.Errorf("%d subscribers after the second start, want %d", n, len(presentCustomers))
		}
		k.eventually("the customers to be online again", func(context.Context) (bool, error) {
			list := k.all(admin, "/sessions?online=true")
			return len(list) == demoOnline+1, fmt.Errorf("%d are", len(list)) // with the one who has paid
		})
	})
	for _, screen := range []string{first, second} {
		for _, part := range []string{"http://demo.lastmile.test:", demoAdminEmail, demoPassword.Reveal(), "curl -s"} {
			if !strings.Contains(screen, part) {
				t.Errorf("the demo does not print %q", part)
			}
		}
	}
	var out, errs logBuffer
	if code := (program{environ: k.environ, out: &out, err: &errs}).run(t.Context(),
		[]string{"serve"}); code != exitFailed || !strings.Contains(errs.String(), "demo") {
		t.Errorf("serve on the demo's data: exit code %d: %s", code, errs.last(2))
	}
}

// TestDemo_TheDataOfAnotherVersionIsRefused: its routers would send all their customers away, and nothing would say
// why.
func TestDemo_TheDataOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mark := filepath.Join(dir, seededName)
	if err := os.WriteFile(mark, []byte("The demo's data is complete.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs logBuffer
	code := program{environ: []string{"DATA_DIR=" + dir}, out: &out, err: &errs}.run(t.Context(), []string{"demo"})
	if code != exitFailed || !strings.Contains(errs.String(), "delete the directory") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if err := os.WriteFile(mark, []byte(seededMark), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := refuseFormerDemo(dir); err != nil {
		t.Error(err)
	}
}

// A tester moves the clock as soon as the demo's address answers, while its data is still being made: the tokens of the
// one who makes it expire, and it goes on.
func TestDemo_WhoMakesTheDataStaysSignedInOverAMoveOfTheClock(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	in, _ := k.login("acme", testAdminEmail, testPassword)
	maker := in.staying(testAdminEmail, testPassword)
	copied := maker
	k.must(k.root, "POST", "/dev/clock", map[string]any{"advance": "48h"})
	k.refused(in, "GET /auth/me", nil, 401, "")
	device := k.must(copied, "POST", "/nas/devices", map[string]any{
		"name": "tower", "ipAddress": "203.0.113.20", "radiusSecret": "radius-secret", "apiUsername": "admin",
		"apiPassword": "password-1",
	}).text("id")
	if token := maker.again.token; token == in.token || token != copied.again.token {
		t.Error("each copy would sign in again at each call")
	}
	k.root, _ = k.login("", testRootEmail, testPassword)
	k.must(k.root, "POST", "/dev/clock", map[string]any{"advance": "48h"})
	if script, err := maker.text(t.Context(), "/nas/devices/"+device+"/bootstrap-script"); err != nil || script == "" {
		t.Errorf("the script of a router: %v", err)
	}
}

// TestDemo_AStartThatWasKilledInACallIsGoneOnWith: the call of the first start holds its key for a minute. The next
// start waits for it, and the call has no second effect.
func TestDemo_AStartThatWasKilledInACallIsGoneOnWith(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	in, _ := k.login("acme", testAdminEmail, testPassword)
	sell := func(c apiClient) (answer, error) {
		return c.call(t.Context(), "POST", "/subscribers", "demo-amina", map[string]any{
			"firstName": "Amina", "lastName": "K", "phone": "254711000001",
		})
	}
	first, err := sell(in)
	if err != nil {
		t.Fatal(err)
	}
	marks := k.db.Namespace.Schema("vault") + ".idempotency"
	if _, err := k.db.Owner.Exec(t.Context(), `update `+marks+` set sealed = null, leased_until = $1`,
		time.Now().Add(vault.IdempotencyLease)); err != nil {
		t.Fatal(err)
	}
	_, err = sell(in)
	if no := asAPIError(err); no == nil || no.Code != "idempotency_key_running" {
		t.Fatalf("who does not wait gets %v", err)
	}
	second := make(chan answer, 1)
	go func() {
		got, err := sell(in.staying(testAdminEmail, testPassword))
		if err != nil {
			t.Error(err)
		}
		second <- got
	}()
	k.must(k.root, "POST", "/dev/clock", map[string]any{"advance": "61s"})
	if got := <-second; got.text("id") != first.text("id") {
		t.Errorf("the second start made %v, the first one %v", got, first)
	}
}

// demo runs `lastmile demo` without its year until it is ready, calls look, and stops it. It gives the printed text.
func (k *kit) demo(look func()) string {
	k.t.Helper()
	ctx, stop := context.WithCancel(k.t.Context())
	defer stop()
	var out, errs logBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- program{
			environ: k.environ, out: &out, err: &errs, noYear: true, readPatience: readPatience,
		}.run(ctx, []string{"demo"})
	}()
	k.eventually("demo to be ready", func(context.Context) (bool, error) {
		select {
		case code := <-ended:
			k.t.Fatalf("the demo ended with code %d: %s", code, errs.String())
		default:
		}
		return strings.Contains(out.String(), "is running"), nil
	})
	running, ok := readRuntimeFile(k.config().DataDir)
	if !ok {
		k.t.Fatal("the demo has no runtime file")
	}
	k.addr, k.screen = running.HTTP, out.String()
	look()
	stop()
	if code := <-ended; code != exitOK {
		k.t.Errorf("the demo ended with code %d: %s", code, errs.String())
	}
	return out.String()
}

// loginAt signs a user of the demo in at a host; true when the password must be changed first.
func (k *kit) loginAt(host, email string) (apiClient, bool) {
	k.t.Helper()
	return k.signsIn(apiClient{addr: k.addr, host: host}, email, demoPassword.Reveal())
}

// demoOnline is the number of the demo's customers who may be online and have a device.
const demoOnline = 7

// routersOf finds the address of the simulated routers on the demo's screen.
func routersOf(screen string) apiClient {
	_, after, _ := strings.Cut(screen, "  Routers  ")
	at, _, _ := strings.Cut(strings.TrimSpace(after), "/sim/")
	host := strings.TrimPrefix(at, "http://")
	return apiClient{addr: host, host: host}
}

// watchesCustomers looks at sessions of the demo while the clock is moved, a device is switched off and on, and a
// customer pays who was refused.
func (k *kit) watchesCustomers(routers apiClient) {
	k.t.Helper()
	admin, _ := k.loginAt("demo.lastmile.test", demoAdminEmail)
	session := func(user string, holds func(answer) bool) {
		k.t.Helper()
		var last []answer
		k.eventually("session of "+user, func(context.Context) (bool, error) {
			last = k.all(admin, "/sessions?username="+user)
			return len(last) > 0 && holds(last[0]), fmt.Errorf("%v", last)
		})
	}
	online := func(s answer) bool { return s["endedAt"] == nil }
	k.eventually("the customers to be online", func(context.Context) (bool, error) {
		list := k.all(admin, "/sessions?online=true")
		return len(list) == demoOnline, fmt.Errorf("%d are", len(list))
	})
	session("ebony", online)
	root, _ := k.loginAt("lastmile.test", demoRootEmail)
	k.must(root, "POST", "/dev/clock", map[string]any{"advance": "10m"})
	session("acacia", func(s answer) bool { n, _ := s["bytesIn"].(float64); return n > 10*60*100_000 })
	k.must(routers, "PUT", "/sim/routers/tower-north/customers/acacia/power", map[string]any{"on": false})
	session("acacia", func(s answer) bool { return s["endReason"] == "user_request" })
	k.must(routers, "PUT", "/sim/routers/tower-north/customers/acacia/power", map[string]any{"on": true})
	session("acacia", online)
	hibiscus := "/sim/routers/lodge-south/customers/hibiscus"
	k.eventually("a customer who never paid to be refused", func(context.Context) (bool, error) {
		return k.must(routers, "GET", hibiscus, nil).text("outcome") == "rejected", nil
	})
	who := k.all(admin, "/subscribers?q=hibiscus")[0].text("id")
	k.must(admin, "POST", "/payments/cash", map[string]any{"subscriberId": who, "amount": 1500, "reference": "till"})
	k.must(root, "POST", "/dev/clock", map[string]any{"advance": "1m"}) // the device dials every 30 s
	session("hibiscus", online)
}
