package outages_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// The things of these tests.
var (
	now    = time.Date(2026, time.March, 4, 9, 0, 0, 0, time.UTC)
	org    = id.Derive[id.Organization]("test", "org")
	outage = id.Derive[id.Outage]("test", "outage")
	tower  = id.Derive[id.Device]("test", "tower")
	hill   = id.Derive[id.Device]("test", "hill")
)

// begins says that the tower is down since an hour.
var begins = commands.BeginOutage{
	OutageID: outage, OrgID: org, Place: events.NetworkPlace{DeviceID: tower}, Devices: []id.Device{tower},
	Detected: true, StartedAt: now.Add(-time.Hour), TellAfter: -1,
}

func TestBeginOutage_OnePlaceHasOneAtATime(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, outages.Outages(), now).When(begins)
	began := s.ThenEvents()
	if claims := outages.Outages().Claims(s.State()); len(claims) != 1 || claims[0].Code != "outage_exists" {
		t.Errorf("began %+v, claims %+v", began, claims)
	}
	s.When(begins).ThenNothing()
	s.When(commands.EndOutage{OutageID: outage}).ThenEvents()
	if claims := outages.Outages().Claims(s.State()); len(claims) > 0 {
		t.Errorf("after the end it claims %+v", claims)
	}
	s.When(commands.EndOutage{OutageID: outage}).ThenNothing()
}

func TestOutage_ImpossibleInstantsAreRefused(t *testing.T) {
	t.Parallel()
	future := begins
	future.StartedAt = now.Add(time.Minute)
	decidertest.For(t, outages.Outages(), now).When(future).ThenFails("invalid_input")
	s := decidertest.For(t, outages.Outages(), now).When(begins)
	s.ThenEvents()
	s.When(commands.EndOutage{OutageID: outage, EndedAt: now.Add(-2 * time.Hour)}).ThenFails("invalid_input")
	s.When(commands.EndOutage{OutageID: outage, EndedAt: now.Add(time.Hour)}).ThenFails("invalid_input")
}

func TestExtendOutage_WhatIsKnownIsNoNews(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, outages.Outages(), now).When(begins)
	s.ThenEvents()
	extend := commands.ExtendOutage{OutageID: outage, Devices: []id.Device{hill, tower}}
	s.When(extend).Then(events.OutageExtended{
		OutageID: outage, OrgID: org, Root: tower, Devices: []id.Device{tower, hill}, At: now,
		Downs: events.RouterDowns{{DeviceID: hill, From: now}},
	})
	s.When(extend).ThenNothing()
}

func TestExtendOutage_AnotherOneBecomesAPartOnce(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, outages.Outages(), now).When(begins)
	s.ThenEvents()
	younger := id.Derive[id.Outage]("test", "younger")
	absorb := commands.ExtendOutage{OutageID: outage, Absorbs: []id.Outage{younger, outage}}
	s.When(absorb).Then(events.OutageExtended{
		OutageID: outage, OrgID: org, Root: tower, Devices: []id.Device{tower}, Absorbed: []id.Outage{younger}, At: now,
	})
	s.When(absorb).ThenNothing()
}

func TestAnnounceOutage_CustomersAreToldOnceWhileItLasts(t *testing.T) {
	t.Parallel()
	announce := commands.AnnounceOutage{OutageID: outage}
	decidertest.For(t, outages.Outages(), now).When(announce).ThenFails("outage_not_found")
	s := decidertest.For(t, outages.Outages(), now).When(begins)
	s.ThenEvents()
	s.When(announce).Then(events.OutageAnnounced{OutageID: outage, OrgID: org, At: now})
	s.When(announce).ThenNothing()
	s.When(commands.EndOutage{OutageID: outage}).ThenEvents()
	s.When(announce).ThenNothing() // they were told

	soon := begins
	soon.TellAfter = 2 * time.Hour
	s = decidertest.For(t, outages.Outages(), now).When(soon)
	s.ThenEvents()
	s.When(announce).ThenEvents() // at once, and not in an hour

	told := begins
	told.TellAfter = 0
	s = decidertest.For(t, outages.Outages(), now).When(told)
	s.ThenEvents()
	s.When(announce).ThenNothing()

	s = decidertest.For(t, outages.Outages(), now).When(begins)
	s.ThenEvents()
	s.When(commands.EndOutage{OutageID: outage}).ThenEvents()
	s.When(announce).ThenFails("outage_over")
}

