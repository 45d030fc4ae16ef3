package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// split starts a program that answers requests and does the work, and one that hears the routers and nothing else.
func split(t *testing.T) (w *watched, hears *App) {
	t.Helper()
	now := clock.NewMovable(clock.System(), 0)
	k := newKit(t, "ACCESS_AUDIT_INTERVAL=1000h", "FLEET_POLL_INTERVAL=1000h", "DRIFT_CHECK_INTERVAL=1000h",
		"PLATFORM_ENCRYPTION_KEY="+strings.Repeat("QUJD", 10)+"QUI=")
	k.clock, k.foreign = now, letsEverybodyIn(t)
	k.withCustomers("7.16")
	node := freePort(t)
	k.eventStoreAlone(node)
	k.environ = append(k.environ, "EVENTSTORE_URL=esdb://"+node+"?tls=false")
	k.app = k.startBeside(roles{roleAPI, roleProjections, roleProcesses, roleJobs}, "DATA_DIR="+t.TempDir())
	k.addr = k.app.Addr()
	w = &watched{kit: k, now: now, logins: now.Now()}
	hears = w.hears()
	w.signIn()
	w.r = k.installed(0)
	w.lan = "pppoe-svc-" + k.service(w.r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})[:8]
	w.plan = k.fast()
	return w, hears
}

// hears starts one more program that hears the routers, which then find this one.
func (w *watched) hears() *App {
	w.t.Helper()
	app := w.startBeside(roles{roleRadius}, "DATA_DIR="+w.t.TempDir())
	if err := w.answers.is(app); err != nil {
		w.t.Fatal(err)
	}
	return app
}

// TestSplitRoles_TheAuditorComparesWhatAnotherProgramHears: in the program without RADIUS. A healthy network has no
// difference, a repair reaches the router, and the trial of a hotspot, shown and reported, is no difference.
func TestSplitRoles_TheAuditorComparesWhatAnotherProgramHears(t *testing.T) {
	t.Parallel()
	w, hears := split(t)
	w.joins("amina", 1)
	w.later(3 * time.Minute)
	w.shows(w.r, "a healthy network")
	w.disturbs(w.r, "queue/simple", router.Item{"name": "<pppoe-amina>"}, router.Item{"max-limit": "1/1"})
	w.repairs(w.shows(w.r, "another limit", "wrong_rate")["wrong_rate"])
	w.shows(w.r, "the limit is right again")

	const mac = "02:00:00:00:00:77"
	trial := router.Item{
		".id": "*77", "user": "T-" + mac, "address": "100.127.0.77", "mac-address": mac, "login-by": "trial",
		"uptime": "10m", "radius": "false", "session-id": "77", "server": "hotspot1",
	}
	w.r.Lie("ip/hotspot/active", []router.Item{trial})
	device, err := id.Parse[id.Device](w.r.device)
	if err != nil {
		t.Fatal(err)
	}
	door, _ := hears.radius.directory.Door(device)
	reported := make(chan bool, 1)
	hears.radius.recorder.Record(telemetry.Report{
		Kind: telemetry.Start, Org: door.Org, Device: device, User: "T-" + mac, MAC: mac,
		Session: "77", Service: "hotspot", At: w.now.Now(),
	}, func(durable bool) { reported <- durable })
	if !<-reported {
		t.Fatal("the trial is not recorded")
	}
	w.later(3 * time.Minute)
	w.shows(w.r, "a trial")
	trial["login-by"] = "http-pap"
	w.r.Lie("ip/hotspot/active", []router.Item{trial})
	d := w.shows(w.r, "a user who is called like a trial", "local_bypass")["local_bypass"]
	w.says(d, "customers sign in by RADIUS", `a local hotspot user let in "T-`+mac+`", device `+mac)
}

// TestSplitRoles_AnOldDirectoryIsTold: what hears the routers does not hear the log any more, and refuses a customer
// who has paid, as long as the device dials. Its readiness and its metric say so, and so do the auditor and the answer
// about the customer in the other program. A program that starts lets the customer in.
func TestSplitRoles_AnOldDirectoryIsTold(t *testing.T) {
	t.Parallel()
	w, hears := split(t)
	amina := w.subscribes("amina", 1)
	if err := w.r.SwitchOn("amina", amina.device); err != nil {
		t.Fatal(err)
	}
	access := func() answer { return w.must(w.admin, "GET", "/subscribers/"+amina.subscriber+"/access", nil) }
	w.eventually("a refusal", func(context.Context) (bool, error) {
		w.later(15 * time.Second)
		return len(access().list("refusals")) > 0, nil
	})
	old := func() string {
		for _, c := range hears.radiusChecks() {
			if c.Name == directory.Name {
				return fmt.Sprint(c.Probe(t.Context()))
			}
		}
		return "no check"
	}
	if got := old(); got != "<nil>" {
		t.Errorf("in the beginning the directory is %s", got)
	}
	hears.engines.feed.Stop()
	w.pays(amina)
	differs := func() map[string]any {
		d, _ := access().list("services")[0]["difference"].(map[string]any)
		return d
	}
	w.eventually("the answer about the customer to tell the difference", func(context.Context) (bool, error) {
		w.later(30 * time.Second)
		d := differs()
		actual, _ := d["actual"].(string)
		return d["expected"] == "full" && strings.HasSuffix(actual, "was refused: unpaid"), fmt.Errorf("%v", access())
	})
	if got := old(); !strings.Contains(got, "is not known to have what the log has since") {
		t.Errorf("the directory is %s", got)
	}
	if age := hears.radius.fresh.Age(); age < time.Minute {
		t.Errorf("its age is %v", age)
	}
	d := w.shows(w.r, "the device goes on dialing", "paid_but_offline")["paid_but_offline"]
	w.says(d, "full", "a sign-in was refused: unpaid, although the log had what gives access; "+
		"no session was reported since")
	if got := w.repair(d); got != "repair_by_hand" {
		t.Errorf("repair: %s", got)
	}

	w.hears()
	w.sessionIs("amina", "online", func(s answer) bool {
		w.later(15 * time.Second)
		return s["endedAt"] == nil && s.text("subscriptionId") == amina.subscription
	})
	if got := differs(); got != nil {
		t.Errorf("online: %v", got)
	}
	w.later(3 * time.Minute)
	w.shows(w.r, "the customer is online")
}
