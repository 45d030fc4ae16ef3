package main

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// TestTold_AnOldIndexSaysNothing: another program may have given a device to somebody else, or another password to its
// line, while the log does not reach this one.
func TestTold_AnOldIndexSaysNothing(t *testing.T) {
	t.Parallel()
	log, now := feedtest.New(), clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	box, acme := id.New[id.CPE](), id.New[id.Organization]()
	for _, e := range []events.Event{
		events.OrganizationCreated{OrgID: acme, Slug: "acme"}, events.CpeIdentified{CpeID: box},
		events.CpeClaimed{CpeID: box, OrgID: acme},
	} {
		log.Append(events.Metadata{}, e)
	}
	e := &engines{index: cpeviews.NewIndex()}
	e.indexed = runner.NewMemory(e.index, runner.Config{Feed: feedtest.Start(t, log)})
	if err := e.indexed.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, e.indexed.Stop)
	e.current = runner.NewFresh(e.indexed, now, storetest.Quiet())
	says := func(want bool) {
		t.Helper()
		if told, known := e.told(box); known != want || known && told.OrgSlug != "acme" {
			t.Errorf("it says %+v: %t, want %t", told, known, want)
		}
	}
	says(true)
	now.Advance(indexAge)
	says(true)
	now.Advance(time.Second)
	says(false)
	if err := e.current.Check(t.Context(), 0); err != nil { // it looks and finds that nothing is missing
		t.Fatal(err)
	}
	says(true)
}
