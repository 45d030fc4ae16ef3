package subscribersapi

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Timeline serves /subscribers/:id/timeline.
type Timeline struct {
	Timeline    subscribersviews.TimelineQuery
	Subscribers subscribersviews.SubscribersQuery
	Users       identityviews.UsersQuery
	Keys        identityviews.APIKeysQuery
	// Zone gives the zone of an organization, in which the instants of summaries are.
	Zone func(context.Context, id.Organization) (*time.Location, error)
}

// Routes lists the endpoints of timelines.
func (a Timeline) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "GET", Path: "/subscribers/:id/timeline", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Everything that happened to a subscriber, newest first", Row: timelineEntry{}, Handle: a.list,
			Query: []httpapi.Param{
				{
					Name: "type", Type: "string",
					Doc: "types or their areas with commas between, such as billing.InvoiceIssued,access",
				},
				{Name: "from", Type: "date-time", Doc: "recorded then or later; a date is the organization's"},
				{Name: "to", Type: "date-time", Doc: "recorded before; a date means its end"},
			}},
	}
}

// timelineEntry is one event in the life of a subscriber (docs/rules/subscribers.md#timeline).
type timelineEntry struct {
	EventID id.Event           `json:"eventId" doc:"of the event that the entry tells"`
	At      time.Time          `json:"at"`
	Type    string             `json:"type" doc:"such as billing.InvoiceIssued"`
	Code    happeningCode      `json:"code" doc:"what the sentence says; more can be added"`
	Facts   happeningFacts     `json:"facts"`
	Summary string             `json:"summary" doc:"the sentence in English, without personal data"`
	Actor   httpapi.AuditActor `json:"actor"`
	Reason  *string            `json:"reason" doc:"null: none, or the subscriber was forgotten"`
	Cause   timelineCause      `json:"cause"`
}

// happeningCode is one of subscribersviews.SentenceCodes.
type happeningCode string

// Texts implements httpapi.Enumerated.
func (happeningCode) Texts() []string { return subscribersviews.SentenceCodes() }

// happeningFacts has the facts of the sentence, for those who say it in another language. Those that it does not say
// are absent.
type happeningFacts struct {
	Amount     httpapi.Number              `json:"amount,omitempty" doc:"major units"`
	Percent    httpapi.Number              `json:"percent,omitempty" doc:"of a discount"`
	Due        httpapi.Number              `json:"due,omitempty" doc:"left to pay afterwards, major units"`
	Currency   money.Currency              `json:"currency,omitempty"`
	Invoice    string                      `json:"invoice,omitempty" doc:"number of the invoice that it is about"`
	Invoices   int                         `json:"invoices,omitempty" doc:"how many are owed; invoice is the first"`
	Number     string                      `json:"number,omitempty" doc:"of a credit note"`
	Channel    string                      `json:"channel,omitempty" enum:"stk,c2b,cash,bill_manager"`
	Plan       string                      `json:"plan,omitempty" doc:"its name then"`
	Period     string                      `json:"period,omitempty" doc:"of a cap" enum:"day,month"`
	Used       int64                       `json:"used,omitempty" doc:"bytes"`
	Allowed    int64                       `json:"allowed,omitempty" doc:"bytes"`
	Bytes      int64                       `json:"bytes,omitempty"`
	Days       int                         `json:"days,omitempty" doc:"that were given"`
	From       time.Time                   `json:"from,omitzero"`
	Until      time.Time                   `json:"until,omitzero"`
	Cause      string                      `json:"cause,omitempty" doc:"no_line, no_payment, paused or a newer one"`
	Difference subscribersviews.Difference `json:"difference,omitempty"`
	Reason     subscribersviews.Reason     `json:"reason,omitempty" doc:"why access or a session changed"`
	Message    subscribersviews.Message    `json:"message,omitempty"`
	Act        subscribersviews.Act        `json:"act,omitempty" doc:"that needs a second person"`
	Fault      string                      `json:"fault,omitempty" doc:"why a message was not sent"`
}

// timelineCause names the thing with which the entry happened.
type timelineCause struct {
	Type causeType `json:"type"`
	ID   id.Any    `json:"id"`
}

// causeType is the type of the thing.
type causeType string

// Texts implements httpapi.Enumerated.
func (causeType) Texts() []string { return subscribersviews.TimelineCauses }

// list answers with a page of entries, newest first. An unknown subscriber is 404.
func (a Timeline) list(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	zone, err := a.Zone(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	f := c.Filters()
	filter := subscribersviews.TimelineFilter{
		Types: typesOf(f.Text("type")), From: f.Instant("from", zone), To: f.End("to", zone),
	}
	if err := f.Err(); err != nil {
		return err
	}
	var names map[string]string // set when the page is read
	show := func(r subscribersviews.TimelineRow) timelineEntry { return showTimelineEntry(r, zone, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after subscribersviews.TimelineKey, max int,
	) ([]subscribersviews.TimelineRow, error) {
		known, err := a.Subscribers.Get(ctx, c.Org.ID, subscriber)
		if err != nil || known == nil {
			return nil, cmp.Or(err, commands.ErrNoSubscriber())
		}
		rows, err := a.Timeline.List(ctx, c.Org.ID, subscriber, filter, after, max)
		if err != nil {
			return nil, err
		}
		names, err = a.names(ctx, c.Org.ID, rows)
		return rows, err
	})
}

// typesOf splits the filter of types; nil = it does not restrict anything.
func typesOf(text string) []string {
	if text == "" {
		return nil
	}
	types := strings.Split(text, ",")
	for i := range types {
		types[i] = strings.TrimSpace(types[i])
	}
	return types
}

// names gives what the users and the API keys that acted are called, by their ids.
func (a Timeline) names(
	ctx context.Context, org id.Organization, rows []subscribersviews.TimelineRow,
) (map[string]string, error) {
	names := map[string]string{}
	users, err := a.Users.Names(ctx, org, acting[id.User](rows, events.ActorUser))
	if err != nil {
		return nil, err
	}
	for user, name := range users {
		names[user.String()] = name
	}
	keys := acting[id.APIKey](rows, events.ActorAPIKey)
	if len(keys) == 0 {
		return names, nil
	}
	called, err := a.Keys.Names(ctx, org, keys)
	for key, name := range called {
		names[key.String()] = name
	}
	return names, err
}

// acting lists the actors of one kind in the rows; one that acted several times is there several times.
func acting[I ~[16]byte](rows []subscribersviews.TimelineRow, kind events.ActorKind) (list []I) {
	for _, r := range rows {
		if r.ActorKind != string(kind) {
			continue
		}
		if who, err := id.Parse[I](r.ActorID); err == nil {
			list = append(list, who)
		}
	}
	return list
}

// showTimelineEntry writes the time in UTC, and those of the English sentence in a zone. The name is null for actors
// that are neither members nor API keys of the organization.
func showTimelineEntry(r subscribersviews.TimelineRow, zone *time.Location, names map[string]string) timelineEntry {
	return timelineEntry{
		EventID: r.EventID, At: r.At.UTC(), Type: r.Type, Reason: null.Of(r.Reason),
		Code: happeningCode(r.Code), Facts: happeningFacts(r.Facts), Summary: r.Says().In(zone),
		Actor: httpapi.AuditActor{
			ID: null.Of(r.ActorID), Kind: httpapi.ActorKind(r.ActorKind), Role: null.Of(r.ActorRole),
			Name: null.Of(names[r.ActorID]),
		},
		Cause: timelineCause{Type: causeType(r.CauseType), ID: r.CauseID},
	}
}
