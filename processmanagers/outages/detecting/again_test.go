package detecting_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// later is a scenario with the clock and its events some time later.
func later(s scenario, after time.Duration) scenario {
	return s.At(now.Add(after)).With(events.Metadata{OrgID: org, At: now.Add(after)})
}

// extended says that the tower, above the hill, came to an outage.
func extended(o events.OutageBegan, tower ...id.Device) events.OutageExtended {
	e := events.OutageExtended{
		OutageID: o.OutageID, OrgID: org, Root: tower[0], Devices: append(slices.Clone(o.Devices), tower...), At: now,
		Downs: events.RouterDowns{{DeviceID: hill, From: now}},
	}
	for _, d := range tower {
		e.Downs = append(e.Downs, events.RouterDown{DeviceID: d, From: now})
	}
	return e
}

// TestDetecting_ARouterThatIsHeardIsInTheWayOfNoEnd: only the platform does not reach the tower, and its customers are
// heard. Nobody hears them any longer when it goes away itself.
func TestDetecting_ARouterThatIsHeardIsInTheWayOfNoEnd(t *testing.T) {
	t.Parallel()
	one := began("one", hill, hill)
	s := network(t).Given(down(tower), down(hill), one, extended(one, tower))
	heard := now.Add(30 * time.Minute)
	s = later(s, 31*time.Minute).Given(events.OutageNarrowed{
		OutageID: one.OutageID, OrgID: org, At: now.Add(31 * time.Minute),
		Downs: events.RouterDowns{{DeviceID: hill, From: now}, {DeviceID: tower, From: now, To: heard}},
	})
	for after, asked := range map[time.Duration]bool{35 * time.Minute: false, 41 * time.Minute: true} {
		out := at(s, after).Output()
		if len(out.Commands) > 0 || len(out.Jobs) != 1 {
			t.Fatalf("after %s: %+v", after, out)
		}
		want := events.RouterDowns{{DeviceID: tower, From: heard, First: now}}
		if got := out.Jobs[0].(commands.WatchOutage).Downs.Of(tower); asked != cmp.Equal(got, want) {
			t.Errorf("after %s it asks for %v", after, got)
		}
	}
	s = later(s, time.Hour).Given(events.DeviceRecovered{DeviceID: hill, At: now.Add(time.Hour)})
	out := at(s, time.Hour+2*time.Minute).Output()
	end := commands.EndOutage{OutageID: one.OutageID, EndedAt: now.Add(time.Hour)}
	if !cmp.Equal(out.Commands, []commands.Command{end}) {
		t.Errorf("the hill is back: %+v", out)
	}
}

// TestDetecting_ARouterThatWasBackAndIsHeardIsInTheWayOfNoEnd: the tower was back and goes away again, and each look
// until it would have come to the outage hears its customers. It has one of its own once they fall silent.
func TestDetecting_ARouterThatWasBackAndIsHeardIsInTheWayOfNoEnd(t *testing.T) {
	t.Parallel()
	after := func(minutes time.Duration) time.Time { return now.Add(minutes * time.Minute) }
	one := began("one", tower, tower, hill)
	s := network(t).Given(down(tower), down(hill), one)
	s = later(s, 5*time.Minute).Given(events.DeviceRecovered{DeviceID: tower, At: after(5)}, events.OutageNarrowed{
		OutageID: one.OutageID, OrgID: org, At: after(7),
		Downs: events.RouterDowns{{DeviceID: tower, From: now, To: after(5)}, {DeviceID: hill, From: now}},
	})
	s = later(s, 20*time.Minute).Given(events.DeviceUnreachable{DeviceID: tower, At: after(20)})
	s = later(s, 23*time.Minute).Given(events.DeviceRecovered{DeviceID: hill, At: after(23)})
	narrow := commands.NarrowOutage{
		OutageID: one.OutageID, Back: []commands.RouterBack{{DeviceID: hill, At: after(23)}},
	}
	for _, early := range []time.Duration{25 * time.Minute, 29 * time.Minute} {
		if out := at(s, early).Output(); !cmp.Equal(out.Commands, []commands.Command{narrow}) {
			t.Errorf("after %s: %+v", early, out.Commands)
		}
	}
	s = later(s, 25*time.Minute).Given(events.OutageNarrowed{
		OutageID: one.OutageID, OrgID: org, At: after(25),
		Downs: events.RouterDowns{
			{DeviceID: tower, From: now, To: after(5)}, {DeviceID: hill, From: now, To: after(23)},
		},
	})
	s = at(s, 31*time.Minute)
	end := commands.EndOutage{OutageID: one.OutageID, EndedAt: after(31)}
	if out := at(s, 33*time.Minute).Output(); !cmp.Equal(out.Commands, []commands.Command{end}) {
		t.Errorf("got %+v", out)
	}
	s = later(s, 33*time.Minute).Given(events.OutageEnded{
		OutageID: one.OutageID, OrgID: org, EndedAt: after(31), At: after(33),
	})
	out := at(s, 40*time.Minute).Output()
	want := events.RouterDowns{{DeviceID: tower, From: after(20), First: now}} // it was back for a quarter of an hour
	if len(out.Jobs) != 1 || !cmp.Equal(out.Jobs[0].(commands.BeginDetectedOutage).Downs.Of(tower), want) {
		t.Errorf("once they fall silent: %+v", out)
	}
}

