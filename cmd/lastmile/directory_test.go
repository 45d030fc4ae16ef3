package main

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/projections/identity"
)

// TestDirectory_AnOldOneIsTold: the log does not reach a program any more, which looks as if nothing happened. Its
// readiness says so half a minute later, so that requests go to another program.
func TestDirectory_AnOldOneIsTold(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.showing = time.Second // nothing will be shown
	movable := clock.NewMovable(clock.System(), 0)
	k.clock = movable
	k.start().signIn()
	told := func() error {
		for _, c := range k.app.checks() {
			if c.Name == identityviews.DirectoryName {
				return c.Probe(t.Context())
			}
		}
		t.Fatal("no check")
		return nil
	}
	movable.Advance(time.Minute)
	if err := told(); err != nil {
		t.Errorf("a quiet log: %v", err)
	}
	k.app.engines.feed.Stop()
	k.must(k.admin, "POST", "/subscribers", map[string]any{
		"firstName": "Amina", "lastName": "Ali", "phone": "+254711000999",
	})
	movable.Advance(time.Minute)
	if err := told(); err == nil || !strings.Contains(err.Error(), "is not known to have what the log has") {
		t.Errorf("the directory is %v", err)
	}
}
