package accesscases

import (
	"maps"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// DunningInput is a policy as a person types it; nil = as in the default policy of the platform
// (docs/rules/access-dunning.md#default-policy).
type DunningInput struct {
	ReminderDays     *[]int
	GraceDays        *int
	WalledGardenDays *int
	WriteOffDays     *int
	MinimumDue       *usecases.Figure
	NoCutDays        *[]string
	NoCutAfter       *map[string]string // HH:MM by weekday
	SkipHolidays     *bool
	MessageHours     *MessageHours
}

// MessageHours are times of day as HH:MM.
type MessageHours struct{ From, To string }

// In completes the policy. What the policy itself forbids is checked by commands.CheckDunningPolicy. Fails:
// invalid_input.
func (in DunningInput) In(currency money.Currency) (events.DunningPolicy, error) {
	p, f := access.DefaultDunningPolicy(currency), failure.Faults{}
	given(&p.ReminderDays, in.ReminderDays)
	given(&p.GraceDays, in.GraceDays)
	given(&p.WalledGardenDays, in.WalledGardenDays)
	given(&p.WriteOffDays, in.WriteOffDays)
	given(&p.SkipHolidays, in.SkipHolidays)
	if in.MinimumDue != nil {
		p.MinimumDue = in.MinimumDue.In(currency, "minimumDue", &f)
	}
	if in.NoCutDays != nil {
		p.NoCutDays = []events.Weekday{}
		for _, d := range *in.NoCutDays {
			p.NoCutDays = append(p.NoCutDays, events.Weekday(d))
		}
	}
	if in.NoCutAfter != nil {
		p.NoCutAfter = map[events.Weekday]calendar.TimeOfDay{}
		for _, d := range slices.Sorted(maps.Keys(*in.NoCutAfter)) {
			p.NoCutAfter[events.Weekday(d)] = timeOfDay((*in.NoCutAfter)[d], "noCutAfter", &f)
		}
	}
	if in.MessageHours != nil {
		p.MessageHours = events.MessageHours{
			From: timeOfDay(in.MessageHours.From, "messageHours", &f),
			To:   timeOfDay(in.MessageHours.To, "messageHours", &f),
		}
	}
	return p, f.Err()
}

// given takes a value that is there.
func given[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// timeOfDay reads HH:MM; another text is a fault of the field.
func timeOfDay(text, field string, f *failure.Faults) calendar.TimeOfDay {
	t, err := calendar.ParseTimeOfDay(text)
	f.Check(err == nil, field, "must have times of day as HH:MM from 00:00 to 24:00, not %q", text)
	return t
}
