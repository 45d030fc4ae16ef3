package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestCpe_WhateverTheServerDoesAWriteEndsInTheTruth: a slow server, one that breaks off or loses its answers, and one
// behind a proxy. A factory reset happens once at most.
func TestCpe_WhateverTheServerDoesAWriteEndsInTheTruth(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	device, box := k.adds("SN-1", "Device")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	k.tagged(device, "org:acme")
	for n, c := range []struct {
		trouble acs.Faults
		passes  bool // by itself
	}{
		{acs.Faults{LatencyMs: 200}, false}, {acs.Faults{LoseAnswers: 1}, true}, {acs.Faults{CrashNext: 1}, true},
		{acs.Faults{FailNext: 2}, true}, {acs.Faults{HTML: 200}, false}, {acs.Faults{HTML: 502}, false},
		{acs.Faults{Refuse: true}, false}, {acs.Faults{CutLists: true}, false},
	} {
		k.later(time.Second)
		name := fmt.Sprint("Home ", n)
		asks := len(k.acs.Requests())
		k.acs.SetFaults(c.trouble)
		asked := k.must(k.admin, "POST", "/cpe/devices/"+box+"/wifi", map[string]any{
			"ssid": name, "password": "s3cret-wifi",
		}).text("operationId")
		if !c.passes {
			if c.trouble.LatencyMs == 0 { // it is not done while nobody can do it
				k.now.Advance(time.Minute)
				if got := k.must(k.admin, "GET", "/cpe/operations/"+asked, nil); got.text("state") != "queued" {
					t.Errorf("%+v: %v", c.trouble, got)
				}
			} else {
				k.eventually("a request", func(context.Context) (bool, error) {
					return len(k.acs.Requests()) > asks, nil
				})
			}
			k.acs.SetFaults(acs.Faults{})
			k.later(10 * time.Minute)
		}
		if state, code := k.ends(asked); state != "confirmed" {
			t.Errorf("%+v: %s %s", c.trouble, state, code)
		}
		k.has(device, map[string]any{"Device.WiFi.SSID.1.SSID": name})
	}
	k.resetsOnce(box)
	k.keeps("s3cret-wifi")
}

// resetsOnce asks for a factory reset while the server misbehaves: it has happened exactly when the operation says so.
func (k acsKit) resetsOnce(box string) {
	k.t.Helper()
	for _, trouble := range []acs.Faults{{LoseAnswers: 1}, {CrashNext: 1}, {HTML: 502}} {
		k.later(time.Second)
		before := k.acs.Resets()
		k.acs.SetFaults(trouble)
		asked := k.must(k.admin, "POST", "/cpe/devices/"+box+"/factory-reset", nil).text("operationId")
		k.now.Advance(time.Minute)
		if trouble.HTML > 0 {
			k.tried() // a clock that moves by minutes while an attempt is under way makes another one begin beside it
			k.acs.SetFaults(acs.Faults{})
			k.later(10 * time.Minute)
		}
		state, code := k.ends(asked)
		if err := k.acs.Idle(k.t.Context()); err != nil {
			k.t.Fatal(err)
		}
		done := k.acs.Resets() - before
		truth := map[string]int{"confirmed": 1, "failed": 0}[state]
		if done != truth || state == "failed" && code != "unknown" {
			k.t.Errorf("%+v: %s %s, and it happened %d times", trouble, state, code, done)
		}
	}
}

// tried waits until what was asked for has been tried: nothing is under way, and nothing is due.
func (k acsKit) tried() {
	k.t.Helper()
	k.eventually("the attempts to end", func(ctx context.Context) (bool, error) {
		for _, ask := range []func() (bool, error){
			func() (bool, error) { return k.app.engines.processes.Idle(ctx) },
			func() (bool, error) { return k.app.engines.jobs.Idle(ctx, 0) },
		} {
			if idle, err := ask(); err != nil || !idle {
				return false, err
			}
		}
		return true, nil
	})
}

// TestCpe_AKillDuringASendDoesNothingTwice: the program is killed when the server has just got the task.
func TestCpe_AKillDuringASendDoesNothingTwice(t *testing.T) {
	t.Parallel()
	sim := acs.New(acs.Config{Live: true, SessionWait: 10 * time.Second})
	if err := sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, func() { _ = sim.Stop(context.Background()) })
	k := newKit(t, "ACS_INTERNAL_KEY="+internalKey, "ACS_NBI_URL="+sim.URL(), "ACS_FS_URL="+sim.FilesURL())
	program := k.spawn(freePort(t))
	k.signIn()
	sim.SetIdentify(acs.Identify{URL: "http://" + k.addr + "/internal/cpe/identify", Key: internalKey})
	k.eventually("provisions and the file of speed tests", func(context.Context) (bool, error) {
		return strings.Contains(strings.Join(sim.Requests(), "\n"), "PUT /files/"), nil
	})
	if _, err := sim.AddDevice(acs.DeviceConfig{Serial: "SN-1"}); err != nil {
		t.Fatal(err)
	}
	box := k.pendingID(k.admin, "SN-1")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	if err := sim.Idle(t.Context()); err != nil { // the server has a device when its first session is over
		t.Fatal(err)
	}
	before := sim.Resets()
	tasks := func() (n int) {
		for _, request := range sim.Requests() {
			if strings.HasPrefix(request, "POST ") && strings.Contains(request, "/tasks") {
				n++
			}
		}
		return n
	}
	sent := tasks()
	asked := k.must(k.admin, "POST", "/cpe/devices/"+box+"/factory-reset", nil).text("operationId")
	var state, code string
	ended := func(ctx context.Context) (bool, error) {
		got, err := k.admin.call(ctx, "GET", "/cpe/operations/"+asked, "", nil)
		state, code = got.text("state"), got.at("error.code")
		return state == "confirmed" || state == "failed", err
	}
	k.eventually("the task", func(ctx context.Context) (bool, error) {
		over, err := ended(ctx)
		if over && tasks() == sent {
			t.Fatalf("it is %s %s before the server has a task", state, code)
		}
		return tasks() > sent, err
	})
	program.kill9()
	k.spawn(program.addr)
	k.eventually("the end of the operation", ended)
	if err := sim.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := sim.Resets() - before
	if done > 1 || state == "confirmed" && done != 1 || state == "failed" && code != "unknown" {
		t.Errorf("%s %s, and it happened %d times", state, code, done)
	}
}

// TestCpe_ReadingTheServerGoesOverAllPages: more devices than a page has, none of which could ask who it is.
func TestCpe_ReadingTheServerGoesOverAllPages(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
	k.acs.SetIdentify(acs.Identify{URL: "http://127.0.0.1:1/", Key: internalKey}) // nobody listens there
	const boxes = 205
	for n := range boxes {
		box := acs.DeviceConfig{Serial: fmt.Sprintf("SN-%03d", n)}
		if n%2 == 0 { // one network alone does not fill the list of pending devices
			box.NAT, box.Address = true, "198.51.100.7"
		}
		if _, err := k.acs.AddDevice(box); err != nil {
			t.Fatal(err)
		}
	}
	k.eventually("all devices", func(context.Context) (bool, error) {
		return len(k.all(k.admin, "/cpe/pending")) == boxes, nil
	})
}
