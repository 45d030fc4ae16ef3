package main

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/messagegateway"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/dev"
	"github.com/lastmile-isp/lastmile/httpapi/messaging"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/messaging"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/messaging/telling"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// messagingArea gives the messages to customers, and their support requests.
func messagingArea() area {
	return area{
		aggregates: registerMessaging,
		readModels: []runner.Projection{messagingviews.Messages{}, messagingviews.Support{}},
		processes:  []processmanagers.Any{telling.Process()},
		wire:       (*App).wireMessaging,
	}
}

// registerMessaging adds messages, their settings, and support requests.
func registerMessaging(b *bus.Bus) {
	bus.Register(b, messaging.Messages())
	bus.Register(b, messaging.AllSettings())
	bus.Register(b, messaging.SupportRequests())
}

// wireMessaging registers the jobs of messages and makes their endpoints.
func (a *App) wireMessaging(context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	delivery := messagingcases.Delivery{
		Bus: e.bus, Views: e.views, Clock: a.clock, Gateways: a.gateways, Offers: a.storage.vault.Offers,
		Shortcode: a.cfg.PaymentShortcode, PayLink: a.payLink, Portal: a.portalLink,
		BillOptIn: a.billOptIn(),
		Asked:     a.asked,
		Fuse:      usecases.NewFuse(events.FuseMessages, e.bus, billingviews.FusesQuery{Views: e.views}.Days, a.clock),
	}
	messagingjobs.Workers{
		Send: func(ctx context.Context, args commands.SendMessage, cause jobs.Cause) (time.Time, error) {
			attempt := messagingcases.Attempt{Job: cause.JobID, Meta: cause.Meta}
			return delivery.Send(ctx, args, attempt)
		},
		Run: delivery.OfRun,
		Report: func(ctx context.Context, args commands.TakeMessageReport, cause jobs.Cause) (bool, error) {
			return messagingcases.Reports{Bus: e.bus, Views: e.views}.Take(ctx, args, cause.Meta("report"))
		},
		Forget: a.storage.vault.Outbox.Forget, Locks: a.storage.db, Clock: a.clock, Queue: e.jobs,
	}.Register()
	routes := [][]httpapi.Route{
		messagingapi.Messages{Messages: messagingviews.MessagesQuery{Views: e.views}, Zone: a.zoneOf}.Routes(),
		messagingapi.Support{
			Requests: messagingviews.SupportQuery{Views: e.views},
			Cases:    messagingcases.Support{Bus: e.bus, Limiter: a.storage.vault.Limits},
			Users:    identityviews.UsersQuery{Views: e.views}.Names,
		}.Routes(),
		messagingapi.Costs{
			Messages: messagingviews.MessagesQuery{Views: e.views}, Zone: a.zoneOf, Clock: a.clock,
			Organizations: identityviews.OrganizationsQuery{Views: e.views}.Some,
		}.Routes(),
		messagingapi.Settings{Cases: messagingcases.Settings{Bus: e.bus}}.Routes(),
	}
	if sms, is := a.gateways[events.ChannelSMS].(smsGateway); is && !a.cfg.SMSReportToken.IsZero() {
		routes = append(routes, messagingapi.Reports{
			Token: a.cfg.SMSReportToken, Read: sms.readReports, Take: a.takeReport, Clock: a.clock,
		}.Routes())
	}
	if to, is := a.gateways[events.ChannelWhatsApp].(whatsAppGateway); is && !a.cfg.WhatsAppReportToken.IsZero() {
		routes = append(routes, messagingapi.WhatsAppReports{
			Reports: messagingapi.Reports{
				Token: a.cfg.WhatsAppReportToken, Read: to.readReports, Take: a.takeReport, Clock: a.clock,
			},
			Signed: func(body []byte, signature string) bool {
				return messagegateway.SignedByWhatsApp(body, signature, a.cfg.WhatsAppAppSecret)
			},
		}.Routes())
	}
	if a.gateways.keeps() {
		routes = append(routes, devapi.Messages{List: a.storage.vault.Outbox.List}.Routes())
	}
	return routes, nil
}

// asked tells what begins each service of a customer for which no invoice asks.
func (a *App) asked(
	ctx context.Context, customer subscribersviews.SubscriberRow,
) (map[id.Subscription]money.Amount, error) {
	asked, err := a.asking().Of(ctx, customer)
	begins := map[id.Subscription]money.Amount{}
	for _, s := range asked.ToRenew {
		begins[s.SubscriptionID] = s.Due
	}
	return begins, err
}

// payLink is the address of an organization's payment page as customers type it.
func (a *App) payLink(slug string) string { return a.linkFor(slug, "/pay") }

// portalLink is the address of an organization's portal.
func (a *App) portalLink(slug string) string { return a.linkFor(slug, "/portal/") }

// linkFor is the address of a page at the host of an organization.
func (a *App) linkFor(slug, path string) string {
	link := url.URL{Scheme: "https", Host: slug + "." + a.cfg.ServiceDomain, Path: path}
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

// takeReport keeps a report of the SMS provider or of WhatsApp; the same one again is the same job.
func (a *App) takeReport(ctx context.Context, report commands.TakeMessageReport) error {
	job := id.Derive[id.Any]("sms report", report.Reference, strconv.FormatBool(report.Delivered))
	return a.engines.jobs.Insert(ctx, report, job, jobs.Cause{}, 0)
}
