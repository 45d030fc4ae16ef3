package main

import (
	"context"
	"net"
	"net/url"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/dev"
	"github.com/lastmile-isp/lastmile/httpapi/messaging"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/messaging"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/messaging/telling"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// messagingArea gives the messages to customers.
func messagingArea() area {
	return area{
		aggregates: registerMessaging, readModels: []runner.Projection{messagingviews.Messages{}},
		processes: []processmanagers.Any{telling.Process()}, wire: (*App).wireMessaging,
	}
}

// registerMessaging adds messages.
func registerMessaging(b *bus.Bus) { bus.Register(b, messaging.Messages()) }

// wireMessaging registers the jobs of messages and makes their endpoints.
func (a *App) wireMessaging(ctx context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	gateways := a.messageGateways(ctx)
	delivery := messagingcases.Delivery{
		Bus: e.bus, Views: e.views, Clock: a.clock, Gateways: gateways, Shortcode: a.cfg.PaymentShortcode,
		PayLink: a.payLink,
		Fuse:    usecases.NewFuse(events.FuseMessages, e.bus, billingviews.FusesQuery{Views: e.views}.Days, a.clock),
	}
	messagingjobs.Workers{
		Send: func(ctx context.Context, args commands.SendMessage, cause jobs.Cause) (time.Time, error) {
			attempt := messagingcases.Attempt{Job: cause.JobID, Meta: cause.Meta}
			return delivery.Send(ctx, args, attempt)
		},
		Forget: a.storage.vault.Outbox.Forget, Locks: a.storage.db, Clock: a.clock, Queue: e.jobs,
	}.Register()
	routes := [][]httpapi.Route{
		messagingapi.Messages{Messages: messagingviews.MessagesQuery{Views: e.views}, Zone: a.zoneOf}.Routes(),
	}
	if len(gateways) > 0 { // development, with a channel that is only kept
		routes = append(routes, devapi.Messages{List: a.storage.vault.Outbox.List}.Routes())
	}
	return routes, nil
}

// messageGateways gives the gateway of each channel. In development a channel without an address is kept in the outbox.
// In every other case nothing can send it yet: the program says so at its start, and each message is recorded as
// failed.
func (a *App) messageGateways(ctx context.Context) map[events.MessageChannel]messagingcases.Gateway {
	all := map[events.MessageChannel]messagingcases.Gateway{}
	for channel, address := range map[events.MessageChannel]address{
		events.ChannelSMS: a.cfg.SMSURL, events.ChannelEmail: a.cfg.SMTPURL,
	} {
		if address == "" && !a.cfg.Production() {
			all[channel] = keptMessages{a.storage.vault.Outbox}
			continue
		}
		a.logger.WarnContext(ctx, "messages cannot be sent and are recorded as failed: this program has no gateway",
			"channel", string(channel))
	}
	return all
}

// payLink is the address of an organization's payment page as customers type it.
func (a *App) payLink(slug string) string {
	link := url.URL{Scheme: "https", Host: slug + "." + a.cfg.ServiceDomain, Path: "/pay"}
	if a.cfg.Production() {
		return link.String()
	}
	link.Scheme = "http"
	if a.listener != nil {
		if _, port, err := net.SplitHostPort(a.listener.Addr()); err == nil {
			link.Host = net.JoinHostPort(link.Host, port)
		}
	}
	return link.String()
}

// keptMessages is the gateway of development: it keeps messages instead of sending them.
type keptMessages struct{ outbox *vault.Outbox }

// Send keeps a message, once for each id.
func (g keptMessages) Send(ctx context.Context, m messagingcases.Outgoing) error {
	return g.outbox.Put(ctx, vault.OutboxMessage{
		ID: m.ID, Org: m.Org, Subscriber: m.Subscriber, At: m.At, Channel: string(m.Channel), To: m.To,
		Template: string(m.Template), Subject: m.Subject, Text: m.Text,
	})
}
