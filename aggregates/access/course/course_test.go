package course_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/access/course"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/money"
)

func TestCourse_FromTheDueInstantToTheWriteOff(t *testing.T) {
	t.Parallel()
	checkAll(t, map[string]example{
		"postpaid is due at midnight after the due date": { // 2026-03-08 is a Sunday
			postpaid: []debts{{"2026-02-20 09:00", map[string]int64{"2026-03-08": 1500}}},
			policy:   func(p *events.DunningPolicy) { p.WriteOffDays = 60 },
			want: []string{
				"2026-03-01 08:00 reminding due_soon", "2026-03-12 00:00 walled_garden grace_over",
				"2026-03-19 00:00 suspended walled_garden_over", "2026-05-08 00:00 written_off write_off_days_over",
			},
			reminded: []string{"2026-03-01 08:00", "2026-03-05 08:00", "2026-03-08 08:00"},
		},
		"prepaid is due when the paid time is over": {
			prepaid: [][2]string{{"2026-02-09 10:15", "2026-03-09 10:15"}},
			want: []string{
				"2026-03-06 08:00 reminding due_soon", "2026-03-12 10:15 walled_garden grace_over",
				"2026-03-19 10:15 suspended walled_garden_over",
			},
			reminded: []string{"2026-03-06 08:00", "2026-03-08 08:00", "2026-03-09 08:00"},
		},
		"prepaid until midnight counts from the last paid day": {
			prepaid: [][2]string{{"2026-02-09 10:15", "2026-03-09 00:00"}},
			policy:  func(p *events.DunningPolicy) { p.ReminderDays = []int{0} },
			want: []string{
				"2026-03-05 08:00 reminding due_soon", "2026-03-12 00:00 walled_garden grace_over",
				"2026-03-19 00:00 suspended walled_garden_over",
			},
		},
		"a write-off is not proposed before the suspension": {
			prepaid: [][2]string{{"2026-03-01 10:00", "2026-03-09 10:00"}},
			policy:  func(p *events.DunningPolicy) { p.ReminderDays, p.WriteOffDays = nil, 0 },
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-12 10:00 walled_garden grace_over",
				"2026-03-19 10:00 written_off write_off_days_over",
			},
		},
		"without grace and walled garden it is one step": {
			prepaid: [][2]string{{"2026-03-01 10:00", "2026-03-09 10:00"}},
			policy: func(p *events.DunningPolicy) {
				p.ReminderDays, p.GraceDays, p.WalledGardenDays = nil, 0, 0
			},
			want: []string{"2026-03-09 10:00 suspended walled_garden_over"},
		},
		"a plan by the hour ends on time, on Saturday night too": {
			prepaid: [][2]string{{"2026-03-07 22:00", "2026-03-07 23:00"}}, short: true,
			holidays: []string{"2026-03-07"}, reminded: []string{},
			want: []string{"2026-03-07 23:00 suspended walled_garden_over"},
		},
		"nothing paid and nothing owed is nothing": {prepaid: [][2]string{{"2026-03-01 10:00", ""}}},
	})
}

func TestCourse_CutsWaitForATimeAtWhichCutsAreAllowed(t *testing.T) {
	t.Parallel()
	due := func(at string) [][2]string { return [][2]string{{"2026-02-20 10:00", at}} }
	checkAll(t, map[string]example{
		"Friday before four is allowed": { // 2026-03-06 is a Friday
			prepaid: due("2026-03-03 15:59"), policy: quick,
			want: []string{
				"2026-03-03 15:59 reminding due", "2026-03-06 15:59 walled_garden grace_over",
				"2026-03-13 15:59 suspended walled_garden_over",
			},
		},
		"from four on Friday until Monday, and seven days from there": {
			prepaid: due("2026-03-03 16:00"), policy: quick,
			want: []string{
				"2026-03-03 16:00 reminding due", "2026-03-09 00:00 walled_garden grace_over",
				"2026-03-16 00:00 suspended walled_garden_over",
			},
		},
		"holidays after a weekend": {
			prepaid: due("2026-03-04 10:00"), policy: quick, holidays: []string{
				"2026-03-09", "2026-03-10", "2026-03-18",
			},
			want: []string{
				"2026-03-04 10:00 reminding due", "2026-03-11 00:00 walled_garden grace_over",
				"2026-03-19 00:00 suspended walled_garden_over",
			},
		},
		"holidays that are not skipped": {
			prepaid: due("2026-03-06 10:00"), holidays: []string{"2026-03-09"},
			policy: func(p *events.DunningPolicy) { p.ReminderDays, p.SkipHolidays = nil, false },
			want: []string{
				"2026-03-06 10:00 reminding due", "2026-03-09 10:00 walled_garden grace_over",
				"2026-03-16 10:00 suspended walled_garden_over",
			},
		},
	})
}

