package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestDemoDays_PlayEachDayOfTheYearOnceInOrder, also just after midnight.
func TestDemoDays_PlayEachDayOfTheYearOnceInOrder(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation(demoZone)
	if err != nil {
		t.Fatal(err)
	}
	for _, present := range []time.Time{
		time.Date(2026, 3, 2, 15, 4, 5, 0, zone), time.Date(2024, 2, 29, 0, 0, 30, 0, zone),
		time.Date(2026, 12, 31, 23, 59, 59, 0, zone),
	} {
		played := map[int]int{}
		last := present.Add(-demoBegins)
		for _, day := range demoDays(present, zone) {
			if !day.at.After(last) || day.at.After(present) || !day.next.After(day.at) {
				t.Errorf("present %v: %+v follows %v", present, day, last)
			}
			for ago := day.ago; ago <= day.since && !day.quiet; ago++ {
				played[ago]++
			}
			last = day.at
		}
		for ago := range demoYear {
			if played[ago] != 1 {
				t.Errorf("present %v: %d days before it are played %d times", present, ago, played[ago])
			}
		}
	}
}

// TestDemoStories_AreOfCustomersWhoHaveComeByThen: another one would end the first start of the demo.
func TestDemoStories_AreOfCustomersWhoHaveComeByThen(t *testing.T) {
	t.Parallel()
	came := map[string]int{}
	for _, c := range newDemoSeed(&App{}, nil, false).customers {
		if _, twice := came[c.user()]; twice || c.since >= demoYear || planOf(c.plan).code == "" {
			t.Errorf("%s: twice, before the year, or on no plan", c.user())
		}
		if c.since > 0 && c.pays.by == nil {
			t.Errorf("%s has a past, and never pays", c.user())
		}
		came[c.user()] = c.since
	}
	if len(came) < 50 || len(came) > 90 {
		t.Errorf("%d customers; the last phones are those of strangers", len(came))
	}
	last := demoYear
	for _, story := range demoStories {
		if story.ago > last || (story.act == nil) == (story.at == nil) || (story.act == nil) != (story.who == "") {
			t.Errorf("the story %d days before the present is out of order, or of nobody", story.ago)
		}
		if since, known := came[story.who]; story.who != "" && (!known || since <= story.ago+marketDays) {
			t.Errorf("%s has not come %d days before the present", story.who, story.ago)
		}
		last = story.ago
	}
}

// yearPatience bounds the year of the demo in a test; it takes a sixth of it on a machine with other work.
const yearPatience = 10 * time.Minute

// TestDemo_TheYearGoesOnAfterAKillAndEndsAtThePresent: the first start is killed in the middle of the year, the second
// one makes the rest, and nothing is there twice.
func TestDemo_TheYearGoesOnAfterAKillAndEndsAtThePresent(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ctx, cancel := context.WithTimeout(t.Context(), yearPatience)
	defer cancel()
	first := k.yearUntil(ctx, func(printed string) bool { return strings.Count(printed, "\n  ") >= 3 })
	first.kill9()
	k.yearUntil(ctx, func(printed string) bool { return strings.Contains(printed, "is running") })
	running, ok := readRuntimeFile(k.config().DataDir)
	if !ok {
		t.Fatal("the demo has no runtime file")
	}
	k.addr = running.HTTP
	k.root, _ = k.loginAt("lastmile.test", demoRootEmail)
	if late := time.Since(k.programTime()).Abs(); late > time.Minute {
		t.Errorf("the year ends %v from the present", late)
	}
	k.showsAYear()
	if out := k.command("doctor", "books"); !strings.Contains(out, "demo: 0 faults") {
		t.Errorf("the books of the year: %s", out)
	}
}

// yearUntil starts the demo with its year in a process of its own, and waits for what it prints.
func (k *kit) yearUntil(ctx context.Context, holds func(printed string) bool) *child {
	k.t.Helper()
	var out logBuffer
	c := &child{t: k.t, cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(append(os.Environ(), k.environ...), childVariable+"="+childDemo, "LOG_LEVEL=warn")
	c.cmd.Stdout, c.cmd.Stderr = &out, k.log
	c.begin()
	if err := until(ctx, "the year", func(context.Context) (bool, error) {
		c.runs(&out)
		return holds(out.String()), fmt.Errorf("%s", out.last(3))
	}); err != nil {
		k.t.Fatal(err)
	}
	return c
}

// showsAYear looks at what a year has left: each customer once, in all states, with money of every month and sessions
// of the last weeks.
func (k *kit) showsAYear() {
	k.t.Helper()
	admin, _ := k.loginAt("demo.lastmile.test", demoAdminEmail)
	if n, want := len(k.all(admin, "/subscribers")), len(presentCustomers)+len(pastCustomers); n != want {
		k.t.Errorf("%d subscribers, want %d", n, want)
	}
	states := map[string]int{}
	subscriptions := k.all(admin, "/subscriptions")
	for _, s := range subscriptions {
		states[s.text("state")]++
		states["access "+s.text("access")]++
	}
	for _, state := range []string{
		"pending", "active", "paused", "ended", "access full", "access walled_garden", "access none",
	} {
		if states[state] == 0 {
			k.t.Errorf("no subscription is in the state %q: %v", state, states)
		}
	}
	if n := len(subscriptions); n != len(presentCustomers)+len(pastCustomers) {
		k.t.Errorf("%d subscriptions", n)
	}
	months, paid := map[string]int{}, map[string]int{}
	for _, r := range k.all(admin, "/receipts") {
		months[r.text("recordedAt")[:len("2006-01")]]++
	}
	for _, p := range k.all(admin, "/payments") {
		day := p.text("initiatedAt")[:len(time.DateOnly)]
		k.t.Logf("%s %s: %s, %s", day, p.text("subscriberId"), p.text("status"), p.text("reason"))
		if p.text("status") == "SUCCESS" {
			paid[p.text("subscriberId")+day]++
		}
	}
	twice := 0
	for _, n := range paid {
		twice += n - 1
	}
	// A year that begins on the first of a month touches twelve, and nobody pays in the first one; one customer pays
	// two months on the last day.
	if len(months) < 11 || twice > 1 {
		k.t.Errorf("receipts in months %v, and %d customers have paid twice on a day", months, twice)
	}
	if n := len(k.all(admin, "/receipts?state=suspense")); n < 2 {
		k.t.Errorf("%d receipts in suspense", n)
	}
	if n := len(k.all(admin, "/sessions")); n < 100 {
		k.t.Errorf("%d sessions", n)
	}
}
