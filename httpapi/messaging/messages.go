// Package messagingapi serves the messages to customers.
package messagingapi

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/messaging"
)

// Messages serves /messages.
type Messages struct {
	Messages messagingviews.MessagesQuery
	// Zone is where the days of an organization begin and end.
	Zone func(context.Context, id.Organization) (*time.Location, error)
}

// Values of the filters.
var (
	channels  = events.MessageChannel("").Texts()
	states    = messagingviews.MessageStates()
	templates = events.MessageTemplate("").Texts()
)

// Routes lists the endpoints.
func (a Messages) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/messages", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Summary: "List the messages to customers, newest first", Row: messageResponse{},
		Query: append([]httpapi.Param{
			{Name: "channel", Type: "string", Enum: channels}, {Name: "state", Type: "string", Enum: states},
			{Name: "subscriberId", Type: "uuid"},
			{Name: "outageId", Type: "uuid", Doc: "of the network, that they tell of"},
			{Name: "template", Type: "string", Enum: templates},
		}, httpapi.SpanParams("asked for")...),
		Handle: a.list,
	}}
}

// messageState is how far a message has come.
type messageState string

// Texts implements httpapi.Enumerated.
func (messageState) Texts() []string { return states }

// messageResponse is one message (docs/rules/messaging.md#messages).
type messageResponse struct {
	ID             id.Message             `json:"id"`
	At             time.Time              `json:"at" doc:"when it was asked for"`
	Channel        *string                `json:"channel" enum:"sms,email,whatsapp" doc:"null: it has no address yet"`
	Back           *string                `json:"back" doc:"why WhatsApp does not bring it; null: nothing is wrong"`
	To             *string                `json:"to" doc:"null: it has no address yet, or the person was forgotten"`
	Template       events.MessageTemplate `json:"template" doc:"more can be added"`
	State          messageState           `json:"state"`
	Error          *string                `json:"error" doc:"why it did not go or arrive; null: nothing is wrong"`
	Cost           *string                `json:"cost" doc:"in the provider's words: KES 0.8000; null: not known"`
	SubscriberID   id.Subscriber          `json:"subscriberId"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	SubscriptionID *id.Subscription       `json:"subscriptionId"`
	StateAt        time.Time              `json:"stateAt" doc:"when the state began"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *messageResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// list answers with a page of messages, newest first.
func (a Messages) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := messagingviews.MessageFilter{Channel: f.OneOf("channel", channels...), State: f.OneOf("state", states...)}
	filter.Template = f.OneOf("template", templates...)
	filter.Subscriber = httpapi.FilterID[id.Subscriber](f, "subscriberId")
	filter.Outage = httpapi.FilterID[id.Outage](f, "outageId")
	var err error
	filter.From, filter.To, err = f.Span(func() (*time.Location, error) { return a.Zone(ctx, c.Org.ID) })
	if err = cmp.Or(err, f.Err()); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showMessage, func(
		ctx context.Context, after messagingviews.MessageKey, max int,
	) ([]messagingviews.MessageRow, error) {
		return a.Messages.List(ctx, c.Org.ID, filter, after, max)
	})
}

// showMessage writes the code of a failure as the error.
func showMessage(r messagingviews.MessageRow) messageResponse {
	return messageResponse{
		ID: r.ID, At: r.At, Channel: r.Channel, To: r.To, Template: events.MessageTemplate(r.Template),
		Back: r.Back, State: messageState(r.State), Error: null.Of(r.Code), Cost: r.Cost, SubscriberID: r.SubscriberID,
		SubscriptionID: r.SubscriptionID, StateAt: r.StateAt,
	}
}
