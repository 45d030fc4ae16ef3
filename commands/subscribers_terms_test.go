package commands_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// faultsOf are the faults of a plan with these access terms, "" when there are none.
func faultsOf(access events.AccessTerms) string {
	err := commands.RevisePlan{PlanID: id.New[id.Plan](), Terms: events.PlanTerms{
		Name: "Home 10", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: events.Prepaid,
		Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 5_000}, Access: access,
	}}.Validate()
	if err == nil {
		return ""
	}
	return err.Error()
}

// window is a window of the schedule at 20 and 20 Mbit/s.
func window(from, to int, days ...time.Weekday) events.ScheduleWindow {
	return events.ScheduleWindow{Days: days, From: from, To: to, Speed: events.Speed{Down: 20_000, Up: 20_000}}
}

// scheduled are access terms with a schedule only.
func scheduled(windows ...events.ScheduleWindow) events.AccessTerms {
	return events.AccessTerms{Schedule: windows}
}

func TestPlanTerms_WhatTheNetworkCanDoPasses(t *testing.T) {
	t.Parallel()
	for name, access := range map[string]events.AccessTerms{
		"recorded without any": {},
		"all": {
			SessionLimit: 16, OnLimit: events.RefuseSession, Pool: "dhcp_pool1", IPv6Pool: "v6",
			IPv6DelegatedPool: "pd",
			Burst: events.Burst{
				Down: 20_000, Up: 5_000, ThresholdDown: 8_000, ThresholdUp: 5_000, Seconds: 16,
			},
			Cap: events.Cap{
				Bytes: 1, Period: "month", Then: events.CapThrottle, Throttle: events.Speed{Down: 1, Up: 1},
			},
			DunningPolicy: "schools",
		},
		"stop":        {Cap: events.Cap{Bytes: 1 << 50, Period: "day", Then: events.CapStop}},
		"whole day":   {Schedule: []events.ScheduleWindow{window(0, 1440, time.Sunday)}},
		"every night": {Schedule: []events.ScheduleWindow{window(1320, 360, 0, 1, 2, 3, 4, 5, 6)}},
		"one after the other": {Schedule: []events.ScheduleWindow{
			window(1320, 0, time.Saturday), window(0, 360, time.Sunday), window(360, 420, time.Sunday),
		}},
	} {
		if got := faultsOf(access); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestPlanTerms_EveryFaultNamesItsField(t *testing.T) {
	t.Parallel()
	burst := events.Burst{Down: 10_000, Up: 5_000, ThresholdDown: 1, ThresholdUp: 1, Seconds: 1}
	worse := func(edit func(*events.Burst)) events.AccessTerms {
		b := burst
		edit(&b)
		return events.AccessTerms{Burst: b}
	}
	throttled := events.Cap{Bytes: 1, Period: "day", Then: events.CapThrottle}
	for name, c := range map[string]struct {
		access events.AccessTerms
		field  string
	}{
		"sessions":       {events.AccessTerms{SessionLimit: 17}, "sessionLimit"},
		"negative":       {events.AccessTerms{SessionLimit: -1}, "sessionLimit"},
		"limit":          {events.AccessTerms{OnLimit: "wait"}, "onLimit"},
		"pool":           {events.AccessTerms{Pool: "two words"}, "pool"},
		"control":        {events.AccessTerms{IPv6Pool: "a\n"}, "ipv6.pool"},
		"long":           {events.AccessTerms{IPv6DelegatedPool: strings.Repeat("x", 65)}, "ipv6.delegatedPool"},
		"policy":         {events.AccessTerms{DunningPolicy: "-x"}, "dunningPolicy"},
		"slow burst":     {worse(func(b *events.Burst) { b.Down = 9_999 }), "rates.burst.down"},
		"no burst up":    {worse(func(b *events.Burst) { b.Up = 0 }), "rates.burst.up"},
		"no threshold":   {worse(func(b *events.Burst) { b.ThresholdDown = 0 }), "rates.burst.thresholdDown"},
		"high threshold": {worse(func(b *events.Burst) { b.ThresholdUp = 5_001 }), "rates.burst.thresholdUp"},
		"long burst":     {worse(func(b *events.Burst) { b.Seconds = 301 }), "rates.burst.seconds"},
		"no bytes":       {events.AccessTerms{Cap: events.Cap{Period: "day", Then: events.CapStop}}, "cap.bytes"},
		"week": {
			events.AccessTerms{Cap: events.Cap{Bytes: 1, Period: "week", Then: events.CapStop}}, "cap.period",
		},
		"no act":      {events.AccessTerms{Cap: events.Cap{Bytes: 1, Period: "day"}}, "cap.then"},
		"no throttle": {events.AccessTerms{Cap: throttled}, "cap.throttle.down"},
		"throttle at stop": {
			events.AccessTerms{
				Cap: events.Cap{Bytes: 1, Period: "day", Then: events.CapStop, Throttle: events.Speed{Down: 1}},
			},
			"cap.throttle",
		},
		"no day":           {scheduled(window(0, 60)), "schedule.0.days"},
		"unknown day":      {scheduled(window(0, 60, -1)), "schedule.0.days"},
		"no beginning":     {scheduled(window(-1, 60, 0)), "schedule.0.from"},
		"late beginning":   {scheduled(window(1440, 60, 0)), "schedule.0.from"},
		"no length":        {scheduled(window(60, 60, 0)), "schedule.0.to"},
		"late end":         {scheduled(window(60, 1441, 0)), "schedule.0.to"},
		"no speed":         {scheduled(events.ScheduleWindow{Days: []time.Weekday{0}, To: 9}), "schedule.0.rates.down"},
		"overlap":          {scheduled(window(60, 120, 1), window(119, 180, 1)), "schedule must not"},
		"same day twice":   {scheduled(window(60, 120, 1, 1)), "schedule must not"},
		"into the morning": {scheduled(window(1320, 361, 1), window(360, 420, 2)), "schedule must not"},
		"into next week":   {scheduled(window(1320, 361, 6), window(360, 420, 0)), "schedule must not"},
		"too many": {
			events.AccessTerms{Schedule: make([]events.ScheduleWindow, 29)}, "schedule must have at most",
		},
	} {
		if got := faultsOf(c.access); !strings.Contains(got, c.field+" ") {
			t.Errorf("%s: %q does not name %s", name, got, c.field)
		}
	}
}