// TestDetecting_WhatSomebodyEndedBeginsAgainAsOfThatEnd, after ten minutes, although its routers are down for days, and
// its root has moved up since it began.
func TestDetecting_WhatSomebodyEndedBeginsAgainAsOfThatEnd(t *testing.T) {
	t.Parallel()
	one, days := began("one", hill, hill), 60*time.Hour
	byHand := began("hand", tower, tower, hill)
	byHand.Detected = false
	for name, s := range map[string]scenario{
		"detected": network(t).Given(down(hill), one, down(tower), extended(one, tower)),
		"by hand":  network(t).Given(down(hill), down(tower), byHand),
	} {
		ended := events.OutageEnded{
			OutageID: one.OutageID, OrgID: org, EndedAt: now.Add(days - time.Hour), At: now.Add(days),
		}
		if name == "by hand" {
			ended.OutageID = byHand.OutageID
		}
		s = later(s, days).Given(ended)
		out := at(s, days+2*time.Minute).Output()
		if len(out.Jobs)+len(out.Commands) > 0 || !out.Timers[0].At.Equal(now.Add(days+4*time.Minute)) {
			t.Errorf("%s: at once: %+v", name, out)
		}
		out = at(s, days+10*time.Minute).Output()
		if len(out.Jobs) != 1 {
			t.Fatalf("%s: %+v", name, out)
		}
		begin := out.Jobs[0].(commands.BeginDetectedOutage)
		for _, d := range []id.Device{tower, hill} {
			want := events.RouterDowns{{DeviceID: d, From: ended.EndedAt, First: now}}
			if !begin.Since.Equal(ended.EndedAt) || !cmp.Equal(begin.Downs.Of(d), want) {
				t.Errorf("%s: %+v", name, begin)
			}
		}
		back := events.DeviceRecovered{DeviceID: tower, At: now.Add(days)}
		again := events.DeviceUnreachable{DeviceID: tower, At: now.Add(days + time.Minute)}
		out = at(s.Given(back, again), days+12*time.Minute).Output()
		want := events.RouterDowns{{DeviceID: tower, From: again.At, First: again.At.Add(-24 * time.Hour)}}
		if got := beginning(t, out, tower).Downs; !cmp.Equal(got, want) {
			t.Errorf("%s: it was back: %v", name, got)
		}
	}
}

// TestDetecting_ARouterThatGoesAwayAgainADayLaterHasAnOutageOfItsOwn, while the one that it had lasts.
func TestDetecting_ARouterThatGoesAwayAgainADayLaterHasAnOutageOfItsOwn(t *testing.T) {
	t.Parallel()
	mast := id.Derive[id.Device]("test", "mast")
	one := began("one", tower, tower, mast)
	s := network(t).Given(down(tower), down(mast), one)
	back := now.Add(time.Hour)
	s = later(s, time.Hour).Given(events.DeviceRecovered{DeviceID: mast, At: back}, events.OutageNarrowed{
		OutageID: one.OutageID, OrgID: org, At: back,
		Downs: events.RouterDowns{{DeviceID: tower, From: now}, {DeviceID: mast, From: now, To: back}},
	})
	for after, own := range map[time.Duration]bool{22 * time.Hour: false, 23 * time.Hour: true} {
		again := events.DeviceUnreachable{DeviceID: mast, At: back.Add(after)}
		s := later(s, time.Hour+after).Given(again)
		out := at(s, time.Hour+after+10*time.Minute).Output()
		begins := slices.ContainsFunc(out.Jobs, func(j commands.Job) bool {
			begin, is := j.(commands.BeginDetectedOutage)
			return is && begin.Root == mast && begin.Since.Equal(again.At)
		})
		if begins != own {
			t.Errorf("after %s: %+v", after, out.Jobs)
		}
	}
}

