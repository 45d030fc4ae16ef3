package httpapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TimelineAPI serves /subscribers/:id/timeline.
type TimelineAPI struct {
	Timeline    subscribersviews.TimelineQuery
	Subscribers subscribersviews.SubscribersQuery
	Users       identityviews.UsersQuery
}

// Routes lists the endpoints of timelines.
func (a TimelineAPI) Routes() []Route {
	return []Route{
		{Method: "GET", Path: "/subscribers/:id/timeline", Hosts: OnOrganization, Access: AccessSupport,
			Summary: "Everything that happened to a subscriber, newest first", Row: timelineEntry{}, Handle: a.list},
	}
}

// timelineEntry is one fact as api.md shows it.
type timelineEntry struct {
	At      time.Time     `json:"at"`
	Type    string        `json:"type" doc:"such as billing.InvoiceIssued"`
	Summary string        `json:"summary" doc:"a sentence without personal data"`
	Actor   auditActor    `json:"actor"`
	Reason  *string       `json:"reason" doc:"null: none, or the subscriber was forgotten"`
	Cause   timelineCause `json:"cause"`
}

// timelineCause is what an entry is about.
type timelineCause struct {
	Type string `json:"type" enum:"subscriber,subscription,invoice,credit_note,payment,receipt"`
	ID   id.Any `json:"id"`
}

// list answers with a page of entries.
func (a TimelineAPI) list(ctx context.Context, c *Call) error {
	subscriber, err := PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	page, err := PageOf[subscribersviews.TimelineKey](c)
	if err != nil {
		return err
	}
	known, err := a.Subscribers.Get(ctx, c.Org.ID, subscriber)
	if err != nil || known == nil {
		return cmp.Or(err, commands.ErrNoSubscriber())
	}
	rows, err := a.Timeline.List(ctx, c.Org.ID, subscriber, null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	var users []id.User
	for _, r := range rows {
		if user := timelineUser(r); !user.IsZero() {
			users = append(users, user)
		}
	}
	names, err := a.Users.Names(ctx, c.Org.ID, users)
	if err != nil {
		return err
	}
	return SendPage(c, page, rows, func(r subscribersviews.TimelineRow) subscribersviews.TimelineKey {
		return subscribersviews.TimelineKey{Position: r.Position}
	}, func(r subscribersviews.TimelineRow) timelineEntry { return showTimelineEntry(r, names) })
}

// timelineUser is the user who acted, zero when it was something else.
func timelineUser(r subscribersviews.TimelineRow) id.User {
	if r.ActorKind != string(events.ActorUser) {
		return id.User{}
	}
	user, err := id.Parse[id.User](r.ActorID)
	if err != nil {
		return id.User{}
	}
	return user
}

// showTimelineEntry is a row as the API shows it.
func showTimelineEntry(r subscribersviews.TimelineRow, names map[id.User]string) timelineEntry {
	return timelineEntry{
		At: r.At.UTC(), Type: r.Type, Summary: r.Summary, Reason: null.Of(r.Reason),
		Actor: auditActor{
			ID: null.Of(r.ActorID), Kind: r.ActorKind, Role: null.Of(r.ActorRole),
			Name: null.Of(names[timelineUser(r)]),
		},
		Cause: timelineCause{Type: r.CauseType, ID: r.CauseID},
	}
}
