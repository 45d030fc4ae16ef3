package accessapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// Board serves /dunning, the preview of policies, and the holds of subscriptions.
type Board struct {
	Cases   accesscases.Board
	Holds   accesscases.Holds
	Dunning accessviews.DunningQuery
}

// Routes lists the endpoints of the board.
func (a Board) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/dunning", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "List the subscriptions in dunning, and those on hold", Row: boardResponse{},
			Query: []httpapi.Param{
				{Name: "state", Type: "string", Enum: dunningStates}, {Name: "subscriberId", Type: "uuid"},
				{Name: "hold", Type: "boolean", Doc: "whether a hold stops the clock now"},
			}, Handle: a.list,
		},
		{
			Method: "POST", Path: "/settings/dunning/preview", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Run a dunning policy against the past; nothing is changed",
			Request: previewRequest{}, Response: previewResponse{}, Handle: a.preview,
		},
		{
			Method: "POST", Path: "/subscriptions/:id/hold", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Stop the clock of dunning until an instant",
			Request: holdRequest{}, Response: boardResponse{}, Handle: a.place,
		},
		{
			Method: "DELETE", Path: "/subscriptions/:id/hold", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "End a hold before its time", Status: 204, Handle: a.lift,
		},
	}
}

// dunningStates are the values that the filter state accepts. Without it the board leaves out "none" unless there is a
// hold.
var dunningStates = events.DunningState("").Texts()

// holdRequest is the body of POST /subscriptions/:id/hold (docs/rules/access-dunning.md#hold).
type holdRequest struct {
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
}

// boardResponse is one row of the board (docs/rules/access-dunning.md#preview-and-board).
type boardResponse struct {
	SubscriptionID id.Subscription        `json:"subscriptionId"`
	SubscriberID   id.Subscriber          `json:"subscriberId"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	State          events.DunningState    `json:"state"`
	Since          time.Time              `json:"since"`
	Due            httpapi.Number         `json:"due" doc:"overdue; compared with the policy's minimumDue"`
	WrittenOff     httpapi.Number         `json:"writtenOff" doc:"of due: given up, and not asked for any more"`
	Currency       money.Currency         `json:"currency"`
	OverdueDays    int                    `json:"overdueDays" doc:"calendar days since the due date"`
	Next           *boardNext             `json:"next" doc:"null: nothing comes by itself"`
	Hold           *boardHold             `json:"hold" doc:"null: no hold"`
	Stopped        *boardStopped          `json:"stopped" doc:"null: the clock does not stand still by itself"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *boardResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// boardNext is the state that begins next if nothing is paid.
type boardNext struct {
	State events.DunningState `json:"state"`
	At    time.Time           `json:"at"`
}

// boardHold is a hold that has not ended.
type boardHold struct {
	From   time.Time `json:"from"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason" doc:"empty when the subscriber was forgotten"`
}

// boardStopped says why the clock stands still by itself: no step comes meanwhile.
type boardStopped struct {
	Cause string    `json:"cause" doc:"no_line, no_payment or paused; more can be added"`
	Since time.Time `json:"since"`
}

// list answers with a page of the board, the newest state first.
func (a Board) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := accessviews.DunningFilter{
		State: f.OneOf("state", dunningStates...), Subscriber: httpapi.FilterID[id.Subscriber](f, "subscriberId"),
		Hold: f.Bool("hold"),
	}
	if err := f.Err(); err != nil {
		return err
	}
	present, err := a.Cases.Present(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	filter.Now = present.Now
	return httpapi.SendList(ctx, c, shows(present), func(
		ctx context.Context, after accessviews.DunningKey, max int,
	) ([]accessviews.DunningRow, error) {
		return a.Dunning.List(ctx, c.Org.ID, filter, after, max)
	})
}

// place puts a subscription on hold, and answers with its row on the board. A process reviews the subscription later
// than that; the row has what the review will find.
func (a Board) place(ctx context.Context, c *httpapi.Call) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[holdRequest](c)
	if err != nil {
		return err
	}
	present, err := a.Cases.Present(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	done, err := a.Holds.Place(ctx, c.Asked(), subscription, in.Until, in.Reason)
	if err != nil {
		return err
	}
	state, at, err := a.Holds.Next(ctx, c.Org.ID, subscription)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, httpapi.One[id.Subscription, accessviews.DunningRow, boardResponse]{
		Model: accessviews.DunningName, Missing: commands.ErrNoSubscription, Read: a.Dunning.Get,
		Show: func(r accessviews.DunningRow) boardResponse {
			r.NextState, r.NextAt = state, null.Time(at)
			return shows(present)(r)
		},
	}, subscription, done)
}

// lift ends the hold of a subscription. Without a hold it does nothing.
func (a Board) lift(ctx context.Context, c *httpapi.Call) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	done, err := a.Holds.Lift(ctx, c.Asked(), subscription)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, accessviews.DunningName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}

// shows writes a row as it is at an instant: a hold that has ended is none.
func shows(p accesscases.Present) func(accessviews.DunningRow) boardResponse {
	return func(r accessviews.DunningRow) boardResponse {
		due, days := p.Overdue(r)
		out := boardResponse{
			SubscriptionID: r.ID, SubscriberID: r.SubscriberID, State: r.State, Since: r.Since,
			Due: due.Number(), WrittenOff: p.WrittenOff(r).Number(), Currency: p.Currency, OverdueDays: days,
		}
		if r.NextAt != nil {
			out.Next = &boardNext{State: r.NextState, At: *r.NextAt}
		}
		out.Hold, out.Stopped = showHold(p.Hold(r)), showStopped(accesscases.StoppedClock(r))
		return out
	}
}

// showHold writes times in UTC.
func showHold(h *accesscases.Hold) *boardHold {
	if h == nil {
		return nil
	}
	return &boardHold{From: h.From.UTC(), Until: h.Until.UTC(), Reason: h.Reason}
}

// showStopped writes times in UTC.
func showStopped(s *accesscases.Stopped) *boardStopped {
	if s == nil {
		return nil
	}
	return &boardStopped{Cause: s.Cause, Since: s.Since.UTC()}
}
