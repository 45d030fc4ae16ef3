package accesscases

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Bounds of the days that are asked for.
const (
	usualDays = 30
	mostDays  = 366
)

// Days tells how each day of a customer was (docs/rules/access.md#days). Safe for concurrent use.
type Days struct {
	Bus           *bus.Bus
	Settings      usecases.SettingsOf
	Subscribers   subscribersviews.SubscribersQuery
	Subscriptions subscribersviews.SubscriptionsQuery
	Timeline      subscribersviews.TimelineQuery
	Routers       networkviews.HistoryQuery
	Telemetry     interface {
		// Usage gives what was used by local day.
		Usage(
			ctx context.Context, org id.Organization, of telemetry.UsageOf, step telemetry.Step, from, to calendar.Date,
		) ([]telemetry.UsageRow, error)
		// RoutersOf gives at which routers the sessions of a subscriber began, the oldest first.
		RoutersOf(
			ctx context.Context, org id.Organization, subscriber id.Subscriber, before time.Time,
		) ([]telemetry.Begun, error)
	}
	Clock clock.Clock
}

// DayState is the worst that a day had, as a word of the API.
type DayState string

// The states of days, the worst first. A day without any other has DayNone.
const (
	DayOff          DayState = "off"           // suspended, blocked, ended, or not paid
	DayWalledGarden DayState = "walled_garden" // only the payment page was left
	DayOutage       DayState = "outage"        // the router could not be reached
	DayPaused       DayState = "paused"
	DayPaid         DayState = "paid" // entitled all the time in which there was a service
	DayNone         DayState = "none" // no service yet
)

// DayStates lists the states, the worst first.
var DayStates = []DayState{DayOff, DayWalledGarden, DayOutage, DayPaused, DayPaid, DayNone}

// Day is one local day of a customer, or the part of today that is over.
type Day struct {
	Date  calendar.Date
	State DayState
	Spent map[DayState]time.Duration // they add up to the day
	Used  telemetry.UsageRow
	Marks []Mark // the oldest first
}

// over is how much of the day is over, in seconds. Nobody was online for longer on it: two sessions at the same time
// are twice the use, and not twice the day, and a router's clock is a second ahead of ours sometimes.
func (d Day) over() int64 {
	var sum time.Duration
	for _, spent := range d.Spent {
		sum += spent
	}
	return int64(sum / time.Second)
}

// DaysInput asks for days of the organization's zone, both included. A zero To is today, a zero From 30 days in all.
type DaysInput struct {
	SubscriberID id.Subscriber
	From, To     calendar.Date
}

// Of tells how the days were. Fails: subscriber_not_found, invalid_input.
func (d Days) Of(ctx context.Context, org id.Organization, in DaysInput) ([]Day, error) {
	who, err := d.Subscribers.Get(ctx, org, in.SubscriberID)
	if err != nil || who == nil {
		return nil, cmp.Or(err, commands.ErrNoSubscriber())
	}
	zone, err := d.Settings.Zone(ctx, org)
	if err != nil {
		return nil, err
	}
	now := d.Clock.Now()
	if in, err = in.within(calendar.On(now, zone)); err != nil {
		return nil, err
	}
	asked := events.TimeSpan{From: in.From.Start(zone), To: sooner(in.To.AddDays(1).Start(zone), now)}
	list, err := d.history(ctx, *who, asked.To)
	if err != nil {
		return nil, err
	}
	// The moment before shows what changes with the first one.
	stood := standings(list, events.TimeSpan{From: asked.From.Add(-1), To: asked.To})
	marks := changes(stood)
	seen, err := d.seen(ctx, org, in.SubscriberID, asked)
	if err != nil {
		return nil, err
	}
	told, err := d.told(ctx, org, in.SubscriberID, asked)
	if err != nil {
		return nil, err
	}
	marks = slices.Concat(marks, seen.marks, told)
	for i := range marks {
		marks[i].Summary = marks[i].Says.In(zone)
	}
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.At.Compare(b.At) })
	used, err := d.Telemetry.Usage(
		ctx, org, telemetry.UsageOf{Subscriber: in.SubscriberID}, telemetry.Day, in.From, in.To.AddDays(1))
	if err != nil {
		return nil, err
	}
	return byDay(in, zone, withOutages(stood, seen.away), marks, used), nil
}

// within fills in what is not asked for, and refuses what cannot be answered.
func (in DaysInput) within(today calendar.Date) (DaysInput, error) {
	var f failure.Faults
	if in.To.IsZero() {
		in.To = today
	}
	if in.From.IsZero() {
		in.From = in.To.AddDays(1 - usualDays)
	}
	f.Check(!today.Before(in.To), "to", "must not be in the future")
	f.Check(!in.To.Before(in.From), "from", "must not be after to")
	if !in.To.Before(in.From.AddDays(mostDays)) {
		f.Add("from", "must not be more than %d days before the end of to", mostDays)
	}
	return in, f.Err()
}

// history reads what was recorded about a customer and the subscriptions, in the order of time.
func (d Days) history(
	ctx context.Context, who subscribersviews.SubscriberRow, until time.Time,
) ([]events.Envelope, error) {
	own, err := bus.HistoryUnchecked[subscribers.Subscriber](ctx, d.Bus, who.ID)
	if err != nil {
		return nil, err
	}
	owned, err := d.Subscriptions.EverOf(ctx, who.OrgID, who.ID, until)
	if err != nil {
		return nil, err
	}
	streams := [][]events.Envelope{own}
	for _, s := range owned {
		for _, read := range []func(context.Context, *bus.Bus, id.Subscription) ([]events.Envelope, error){
			bus.HistoryUnchecked[subscribers.Subscription, id.Subscription],
			bus.HistoryUnchecked[access.Dunning, id.Subscription], bus.HistoryUnchecked[access.Usage, id.Subscription],
		} {
			stream, err := read(ctx, d.Bus, s)
			if err != nil {
				return nil, err
			}
			streams = append(streams, stream)
		}
	}
	return inOrder(streams), nil
}

