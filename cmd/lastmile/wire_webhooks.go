package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/webhooks"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/webhooks"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs/webhooks"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/webhooks/signingsecrets"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
	"github.com/lastmile-isp/lastmile/usecases/webhooks"
)

// webhooksArea gives the endpoints of organizations' own systems, and what is delivered to them.
func webhooksArea() area {
	return area{
		aggregates: registerWebhooks, readModels: []runner.Projection{webhooksviews.Endpoints{}},
		processes: []processmanagers.Any{signingsecrets.Process()}, wire: (*App).wireWebhooks,
	}
}

// registerWebhooks adds webhook endpoints.
func registerWebhooks(b *bus.Bus) { bus.Register(b, webhooks.Endpoints()) }

// wireWebhooks registers the job of the area and makes its endpoints. Deliveries begin with startDeliveries.
func (a *App) wireWebhooks(ctx context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	store, err := webhooksjobs.OpenStore(ctx, a.storage.db)
	if err != nil {
		return nil, err
	}
	gateway := a.webhookGateway()
	a.life.startedBeside("webhook client", stopStorage, func(context.Context) { gateway.Close() })
	a.deliverer = webhooksjobs.New(webhooksjobs.Config{
		Store: store, DB: a.storage.db, Views: e.views, Bus: e.bus, Secrets: a.storage.vault.Secrets,
		Gateway: gateway, Clock: a.clock, Gate: &a.gates.jobs, Logger: a.logger,
	})
	webhooksjobs.Workers{Drop: a.storage.vault.Secrets.Delete, Queue: e.jobs}.Register()
	deliveries := webhookDeliveries{store, a.deliverer}
	cases := webhookscases.Endpoints{
		Bus: e.bus, Secrets: a.storage.vault.Secrets, Allows: gateway.Check, Deliveries: deliveries,
		Limiter: a.storage.vault.Limits, Clock: a.clock,
	}
	return [][]httpapi.Route{
		webhooksapi.Endpoints{
			Cases: cases, Endpoints: webhooksviews.EndpointsQuery{Views: e.views}, Deliveries: store,
		}.Routes(),
		webhooksapi.Deliveries{Cases: cases, Deliveries: store}.Routes(),
	}, nil
}

// startDeliveries begins to deliver, once commands and read models work.
func (a *App) startDeliveries(ctx context.Context) error {
	if !a.roles.has(roleJobs) {
		return nil
	}
	return a.life.startBeside(ctx, "webhook deliveries", stopEngines, a.deliverer)
}

// webhookDeliveries speaks the words of the use cases to the store of deliveries.
type webhookDeliveries struct {
	*webhooksjobs.Store
	*webhooksjobs.Deliverer
}

// pingData is the JSON payload of a ping, part of the public contract.
type pingData struct {
	EndpointID id.Webhook `json:"endpointId"`
}

// Ping implements webhookscases.Deliveries. The message is in no outbox: it goes to one endpoint alone.
func (d webhookDeliveries) Ping(ctx context.Context, p webhookscases.Ping, now time.Time) error {
	data, err := json.Marshal(pingData{p.WebhookID})
	if err != nil {
		return fmt.Errorf("write ping: %w", err)
	}
	body, err := json.Marshal(outbox.Envelope{
		ID: p.MessageID, Type: events.OutboxPing, OrgID: p.OrgID, Timestamp: p.At, Position: p.Position, Data: data,
	})
	if err != nil {
		return fmt.Errorf("write ping: %w", err)
	}
	return d.Put(ctx, webhooksjobs.Delivery{
		OrgID: p.OrgID, WebhookID: p.WebhookID, MessageID: p.MessageID, Type: events.OutboxPing,
		Position: int64(p.Position), Body: string(body), Once: true, //nolint:gosec // positions fit
	}, now)
}
