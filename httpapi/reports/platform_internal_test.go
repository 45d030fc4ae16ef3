package reportsapi

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Home counts what System shows as not answering: a number that is smaller there would hide a system that fails.
func TestPlatform_CountsBreakersThatAreTriedOrFail(t *testing.T) {
	t.Parallel()
	a := Platform{Breakers: func() []httpapi.BreakerState {
		return []httpapi.BreakerState{
			{Kind: "provider", Target: "answers", State: "closed"},
			{Kind: "provider", Target: "away", State: "open", Failures: 5},
			{Kind: "provider", Target: "tried", State: "half_open", Failures: 5},
			{Kind: "provider", Target: "fails", State: "closed", Failures: 1},
			{Kind: "device", Target: "router", State: "half_open", Failures: 5, OrgID: "an organization"},
		}
	}}
	var out platformResponse
	a.breakers(&out)
	if want := (breakersToday{Open: 3, Failing: 1}); out.Breakers != want {
		t.Errorf("want %+v, have %+v", want, out.Breakers)
	}
	var told []string
	for _, f := range out.Faults {
		told = append(told, string(f.Kind)+" "+f.Root.Name)
	}
	if diff := cmp.Diff([]string{"breaker_open provider away", "breaker_open provider tried"}, told); diff != "" {
		t.Error(diff)
	}
}

// A rebuild that has stopped leaves the tables of before, which System shows as something that needs a look.
func TestPlatform_CountsARebuildThatHasStopped(t *testing.T) {
	t.Parallel()
	a := Platform{Projections: func() []runner.Status {
		return []runner.Status{
			{Name: "live", State: runner.StateLive},
			{Name: "filling", State: runner.StateLive, Rebuild: &runner.Progress{}},
			{Name: "torn", State: runner.StateLive, Rebuild: &runner.Progress{Error: "no such column"}},
			{Name: "stopped", State: runner.StateStopped, Error: "a line twice"},
		}
	}}
	var out platformResponse
	a.projections(&out)
	if out.Projections.Stopped != 2 {
		t.Errorf("want 2 stopped, have %d", out.Projections.Stopped)
	}
	var told []string
	for _, f := range out.Faults {
		told = append(told, string(f.Kind)+" "+f.Root.Name+": "+*f.Words)
	}
	want := []string{"rebuild_stopped torn: no such column", "projection_stopped stopped: a line twice"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// What waits for the database is told by the database: a step of its own would have somebody restart the program, which
// answers sign-ins from memory as long as it runs.
func TestPlatform_NamesTheDatabaseAndNotWhatWaitsForIt(t *testing.T) {
	t.Parallel()
	waits := map[string][]string{
		"identity_directory": {"postgres", "eventstore"}, "access_directory": {"postgres", "eventstore"},
		"jobs": {"postgres"}, "writes": {"postgres"},
	}
	parts := func(down ...string) []httpapi.Part {
		var checks []httpapi.Check
		for _, name := range down {
			fails := func(context.Context) error { return errors.New("down") }
			checks = append(checks, httpapi.Check{Name: name, WaitsFor: waits[name], Probe: fails})
		}
		up := httpapi.Check{Name: "accounting", Probe: func(context.Context) error { return nil }}
		return httpapi.Parts(t.Context(), append(checks, up))
	}
	for _, c := range []struct{ down, told []string }{
		{
			[]string{"postgres", "writes", "eventstore", "access_directory", "jobs"},
			[]string{"postgres", "eventstore"},
		},
		{[]string{"eventstore", "access_directory", "jobs"}, []string{"eventstore", "jobs"}},
		{[]string{"writes", "jobs", "access_directory"}, []string{"writes", "jobs", "access_directory"}},
	} {
		var told []string
		for _, f := range faultsOf(parts(c.down...)) {
			told = append(told, f.Root.Name)
		}
		if diff := cmp.Diff(c.told, told); diff != "" {
			t.Errorf("%v: %s", c.down, diff)
		}
	}
}

// What only the database knows is null while it is away, and the rest is there: Home would show a zero as good news.
func TestPlatform_WhatWasNotReadIsNull(t *testing.T) {
	t.Parallel()
	a := Platform{
		Clock:    clock.System(),
		Breakers: func() []httpapi.BreakerState { return nil },
		Projections: func() []runner.Status {
			return []runner.Status{{Name: "stopped", State: runner.StateStopped}}
		},
		Parts: func(context.Context) []httpapi.Part { return []httpapi.Part{{Name: "postgres", State: "down"}} },
	}
	out, err := a.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"organizations", "suspense", "processes"} {
		if v, ok := got[name]; v != nil || !ok {
			t.Errorf("%s is %v in %s", name, v, text)
		}
	}
	if out.Projections.Stopped != 1 || len(out.Faults) != 2 {
		t.Errorf("what was read is %s", text)
	}
}