// standing is a time in which a customer stood alike.
type standing struct {
	events.TimeSpan
	state DayState
	why   entitlement.Code
}

// standings lists how a customer stood within a span, without gaps, by the events that were recorded until each
// instant.
func standings(list []events.Envelope, in events.TimeSpan) []standing {
	var history entitlement.History
	var out []standing
	at := in.From
	until := func(to time.Time) {
		if to = sooner(to, in.To); to.After(at) {
			out = append(out, standingsOf(history.State(time.UTC), events.TimeSpan{From: at, To: to})...)
			at = to
		}
	}
	for _, e := range list {
		if e.Meta.At.After(in.To) {
			break
		}
		until(e.Meta.At)
		history.Apply(e)
	}
	until(in.To)
	return joined(out)
}

// standingsOf lists how a customer stands while nothing is recorded.
func standingsOf(s entitlement.State, in events.TimeSpan) []standing {
	for i := range s.Subscriptions {
		s.Subscriptions[i].Terms.Schedule = nil // it changes the speed alone
	}
	var list []standing
	for at := in.From; at.Before(in.To); {
		next := entitlement.NextChange(s, at)
		if next.IsZero() || next.After(in.To) {
			next = in.To
		}
		state, why := dayState(entitlement.Of(s, at))
		list = append(list, standing{events.TimeSpan{From: at, To: next}, state, why})
		at = next
	}
	return list
}

// dayState gives the state of a day that an entitlement leads to, and the reason. The best of several subscriptions
// counts.
func dayState(e entitlement.Entitlement) (DayState, entitlement.Code) {
	if len(e.Services) == 0 {
		return DayNone, e.Reasons[0].Code
	}
	state, why := DayNone, e.Services[0].Decided.Code
	for _, s := range e.Services {
		code := s.Decided.Code
		switch {
		case s.Access >= entitlement.Throttled:
			return DayPaid, code
		case s.Access == entitlement.WalledGarden:
			state, why = DayWalledGarden, code
		case state == DayWalledGarden || code == entitlement.CodeNotStarted:
		case code == entitlement.CodePaused && state != DayOff:
			state, why = DayPaused, code
		case code != entitlement.CodePaused:
			state, why = DayOff, code
		}
	}
	return state, why
}

// joined puts neighbours together that are alike.
func joined(list []standing) []standing {
	var out []standing
	for _, s := range list {
		if last := len(out) - 1; last >= 0 && out[last].state == s.state && out[last].why == s.why {
			out[last].To = s.To
			continue
		}
		out = append(out, s)
	}
	return out
}

// withOutages makes an outage of the time in which the customer was entitled and the router could not be reached.
func withOutages(list []standing, away []events.TimeSpan) []standing {
	var out []standing
	for _, s := range list {
		whole := []events.TimeSpan{s.TimeSpan}
		for _, a := range away {
			if s.state == DayPaid {
				whole = without(whole, a)
			}
		}
		at := s.From
		for _, w := range append(whole, events.TimeSpan{From: s.To, To: s.To}) {
			if at.Before(w.From) {
				out = append(out, standing{events.TimeSpan{From: at, To: w.From}, DayOutage, s.why})
			}
			if w.From.Before(w.To) {
				out = append(out, standing{w, s.state, s.why})
			}
			at = w.To
		}
	}
	return out
}

// colours is how long something lasts at least on a day that is called by it. The moment between a sale and its payment
// makes no day without internet.
const colours = time.Minute

// byDay divides everything into local days, which have 23 to 25 hours.
func byDay(
	in DaysInput, zone *time.Location, stood []standing, marks []Mark, used []telemetry.UsageRow,
) []Day {
	var days []Day
	for date := in.From; !in.To.Before(date); date = date.AddDays(1) {
		from, to := date.Start(zone), date.AddDays(1).Start(zone)
		day := Day{Date: date, Spent: map[DayState]time.Duration{}}
		for len(stood) > 0 && stood[0].From.Before(to) {
			s := stood[0]
			if s.From.Before(from) {
				s.From = from
			}
			if spent := sooner(s.To, to).Sub(s.From); spent > 0 {
				day.Spent[s.state] += spent
			}
			if stood[0].To.After(to) {
				break
			}
			stood = stood[1:]
		}
		day.State = DayStates[len(DayStates)-1]
		for _, least := range []time.Duration{colours, 1} { // a day that has just begun has nothing that lasted
			worst := slices.IndexFunc(DayStates, func(s DayState) bool { return day.Spent[s] >= least })
			if worst >= 0 {
				day.State = DayStates[worst]
				break
			}
		}
		for len(marks) > 0 && marks[0].At.Before(to) {
			day.Marks, marks = append(day.Marks, marks[0]), marks[1:]
		}
		if len(used) > 0 && used[0].Starts == date {
			day.Used, used = used[0], used[1:]
			day.Used.Seconds = min(day.Used.Seconds, day.over())
		}
		days = append(days, day)
	}
	return days
}