func TestCourse_FollowsLocalClocksOverSummerTime(t *testing.T) {
	t.Parallel()
	free := func(p *events.DunningPolicy) {
		p.ReminderDays, p.NoCutDays, p.NoCutAfter = nil, nil, nil
	}
	checkAll(t, map[string]example{
		"forward: three days of which one is short": { // Berlin, 2026-03-29 02:00
			zone: "Europe/Berlin", prepaid: [][2]string{{"2026-03-01 10:00", "2026-03-27 10:00"}}, policy: free,
			want: []string{
				"2026-03-27 10:00 reminding due", "2026-03-30 10:00 walled_garden grace_over",
				"2026-04-06 10:00 suspended walled_garden_over",
			},
		},
		"forward: a time that does not exist is the change": {
			zone: "Europe/Berlin", prepaid: [][2]string{{"2026-03-01 10:00", "2026-03-26 02:30"}}, policy: free,
			want: []string{
				"2026-03-26 02:30 reminding due", "2026-03-29 03:00 walled_garden grace_over",
				"2026-04-05 03:00 suspended walled_garden_over",
			},
		},
		"back: midnight stays midnight": {
			zone:     "Europe/Berlin",
			postpaid: []debts{{"2026-10-01 10:00", map[string]int64{"2026-10-22": 900}}},
			policy:   free,
			want: []string{
				"2026-10-23 00:00 reminding due", "2026-10-26 00:00 walled_garden grace_over",
				"2026-11-02 00:00 suspended walled_garden_over",
			},
		},
		"forward at midnight: the day begins at one": { // Beirut, 2026-03-29 00:00
			zone:     "Asia/Beirut",
			postpaid: []debts{{"2026-03-01 10:00", map[string]int64{"2026-03-25": 900}}},
			policy:   free,
			want: []string{
				"2026-03-26 00:00 reminding due", "2026-03-29 01:00 walled_garden grace_over",
				"2026-04-05 00:00 suspended walled_garden_over",
			},
		},
		"a window from two in the night lasts over the repeated hour": { // New York, 2026-11-01 02:00
			zone: "America/New_York", prepaid: [][2]string{{"2026-10-01 10:00", "2026-10-29 12:00"}},
			policy: func(p *events.DunningPolicy) {
				free(p)
				p.NoCutAfter = map[events.Weekday]calendar.TimeOfDay{"sunday": 2 * 60}
			},
			want: []string{
				"2026-10-29 12:00 reminding due", "2026-11-02 00:00 walled_garden grace_over",
				"2026-11-09 00:00 suspended walled_garden_over",
			},
		},
	})
}

func TestCourse_PaymentsEndItAndSmallDebtsBeginNone(t *testing.T) {
	t.Parallel()
	checkAll(t, map[string]example{
		"a payment brings everything back": {
			prepaid: [][2]string{{"2026-02-09 10:00", "2026-03-09 10:00"}, {"2026-03-20 23:11", "2026-04-20 23:11"}},
			policy:  func(p *events.DunningPolicy) { p.ReminderDays, p.WalledGardenDays = nil, 300 },
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-12 10:00 walled_garden grace_over",
				"2026-03-20 23:11 none owed_changed", "2026-04-20 23:11 reminding due",
				"2026-04-23 23:11 walled_garden grace_over", "2027-02-17 23:11 suspended walled_garden_over",
			},
		},
		"a payment in the instant of the cut comes first": {
			prepaid: [][2]string{{"2026-02-09 10:00", "2026-03-09 10:00"}, {"2026-03-12 10:00", ""}}, policy: quick,
			want: []string{"2026-03-09 10:00 reminding due", "2026-03-12 10:00 none owed_changed"},
		},
		"a part that leaves less than the minimum is enough": {
			postpaid: []debts{
				{"2026-02-20 09:00", map[string]int64{"2026-03-08": 1500}},
				{"2026-03-13 09:00", map[string]int64{"2026-03-08": 50}},
				{"2026-03-14 09:00", map[string]int64{"2026-03-08": 49}},
			},
			policy: quick,
			want: []string{
				"2026-03-09 00:00 reminding due", "2026-03-12 00:00 walled_garden grace_over",
				"2026-03-14 09:00 none owed_changed",
			},
		},
		"small debts count from the day on which they reach the minimum together": {
			postpaid: []debts{{"2026-02-20 09:00", map[string]int64{"2026-03-01": 30, "2026-03-08": 30}}},
			policy:   quick,
			want: []string{
				"2026-03-09 00:00 reminding due", "2026-03-12 00:00 walled_garden grace_over",
				"2026-03-19 00:00 suspended walled_garden_over",
			},
		},
	})
}

