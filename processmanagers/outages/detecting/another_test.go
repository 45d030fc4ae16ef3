package detecting_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
)

// tells lists the jobs by which the customers of a router hear that outages are over.
func tells(d id.Device, outages ...id.Outage) (list []commands.Job) {
	for _, o := range outages {
		list = append(list, commands.TellOutage{
			OrgID: org, OutageID: o, Over: true, Devices: []id.Device{d}, Position: processtest.Position,
		})
	}
	return list
}

// relayOff is a course in which the relay, which stands behind the tower as the hill does, was back in the morning, and
// is off again since ten minutes after the first outage was a day old. It has another one since ten minutes later.
func relayOff(t *testing.T, towerBack time.Duration) (c *course, relay id.Device) {
	t.Helper()
	relay = id.Derive[id.Device]("test", "relay")
	c = allDown(t, tower, hill, relay)
	c.scenario = c.Given(events.UpstreamChosen{OrgID: org, DeviceID: relay, UpstreamID: tower, At: now})
	back := map[time.Duration]id.Device{towerBack: tower, 9 * time.Hour: relay}
	for _, after := range []time.Duration{min(towerBack, 9*time.Hour), max(towerBack, 9*time.Hour)} {
		c.comes(back[after], after)
		c.looks(after + 2*time.Minute)
	}
	const day = 24 * time.Hour
	c.goes(relay, day+10*time.Minute)
	c.looks(day + 12*time.Minute)
	c.looks(day + 20*time.Minute)
	if own := c.of(relay); c.ended() != nil || own.OutageID == c.first() || len(own.Absorbed) > 0 {
		t.Fatalf("the relay has %+v; the first one: %+v", own, c.ended())
	}
	return c, relay
}

// TestDetecting_AnOutageThatBeganBeforeTheEndOfTheLastOneHasThatAsAPart: the tower, the root, was back after half an
// hour, and the hill never is. Who was told of the first outage hears of the end of the second one, or, when the relay
// is back before that has the first one as a part, of that of the first one.
func TestDetecting_AnOutageThatBeganBeforeTheEndOfTheLastOneHasThatAsAPart(t *testing.T) {
	t.Parallel()
	const parted = 24*time.Hour + 30*time.Minute
	for name, back := range map[string]time.Duration{
		"in the morning": 33 * time.Hour, "at once": parted + time.Minute,
	} {
		c, relay := relayOff(t, 30*time.Minute)
		c.looks(parted)
		if end := c.ended(); end == nil || !end.Parted || !slices.Equal(end.Back, []id.Device{tower}) {
			t.Fatalf("%s: %+v", name, end)
		}
		want, tell := []id.Outage{c.first()}, []commands.Job(nil)
		if name == "at once" {
			want, tell = nil, tells(relay, c.first())
		} else {
			c.looks(parted + 2*time.Minute)
			if out := c.looks(parted + 4*time.Minute); len(out.Commands) > 0 {
				t.Errorf("%s: it has the part: %+v", name, out.Commands)
			}
		}
		c.comes(relay, back)
		out, own := c.looks(back+2*time.Minute), c.of(relay)
		if end := c.ends[own.OutageID]; !slices.Equal(own.Absorbed, want) || !end.EndedAt.Equal(now.Add(back)) {
			t.Errorf("%s: %+v, ended %+v", name, own, end)
		}
		told := slices.DeleteFunc(out.Jobs, func(job commands.Job) bool { return job.Kind() != "outages_tell" })
		if !cmp.Equal(told, tell, cmpopts.EquateEmpty()) {
			t.Errorf("%s: told %+v", name, told)
		}
	}
}

