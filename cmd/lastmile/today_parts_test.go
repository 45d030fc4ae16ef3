package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// TestToday_WithoutTheEventStoreSaysThatNothingIsSaved: the reports answer while it is away. The platform's names the
// part that is down, and that of an organization says for people that nothing can be saved. Both forget it after.
func TestToday_WithoutTheEventStoreSaysThatNothingIsSaved(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	node, stop := k.besideEventStore()
	told := func(c apiClient, kind, root string, want bool) {
		k.t.Helper()
		k.eventually(fmt.Sprintf("%s of %q to be told: %v", kind, root, want),
			func(ctx context.Context) (bool, error) {
				report, err := c.call(ctx, "GET", "/reports/today", "", nil)
				is := slices.ContainsFunc(report.list("faults"), func(f answer) bool {
					return f.text("kind") == kind && f.at("root.id") == root
				})
				return err == nil && is == want, fmt.Errorf("%w: %v", err, report["faults"])
			})
	}
	stateOf := func(name string) string {
		k.t.Helper()
		for _, p := range k.must(k.root, "GET", "/system/parts", nil).list("data") {
			if p.text("name") == name {
				return p.text("state")
			}
		}
		return "none"
	}
	told(k.admin, "nothing_saved", "<nil>", false)
	told(k.root, "part_down", "eventstore", false)
	if got := stateOf("eventstore"); got != "up" {
		t.Errorf("the event store is %s", got)
	}

	stop()
	told(k.root, "part_down", "eventstore", true)
	told(k.admin, "nothing_saved", "<nil>", true)
	if got := stateOf("eventstore"); got != "down" {
		t.Errorf("without it, the event store is %s", got)
	}
	report := k.must(k.admin, "GET", "/reports/today?since=2000-01-01", nil)
	if faults := report.list("faults"); len(faults) != 1 || faults[0].text("message") == "" || report["since"] == nil {
		t.Errorf("the organization reads %v", report)
	}

	k.eventStoreAlone(node)
	told(k.root, "part_down", "eventstore", false)
	told(k.admin, "nothing_saved", "<nil>", false)
}
