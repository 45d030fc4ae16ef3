package accessapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// mostRollups bounds the answer of GET /subscribers/:id/usage.
const mostRollups = 400

// Usage serves /subscribers/:id/usage.
type Usage struct {
	Store *telemetry.Store
	Clock clock.Clock
	// Known reports whether the organization has such a subscriber.
	Known func(context.Context, id.Organization, id.Subscriber) (bool, error)
	Zone  func(context.Context, id.Organization) (*time.Location, error)
	// Cap gives the cap of a customer of which most is used; nil = none of the subscriptions has one.
	Cap func(context.Context, id.Organization, id.Subscriber, *time.Location) (*accesscases.CapStand, error)
}

// Routes lists the endpoint of usage.
func (a Usage) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/subscribers/:id/usage", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
		Own:     httpapi.OwnPath,
		Summary: "Traffic and time online by day or month", Response: usageResponse{}, Handle: a.get,
		Query: []httpapi.Param{
			{Name: "from", Type: "date-time", Doc: "a date is one of the organization's zone; this month when absent"},
			{Name: "to", Type: "date-time", Doc: "before; a date means its end; now when absent"},
			{Name: "step", Type: "string", Enum: []string{"day", "month"}, Doc: "day when absent"},
		},
	}}
}

// usageResponse has one entry for each day or month, also for those without traffic.
type usageResponse struct {
	Data []usageEntry `json:"data"`
	Cap  *usageCap    `json:"cap" doc:"null: the plan has no cap"`
}

// ForCustomer implements httpapi.StaffSees: all of it is the customer's.
func (*usageResponse) ForCustomer() {}

// usageEntry is the use from one instant to another one, the latter exclusive.
type usageEntry struct {
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	BytesIn  int64     `json:"bytesIn" doc:"downloaded by the customer"`
	BytesOut int64     `json:"bytesOut"`
	Seconds  int64     `json:"seconds" doc:"online; two sessions at the same time count twice"`
}

// usageCap is the part of a cap that is used.
type usageCap struct {
	Bytes    int64     `json:"bytes" doc:"of both directions, with what was added until resetsAt"`
	Used     int64     `json:"used"`
	ResetsAt time.Time `json:"resetsAt"`
}

// get answers with the use of all of a subscriber's subscriptions.
func (a Usage) get(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	if err := a.known(ctx, c, subscriber); err != nil {
		return err
	}
	zone, err := a.Zone(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	step, from, to, err := a.span(c.Filters(), zone)
	if err != nil {
		return err
	}
	rows, err := a.Store.Usage(ctx, c.Org.ID, telemetry.UsageOf{Subscriber: subscriber}, step, from, to)
	if err != nil {
		return err
	}
	out := usageResponse{Data: []usageEntry{}}
	stand, err := a.Cap(ctx, c.Org.ID, subscriber, zone)
	if err != nil {
		return err
	}
	if stand != nil {
		out.Cap = &usageCap{Bytes: stand.Allowed, Used: stand.Used, ResetsAt: stand.ResetsAt}
	}
	for day := step.Begin(from); day.Before(to); day = step.Next(day) {
		entry := usageEntry{From: day.Start(zone), To: step.Next(day).Start(zone)}
		if len(rows) > 0 && rows[0].Starts == day {
			entry.BytesIn, entry.BytesOut, entry.Seconds = rows[0].BytesDown, rows[0].BytesUp, rows[0].Seconds
			rows = rows[1:]
		}
		out.Data = append(out.Data, entry)
	}
	return c.Send(200, out)
}

// known refuses a subscriber whom the organization does not have. Fails: subscriber_not_found.
func (a Usage) known(ctx context.Context, c *httpapi.Call, subscriber id.Subscriber) error {
	known, err := a.Known(ctx, c.Org.ID, subscriber)
	if err == nil && !known {
		err = commands.ErrNoSubscriber()
	}
	return err
}

// span reads which rollups are asked for: from the one that has the first instant to the one that has the last one.
func (a Usage) span(f *httpapi.Filters, zone *time.Location) (step telemetry.Step, from, to calendar.Date, err error) {
	step = telemetry.Step(cmp.Or(f.OneOf("step", string(telemetry.Day), string(telemetry.Month)), "day"))
	now := a.Clock.Now()
	first, end := f.Instant("from", zone), f.End("to", zone)
	if first.IsZero() {
		first = telemetry.Month.Begin(calendar.On(now, zone)).Start(zone)
	}
	if end.IsZero() {
		end = now.Add(1)
	}
	from, to = calendar.On(first, zone), calendar.On(end.Add(-1), zone).AddDays(1)
	switch days := end.Sub(first).Hours() / 24; {
	case !first.Before(end):
		f.Add("from", "must be before to")
	case step == telemetry.Day && days > mostRollups, days > mostRollups*28:
		f.Add("from", "must be at most %d rollups before to", mostRollups)
	}
	return step, from, to, f.Err()
}