// TestDetecting_AnOutageIsNotOverForARouterThatHasAnotherOne: the last of the others is back in the next night.
func TestDetecting_AnOutageIsNotOverForARouterThatHasAnotherOne(t *testing.T) {
	t.Parallel()
	c, relay := relayOff(t, 20*time.Hour)
	const back = 25 * time.Hour
	c.comes(hill, back)
	c.looks(back + 2*time.Minute)
	want := &commands.EndOutage{
		OutageID: c.first(), EndedAt: now.Add(back), Parted: true, Back: []id.Device{tower, hill},
	}
	if !cmp.Equal(c.ended(), want) {
		t.Fatalf("got %+v, want %+v", c.ended(), want)
	}
	c.looks(back + 4*time.Minute)
	own := c.of(relay)
	if !slices.Equal(own.Absorbed, []id.Outage{c.first()}) {
		t.Errorf("the relay has %+v", own)
	}
	c.comes(relay, 33*time.Hour)
	c.looks(33*time.Hour + 2*time.Minute)
	if end := c.ends[own.OutageID]; end.Parted || !end.EndedAt.Equal(now.Add(33*time.Hour)) {
		t.Errorf("it ends: %+v", end)
	}
}

// TestDetecting_AnOutageIsNotOverForARouterThatAPersonSaysIsDown: it was back, and is off again since some hours after
// the outage began. So it is when that person has just said that this is over.
func TestDetecting_AnOutageIsNotOverForARouterThatAPersonSaysIsDown(t *testing.T) {
	t.Parallel()
	relay := id.Derive[id.Device]("test", "relay")
	for name, over := range map[string]bool{"it lasts": false, "it is over": true} {
		c := allDown(t, tower, hill, relay)
		c.comes(relay, time.Hour)
		c.looks(time.Hour + 2*time.Minute)
		c.goes(relay, 2*time.Hour)
		byHand := began("hand", relay, relay)
		byHand.Detected, byHand.StartedAt = false, now.Add(2*time.Hour)
		c.scenario = c.Given(byHand)
		back := 2*time.Hour + 31*time.Minute
		if over {
			ended := now.Add(back - time.Minute)
			c.scenario = later(c.scenario, back-time.Minute).Given(events.OutageEnded{
				OutageID: byHand.OutageID, OrgID: org, EndedAt: ended, At: ended,
			})
		}
		c.comes(tower, back)
		c.comes(hill, back)
		c.looks(back + 2*time.Minute)
		want := &commands.EndOutage{
			OutageID: c.first(), EndedAt: now.Add(back), Parted: true, Back: []id.Device{tower, hill},
		}
		if !cmp.Equal(c.ended(), want) {
			t.Errorf("%s: %+v, want %+v", name, c.ended(), want)
		}
	}
}

// parted is a scenario in which outages of the hill and others were over for those alone, at an instant.
func parted(t *testing.T, at time.Duration, outages ...events.OutageBegan) scenario {
	t.Helper()
	s := network(t).Given(down(hill))
	for _, o := range outages {
		s = s.Given(o)
	}
	s = later(s, at)
	for _, o := range outages {
		s = s.Given(events.OutageEnded{
			OutageID: o.OutageID, OrgID: org, EndedAt: now.Add(time.Hour), Parted: true, At: now.Add(at),
		})
	}
	return s
}

// TestDetecting_WhatAPersonBeginsHasTheLastOutageAsAPart, of which that person may have nobody told. Before it has, the
// customers hear of the end of the last one once their router is back.
func TestDetecting_WhatAPersonBeginsHasTheLastOutageAsAPart(t *testing.T) {
	t.Parallel()
	one, byHand, day := began("one", hill, hill), began("hand", hill, hill), 26*time.Hour
	byHand.Detected, byHand.StartedAt = false, now.Add(day)
	s := later(parted(t, day, one), day+3*time.Minute).Given(byHand)
	look := day + 5*time.Minute
	back := events.DeviceRecovered{DeviceID: hill, At: now.Add(look)}
	early := at(later(s, look).Given(back), look+2*time.Minute).Output()
	if !cmp.Equal(early.Jobs, tells(hill, one.OutageID)) || len(early.Commands) > 0 {
		t.Errorf("it is back before the look: %+v", early)
	}
	s = at(s, look)
	absorb := commands.ExtendOutage{OutageID: byHand.OutageID, Absorbs: []id.Outage{one.OutageID}}
	if out := s.Output(); !cmp.Equal(out.Commands, []commands.Command{absorb}) || out.Timers[0].At.IsZero() {
		t.Fatalf("the look: %+v", out)
	}
	s = later(s, look).Given(events.OutageExtended{
		OutageID: byHand.OutageID, OrgID: org, Root: hill, Devices: byHand.Devices, Absorbed: absorb.Absorbs,
		At: now.Add(look),
	})
	if out := at(s, look+2*time.Minute).Output(); len(out.Commands)+len(out.Jobs) > 0 || !out.Timers[0].At.IsZero() {
		t.Errorf("it has the part: %+v", out)
	}
	if out := at(s.Given(back), look+2*time.Minute).Output(); len(out.Commands)+len(out.Jobs) > 0 {
		t.Errorf("it is back: %+v", out)
	}
}

