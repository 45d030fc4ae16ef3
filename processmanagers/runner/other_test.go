package processrunner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// TestLog_AnotherOneStopsTheProcessVisibly: the log was restored to an older state and has grown beyond the checkpoint
// before anybody looked. No timer and no stored command acts, until a person says that it goes on.
func TestLog_AnotherOneStopsTheProcessVisibly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.office.setAnswer(away)
	first := b.start(t, "courier")
	b.happen("p0", "on")
	b.happen("p1", "wait")
	read := b.happen("p2", "deliver")
	taken(t, first, "courier", read)
	first.Stop()
	had := b.log.Events()[2].ID
	b.log.Replace(1, meta, parcel{"p3", "on"}, parcel{"p3", "on"}, parcel{"p4", "ring"})
	b.office.setAnswer(nil)
	b.clock.Advance(2 * time.Hour)

	again := b.start(t, "courier")
	stop := func(r *processrunner.Runner) processrunner.Status {
		t.Helper()
		poll(t, "stopped", func() bool { return r.Status()[0].State == processrunner.StateStopped })
		return r.Status()[0]
	}
	text := stop(again).Error
	for _, part := range []string{
		"process courier", fmt.Sprintf("position %d", read), had.String(), b.log.Events()[2].ID.String(),
		"processes retry courier",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not name %s", text, part)
		}
	}
	again.Stop()
	third := b.start(t, "courier")
	if got := stop(third).Error; got != text {
		t.Errorf("the next start says %q, want %q", got, text)
	}
	b.office.mu.Lock()
	if len(b.office.acts)+len(b.office.jobs) != 0 || b.rows(t, "timers") != 1 || b.rows(t, "commands") != 2 {
		t.Errorf("it acted: %+v %+v", b.office.acts, b.office.jobs)
	}
	b.office.mu.Unlock()
	if err := third.Retry(t.Context(), "courier", ""); err != nil { // a person who knows what was lost
		t.Fatal(err)
	}
	b.office.until(t, "acts", func() bool { return len(b.office.acts) == 2 && len(b.office.jobs) == 2 })
	taken(t, third, "courier", b.happen("p5", "on"))
	third.Stop()
	fourth := b.start(t, "courier") // by a mark of the new log
	taken(t, fourth, "courier", b.happen("p6", "on"))
}

// TestLog_ARequestOfBeforeIsNoWordToGoOnWithAnotherLog: a person asked for it before the process told of the log.
func TestLog_ARequestOfBeforeIsNoWordToGoOnWithAnotherLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.start(t, "courier")
	b.happen("p1", "on")
	taken(t, first, "courier", b.happen("p1", "on"))
	first.Stop()
	if err := first.Retry(t.Context(), "courier", ""); err != nil {
		t.Fatal(err)
	}
	b.log.Replace(1, meta, parcel{"p3", "on"}, parcel{"p3", "on"})
	again := b.start(t, "courier")
	poll(t, "stopped", func() bool { return again.Status()[0].State == processrunner.StateStopped })
	if n := b.rows(t, "requests"); n != 0 {
		t.Errorf("%d requests are left", n)
	}
}

// TestLog_AnotherOneWhileItRunsStopsTheProcess: it takes nothing of the other log. The same one goes on.
func TestLog_AnotherOneWhileItRunsStopsTheProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, "courier")
	b.happen("p1", "on")
	taken(t, r, "courier", b.happen("p1", "on"))
	b.log.Replace(2, meta, parcel{"p2", "on"})
	taken(t, r, "courier", 30)
	b.log.Replace(1, meta, parcel{"p3", "ring"}, parcel{"p3", "ring"}, parcel{"p3", "ring"})
	poll(t, "stopped", func() bool { return r.Status()[0].State == processrunner.StateStopped })
	b.office.mu.Lock()
	defer b.office.mu.Unlock()
	if len(b.office.jobs) != 0 {
		t.Errorf("it acted: %+v", b.office.jobs)
	}
}
