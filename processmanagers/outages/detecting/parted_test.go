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
)

// TestDetecting_WhatStaysDownForADayHasAnOutageOfItsOwn, while the tower above it, the root, is back and can have
// another one.
func TestDetecting_WhatStaysDownForADayHasAnOutageOfItsOwn(t *testing.T) {
	t.Parallel()
	one, back := began("one", tower, tower, hill), now.Add(2*time.Hour)
	s := network(t).Given(down(tower), down(hill), one)
	s = later(s, 2*time.Hour).Given(events.DeviceRecovered{DeviceID: tower, At: back}, events.OutageNarrowed{
		OutageID: one.OutageID, OrgID: org, At: back,
		Downs: events.RouterDowns{{DeviceID: tower, From: now, To: back}, {DeviceID: hill, From: now}},
	})
	if out := at(s, 25*time.Hour).Output(); len(out.Commands) > 0 {
		t.Errorf("after 23 hours: %+v", out.Commands)
	}
	day := 26 * time.Hour
	s = at(s, day)
	end := commands.EndOutage{OutageID: one.OutageID, EndedAt: back, Parted: true, Back: []id.Device{tower}}
	if out := s.Output(); !cmp.Equal(out.Commands, []commands.Command{end}) {
		t.Fatalf("after a day: %+v", out.Commands)
	}
	s = later(s, day).Given(events.OutageEnded{
		OutageID: one.OutageID, OrgID: org, EndedAt: back, Parted: true, Back: end.Back, At: now.Add(day),
	})
	begin := beginning(t, at(s, day+10*time.Minute).Output(), hill)
	if !begin.Since.Equal(back) || len(begin.Devices) != 1 {
		t.Errorf("the hill has %+v", begin)
	}
	again := events.DeviceUnreachable{DeviceID: tower, At: now.Add(day)}
	if begin := beginning(t, at(s.Given(again), day+10*time.Minute).Output(), tower); !begin.Since.Equal(again.At) {
		t.Errorf("the tower goes away again: %+v", begin)
	}
}

// TestDetecting_WhoIsHeardIsBackWhenAnOutageIsOverForOthers: the power of the tower is back, and the platform does not
// reach it, only its customers are heard. They hear of the end, and the hill's do of that of the next one.
func TestDetecting_WhoIsHeardIsBackWhenAnOutageIsOverForOthers(t *testing.T) {
	t.Parallel()
	heard, day := now.Add(2*time.Hour), 26*time.Hour
	for name, root := range map[string]id.Device{"the root": tower, "another one": hill} {
		one := began("one", root, tower, hill)
		s := network(t).Given(down(tower), down(hill), one)
		s = later(s, 2*time.Hour).Given(events.OutageNarrowed{
			OutageID: one.OutageID, OrgID: org, At: heard,
			Downs: events.RouterDowns{{DeviceID: tower, From: now, To: heard}, {DeviceID: hill, From: now}},
		})
		end := commands.EndOutage{OutageID: one.OutageID, EndedAt: heard, Parted: true, Back: []id.Device{tower}}
		if out := at(s, day).Output(); !cmp.Equal(out.Commands, []commands.Command{end}) {
			t.Errorf("%s: %+v", name, out.Commands)
		}
		s = later(s, day).Given(events.OutageEnded{
			OutageID: one.OutageID, OrgID: org, EndedAt: heard, Parted: true, Back: end.Back, At: now.Add(day),
		})
		alone := later(s, day).Given(events.DeviceRecovered{DeviceID: hill, At: now.Add(day)})
		if begin := beginning(t, at(alone, day+10*time.Minute).Output(), tower); len(begin.Absorbs) > 0 {
			t.Errorf("%s: the tower falls silent: %+v", name, begin)
		}
		begin := beginning(t, at(s, day+10*time.Minute).Output(), tower)
		if !slices.Equal(begin.Absorbs, []id.Outage{one.OutageID}) {
			t.Errorf("%s: with the hill: %+v", name, begin)
		}
	}
}