// TestDetecting_ARouterThatFlapsIsBackAfterAnHour: the other routers of its outage are after two minutes.
func TestDetecting_ARouterThatFlapsIsBackAfterAnHour(t *testing.T) {
	t.Parallel()
	one := began("one", tower, tower, hill)
	one.Downs = events.RouterDowns{{DeviceID: tower, From: now}, {DeviceID: hill, From: now}}
	for n := range events.FewRouterTimes - 1 {
		from := now.Add(-time.Duration(n+1) * 3 * time.Hour)
		one.Downs = append(one.Downs, events.RouterDown{DeviceID: hill, From: from, To: from.Add(time.Hour)})
	}
	s := network(t).Given(down(tower), down(hill), one)
	back := now.Add(5 * time.Minute)
	s = later(s, 5*time.Minute).Given(events.DeviceRecovered{DeviceID: hill, At: back})
	narrow := commands.NarrowOutage{
		OutageID: one.OutageID, Back: []commands.RouterBack{{DeviceID: hill, At: back}},
	}
	is := func(c commands.Command) bool { return cmp.Equal(c, commands.Command(narrow)) }
	for minutes, want := range map[time.Duration]bool{7: false, 64: false, 65: true} {
		out := at(s, minutes*time.Minute).Output()
		if slices.ContainsFunc(out.Commands, is) != want {
			t.Errorf("after %d minutes: %+v", minutes, out)
		}
	}
}

// TestDetecting_AShortReturnIsNoEndForWhoWasCutOffBefore: the next time of the router tells when it went away first.
// One that was back for half an hour has just gone away.
func TestDetecting_AShortReturnIsNoEndForWhoWasCutOffBefore(t *testing.T) {
	t.Parallel()
	for back, first := range map[time.Duration]time.Time{6 * time.Minute: now, 30 * time.Minute: {}} {
		up := now.Add(12 * time.Minute)
		s := later(network(t).Given(down(tower)), 12*time.Minute).Given(events.DeviceRecovered{DeviceID: tower, At: up})
		again := up.Add(back)
		s = later(s, 12*time.Minute+back).Given(events.DeviceUnreachable{DeviceID: tower, At: again})
		out := at(s, 22*time.Minute+back).Output()
		want := events.RouterDowns{{DeviceID: tower, From: again, First: first}}
		if len(out.Jobs) != 1 || !cmp.Equal(out.Jobs[0].(commands.BeginDetectedOutage).Downs, want) {
			t.Errorf("back for %s: %+v", back, out.Jobs)
		}
	}
}

// TestDetecting_WhatSomebodyEndedComesToAnotherOneAsOfThatEnd: the hill was in an outage of its own.
func TestDetecting_WhatSomebodyEndedComesToAnotherOneAsOfThatEnd(t *testing.T) {
	t.Parallel()
	one, byHand := began("one", tower, tower), began("hand", hill, hill)
	byHand.Detected = false
	s := network(t).Given(down(hill), byHand, down(tower), one)
	ended := events.OutageEnded{
		OutageID: byHand.OutageID, OrgID: org, EndedAt: now.Add(time.Hour), At: now.Add(time.Hour),
	}
	s = later(s, time.Hour).Given(ended)
	for after, want := range map[time.Duration]events.RouterDowns{
		65 * time.Minute: nil,
		70 * time.Minute: {{DeviceID: hill, From: ended.EndedAt, First: now}},
	} {
		out := at(s, after).Output()
		if len(out.Jobs) != 1 || !cmp.Equal(out.Jobs[0].(commands.WatchOutage).Downs.Of(hill), want) {
			t.Errorf("after %s: %+v, want %v", after, out, want)
		}
	}
}