func TestCourse_AnotherDueInstantBeginsAnotherCourse(t *testing.T) {
	t.Parallel()
	checkAll(t, map[string]example{
		"the next invoice goes on in the walled garden when its grace is over, too": {
			postpaid: []debts{
				{"2026-02-20 09:00", map[string]int64{"2026-03-08": 500, "2026-03-09": 500}},
				{"2026-03-17 09:00", map[string]int64{"2026-03-09": 500}},
			},
			policy: quick,
			want: []string{
				"2026-03-09 00:00 reminding due", "2026-03-12 00:00 walled_garden grace_over",
				"2026-03-19 00:00 suspended walled_garden_over",
			},
		},
		"the next invoice gives access back while its grace runs": {
			postpaid: []debts{
				{"2026-02-20 09:00", map[string]int64{"2026-03-08": 500, "2026-03-16": 500}},
				{"2026-03-17 09:00", map[string]int64{"2026-03-16": 500}},
			},
			policy: quick,
			want: []string{
				"2026-03-09 00:00 reminding due", "2026-03-12 00:00 walled_garden grace_over",
				"2026-03-17 09:00 reminding owed_changed", "2026-03-20 00:00 walled_garden grace_over",
				"2026-03-27 00:00 suspended walled_garden_over",
			},
		},
		"a payment that is taken back long after cuts when cuts are allowed": { // a Saturday
			postpaid: []debts{
				{"2026-02-20 09:00", nil}, {"2026-03-14 12:00", map[string]int64{"2026-02-28": 500}},
			},
			policy: quick,
			want: []string{
				"2026-03-14 12:00 reminding due", "2026-03-16 00:00 walled_garden grace_over",
				"2026-03-23 00:00 suspended walled_garden_over",
			},
		},
	})
}

func TestCourse_PausesAddTheirLength(t *testing.T) {
	t.Parallel()
	due := [][2]string{{"2026-02-09 10:00", "2026-03-09 10:00"}} // a Monday
	checkAll(t, map[string]example{
		"a hold in the grace days": {
			prepaid: due, policy: quick, pauses: [][2]string{{"2026-03-10 08:00", "2026-03-14 08:00"}},
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-16 10:00 walled_garden grace_over",
				"2026-03-23 10:00 suspended walled_garden_over",
			},
		},
		"a hold in the walled garden gives nothing back, and moves the suspension": {
			prepaid: due, policy: quick, pauses: [][2]string{{"2026-03-13 10:00", "2026-03-17 10:00"}},
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-12 10:00 walled_garden grace_over",
				"2026-03-23 10:00 suspended walled_garden_over",
			},
		},
		"only the part after the due instant counts": {
			prepaid: due, policy: quick, pauses: [][2]string{{"2026-03-01 10:00", "2026-03-10 10:00"}},
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-13 10:00 walled_garden grace_over",
				"2026-03-20 10:00 suspended walled_garden_over",
			},
		},
		"pauses that overlap count once": {
			prepaid: due, policy: quick, pauses: [][2]string{
				{"2026-03-10 10:00", "2026-03-11 10:00"}, {"2026-03-10 16:00", "2026-03-10 20:00"},
				{"2026-03-11 10:00", "2026-03-11 22:00"},
			},
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-16 00:00 walled_garden grace_over",
				"2026-03-23 00:00 suspended walled_garden_over",
			},
		},
		"a pause without an end stops everything": {
			prepaid: due, policy: quick, pauses: [][2]string{{"2026-03-12 10:00", ""}},
			want: []string{"2026-03-09 10:00 reminding due"},
		},
		"nobody is cut in a pause that begins while the cut waits for Monday": {
			prepaid: [][2]string{{"2026-02-09 10:00", "2026-03-04 10:00"}}, policy: quick,
			pauses: [][2]string{{"2026-03-08 12:00", "2026-03-10 12:00"}},
			want: []string{
				"2026-03-04 10:00 reminding due", "2026-03-10 12:00 walled_garden grace_over",
				"2026-03-17 12:00 suspended walled_garden_over",
			},
		},
		"a reminder waits for the end of a pause on its day": {
			prepaid: due, pauses: [][2]string{
				{"2026-03-06 07:00", "2026-03-06 20:00"}, {"2026-03-08 07:00", "2026-03-08 09:30"},
			},
			reminded: []string{"2026-03-08 09:30", "2026-03-09 08:00"},
			want: []string{
				"2026-03-08 09:30 reminding due_soon", "2026-03-12 10:00 walled_garden grace_over",
				"2026-03-19 10:00 suspended walled_garden_over",
			},
		},
	})
}