// TestDetecting_WhoComesBackBeforeTheNextOutageBeginsHearsOfTheEnd: the outage was over without the hill, which comes
// back some minutes later. When that is a flap they hear of the end of the next one.
func TestDetecting_WhoComesBackBeforeTheNextOutageBeginsHearsOfTheEnd(t *testing.T) {
	t.Parallel()
	one, next, day := began("one", hill, hill), began("next", hill, hill), 26*time.Hour
	next.Absorbed = []id.Outage{one.OutageID}
	s := later(network(t).Given(down(hill), one), day).Given(events.OutageEnded{
		OutageID: one.OutageID, OrgID: org, EndedAt: now.Add(time.Hour), Parted: true, At: now.Add(day),
	})
	back := events.DeviceRecovered{DeviceID: hill, At: now.Add(day + 5*time.Minute)}
	covered := later(s, day+5*time.Minute).Given(next, back)
	if out := at(covered, day+7*time.Minute).Output(); len(out.Jobs) > 0 {
		t.Errorf("it has another one: %+v", out.Jobs)
	}
	s = later(s, day+5*time.Minute).Given(back)
	tells := []commands.Job{commands.TellOutage{
		OrgID: org, OutageID: one.OutageID, Over: true, Devices: []id.Device{hill}, Position: processtest.Position,
	}}
	for minutes, want := range map[time.Duration][]commands.Job{6: nil, 7: tells} {
		out := at(s, day+minutes*time.Minute).Output()
		if !cmp.Equal(out.Jobs, want) || len(out.Timers) != 1 {
			t.Errorf("after %d minutes: %+v", minutes, out)
		}
	}
	for minutes, absorbed := range map[time.Duration]bool{6: true, 7: false} {
		went := day + minutes*time.Minute
		s := at(s, went)
		s = later(s, went).Given(events.DeviceUnreachable{DeviceID: hill, At: now.Add(went)})
		begin := beginning(t, at(s, went+10*time.Minute).Output(), hill)
		if !begin.Since.Equal(now.Add(went)) || slices.Contains(begin.Absorbs, one.OutageID) != absorbed {
			t.Errorf("it goes away %d minutes later: %+v", minutes, begin)
		}
	}
	s = at(at(s, day+7*time.Minute), day+9*time.Minute)
	if out := s.Output(); len(out.Jobs) > 0 || !out.Timers[0].At.IsZero() {
		t.Errorf("they have heard it: %+v", out)
	}
}

// TestDetecting_NoOutageEndsForSomeWhileAnotherOneJoinsIt: the tower, the root, is back for a day when the house turns
// out to stand behind the hill, which stays down.
func TestDetecting_NoOutageEndsForSomeWhileAnotherOneJoinsIt(t *testing.T) {
	t.Parallel()
	house, day := id.Derive[id.Device]("test", "house"), 24*time.Hour
	one, two := began("one", tower, tower, hill), began("two", house, house)
	one.Downs = events.RouterDowns{{DeviceID: tower, From: now, To: now}, {DeviceID: hill, From: now}}
	s := network(t).Given(down(hill), one)
	two.StartedAt = now.Add(20 * time.Hour)
	s = later(s, 20*time.Hour).Given(events.DeviceUnreachable{DeviceID: house, At: two.StartedAt}, two)
	behind := events.UpstreamChosen{OrgID: org, DeviceID: house, UpstreamID: hill, At: now.Add(day)}
	for name, s := range map[string]scenario{"it joins": later(s, day).Given(behind), "it is alone": s} {
		out := at(s, day+2*time.Minute).Output()
		var parted, joined bool
		for _, c := range out.Commands {
			end, is := c.(commands.EndOutage)
			parted = parted || is && end.OutageID == one.OutageID && end.Parted
			joined = joined || is && end.OutageID == two.OutageID && end.MergedInto == one.OutageID
		}
		if joined != (name == "it joins") || parted == joined {
			t.Errorf("%s: %+v", name, out.Commands)
		}
	}
}

// TestDetecting_AnEndBeforeARouterWentAwayLeavesItsTimeToTheNextOne: the house had an outage of its own until it became
// one with another, which ends as of an hour before the house went away.
func TestDetecting_AnEndBeforeARouterWentAwayLeavesItsTimeToTheNextOne(t *testing.T) {
	t.Parallel()
	house := id.Derive[id.Device]("test", "house")
	one, two := began("one", hill, hill), began("two", house, house)
	went, merged := now.Add(2*time.Hour), now.Add(3*time.Hour)
	s := later(network(t).Given(down(hill), one), 2*time.Hour).Given(
		events.DeviceUnreachable{DeviceID: house, At: went}, two,
	)
	joined := extended(one, house)
	joined.Downs = events.RouterDowns{{DeviceID: hill, From: now}, {DeviceID: house, From: went}}
	s = later(s, 3*time.Hour).Given(
		events.OutageEnded{OutageID: two.OutageID, OrgID: org, EndedAt: merged, MergedInto: one.OutageID, At: merged},
		joined,
	)
	s = later(s, 4*time.Hour).Given(events.OutageEnded{
		OutageID: one.OutageID, OrgID: org, EndedAt: now.Add(time.Hour), Parted: true, At: now.Add(4 * time.Hour),
	})
	begin := beginning(t, at(s, 4*time.Hour+10*time.Minute).Output(), house)
	if want := (events.RouterDowns{{DeviceID: house, From: went}}); !cmp.Equal(begin.Downs, want) {
		t.Errorf("got %v, want %v", begin.Downs, want)
	}
}
