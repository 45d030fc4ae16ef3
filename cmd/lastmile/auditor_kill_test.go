package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// dies is a program that ends the work which reaches one of its steps for the n-th time.
type dies struct {
	step atomic.Pointer[string]
	left atomic.Int64
}

// at sets the step; "" = it lives on.
func (d *dies) at(step string, n int64) {
	d.left.Store(n)
	d.step.Store(&step)
}

// reach is called between two steps.
func (d *dies) reach(step string) {
	if at := d.step.Load(); at != nil && *at == step && d.left.Add(-1) == 0 {
		panic("killed after " + step)
	}
}

// again stops the program as it is and starts it once more.
func (w *watched) again() {
	w.t.Helper()
	w.app.Stop()
	w.start()
	w.logins = time.Time{}
	w.later(time.Second)
}

// TestAuditor_KilledBetweenTheStepsOfARepair: whichever step of a repair is the last one of the program, the next
// program completes it when it is pressed again, or closes it by a look. Each write was made once, and is once in the
// audit log, under the person who pressed and with the address of that request.
func TestAuditor_KilledBetweenTheStepsOfARepair(t *testing.T) {
	t.Parallel()
	killed := &dies{}
	w := watchKilled(t, killed)
	profile := "ppp-prof" + w.lan[len("pppoe"):]
	times := 0
	for n := int64(1); n <= 2; n++ {
		for _, step := range []string{"announced", "written", "kept"} {
			name := fmt.Sprintf("bypass-%s-%d", step, n)
			w.do(w.r, "ppp/secret", "add", router.Item{"name": name, "password": "pw", "profile": profile})
			device := handset.Customer{
				Name: name, Password: "pw", Server: w.lan, MAC: fmt.Sprintf("02:00:00:00:01:%02X", times),
			}
			if got, err := w.r.SignIn(t.Context(), device); err != nil || got.Outcome != handset.Accepted {
				t.Fatalf("%+v, %v", got, err)
			}
			w.later(3 * time.Minute)
			d := w.shows(w.r, name, "local_bypass")["local_bypass"]
			writes := w.r.Writes()
			killed.at(step, n)
			if got := w.repair(d); got != "internal" && got != "" {
				t.Errorf("%s: it was not killed: %s", name, got)
			}
			killed.at("", 0)
			w.again()
			if n == 1 {
				if got := w.repair(d); got != "done" {
					t.Errorf("%s: pressed again: %s", name, got)
				}
			} else if step == "announced" {
				w.repairs(d)
			}
			w.shows(w.r, name+" is over")
			times++
			if got := w.r.Writes() - writes; got != 2 {
				t.Errorf("%s: %d writes", name, got)
			}
			for _, menu := range []string{"ppp/secret", "ppp/active"} {
				if got := w.routerWrites(menu); got["user"] != times || len(got) != 1 {
					t.Errorf("%s: writes to %s in the audit log: %v, want %d", name, menu, got, times)
				}
			}
		}
	}
}

// TestAuditor_KilledWhileItRecords: what a look has found and not recorded is recorded by the next one, and nothing
// twice. The repair of a speed is completed whichever step of it is the last one of the program.
func TestAuditor_KilledWhileItRecords(t *testing.T) {
	t.Parallel()
	killed := &dies{}
	w := watchKilled(t, killed)
	amina, baraka := w.joins("amina", 1), w.joins("baraka", 2)
	w.later(3 * time.Minute)
	slow := func(name string) {
		w.disturbs(w.r, "queue/simple", router.Item{"name": "<pppoe-" + name + ">"}, router.Item{"max-limit": "1/1"})
	}
	slow("amina")
	slow("baraka")
	killed.at("recorded", 1)
	w.look(w.r)
	if n := len(w.all(w.admin, "/access-differences")); n != 1 {
		t.Errorf("%d differences are recorded by the program that was killed", n)
	}
	w.again()
	w.shows(w.r, "after the kill", "wrong_rate", "wrong_rate")
	for _, d := range w.all(w.admin, "/access-differences") {
		w.repairs(d)
	}
	w.shows(w.r, "repaired")
	for _, g := range []guest{amina, baraka} {
		w.tells(g, "the session has another speed than it should.", 1)
	}
	before := w.routerWrites("session/")
	for _, step := range []string{"announced", "done", "kept", "recorded"} {
		slow("amina")
		d := w.shows(w.r, "slow again", "wrong_rate")["wrong_rate"]
		killed.at(step, 1)
		w.repair(d)
		killed.at("", 0)
		w.again()
		if got := w.repair(d); got != "done" && got != "gone" && got != "difference_not_found" {
			t.Errorf("after %s: pressed again: %s", step, got)
		}
		w.later(5 * time.Minute) // the process looks for outcomes that are missing
		w.shows(w.r, "repaired after "+step)
	}
	w.eventually("each change to be in the audit log", func(context.Context) (bool, error) {
		w.later(time.Minute)
		after := w.routerWrites("session/")
		return after["user"] == before["user"]+4, fmt.Errorf("%v, then %v", before, after)
	})
}
