// Package webhooksapi serves the endpoints of organizations' own systems, and what is delivered to them.
package webhooksapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
	"github.com/lastmile-isp/lastmile/usecases/webhooks"
)

// Endpoints serves /webhook-endpoints (docs/rules/webhooks.md#webhook-endpoints).
type Endpoints struct {
	Cases     webhookscases.Endpoints
	Endpoints webhooksviews.EndpointsQuery
	// Deliveries answers a ping with its delivery.
	Deliveries DeliveryReads
}

// Routes lists all of /webhook-endpoints; staff of the role admin alone use it.
func (a Endpoints) Routes() []httpapi.Route {
	routes := []httpapi.Route{
		{
			Method: "GET", Path: "/webhook-endpoints", Row: endpointResponse{}, Handle: a.list,
			Summary: "List the webhook endpoints of your own systems, newest first",
		},
		{
			Method: "POST", Path: "/webhook-endpoints", Request: endpointRequest{}, Response: secretResponse{},
			Status: 201, Answers: map[int]any{202: acceptedSecret{}}, Handle: a.register,
			Summary: "Register an endpoint that is told of what happens from now on; its secret is shown this once",
			Codes:   []string{"webhook_limit_reached"},
		},
		{
			Method: "GET", Path: "/webhook-endpoints/:id", Response: endpointResponse{}, Handle: a.get,
			Summary: "Read a webhook endpoint",
		},
		{
			Method: "PATCH", Path: "/webhook-endpoints/:id", Request: endpointChange{}, Response: endpointResponse{},
			Handle: a.change, Summary: "Change, enable or disable a webhook endpoint",
		},
		{
			Method: "DELETE", Path: "/webhook-endpoints/:id", Status: 204, Handle: a.remove,
			Summary: "Delete a webhook endpoint; what waits for it is not delivered",
		},
		{
			Method: "POST", Path: "/webhook-endpoints/:id/ping", Response: deliveryResponse{}, Status: 202,
			Handle: a.ping, Summary: "Try a webhook endpoint with a message of type " + events.OutboxPing + ", once",
		},
		{
			Method: "POST", Path: "/webhook-endpoints/:id/rotate-secret", Request: rotation{},
			Response: secretResponse{}, Answers: map[int]any{202: acceptedSecret{}}, Handle: a.rotate,
			Summary: "Sign with another secret, and for a while with the former one, too; it is shown this once",
		},
	}
	for i := range routes {
		routes[i].Hosts, routes[i].Access = httpapi.OnOrganization, httpapi.AccessAdmin
	}
	return routes
}

// endpointRequest is the body of POST /webhook-endpoints.
type endpointRequest struct {
	URL         string   `json:"url" doc:"https"`
	Types       []string `json:"types" doc:"of the messages that it gets"`
	Description string   `json:"description,omitempty"`
}

// endpointChange is the body of PATCH; what is absent stays.
type endpointChange struct {
	URL         *string  `json:"url,omitempty"`
	Types       []string `json:"types,omitempty"`
	Description *string  `json:"description,omitempty" doc:"null removes it"`
	State       *string  `json:"state,omitempty" enum:"enabled,disabled"`
}

// rotation is the body of POST /webhook-endpoints/:id/rotate-secret, which may be empty.
type rotation struct {
	OverlapHours *int `json:"overlapHours,omitempty" doc:"in which both secrets sign; 24, at most 168"`
}

// usualOverlap is how long both secrets sign when nothing else is asked for.
const usualOverlap = 24 * time.Hour

// endpointResponse shows an endpoint without its secret.
type endpointResponse struct {
	ID             id.Webhook `json:"id"`
	URL            string     `json:"url"`
	Types          []string   `json:"types"`
	Description    *string    `json:"description"`
	State          string     `json:"state" enum:"enabled,disabled"`
	StateAt        time.Time  `json:"stateAt" doc:"when the state began"`
	DisabledReason *string    `json:"disabledReason" enum:"asked,failing" doc:"null: it is enabled"`
	FailingSince   *time.Time `json:"failingSince" doc:"of one that was disabled because nothing could be delivered"`
	// FormerSecretUntil is set while two secrets sign.
	FormerSecretUntil *time.Time `json:"formerSecretUntil" doc:"until then the former secret signs, too"`
	CreatedAt         time.Time  `json:"createdAt"`
}

// secretResponse is an endpoint with its secret, which no other answer has.
type secretResponse struct {
	endpointResponse
	Secret string `json:"secret" doc:"whsec_ and base64; shown this once"`
}

// acceptedSecret answers a write that the read side does not show yet, so that its secret is not lost.
type acceptedSecret struct {
	httpapi.Accepted
	Secret string `json:"secret" doc:"whsec_ and base64; shown this once"`
}

// showEndpoint writes a row.
func showEndpoint(r webhooksviews.EndpointRow) endpointResponse {
	return endpointResponse{
		ID: r.ID, URL: r.URL, Types: r.Types, Description: null.Of(r.Description), State: r.State, StateAt: r.StateAt,
		DisabledReason: null.Of(r.DisabledReason), FailingSince: r.FailingSince, FormerSecretUntil: r.FormerUntil,
		CreatedAt: r.CreatedAt,
	}
}