// TestOutage_EachRouterHasItsOwnTimes: the hill comes to an outage of the tower late, is back before it, and goes away
// again.
func TestOutage_EachRouterHasItsOwnTimes(t *testing.T) {
	t.Parallel()
	minutes := func(n int) time.Time { return now.Add(time.Duration(n-60) * time.Minute) }
	down := func(d id.Device, from, to int) events.RouterDown {
		one := events.RouterDown{DeviceID: d, From: minutes(from)}
		if to > 0 {
			one.To = minutes(to)
		}
		return one
	}
	begin := begins
	begin.Downs = events.RouterDowns{down(tower, 0, 0)}
	s := decidertest.For(t, outages.Outages(), now).When(begin)
	s.ThenEvents()
	goes := func(from int, downs ...events.RouterDown) {
		t.Helper()
		extend := commands.ExtendOutage{OutageID: outage, Downs: events.RouterDowns{down(hill, from, 0)}}
		s.When(extend).Then(events.OutageExtended{
			OutageID: outage, OrgID: org, Root: tower, Devices: []id.Device{tower, hill}, Downs: downs, At: now,
		})
		s.When(extend).ThenNothing()
	}
	comes := func(d id.Device, at int, downs ...events.RouterDown) {
		t.Helper()
		narrow := commands.NarrowOutage{OutageID: outage, Back: []commands.RouterBack{{DeviceID: d, At: minutes(at)}}}
		s.When(narrow).Then(events.OutageNarrowed{OutageID: outage, OrgID: org, Downs: downs, At: now})
		s.When(narrow).ThenNothing()
	}
	goes(20, down(tower, 0, 0), down(hill, 20, 0))
	comes(hill, 30, down(tower, 0, 0), down(hill, 20, 30))
	goes(40, down(tower, 0, 0), down(hill, 20, 30), down(hill, 40, 0))
	comes(tower, 50, down(tower, 0, 50), down(hill, 20, 30), down(hill, 40, 0))
	s.When(commands.EndOutage{OutageID: outage}).ThenEvents()
	late := []commands.RouterBack{{DeviceID: hill, At: now}}
	s.When(commands.NarrowOutage{OutageID: outage, Back: late}).ThenNothing()
}

// TestOutage_ARouterThatFlapsHasItsLongestBreaks: of 30 times 25 are left, since after breaks of a minute it counts as
// down, and after those of two hours it does not, and none goes on when the router is back.
func TestOutage_ARouterThatFlapsHasItsLongestBreaks(t *testing.T) {
	t.Parallel()
	begin := begins
	begin.Downs = events.RouterDowns{{DeviceID: tower, From: begin.StartedAt}}
	s := decidertest.For(t, outages.Outages(), now).When(begin)
	s.ThenEvents()
	at := now.Add(-100 * time.Hour)
	var downs events.RouterDowns
	for n := range 30 {
		from := at
		to := from.Add(5 * time.Minute)
		s.When(commands.ExtendOutage{
			OutageID: outage, Downs: events.RouterDowns{{DeviceID: hill, From: from}},
		}).ThenEvents()
		s.When(commands.NarrowOutage{
			OutageID: outage, Back: []commands.RouterBack{{DeviceID: hill, At: to}},
		}).ThenEvents()
		if n > 0 && n <= 5 { // after a break of a minute
			downs[len(downs)-1].To = to
		} else {
			downs = append(downs, events.RouterDown{DeviceID: hill, From: from, To: to})
		}
		at = to.Add(2 * time.Hour)
		if n < 5 {
			at = to.Add(time.Minute)
		}
	}
	if got := s.State().Downs.Of(hill); !cmp.Equal(got, downs) {
		t.Errorf("got %v\nwant %v", got, downs)
	}
}

// TestNarrowOutage_NoRouterIsBackInTheFuture: the clock of the program that saw its return was ahead.
func TestNarrowOutage_NoRouterIsBackInTheFuture(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, outages.Outages(), now).When(begins)
	s.ThenEvents()
	ahead := []commands.RouterBack{{DeviceID: tower, At: now.Add(time.Minute)}}
	s.When(commands.NarrowOutage{OutageID: outage, Back: ahead}).Then(events.OutageNarrowed{
		OutageID: outage, OrgID: org, At: now,
		Downs: events.RouterDowns{{DeviceID: tower, From: begins.StartedAt, To: now}},
	})
}

