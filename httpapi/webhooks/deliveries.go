package webhooksapi

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
	"github.com/lastmile-isp/lastmile/usecases/webhooks"
)

// DeliveryReads reads the deliveries of an organization. Implementations are safe for concurrent use.
type DeliveryReads interface {
	// Get gives nil when the organization has no delivery with this id.
	Get(ctx context.Context, org id.Organization, which id.Delivery) (*webhooksviews.DeliveryRow, error)
	// List gives up to max deliveries after a key, newest first.
	List(
		ctx context.Context, org id.Organization, f webhooksviews.DeliveryFilter, after webhooksviews.DeliveryKey,
		max int,
	) ([]webhooksviews.DeliveryRow, error)
}

// Deliveries serves /webhook-deliveries (docs/rules/webhooks.md#delivery-log).
type Deliveries struct {
	Cases      webhookscases.Endpoints
	Deliveries DeliveryReads
}

// Routes lists the endpoints.
func (a Deliveries) Routes() []httpapi.Route {
	on, admin := httpapi.OnOrganization, httpapi.AccessAdmin
	return []httpapi.Route{
		{
			Method: "GET", Path: "/webhook-deliveries", Hosts: on, Access: admin, Row: deliveryResponse{},
			Handle: a.list, Summary: "List what was delivered to webhook endpoints, newest first",
			Query: []httpapi.Param{
				{Name: "endpointId", Type: "uuid"},
				{Name: "state", Type: "string", Enum: webhooksviews.DeliveryStates},
			},
		},
		{
			Method: "GET", Path: "/webhook-deliveries/:id", Hosts: on, Access: admin, Response: deliveryResponse{},
			Handle: a.get, Summary: "Read one delivery",
		},
		{
			Method: "POST", Path: "/webhook-deliveries/:id/redeliver", Hosts: on, Access: admin, Status: 202,
			Response: deliveryResponse{}, Handle: a.redeliver, Codes: []string{"webhook_disabled"},
			Summary: "Deliver a message once more, under the same id",
		},
	}
}

// deliveryResponse is one message on its way to one endpoint, over all attempts.
type deliveryResponse struct {
	ID            id.Delivery       `json:"id"`
	EndpointID    id.Webhook        `json:"endpointId"`
	EventID       id.Any            `json:"eventId" doc:"of the message: webhook-id, the same in every attempt"`
	Type          string            `json:"type"`
	Position      int64             `json:"position" doc:"of the message in the log"`
	State         string            `json:"state" enum:"pending,delivered,failed"`
	Error         *string           `json:"error" doc:"why it ended, when no attempt says so"`
	Attempts      []attemptResponse `json:"attempts" doc:"the last twenty, oldest first"`
	Tries         int               `json:"tries" doc:"attempts, also those that are not kept"`
	NextAttemptAt *time.Time        `json:"nextAttemptAt" doc:"null: it has ended"`
	CreatedAt     time.Time         `json:"createdAt"`
	EndedAt       *time.Time        `json:"endedAt"`
	Message       json.RawMessage   `json:"message" doc:"what is sent, in every attempt: the envelope of GET /outbox"`
}

// attemptResponse is one call of an endpoint.
type attemptResponse struct {
	At         time.Time `json:"at"`
	Status     *int      `json:"status" doc:"of the answer; null: there was none"`
	Error      *string   `json:"error" doc:"a code; null: it succeeded"`
	DurationMs int64     `json:"durationMs"`
}

// showDelivery writes a row.
func showDelivery(r webhooksviews.DeliveryRow) deliveryResponse {
	out := deliveryResponse{
		ID: r.ID, EndpointID: r.WebhookID, EventID: r.MessageID, Type: r.Type, Position: r.Position, State: r.State,
		Error: null.Of(r.Error), Attempts: make([]attemptResponse, 0, len(r.Attempts)), Tries: r.Tries,
		NextAttemptAt: r.NextAt, CreatedAt: r.CreatedAt, EndedAt: r.EndedAt, Message: json.RawMessage(r.Body),
	}
	for _, at := range r.Attempts {
		out.Attempts = append(out.Attempts, attemptResponse{
			At: at.At, Status: at.Status, Error: null.Of(at.Error), DurationMs: at.DurationMs,
		})
	}
	return out
}

// list answers with a page of deliveries, newest first.
func (a Deliveries) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := webhooksviews.DeliveryFilter{
		Webhook: httpapi.FilterID[id.Webhook](f, "endpointId"),
		State:   f.OneOf("state", webhooksviews.DeliveryStates...),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showDelivery, func(
		ctx context.Context, after webhooksviews.DeliveryKey, max int,
	) ([]webhooksviews.DeliveryRow, error) {
		return a.Deliveries.List(ctx, c.Org.ID, filter, after, max)
	})
}

// delivery reads the row that the path names.
func delivery(ctx context.Context, c *httpapi.Call, from DeliveryReads, which id.Delivery) (deliveryResponse, error) {
	row, err := from.Get(ctx, c.Org.ID, which)
	if err != nil || row == nil {
		return deliveryResponse{}, cmp.Or(err, commands.ErrNoDelivery())
	}
	return showDelivery(*row), nil
}

// get answers with one delivery.
func (a Deliveries) get(ctx context.Context, c *httpapi.Call) error {
	which, err := httpapi.PathID[id.Delivery](c, "id", commands.ErrNoDelivery)
	if err != nil {
		return err
	}
	out, err := delivery(ctx, c, a.Deliveries, which)
	if err != nil {
		return err
	}
	return c.Send(200, out)
}

// sendDelivery answers a wish with the delivery, which is on its way.
func sendDelivery(ctx context.Context, c *httpapi.Call, from DeliveryReads, which id.Delivery) error {
	out, err := delivery(ctx, c, from, which)
	if err != nil {
		return err
	}
	return c.Send(202, out)
}

// redeliver answers with the delivery, which is on its way again.
func (a Deliveries) redeliver(ctx context.Context, c *httpapi.Call) error {
	which, err := httpapi.PathID[id.Delivery](c, "id", commands.ErrNoDelivery)
	if err != nil {
		return err
	}
	if err := a.Cases.Redeliver(ctx, c.Asked(), which); err != nil {
		return err
	}
	return sendDelivery(ctx, c, a.Deliveries, which)
}
