package detecting_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestDetecting_ARouterThatIsOffEachNightHoldsNoOutageOpen: the hill is given up, and the relay is off from the evening
// to the morning. The tower above both, which was told, is over a day after it is back, and hears of its next failure.
func TestDetecting_ARouterThatIsOffEachNightHoldsNoOutageOpen(t *testing.T) {
	t.Parallel()
	relay := id.Derive[id.Device]("test", "relay")
	c := allDown(t, tower, hill, relay)
	c.scenario = c.Given(events.UpstreamChosen{OrgID: org, DeviceID: relay, UpstreamID: tower, At: now})
	c.comes(tower, 30*time.Minute)
	c.looks(32 * time.Minute)
	day := 24 * time.Hour
	c.comes(relay, 9*time.Hour)
	c.looks(9*time.Hour + 2*time.Minute)
	c.goes(relay, day+10*time.Minute)
	for _, after := range []time.Duration{12 * time.Minute, 29 * time.Minute} {
		if c.looks(day + after); c.ended() != nil {
			t.Fatalf("%s later: %+v", after, c.ended())
		}
	}
	c.looks(day + 30*time.Minute)
	want := &commands.EndOutage{
		OutageID: c.first(), EndedAt: now.Add(9 * time.Hour), Parted: true, Back: []id.Device{tower},
	}
	if !cmp.Equal(c.ended(), want) {
		t.Fatalf("a day after the return of the root: %+v, want %+v", c.ended(), want)
	}
	c.looks(day + 40*time.Minute)
	for d, since := range map[id.Device]time.Duration{relay: day + 10*time.Minute, hill: 9 * time.Hour} {
		own := c.of(d) // who was told of the end of none hears of that of this one
		if !own.StartedAt.Equal(now.Add(since)) || !slices.Equal(own.Absorbed, []id.Outage{c.first()}) {
			t.Errorf("%+v, want since %s", own, since)
		}
	}
	c.goes(tower, 7*day)
	if begin := beginning(t, c.looks(7*day+10*time.Minute), tower); !begin.Since.Equal(now.Add(7 * day)) {
		t.Errorf("the tower: %+v", begin)
	}
}

// TestDetecting_ARootThatIsOffEachNightHasAnOutageOfEachNight: the hill behind the tower is given up.
func TestDetecting_ARootThatIsOffEachNightHasAnOutageOfEachNight(t *testing.T) {
	t.Parallel()
	c, day := allDown(t, tower, hill), 24*time.Hour
	c.comes(tower, 8*time.Hour)
	c.looks(8*time.Hour + 2*time.Minute)
	c.goes(tower, day+5*time.Minute)
	c.looks(day + 7*time.Minute)
	want := &commands.EndOutage{OutageID: c.first(), EndedAt: now.Add(8 * time.Hour), Parted: true}
	if !cmp.Equal(c.ended(), want) {
		t.Fatalf("got %+v, want %+v: nobody is back", c.ended(), want)
	}
	if begin := beginning(t, c.looks(day+17*time.Minute), tower); len(begin.Devices) != 1 {
		t.Errorf("the second night: %+v", begin)
	}
}

// TestDetecting_ARouterBehindOneThatWasGivenUpHasAnOutageOfEachNight: it has another way, and the hill, the root, stays
// down. The first night is over a day after it.
func TestDetecting_ARouterBehindOneThatWasGivenUpHasAnOutageOfEachNight(t *testing.T) {
	t.Parallel()
	house, day := id.Derive[id.Device]("test", "house"), 24*time.Hour
	c := allDown(t, hill, house)
	c.scenario = c.Given(events.UpstreamChosen{OrgID: org, DeviceID: house, UpstreamID: hill, At: now})
	for night := range time.Duration(2) {
		c.comes(house, night*day+8*time.Hour)
		if out := c.looks(night*day + 8*time.Hour + 2*time.Minute); night > 0 && c.ended() == nil {
			t.Errorf("the first night is not over: %+v", out)
		}
		again := (night + 1) * day
		c.goes(house, again)
		if begin := beginning(t, c.looks(again+10*time.Minute), house); !begin.Since.Equal(now.Add(again)) {
			t.Errorf("got %+v", begin)
		}
	}
}