// oneEndpoint describes how an endpoint is read and shown.
func (a Endpoints) oneEndpoint() httpapi.One[id.Webhook, webhooksviews.EndpointRow, endpointResponse] {
	return httpapi.One[id.Webhook, webhooksviews.EndpointRow, endpointResponse]{
		Model: webhooksviews.EndpointsName, Missing: commands.ErrNoWebhook, Read: a.Endpoints.Get, Show: showEndpoint,
		Revision: func(r webhooksviews.EndpointRow) int64 { return r.Revision },
	}
}

// list answers with a page of endpoints, newest first.
func (a Endpoints) list(ctx context.Context, c *httpapi.Call) error {
	return httpapi.SendList(ctx, c, showEndpoint, func(
		ctx context.Context, after webhooksviews.EndpointKey, max int,
	) ([]webhooksviews.EndpointRow, error) {
		return a.Endpoints.List(ctx, c.Org.ID, after, max)
	})
}

// get answers with one endpoint.
func (a Endpoints) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.oneEndpoint())
}

// register answers with the endpoint and its secret.
func (a Endpoints) register(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[endpointRequest](c)
	if err != nil {
		return err
	}
	which, secret, done, err := a.Cases.Register(ctx, c.Asked(), commands.WebhookSettings(in))
	if err != nil {
		return err
	}
	return a.sendSecret(ctx, c, 201, which, secret, done)
}

// sendSecret answers a write with the endpoint and its new secret.
func (a Endpoints) sendSecret(
	ctx context.Context, c *httpapi.Call, status int, which id.Webhook, secret secrets.Text, done bus.Result,
) error {
	shown, err := c.WaitVisible(ctx, webhooksviews.EndpointsName, done.Position)
	if err != nil {
		return err
	}
	if !shown {
		return c.Send(202, acceptedSecret{
			httpapi.Accepted{ID: which.String(), Status: "accepted"}, secret.Reveal(),
		})
	}
	row, err := a.oneEndpoint().Find(ctx, c, which)
	if err != nil {
		return err
	}
	c.SetRevision(done.Revision)
	return c.Send(status, secretResponse{showEndpoint(row), secret.Reveal()})
}

// endpoint is the id in the path.
func endpoint(c *httpapi.Call) (id.Webhook, error) {
	return httpapi.PathID[id.Webhook](c, "id", commands.ErrNoWebhook)
}

// emptied is the change with the fields that are given as null made empty: those that there must be are refused then.
func (in endpointChange) emptied(nulls map[string]bool) webhookscases.Change {
	out := webhookscases.Change{
		URL: httpapi.Emptied(in.URL, nulls["url"]), Types: in.Types,
		Description: httpapi.Emptied(in.Description, nulls["description"]),
	}
	if nulls["types"] {
		out.Types = []string{}
	}
	if in.State != nil {
		on := *in.State == webhooksviews.Enabled
		out.Enabled = &on
	}
	return out
}

// change adopts other settings.
func (a Endpoints) change(ctx context.Context, c *httpapi.Call) error {
	which, err := endpoint(c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[endpointChange](c)
	if err != nil {
		return err
	}
	if c.Nulls()["state"] {
		return failure.NewInvalid("invalid_input", "state must be one of enabled, disabled")
	}
	done, err := a.Cases.Change(ctx, c.Asked(), which, in.emptied(c.Nulls()))
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.oneEndpoint(), which, done)
}

// remove ends an endpoint.
func (a Endpoints) remove(ctx context.Context, c *httpapi.Call) error {
	which, err := endpoint(c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Remove(ctx, c.Asked(), which)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, webhooksviews.EndpointsName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}

// ping answers with the delivery, which is on its way.
func (a Endpoints) ping(ctx context.Context, c *httpapi.Call) error {
	which, err := endpoint(c)
	if err != nil {
		return err
	}
	delivery, err := a.Cases.Ping(ctx, c.Asked(), which)
	if err != nil {
		return err
	}
	return sendDelivery(ctx, c, a.Deliveries, delivery)
}

// rotate answers with the endpoint and its new secret.
func (a Endpoints) rotate(ctx context.Context, c *httpapi.Call) error {
	which, err := endpoint(c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[rotation](c)
	if err != nil {
		return err
	}
	overlap := usualOverlap
	if in.OverlapHours != nil {
		if hours := *in.OverlapHours; hours < 0 || hours > int(commands.MaxSecretOverlap.Hours()) {
			return failure.NewInvalid("invalid_input", "overlapHours must be a whole number from 0 to 168")
		}
		overlap = time.Duration(*in.OverlapHours) * time.Hour
	}
	secret, done, err := a.Cases.Rotate(ctx, c.Asked(), which, overlap)
	if err != nil {
		return err
	}
	return a.sendSecret(ctx, c, 200, which, secret, done)
}
