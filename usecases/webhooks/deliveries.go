package webhookscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/webhooks"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
	"github.com/lastmile-isp/lastmile/usecases"
)

// How often an organization tries its endpoints, and has messages delivered again: every one is a call of an address
// that the organization chose, and an event.
const (
	pingsPerMinute        = 20
	redeliveriesPerMinute = 120
)

// Ping has a message delivered that only tries the endpoint, also one that is disabled. It is sent once. A crash before
// the delivery is made leaves the wish in the log; a repeat under the same key makes it. Fails: webhook_not_found,
// rate_limited.
func (e Endpoints) Ping(
	ctx context.Context, asked usecases.Asked, which id.Webhook,
) (delivery id.Delivery, err error) {
	if _, _, err := bus.LoadOwned[webhooks.Endpoint](ctx, e.Bus, asked.Org(), which); err != nil {
		return delivery, err
	}
	if err := e.allow(ctx, "webhook_ping:"+asked.Org().String(), pingsPerMinute); err != nil {
		return delivery, err
	}
	message := usecases.NewID[id.Any](asked, "webhook ping")
	delivery = webhooksviews.DeliveryOf(which, message)
	done, err := e.Bus.Execute(ctx, commands.PingWebhook{WebhookID: which, DeliveryID: delivery}, asked.Meta)
	if err != nil {
		return delivery, err
	}
	now := e.now()
	err = e.Deliveries.Ping(ctx, Ping{
		OrgID: asked.Org(), WebhookID: which, MessageID: message, Position: done.Position, At: now,
	}, now)
	e.Deliveries.Wake()
	return delivery, err
}

// Redeliver has a message delivered once more, as if it had never been tried. One that waits is tried at once. A crash
// before that leaves the wish in the log; a repeat under the same key does it. Fails: delivery_not_found,
// webhook_not_found for an endpoint that was removed, webhook_disabled, rate_limited.
func (e Endpoints) Redeliver(ctx context.Context, asked usecases.Asked, which id.Delivery) error {
	row, err := e.Deliveries.Get(ctx, asked.Org(), which)
	switch {
	case err != nil:
		return err
	case row == nil:
		return commands.ErrNoDelivery()
	}
	if err := e.allow(ctx, "webhook_redelivery:"+asked.Org().String(), redeliveriesPerMinute); err != nil {
		return err
	}
	command := commands.RedeliverWebhook{WebhookID: row.WebhookID, DeliveryID: which}
	if _, err := e.Bus.Execute(ctx, command, asked.Meta); err != nil {
		return err
	}
	err = e.Deliveries.Again(ctx, asked.Org(), which, e.now())
	e.Deliveries.Wake()
	return err
}

// allow counts a call of somebody else's system against a limit. Fails: rate_limited.
func (e Endpoints) allow(ctx context.Context, key string, most int) error {
	ok, wait, err := e.Limiter.Allow(ctx, key, most, time.Minute)
	if err != nil || ok {
		return err
	}
	return failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(wait, time.Second))
}

// now is the clock's time in microseconds, which is the precision of PostgreSQL.
func (e Endpoints) now() time.Time { return e.Clock.Now().UTC().Truncate(time.Microsecond) }
