package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestTwoPrograms_NobodyIsCutAndNothingIsCreditedTwice runs two programs on one database, as in a roll-over, and as one
// that answers and one that works. PostgreSQL goes away while a customer's cut falls due, and the customer has paid by
// then. The report of the payment comes to each program that answers, and waits on its disk.
func TestTwoPrograms_NobodyIsCutAndNothingIsCreditedTwice(t *testing.T) {
	t.Parallel()
	everything := roles{roleAPI, roleProjections, roleProcesses, roleJobs}
	for name, of := range map[string][2]roles{
		"roll-over": {everything, everything},
		"split":     {{roleProjections, roleProcesses, roleJobs}, {roleAPI}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			twoPrograms(t, of)
		})
	}
}

// twoPrograms runs the story with the roles of the two programs.
func twoPrograms(t *testing.T, of [2]roles) {
	t.Helper()
	cluster := startCluster(t)
	front := &bothGet{}
	door := httptest.NewServer(front)
	atEnd(t, door.Close)
	k := newKit(t, "DATABASE_URL="+cluster.URL(), "PAYMENT_CALLBACK_URL="+door.URL+"/webhooks/mobile-money/stk")
	k.clock = clock.NewMovable(clock.System(), 0)
	node := freePort(t)
	k.eventStoreAlone(node)
	k.environ = append(k.environ, "PLATFORM_ENCRYPTION_KEY="+strings.Repeat("QUJD", 10)+"QUI=",
		"EVENTSTORE_URL=esdb://"+node+"?tls=false")
	var apps []*App
	for _, r := range of {
		app := k.startBeside(r, "DATA_DIR="+t.TempDir())
		if app.listener != nil {
			front.addrs = append(front.addrs, app.Addr())
		}
		apps = append(apps, app)
	}
	k.app, k.addr = apps[1], apps[1].Addr()
	k.signIn()
	movable := k.clock.(*clock.Movable) //nolint:forcetypeassert // set above
	who := k.cutSoon("254711000333", movable)

	stopCluster(t, cluster)
	k.pay(who.phone, who.account, 1500)
	front.kept(k, apps)
	movable.Advance(time.Hour)
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.afterOutage(apps, who)
}

// kept waits until each program that answers has the callback on its disk.
func (b *bothGet) kept(k *kit, apps []*App) {
	k.t.Helper()
	k.eventually("the callbacks to be kept", func(context.Context) (bool, error) {
		kept := 0
		for _, app := range apps {
			if app.kept != nil {
				kept += app.kept.Len()
			}
		}
		return kept == len(b.addrs), fmt.Errorf("%d are", kept)
	})
}

// afterOutage checks that the customer's second payment is credited once, that he was not cut, and that cuts go on.
func (k *kit) afterOutage(apps []*App, who debtor) {
	k.t.Helper()
	k.eventually("the administrator to sign in", func(ctx context.Context) (bool, error) {
		var err error // the token is older than the move of the clock
		k.admin, _, err = k.client("acme").login(ctx, testAdminEmail, testPassword)
		return err == nil, err
	})
	k.eventually("the payment to be credited", func(context.Context) (bool, error) {
		after, err := time.Parse(time.RFC3339Nano, k.paidUntil(who.line, ""))
		return after.After(who.until), err
	})
	k.dunning(who.line, events.DunningNone)
	k.neverCut(who.line)
	k.eventually("cuts to go on", func(context.Context) (bool, error) {
		for _, app := range apps {
			if app.roles.has(roleProcesses) && !app.engines.absence.Load().MayCut() {
				return false, nil
			}
		}
		return true, nil
	})
	k.received(who.id, 2)
	if s := k.pauses(who.line, 0, 0); s.State.Rank() > 0 {
		k.t.Errorf("the platform was away in the log: %+v", s)
	}
}

// bothGet passes each callback on to all programs, as a proxy does that repeats what it is not sure of.
type bothGet struct{ addrs []string }

// ServeHTTP answers as the first program that takes the callback.
func (b *bothGet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	status := http.StatusServiceUnavailable
	for _, addr := range b.addrs {
		var out *http.Response
		if err == nil {
			to := "http://" + addr + r.URL.Path
			out, err = http.Post(to, "application/json", bytes.NewReader(body)) //nolint:gosec,noctx // a test
		}
		if err == nil {
			_ = out.Body.Close()
			status = min(status, out.StatusCode)
		}
	}
	w.WriteHeader(status)
}

// startBeside starts one more program with the kit's clock until the end of the test. The first one should have the
// projections: others wait ten seconds for read models that nobody fills.
func (k *kit) startBeside(r roles, settings ...string) *App {
	k.t.Helper()
	cfg, err := loadConfig(append(k.environ[:len(k.environ):len(k.environ)], settings...))
	if err != nil {
		k.t.Fatalf("configuration: %v", err)
	}
	logger := slog.New(withoutRequests{slog.NewJSONHandler(k.log, nil)})
	app, err := StartApp(k.t.Context(), cfg, r, logger, k.options())
	if err != nil {
		k.t.Fatalf("start with roles %v: %v", r, err)
	}
	atEnd(k.t, app.Stop)
	return app
}

// TestTwoPrograms_TheSecondOnOneDirectoryIsRefused: two programs that hear routers cannot share a DATA_DIR, and the
// second one says so.
func TestTwoPrograms_TheSecondOnOneDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	node := freePort(t)
	k.eventStoreAlone(node)
	k.environ = append(k.environ, "EVENTSTORE_URL=esdb://"+node+"?tls=false")
	heard := roles{roleAPI, roleProjections, roleProcesses, roleJobs, roleRadius}
	k.startBeside(heard)
	_, err := StartApp(t.Context(), k.config(), heard, slog.New(slog.DiscardHandler), k.options())
	if err == nil || !strings.Contains(err.Error(), "DATA_DIR") {
		t.Errorf("the second program says %v", err)
	}
}
