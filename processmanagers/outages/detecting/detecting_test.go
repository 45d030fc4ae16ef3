package detecting_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/outages/detecting"
)

// The things of these tests: the hill stands behind the tower.
var (
	now   = time.Date(2026, time.March, 4, 9, 0, 0, 0, time.UTC)
	org   = id.Derive[id.Organization]("test", "org")
	tower = id.Derive[id.Device]("test", "tower")
	hill  = id.Derive[id.Device]("test", "hill")
)

// scenario is the process with both routers up.
type scenario = processtest.Scenario[detecting.State]

// network begins a scenario.
func network(t *testing.T) scenario {
	t.Helper()
	return processtest.For(t, detecting.Process(), now).With(events.Metadata{OrgID: org, At: now}).
		Given(events.UpstreamChosen{OrgID: org, DeviceID: hill, UpstreamID: tower, At: now})
}

// down says that a router went away at now.
func down(d id.Device) events.DeviceUnreachable {
	return events.DeviceUnreachable{DeviceID: d, At: now}
}

// began is the outage of some routers.
func began(name string, root id.Device, devices ...id.Device) events.OutageBegan {
	return events.OutageBegan{
		OutageID: id.Derive[id.Outage]("test", name), OrgID: org, Place: events.NetworkPlace{DeviceID: root},
		Devices: devices, Detected: true, StartedAt: now, At: now,
	}
}

// at moves the clock to a look.
func at(s scenario, after time.Duration) scenario {
	return s.At(now.Add(after)).WhenDue("look", now.Add(after))
}

func TestDetecting_TheRootIsTheHighestRouterThatIsDown(t *testing.T) {
	t.Parallel()
	s := network(t).Given(down(hill), down(tower))
	for _, early := range []time.Duration{2 * time.Minute, 9 * time.Minute} {
		out := at(s, early).Output()
		if len(out.Jobs) > 0 || len(out.Timers) != 1 || !out.Timers[0].At.Equal(now.Add(early+2*time.Minute)) {
			t.Errorf("after %s: %+v", early, out)
		}
	}
	out := at(s, 10*time.Minute).Output()
	if len(out.Jobs) != 1 {
		t.Fatalf("one outage: %+v", out)
	}
	job := out.Jobs[0].(commands.BeginDetectedOutage)
	if job.Root != tower || len(job.Devices) != 2 || !job.Since.Equal(now) || job.OrgID != org ||
		!job.At.Equal(now.Add(10*time.Minute)) {
		t.Errorf("got %+v", job)
	}
}

func TestDetecting_AFlapMakesNoneAndEndsNone(t *testing.T) {
	t.Parallel()
	s := network(t).Given(down(tower), events.DeviceRecovered{DeviceID: tower, At: now})
	if out := at(s, 12*time.Minute).Output(); len(out.Jobs)+len(out.Commands) > 0 {
		t.Errorf("a flap begins %+v", out)
	}
	lasting := network(t).Given(down(tower), began("one", tower, tower))
	flap := lasting.Given(events.DeviceRecovered{DeviceID: tower, At: now}, down(tower))
	if out := at(flap, 5*time.Minute).Output(); len(out.Commands) > 0 {
		t.Errorf("a flap ends %+v", out)
	}
	out := at(lasting.Given(events.DeviceRecovered{DeviceID: tower, At: now}), 3*time.Minute).Output()
	if len(out.Commands) != 1 || !out.Commands[0].(commands.EndOutage).EndedAt.Equal(now) {
		t.Errorf("the end: %+v", out)
	}
}

// TestDetecting_RoutersElsewherePutOffNoLook: while the tower is down, another router goes away or comes back every 100
// seconds.
func TestDetecting_RoutersElsewherePutOffNoLook(t *testing.T) {
	t.Parallel()
	other := id.Derive[id.Device]("test", "other")
	s := network(t).Given(down(tower))
	happens := func(after time.Duration, e events.Event, look time.Duration) {
		t.Helper()
		s = s.At(now.Add(after)).With(events.Metadata{OrgID: org, At: now.Add(after)}).Given(e)
		if out := s.Output(); len(out.Timers) != 1 || !out.Timers[0].At.Equal(now.Add(look)) {
			t.Errorf("after %s: %+v, want a look after %s", after, out.Timers, look)
		}
	}
	happens(100*time.Second, events.DeviceUnreachable{DeviceID: other, At: now}, 2*time.Minute)
	s = at(s, 2*time.Minute)
	happens(200*time.Second, events.DeviceRecovered{DeviceID: other, At: now}, 320*time.Second)
	happens(300*time.Second, events.DeviceUnreachable{DeviceID: other, At: now}, 320*time.Second)
	happens(400*time.Second, events.DeviceRecovered{DeviceID: other, At: now}, 320*time.Second) // it is late
}