// TestDetecting_ThreeThatBecomeOneAllGoOnAsTheOldest: the mast is above two of them and the pole above two, and no
// router above all.
func TestDetecting_ThreeThatBecomeOneAllGoOnAsTheOldest(t *testing.T) {
	t.Parallel()
	device := func(name string) id.Device { return id.Derive[id.Device]("test", name) }
	behind := func(d, above string) events.UpstreamChosen {
		return events.UpstreamChosen{OrgID: org, DeviceID: device(d), UpstreamID: device(above), At: now}
	}
	s := network(t).Given(behind("a", "mast"), behind("b", "mast"), behind("c", "pole"), behind("d", "pole"))
	one, two, three := began("one", device("a"), device("a"), device("mast")),
		began("two", device("b"), device("b"), device("c")),
		began("three", device("d"), device("d"), device("e"))
	for _, name := range []string{"a", "b", "c", "d", "mast", "pole"} {
		s = s.Given(down(device(name)))
	}
	out := at(s.Given(three, two, one), 3*time.Minute).Output()
	ends := func(o events.OutageBegan) bool {
		var end commands.Command = commands.EndOutage{
			OutageID: o.OutageID, EndedAt: now.Add(3 * time.Minute), MergedInto: two.OutageID,
		}
		return slices.ContainsFunc(out.Commands, func(c commands.Command) bool { return cmp.Equal(c, end) })
	}
	if !ends(one) || ends(three) {
		t.Errorf("while the pole may be heard: %+v", out.Commands)
	}
	two.Devices = append(two.Devices, device("pole"))
	out = at(s.Given(one, two, three), 3*time.Minute).Output()
	if len(out.Commands) != 3 {
		t.Fatalf("got %+v", out.Commands)
	}
	for i, part := range []events.OutageBegan{two, three} {
		want := commands.EndOutage{OutageID: part.OutageID, EndedAt: now.Add(3 * time.Minute), MergedInto: one.OutageID}
		if !cmp.Equal(out.Commands[i], commands.Command(want)) {
			t.Errorf("got %+v, want %+v", out.Commands[i], want)
		}
	}
	extend := out.Commands[2].(commands.ExtendOutage)
	all := slices.Concat(two.Devices, three.Devices)
	if extend.OutageID != one.OutageID || !slices.Equal(extend.Absorbs, []id.Outage{two.OutageID, three.OutageID}) ||
		!slices.Equal(extend.Devices, all) || len(extend.Downs) != len(all) {
		t.Errorf("got %+v", extend)
	}
}

// beginning is the outage with a root that a look asks for.
func beginning(t *testing.T, out processmanagers.Output, root id.Device) commands.BeginDetectedOutage {
	t.Helper()
	for _, job := range out.Jobs {
		if begin, is := job.(commands.BeginDetectedOutage); is && begin.Root == root {
			return begin
		}
	}
	t.Fatalf("no outage begins at %s: %+v", root, out)
	return commands.BeginDetectedOutage{}
}

// TestDetecting_ARouterThatWasGivenUpDrawsNobodyIn: the hill goes away for some minutes, two months after the tower
// above it did for good.
func TestDetecting_ARouterThatWasGivenUpDrawsNobodyIn(t *testing.T) {
	t.Parallel()
	months, house := 60*24*time.Hour, id.Derive[id.Device]("test", "house")
	one := began("one", tower, tower)
	for name, s := range map[string]scenario{
		"which nobody was behind": network(t).Given(down(tower)),
		"in its outage":           network(t).Given(down(tower), one),
	} {
		s = s.Given(events.UpstreamChosen{OrgID: org, DeviceID: house, UpstreamID: hill, At: now})
		went := now.Add(months)
		s = later(s, months).Given(
			events.DeviceUnreachable{DeviceID: hill, At: went}, events.DeviceUnreachable{DeviceID: house, At: went},
		)
		begin := beginning(t, at(s, months+10*time.Minute).Output(), hill)
		if !begin.Since.Equal(went) || len(begin.Devices) != 2 {
			t.Errorf("%s: %+v", name, begin)
		}
	}
}

// TestDetecting_AnEndThatIsDatedBackBeforeAMergeLeavesNoTimeWithout: the whole has had the tower since it went away.
func TestDetecting_AnEndThatIsDatedBackBeforeAMergeLeavesNoTimeWithout(t *testing.T) {
	t.Parallel()
	one, two := began("one", hill, hill), began("two", tower, tower)
	merged := now.Add(time.Hour)
	s := network(t).Given(down(tower), down(hill), one, two)
	s = later(s, time.Hour).Given(
		events.OutageEnded{OutageID: two.OutageID, OrgID: org, EndedAt: merged, MergedInto: one.OutageID, At: merged},
		extended(one, tower),
	)
	ended := now.Add(40 * time.Minute)
	s = later(s, 2*time.Hour).Given(events.OutageEnded{
		OutageID: one.OutageID, OrgID: org, EndedAt: ended, At: now.Add(2 * time.Hour),
	})
	if out := at(s, 2*time.Hour+9*time.Minute).Output(); len(out.Jobs) > 0 {
		t.Errorf("it begins again at once: %+v", out.Jobs)
	}
	begin := beginning(t, at(s, 2*time.Hour+10*time.Minute).Output(), tower)
	for _, d := range []id.Device{tower, hill} {
		if want := (events.RouterDowns{{DeviceID: d, From: ended, First: now}}); !cmp.Equal(begin.Downs.Of(d), want) {
			t.Errorf("got %v, want %v", begin.Downs.Of(d), want)
		}
	}
}