// TestDetecting_AnOutageEndsAsOfTheLastReturnAlsoOfARouterThatIsDownAgain: the tower, the root, is back for good, the
// hill never, and the relay was down for the night, and is again since some hours before the tower was back for a day.
func TestDetecting_AnOutageEndsAsOfTheLastReturnAlsoOfARouterThatIsDownAgain(t *testing.T) {
	t.Parallel()
	relay := id.Derive[id.Device]("test", "relay")
	c := allDown(t, tower, hill, relay)
	c.scenario = c.Given(events.UpstreamChosen{OrgID: org, DeviceID: relay, UpstreamID: tower, At: now})
	morning, evening := 9*time.Hour, 20*time.Hour
	c.comes(tower, 30*time.Minute)
	c.comes(relay, 30*time.Minute)
	c.looks(32 * time.Minute)
	for _, night := range []struct{ from, to time.Duration }{{2 * time.Hour, morning}, {evening, 0}} {
		c.goes(relay, night.from)
		c.looks(night.from + 10*time.Minute)
		if night.to > 0 {
			c.comes(relay, night.to)
			c.looks(night.to + 2*time.Minute)
		}
	}
	c.looks(24*time.Hour + 30*time.Minute)
	want := &commands.EndOutage{
		OutageID: c.first(), EndedAt: now.Add(morning), Parted: true, Back: []id.Device{tower},
	}
	if !cmp.Equal(c.ended(), want) {
		t.Fatalf("got %+v, want %+v", c.ended(), want)
	}
	out := c.looks(24*time.Hour + 40*time.Minute)
	for d, since := range map[id.Device]time.Duration{relay: evening, hill: morning} {
		if begin := beginning(t, out, d); !begin.Since.Equal(now.Add(since)) {
			t.Errorf("got %+v, want since %s", begin, since)
		}
	}
}

// TestDetecting_RoutersADayApartAreNeverOneOutage, whoever stands between them: house, hill, tower and mast stand one
// behind the other, and went away 16 hours one after the other.
func TestDetecting_RoutersADayApartAreNeverOneOutage(t *testing.T) {
	t.Parallel()
	house, mast := id.Derive[id.Device]("test", "house"), id.Derive[id.Device]("test", "mast")
	for name, order := range map[string][]id.Device{
		"from below": {house, hill, tower, mast}, "from above": {mast, tower, hill, house},
		"the middle last": {house, tower, mast, hill},
	} {
		s := network(t).Given(
			events.UpstreamChosen{OrgID: org, DeviceID: house, UpstreamID: hill, At: now},
			events.UpstreamChosen{OrgID: org, DeviceID: tower, UpstreamID: mast, At: now},
		)
		went := map[id.Device]time.Time{}
		for i, d := range order {
			went[d] = now.Add(time.Duration(i) * 16 * time.Hour)
			s = s.Given(events.DeviceUnreachable{DeviceID: d, At: went[d]})
		}
		all := 0
		for _, job := range at(s, 100*time.Hour).Output().Jobs {
			begin := job.(commands.BeginDetectedOutage)
			if all += len(begin.Devices); !slices.Contains(begin.Devices, begin.Root) {
				t.Errorf("%s: the root is none of %+v", name, begin)
			}
			for _, d := range begin.Devices {
				if after := went[d].Sub(begin.Since); after >= 24*time.Hour {
					t.Errorf("%s: %s apart in %+v", name, after, begin)
				}
			}
		}
		if all != len(order) {
			t.Errorf("%s: %d routers have an outage", name, all)
		}
	}
}

// TestDetecting_AnOutageGetsNoRouterADayAfterItBegan: the hill came to it 16 hours later, and the house behind that
// goes away 16 hours after the hill.
func TestDetecting_AnOutageGetsNoRouterADayAfterItBegan(t *testing.T) {
	t.Parallel()
	house := id.Derive[id.Device]("test", "house")
	s := network(t).Given(events.UpstreamChosen{OrgID: org, DeviceID: house, UpstreamID: hill, At: now})
	one := began("one", tower, tower)
	second := now.Add(16 * time.Hour)
	joined := extended(one, hill)
	joined.Root = tower
	joined.Downs = events.RouterDowns{{DeviceID: tower, From: now}, {DeviceID: hill, From: second}}
	s = s.Given(down(tower), one, events.DeviceUnreachable{DeviceID: hill, At: second}, joined)
	went := now.Add(32 * time.Hour)
	s = later(s, 32*time.Hour).Given(events.DeviceUnreachable{DeviceID: house, At: went})
	if begin := beginning(t, at(s, 32*time.Hour+10*time.Minute).Output(), house); !begin.Since.Equal(went) {
		t.Errorf("got %+v", begin)
	}
}