// TestDetecting_NoOutageThatWasOverWithoutARouterIsForgotten: when a second one is by the same look, when the router is
// heard in the next one before that has the first ones as parts, and when a person ends that one. A beginning that
// comes late has them as parts, although the router is back.
func TestDetecting_NoOutageThatWasOverWithoutARouterIsForgotten(t *testing.T) {
	t.Parallel()
	day := 26 * time.Hour
	one, two, next := began("one", tower, tower, hill), began("two", hill, hill), began("next", hill, hill)
	next.StartedAt, next.Downs = now.Add(day), events.RouterDowns{{DeviceID: hill, From: now.Add(day)}}
	both := []id.Outage{one.OutageID, two.OutageID}
	s := parted(t, day, one, two)
	if begin := beginning(t, at(s, day+10*time.Minute).Output(), hill); !slices.Equal(begin.Absorbs, both) {
		t.Errorf("the next one: %+v", begin)
	}
	back := events.DeviceRecovered{DeviceID: hill, At: now.Add(day + 12*time.Minute)}
	returns := func(s scenario) scenario { return later(s, day+12*time.Minute).Given(back) }
	heard := events.OutageNarrowed{
		OutageID: next.OutageID, OrgID: org, At: now.Add(day + 11*time.Minute),
		Downs: events.RouterDowns{{DeviceID: hill, From: now.Add(day), To: now.Add(day + 11*time.Minute)}},
	}
	ended := events.OutageEnded{
		OutageID: next.OutageID, OrgID: org, EndedAt: now.Add(day + 11*time.Minute), At: now.Add(day + 11*time.Minute),
	}
	for name, s := range map[string]scenario{
		"it has none": s, "it is heard": s.Given(next, heard), "a person ends it": s.Given(next, ended),
	} {
		if out := at(returns(s), day+14*time.Minute).Output(); !cmp.Equal(out.Jobs, tells(hill, both...)) {
			t.Errorf("%s, and it is back: %+v", name, out.Jobs)
		}
	}
	next.Absorbed = both
	if out := at(returns(s).Given(next), day+14*time.Minute).Output(); len(out.Jobs) > 0 {
		t.Errorf("it has begun late: %+v", out.Jobs)
	}
	next.Devices, next.Downs = []id.Device{tower}, nil
	s = s.Given(next, extended(next, hill)) // it has them as parts because of another router
	if out := at(returns(s), day+14*time.Minute).Output(); len(out.Jobs) > 0 {
		t.Errorf("the router comes to it: %+v", out.Jobs)
	}
}

// TestDetecting_WhoIsBackHearsOfTheEndHoweverLateTheLookIs: another router is back half an hour later, before it.
func TestDetecting_WhoIsBackHearsOfTheEndHoweverLateTheLookIs(t *testing.T) {
	t.Parallel()
	one, day := began("one", hill, hill), 26*time.Hour
	s := parted(t, day, one).Given(down(tower))
	s = later(s, day+5*time.Minute).Given(events.DeviceRecovered{DeviceID: hill, At: now.Add(day + 5*time.Minute)})
	s = later(s, day+36*time.Minute).Given(events.DeviceRecovered{DeviceID: tower, At: now.Add(day + 36*time.Minute)})
	s = s.At(now.Add(day+36*time.Minute)).WhenDue("look", now.Add(day+7*time.Minute))
	if out := s.Output(); !cmp.Equal(out.Jobs, tells(hill, one.OutageID)) {
		t.Errorf("got %+v", out.Jobs)
	}
}