// TestNarrowOutage_WhoeverNamedARouterEndsItsTime: those of an outage that a person began are down until that person
// ends it, and one of an older program has the beginning of the outage.
func TestNarrowOutage_WhoeverNamedARouterEndsItsTime(t *testing.T) {
	t.Parallel()
	narrow := commands.NarrowOutage{OutageID: outage, Back: []commands.RouterBack{{DeviceID: tower, At: now}}}
	decidertest.For(t, outages.Outages(), now).When(narrow).ThenFails("outage_not_found")
	byHand := begins
	byHand.Detected = false
	s := decidertest.For(t, outages.Outages(), now).When(byHand)
	s.ThenEvents()
	s.When(narrow).ThenNothing()
	s = decidertest.For(t, outages.Outages(), now).When(begins)
	s.ThenEvents()
	s.When(narrow).Then(events.OutageNarrowed{
		OutageID: outage, OrgID: org, At: now,
		Downs: events.RouterDowns{{DeviceID: tower, From: begins.StartedAt, To: now}},
	})
}

func TestDescribeOutage_WordsAreKeptAlsoAfterTheEnd(t *testing.T) {
	t.Parallel()
	unknown := commands.DescribeOutage{OutageID: outage}
	decidertest.For(t, outages.Outages(), now).When(unknown).ThenFails("outage_not_found")
	s := decidertest.For(t, outages.Outages(), now).When(begins)
	s.ThenEvents()
	s.When(commands.DescribeOutage{OutageID: outage}).ThenNothing()
	s.When(commands.DescribeOutage{OutageID: outage, ExpectedEnd: now.Add(-2 * time.Hour)}).ThenFails("invalid_input")
	s.When(commands.EndOutage{OutageID: outage}).ThenEvents()
	describe := commands.DescribeOutage{OutageID: outage, Title: "The mast", Message: "It had no power."}
	s.When(describe).Then(events.OutageDescribed{
		OutageID: outage, OrgID: org, Title: "The mast", Message: "It had no power.", At: now,
	})
	s.When(describe).ThenNothing()
}

// TestCompensation_TheLargestFitsIntoOneAppend: the log takes 1 MiB at once, and events have up to 1 KiB of metadata.
func TestCompensation_TheLargestFitsIntoOneAppend(t *testing.T) {
	t.Parallel()
	largest, at := id.Derive[id.Compensation]("test", "largest"), now.Add(123_456*time.Microsecond)
	preview := commands.PreviewCompensation{
		CompensationID: largest, OrgID: org, From: now.Add(-time.Hour), To: now, Reason: strings.Repeat("\"", 500),
		Place: events.NetworkPlace{DeviceID: tower}, Give: events.CompensationGive{Proportional: true},
	}
	for range commands.MaxCompensated {
		preview.Items = append(preview.Items, events.CompensationItem{
			SubscriptionID: id.New[id.Subscription](), SubscriberID: id.New[id.Subscriber](), From: at, To: at,
			Amount: money.Of(99_999_999, money.KES),
		})
	}
	size := 0
	for _, e := range decidertest.For(t, outages.Compensations(), now).When(preview).ThenEvents() {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		size += len(data) + 1<<10
	}
	if size > 1<<20 {
		t.Errorf("%d subscriptions have %d bytes", commands.MaxCompensated, size)
	}
}

func TestCompensation_ItsPartsEndOnce(t *testing.T) {
	t.Parallel()
	which := id.Derive[id.Compensation]("test", "which")
	preview := commands.PreviewCompensation{
		CompensationID: which, OrgID: org, From: now.Add(-time.Hour), To: now, Reason: "mast",
		Place: events.NetworkPlace{DeviceID: tower}, Give: events.CompensationGive{Days: 1},
		Items: make([]events.CompensationItem, 150),
	}
	s := decidertest.For(t, outages.Compensations(), now).When(preview)
	if made := s.ThenEvents(); len(made) != 3 {
		t.Errorf("150 subscriptions are %d events", len(made))
	}
	first := commands.FinishCompensationPart{CompensationID: which, Part: 0, Given: 100}
	s.When(first).ThenNothing() // nobody wanted it yet
	s.When(commands.ApplyCompensation{CompensationID: which}).ThenEvents()
	s.When(commands.ApplyCompensation{CompensationID: which}).ThenNothing()
	s.When(first).ThenEvents()
	s.When(first).ThenNothing()
	second := commands.FinishCompensationPart{CompensationID: which, Part: 1, Given: 49}
	second.Refused = []events.CompensationRefusal{{Code: "already_compensated"}}
	made := s.When(second).ThenEvents()
	if end, ok := made[len(made)-1].(events.CompensationFinished); !ok || end.Given != 149 || end.Refused != 1 {
		t.Errorf("ended by %+v", made)
	}
	future := preview
	future.CompensationID, future.To = id.Derive[id.Compensation]("test", "future"), now.Add(time.Hour)
	decidertest.For(t, outages.Compensations(), now).When(future).ThenFails("compensation_not_over")
}