func TestDetecting_ItGoesOnWhileOneOfItsRoutersIsDown(t *testing.T) {
	t.Parallel()
	one := began("one", tower, tower, hill)
	s := network(t).Given(down(tower), down(hill), one, events.DeviceRecovered{DeviceID: tower, At: now})
	watched := func(out processmanagers.Output, at time.Duration) bool {
		return cmp.Equal(out.Jobs, []commands.Job{commands.WatchOutage{
			OrgID: org, OutageID: one.OutageID, Downs: events.RouterDowns{{DeviceID: hill, From: now}}, At: now.Add(at),
		}})
	}
	if out := at(s, time.Minute).Output(); len(out.Commands) > 0 || !watched(out, time.Minute) || len(out.Timers) != 1 {
		t.Errorf("too early: %+v", out)
	}
	back := commands.NarrowOutage{OutageID: one.OutageID, Back: []commands.RouterBack{{DeviceID: tower, At: now}}}
	s = at(s, 9*time.Minute)
	if out := s.Output(); !watched(out, 9*time.Minute) || !cmp.Equal(out.Commands, []commands.Command{back}) {
		t.Errorf("got %+v", out)
	}
	s = s.Given(events.OutageNarrowed{
		OutageID: one.OutageID, OrgID: org, At: now, Downs: events.RouterDowns{{DeviceID: tower, From: now, To: now}},
	})
	if out := at(s, 20*time.Minute).Output(); len(out.Commands) > 0 || !watched(out, 20*time.Minute) ||
		!out.Timers[0].At.Equal(now.Add(25*time.Minute)) {
		t.Errorf("it is known: %+v", out)
	}
	again := at(s.Given(down(tower)), 29*time.Minute).Output()
	if len(again.Commands) > 0 || len(again.Jobs) != 1 || !cmp.Equal(again.Jobs[0].(commands.WatchOutage).Downs,
		events.RouterDowns{{DeviceID: hill, From: now}, {DeviceID: tower, From: now}}) {
		t.Errorf("it goes away again: %+v", again)
	}
}

func TestDetecting_WhatGoesAwayLaterExtendsItAndTheRootMovesUp(t *testing.T) {
	t.Parallel()
	s := network(t).Given(down(hill), began("one", hill, hill), down(tower))
	out := at(s, 3*time.Minute).Output()
	if len(out.Commands) > 0 || len(out.Jobs) != 1 {
		t.Fatalf("got %+v", out)
	}
	watch := out.Jobs[0].(commands.WatchOutage)
	if watch.Root != tower || len(watch.Downs.Of(tower)) != 1 || !watch.Downs.Of(tower)[0].From.Equal(now) {
		t.Errorf("got %+v", watch)
	}
}

func TestDetecting_OfTwoThatBecomeOneTheYoungerEnds(t *testing.T) {
	t.Parallel()
	first, second := began("one", hill, hill), began("two", tower, tower)
	out := at(network(t).Given(down(hill), first, down(tower), second), 3*time.Minute).Output()
	var merged, absorbed bool
	for _, c := range out.Commands {
		switch c := c.(type) {
		case commands.EndOutage:
			merged = c.OutageID == second.OutageID && c.MergedInto == first.OutageID
		case commands.ExtendOutage:
			absorbed = c.OutageID == first.OutageID && slices.Equal(c.Absorbs, []id.Outage{second.OutageID}) &&
				slices.Equal(c.Devices, []id.Device{tower})
		}
	}
	if !merged || !absorbed {
		t.Errorf("got %+v", out)
	}
}

// TestDetecting_TheWholeHasTheRoutersOfItsPartsThatAreBack, so that their customers hear of its end.
func TestDetecting_TheWholeHasTheRoutersOfItsPartsThatAreBack(t *testing.T) {
	t.Parallel()
	mast := id.Derive[id.Device]("test", "mast")
	first, second := began("one", hill, hill), began("two", tower, tower, mast)
	s := network(t).Given(down(hill), first, down(tower), second)
	out := at(s, 3*time.Minute).Output()
	for _, c := range out.Commands {
		if extend, is := c.(commands.ExtendOutage); is && slices.Equal(extend.Devices, []id.Device{tower, mast}) {
			return
		}
	}
	t.Errorf("got %+v", out)
}

// TestDetecting_TheWholeHasTheTimesOfItsParts, also those of a router that is back.
func TestDetecting_TheWholeHasTheTimesOfItsParts(t *testing.T) {
	t.Parallel()
	mast := id.Derive[id.Device]("test", "mast")
	first, second := began("one", hill, hill), began("two", tower, tower, mast)
	second.Downs = events.RouterDowns{{DeviceID: mast, From: now.Add(-time.Hour), To: now}}
	for _, c := range at(network(t).Given(down(hill), first, down(tower), second), 3*time.Minute).Output().Commands {
		if extend, is := c.(commands.ExtendOutage); is && slices.Contains(extend.Downs, second.Downs[0]) &&
			len(extend.Downs.Of(tower)) > 0 {
			return
		}
	}
	t.Error("the times of the part are lost")
}

func TestDetecting_WhatAPersonBeganNoRouterEnds(t *testing.T) {
	t.Parallel()
	byHand := began("hand", tower, tower, hill)
	byHand.Detected = false
	s := network(t).Given(byHand, down(hill))
	if out := at(s, 3*time.Minute).Output(); len(out.Jobs)+len(out.Commands) > 0 {
		t.Errorf("a second one: %+v", out)
	}
	back := s.Given(events.DeviceRecovered{DeviceID: hill, At: now})
	if out := at(back, 9*time.Minute).Output(); len(out.Commands) > 0 {
		t.Errorf("got %+v", out)
	}
}
