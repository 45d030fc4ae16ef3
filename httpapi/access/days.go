package accessapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// Days serves /subscribers/:id/days.
type Days struct{ Cases accesscases.Days }

// Routes lists the endpoint.
func (a Days) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/subscribers/:id/days", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Summary: "How each day of a subscriber was", Response: daysResponse{}, Handle: a.get,
		Query: []httpapi.Param{
			{Name: "from", Type: "date", Doc: "first day, in the organization's zone; 30 days in all when absent"},
			{Name: "to", Type: "date", Doc: "last day; today when absent; at most 366 days in all"},
		},
	}}
}

// daysResponse has every day, the oldest first (docs/rules/access.md#days).
type daysResponse struct {
	Data []dayResponse `json:"data"`
}

// dayResponse is one day, or the part of today that is over. The seconds of all states add up to the day.
type dayResponse struct {
	Date  calendar.Date `json:"date"`
	State string        `json:"state" enum:"off,walled_garden,outage,paused,paid,none" doc:"the worst of the day"`

	PaidSeconds         int64 `json:"paidSeconds" doc:"entitled, and the router could be reached"`
	WalledGardenSeconds int64 `json:"walledGardenSeconds" doc:"only the payment page was left"`
	OffSeconds          int64 `json:"offSeconds" doc:"suspended, blocked, ended or not paid"`
	PausedSeconds       int64 `json:"pausedSeconds"`
	OutageSeconds       int64 `json:"outageSeconds" doc:"entitled, and the router could not be reached"`

	OnlineSeconds int64      `json:"onlineSeconds" doc:"as in usage, and no more than is over of the day"`
	BytesIn       int64      `json:"bytesIn" doc:"downloaded by the customer"`
	BytesOut      int64      `json:"bytesOut"`
	Events        []dayEvent `json:"events" doc:"the oldest first"`
}

// dayEvent is something that explains a day.
type dayEvent struct {
	At      time.Time `json:"at"`
	Type    string    `json:"type" enum:"payment,cut,restored,pause,block,reboot,repair"`
	Code    markCode  `json:"code" doc:"what the sentence says, as in the timeline; more can be added"`
	Facts   markFacts `json:"facts"`
	Summary string    `json:"summary" doc:"the sentence in English, without personal data"`
}

// markCode is one of subscribersviews.SentenceCodes.
type markCode string

// Texts implements httpapi.Enumerated.
func (markCode) Texts() []string { return subscribersviews.SentenceCodes() }

// markFacts has the facts of the sentence; those that it does not say are absent.
type markFacts struct {
	Amount     httpapi.Number              `json:"amount,omitempty" doc:"major units"`
	Currency   money.Currency              `json:"currency,omitempty"`
	Channel    string                      `json:"channel,omitempty" enum:"stk,c2b,cash,bill_manager"`
	Difference subscribersviews.Difference `json:"difference,omitempty"`
	Reason     subscribersviews.Reason     `json:"reason,omitempty" doc:"why access changed"`
}

// get answers with the days that are asked for.
func (a Days) get(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	f := c.Filters()
	in := accesscases.DaysInput{SubscriberID: subscriber, From: f.Date("from"), To: f.Date("to")}
	if err := f.Err(); err != nil {
		return err
	}
	days, err := a.Cases.Of(ctx, c.Org.ID, in)
	if err != nil {
		return err
	}
	out := daysResponse{Data: make([]dayResponse, len(days))}
	for i, day := range days {
		out.Data[i] = showDay(day)
	}
	return c.Send(200, out)
}

// showDay writes whole seconds; the list of events is never null.
func showDay(d accesscases.Day) dayResponse {
	seconds := func(s accesscases.DayState) int64 { return int64(d.Spent[s].Round(time.Second) / time.Second) }
	out := dayResponse{
		Date: d.Date, State: string(d.State), PaidSeconds: seconds(accesscases.DayPaid),
		WalledGardenSeconds: seconds(accesscases.DayWalledGarden), OffSeconds: seconds(accesscases.DayOff),
		PausedSeconds: seconds(accesscases.DayPaused), OutageSeconds: seconds(accesscases.DayOutage),
		OnlineSeconds: d.Used.Seconds, BytesIn: d.Used.BytesDown, BytesOut: d.Used.BytesUp,
		Events: make([]dayEvent, len(d.Marks)),
	}
	for i, m := range d.Marks {
		out.Events[i] = dayEvent{
			At: m.At.UTC().Truncate(time.Microsecond), Type: string(m.Type), Code: markCode(m.Says.Code),
			Facts: markFacts{
				Amount: m.Says.Amount, Currency: m.Says.Currency, Channel: m.Says.Channel,
				Difference: m.Says.Difference, Reason: m.Says.Reason,
			},
			Summary: m.Summary,
		}
	}
	return out
}
