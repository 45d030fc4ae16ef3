package course_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/access/course"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// subject is a prepaid customer who pays late by some days, month after month in 2025, and owes 1,500 shillings
// meanwhile.
func subject(name string, lateDays int, z *time.Location) course.Subject {
	s := course.Subject{Subscription: id.Derive[id.Subscription](name)}
	for month := range 12 {
		paid := time.Date(2025, time.Month(month+1), 1+lateDays, 9, 0, 0, 0, z)
		s.History.Owed = append(s.History.Owed, course.Owed{
			At: paid, PaidUntil: time.Date(2025, time.Month(month+2), 1, 9, 0, 0, 0, z),
			Debts: []course.Debt{{Amount: money.Major(1500, money.KES)}},
		})
	}
	return s
}

func TestPreview_SaysWhomAPolicyWouldHaveCutAndWhen(t *testing.T) {
	t.Parallel()
	z := zone(t, "Africa/Nairobi")
	p := access.DefaultDunningPolicy(money.KES)
	p.ReminderDays = nil
	late, good := subject("late", 5, z), subject("good", 0, z)
	late.History.Entered = []course.Entered{{State: events.DunningSuspended, At: local(t, "2025-04-02 10:00", z)}}
	late.History.Late = local(t, "2025-12-01 10:00", z)
	from, to := local(t, "2025-04-01 00:00", z), local(t, "2025-05-01 00:00", z)
	got := course.Preview(course.NewRules(p, z, nil), []course.Subject{late, good}, from, to)
	due := money.Major(1500, money.KES)
	want := course.Outcome{
		Subscriptions: 2, WalledGarden: 1, Restored: 1, Changes: []course.Change{
			{
				Subscription: late.Subscription, At: local(t, "2025-04-04 09:00", z),
				From: events.DunningReminding, To: events.DunningWalledGarden, Due: due,
			},
			{
				Subscription: late.Subscription, At: local(t, "2025-04-06 09:00", z),
				From: events.DunningWalledGarden, To: events.DunningNone,
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(late.History.Entered) != 1 || late.History.Late.IsZero() {
		t.Error("the preview changed its input")
	}
}

// His debt is so old at the end of the walled garden that a write-off is proposed with the suspension.
func TestPreview_ASuspensionForAnOldDebtIsCounted(t *testing.T) {
	t.Parallel()
	z := zone(t, "Africa/Nairobi")
	p := access.DefaultDunningPolicy(money.KES)
	s := course.Subject{Subscription: id.Derive[id.Subscription]("bounced")}
	from := local(t, "2025-04-01 09:00", z)
	old := course.Debt{DueOn: calendar.Date{Year: 2025, Month: 1, Day: 10}, Amount: money.Major(1500, money.KES)}
	young := course.Debt{DueOn: calendar.Date{Year: 2025, Month: 3, Day: 5}, Amount: money.Major(1500, money.KES)}
	s.History.Owed = []course.Owed{{At: from, Debts: []course.Debt{old, young}}}
	s.History.Owed = append(s.History.Owed, course.Owed{At: from.AddDate(0, 0, 20), Debts: []course.Debt{young}})
	got := course.Preview(course.NewRules(p, z, nil), []course.Subject{s}, from, from.AddDate(0, 2, 0))
	var states []events.DunningState
	for _, c := range got.Changes {
		states = append(states, c.To)
	}
	want := []events.DunningState{
		events.DunningWalledGarden, events.DunningWrittenOff, events.DunningSuspended, events.DunningWrittenOff,
	}
	if diff := cmp.Diff(want, states); diff != "" || got.WalledGarden != 1 || got.Suspended != 1 {
		t.Errorf("%+v (-want +got)\n%s", got, diff)
	}
}

// The clock jumped over the day on which the next period would have been invoiced.
func TestPreview_SaysWhatAnUnpaidPeriodCostsThatWasInvoicedLate(t *testing.T) {
	t.Parallel()
	z := zone(t, "Africa/Nairobi")
	until := local(t, "2025-04-01 09:00", z)
	s := course.Subject{Subscription: id.Derive[id.Subscription]("jumped"), History: course.History{Owed: []course.Owed{
		{At: until.AddDate(0, -1, 0), PaidUntil: until},
		{At: until.AddDate(0, 0, 20), PaidUntil: until, Debts: []course.Debt{{Amount: money.Major(1500, money.KES)}}},
		{At: until.AddDate(0, 0, 21), PaidUntil: until.AddDate(0, 1, 0)},
	}}}
	got := course.Preview(course.NewRules(access.DefaultDunningPolicy(money.KES), z, nil), []course.Subject{s}, until,
		until.AddDate(0, 1, 0))
	var due []int64
	for _, c := range got.Changes {
		due = append(due, c.Due.Minor)
	}
	if diff := cmp.Diff([]int64{150_000, 150_000, 0}, due); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// BenchmarkPreview runs a policy over a year of 50,000 subscriptions, of which every seventh pays late.
func BenchmarkPreview(b *testing.B) {
	z := zone(b, "Africa/Nairobi")
	var subjects []course.Subject
	for n := range 50_000 {
		late := 0
		if n%7 == 0 {
			late = 12
		}
		subjects = append(subjects, subject(id.New[id.Subscription]().String(), late, z))
	}
	rules := course.NewRules(access.DefaultDunningPolicy(money.KES), z, nil)
	from, to := time.Date(2025, 1, 1, 0, 0, 0, 0, z), time.Date(2026, 1, 1, 0, 0, 0, 0, z)
	for b.Loop() {
		if got := course.Preview(rules, subjects, from, to); got.Suspended == 0 {
			b.Fatal("nobody was suspended")
		}
	}
}