func TestCourse_WhatReallyHappenedCounts(t *testing.T) {
	t.Parallel()
	due := [][2]string{{"2026-02-09 10:00", "2026-03-09 10:00"}}
	checkAll(t, map[string]example{
		"the suspension counts from the real walled garden": {
			prepaid: due, policy: quick, late: "2026-03-17 12:00",
			entered: map[events.DunningState]string{events.DunningWalledGarden: "2026-03-16 07:00"},
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-16 07:00 walled_garden grace_over",
				"2026-03-23 07:00 suspended walled_garden_over",
			},
		},
		"what is late waits for a time at which cuts are allowed": {
			prepaid: due, policy: quick, late: "2026-03-14 12:00",
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-16 00:00 walled_garden grace_over",
				"2026-03-23 00:00 suspended walled_garden_over",
			},
		},
		"a more generous policy undoes nothing": {
			prepaid: due, late: "2026-03-13 10:00",
			policy:  func(p *events.DunningPolicy) { p.ReminderDays, p.GraceDays = nil, 30 },
			entered: map[events.DunningState]string{events.DunningWalledGarden: "2026-03-12 10:00"},
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-12 10:00 walled_garden grace_over",
				"2026-03-19 10:00 suspended walled_garden_over",
			},
		},
		"a pause that is learned of too late gives access back": {
			prepaid: due, policy: quick, late: "2026-03-12 14:00",
			pauses:  [][2]string{{"2026-03-12 09:00", "2026-03-12 15:00"}},
			entered: map[events.DunningState]string{events.DunningWalledGarden: "2026-03-12 10:00"},
			want: []string{
				"2026-03-09 10:00 reminding due", "2026-03-12 16:00 walled_garden grace_over",
				"2026-03-19 16:00 suspended walled_garden_over",
			},
		},
		"a late suspension does not begin the walled garden again": {
			prepaid: due, late: "2026-03-30 10:00",
			policy: func(p *events.DunningPolicy) {
				p.ReminderDays, p.GraceDays, p.WalledGardenDays = nil, 0, 0
			},
			entered: map[events.DunningState]string{events.DunningSuspended: "2026-03-10 10:00"},
			want:    []string{"2026-03-09 10:00 reminding due", "2026-03-10 10:00 suspended walled_garden_over"},
		},
	})
}

func TestCourse_SaysWhatIsOverdueAndWhatComesNext(t *testing.T) {
	t.Parallel()
	z := zone(t, "Africa/Nairobi")
	p := access.DefaultDunningPolicy(money.KES)
	c := course.Of(course.NewRules(p, z, nil), course.History{Owed: []course.Owed{{
		At: local(t, "2026-02-20 09:00", z), Debts: []course.Debt{
			{DueOn: date(t, "2026-03-13"), Amount: money.Major(7, money.KES)},
			{DueOn: date(t, "2026-03-03"), Amount: money.Major(100, money.KES)},
		},
	}}})
	now := local(t, "2026-03-07 12:00", z)
	if s := c.At(now); s.State != events.DunningReminding || !s.DueAt.Equal(local(t, "2026-03-04 00:00", z)) {
		t.Errorf("now: %+v", s)
	}
	next, ok := c.Next(now)
	if !ok || next.State != events.DunningWalledGarden || next.Due != money.Major(100, money.KES) ||
		!next.At.Equal(local(t, "2026-03-09 00:00", z)) || !next.Planned.Equal(local(t, "2026-03-07 00:00", z)) {
		t.Errorf("next: %+v", next)
	}
	if s, ok := c.Next(next.At); !ok || s.Due != money.Major(107, money.KES) {
		t.Errorf("then: %+v", s)
	}
	if r, ok := c.NextReminder(local(t, "2026-02-24 09:00", z)); !ok || r.Day != -3 ||
		!r.Until.Equal(local(t, "2026-02-28 20:00", z)) {
		t.Errorf("reminder: %+v", r)
	}
	if s := c.At(local(t, "2026-02-01 09:00", z)); s.State != events.DunningNone {
		t.Errorf("before: %+v", s)
	}
}
