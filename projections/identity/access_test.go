package identityviews_test

import (
	"errors"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// TestAccess_BehindAnEventOfANewerVersionIsUnknownWhileTheProgramStarts: after a way back to an older version, or
// behind one damaged event. Callbacks, processes and jobs need no directory.
func TestAccess_BehindAnEventOfANewerVersionIsUnknownWhileTheProgramStarts(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	bad := log.Append(events.Metadata{}, feed.Undecodable{
		Type: "identity.UserRegistered.v9", Cause: errors.New("unknown type"), Unknown: true,
	})
	m := runner.NewMemory(identityviews.NewDirectory(), runner.Config{Feed: feedtest.Start(t, log)})
	t.Cleanup(m.Stop)
	if err := m.Start(t.Context()); err != nil {
		t.Fatalf("the program does not start: %v", err)
	}
	access := identityviews.NewAccess(m)
	access.Open()
	if err := access.Check(); !errors.Is(err, identityviews.ErrAccessUnknown) || access.Fault() == "" {
		t.Errorf("%v, %q", err, access.Fault())
	}
	log.Learn(bad, events.UserRegistered{})
	for access.Check() != nil && t.Context().Err() == nil {
		_ = m.WaitFor(t.Context(), bad)
	}
}

// TestAccess_IsClosedUntilItIsOpened, and while the log does not reach the directory.
func TestAccess_IsClosedUntilItIsOpened(t *testing.T) {
	t.Parallel()
	m := runner.NewMemory(identityviews.NewDirectory(), runner.Config{Feed: feedtest.Start(t, feedtest.New())})
	t.Cleanup(m.Stop)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	access := identityviews.NewAccess(m)
	if err := access.Check(); !errors.Is(err, identityviews.ErrAccessUnknown) {
		t.Errorf("before: %v", err)
	}
	stuck := false
	access.Watch(func() bool { return stuck })
	access.Open()
	if err := access.Check(); err != nil {
		t.Errorf("after: %v", err)
	}
	stuck = true
	if err := access.Check(); !errors.Is(err, identityviews.ErrAccessUnknown) || access.Fault() == "" {
		t.Errorf("stuck: %v", err)
	}
}
