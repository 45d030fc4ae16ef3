package moneytest

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/httpapi/payments"
	"github.com/lastmile-isp/lastmile/httpapi/subscribers"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/gatewayregistration"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// shared reports whether a shortcode is the platform's, once the workers are there.
func (k *Kit) shared(ctx context.Context, environment, shortcode string) (bool, error) {
	return k.Workers.Shared(ctx, environment, shortcode)
}

// serve starts the server.
func (k *Kit) serve(t *testing.T, o Options, receiver *late, access paymentsjobs.Access) {
	t.Helper()
	platform := paymentscases.PlatformGateway{Shortcode: PlatformShortcode, Environment: commands.EnvironmentSandbox}
	books := paymentscases.Books{Statement: billingviews.StatementQuery{Views: k.Views}}
	attempts := paymentsviews.PaymentsQuery{Views: k.Views}
	invoices, users := billingviews.InvoicesQuery{Views: k.Views}, identityviews.UsersQuery{Views: k.Views}
	receipts := paymentscases.Receipts{Bus: k.Core.Bus, Views: k.Views, Clock: k.Clock}
	pays := paymentsapi.Payments{
		Payments: attempts, Receipts: receipts, Books: books,
		Invoices: invoices, Users: users, Prompts: k.prompts(access), Zone: k.zoneOf,
	}
	k.Kit = apitest.New(t, func(c *httpapi.Config) {
		c.Visibility, c.Limits.Webhook, c.Limits.Login = k.Views, o.Limit, o.Login
		c.Subscribers = subscribersapi.Names(subscribersviews.SubscribersQuery{Views: k.Views})
		if o.Shared {
			c.Limiter = k.Vault.Limits
		}
	},
		pays.Routes(),
		paymentsapi.Receipts{
			Suggestions: paymentscases.Suggestions{Views: k.Views, Shared: k.shared},
			Receipts:    paymentsviews.ReceiptsQuery{Views: k.Views},
			Matching:    paymentsviews.MatchingQuery{Views: k.Views}, Cases: receipts, Books: books,
			Invoices: invoices, Users: users, Zone: k.zoneOf, MayAsk: receiver.mayAsk,
			Proofs: paymentscases.Proofs{Steps: paymentsviews.ProofQuery{Views: k.Views}, Inbox: k.Vault.Inbox},
		}.Routes(),
		paymentsapi.Refunds{
			Refunds: paymentsviews.RefundsQuery{Views: k.Views}, Users: users,
			Cases: paymentscases.Refunds{Bus: k.Core.Bus, Views: k.Views, MayAsk: receiver.mayAsk},
		}.Routes(),
		paymentsapi.Inquiries{Cases: k.inquiries(platform, receiver)}.Routes(),
		k.reconciliations(platform, users).Routes(),
		paymentsapi.Suspense{Receipts: paymentsviews.ReceiptsQuery{Views: k.Views}}.Routes(),
		k.failedCallbacks().Routes(),
		k.settlement(receiver).Routes(),
		paymentsapi.Gateway{
			Gateways: paymentsviews.GatewaysQuery{Views: k.Views},
			Settings: usecases.RecordedSettings(k.Core.Bus),
			Cases: paymentscases.Gateways{
				Bus: k.Core.Bus, Secrets: k.Vault.Secrets, Platform: platform,
				Gateways: paymentsviews.GatewaysQuery{Views: k.Views},
			},
			NextTry: func(ctx context.Context, org id.Organization) (*time.Time, error) {
				return k.Procs.Due(ctx, gatewayregistration.Name, org.String(), gatewayregistration.TimerRetry)
			},
		}.Routes(),
		subscribersapi.Timeline{
			Timeline:    subscribersviews.TimelineQuery{Views: k.Views},
			Subscribers: subscribersviews.SubscribersQuery{Views: k.Views},
			Users:       identityviews.UsersQuery{Views: k.Views},
			Keys:        identityviews.APIKeysQuery{Views: k.Views}, Zone: k.zoneOf,
		}.Routes(),
		billingapi.Collections{Cases: billingcases.Collections{
			Settings: usecases.RecordedSettings(k.Core.Bus), Collections: billingviews.CollectionsQuery{Views: k.Views},
			Receipts: paymentsviews.ReceiptsQuery{Views: k.Views},
			Users:    identityviews.UsersQuery{Views: k.Views}, Clock: k.Clock,
		}}.Routes(),
		paymentsapi.Webhooks{Receiver: receiver}.Routes(), paymentsapi.Page{Cases: k.page(access)}.Routes())
}

// mayAsk asks the workers, which exist once requests come.
func (l *late) mayAsk(ctx context.Context, org id.Organization, environment, shortcode string) (bool, error) {
	return l.Workers.MayAsk(ctx, org, environment, shortcode)
}

// inquiries makes the use case that asks the provider about a receipt number.
func (k *Kit) inquiries(platform paymentscases.PlatformGateway, receiver *late) paymentscases.Inquiries {
	return paymentscases.Inquiries{
		Bus: k.Core.Bus, Platform: platform, Receipts: paymentsviews.ReceiptsQuery{Views: k.Views},
		Limiter: k.Vault.Limits, MayAsk: receiver.mayAsk,
		Ask: func(ctx context.Context, job commands.AskReceipt) error {
			return k.jobs.Insert(ctx, job, id.New[id.Any](), jobs.Cause{OrgID: job.OrgID}, 0)
		},
	}
}

// reconciliations serves the comparison with statements.
func (k *Kit) reconciliations(
	platform paymentscases.PlatformGateway, users identityviews.UsersQuery,
) paymentsapi.Reconciliations {
	return paymentsapi.Reconciliations{
		Reconciliations: paymentsviews.ReconciliationsQuery{Views: k.Views}, Statements: k.Vault.Statements,
		Users: users, Cases: paymentscases.Reconciliations{
			Bus: k.Core.Bus, Statements: k.Vault.Statements, Platform: platform, Clock: k.Clock,
			Key: k.Vault.FileKey, Limiter: k.Vault.Limits,
			Read: func(
				_ context.Context, _ id.Organization, file []byte, order column.DateOrder,
			) (paymentscases.StatementBounds, error) {
				s, err := mobilemoney.ReadStatement(file, order)
				return paymentscases.StatementBounds{
					Shortcode: s.ShortCode, Lines: len(s.Lines), First: s.First, Last: s.Last,
				}, err
			},
		},
	}
}

// settlement serves what the platform owes for its own paybill.
func (k *Kit) settlement(receiver *late) paymentsapi.Settlement {
	return paymentsapi.Settlement{Cases: paymentscases.Settlement{
		Query:         paymentsviews.SettlementQuery{Views: k.Views},
		Organizations: identityviews.OrganizationsQuery{Views: k.Views}, Clock: k.Clock,
		Shared: func(ctx context.Context, environment, shortcode string) (bool, error) {
			return receiver.Workers.Shared(ctx, environment, shortcode)
		},
	}}
}

// failedCallbacks serves the messages that led to nothing.
func (k *Kit) failedCallbacks() paymentsapi.FailedCallbacks {
	return paymentsapi.FailedCallbacks{
		Cases: paymentscases.FailedCallbacks{Bus: k.Core.Bus, Inbox: k.Vault.Inbox},
	}
}

// zoneOf is the zone in which the times of an organization are told.
func (k *Kit) zoneOf(ctx context.Context, org id.Organization) (*time.Location, error) {
	return usecases.RecordedSettings(k.Core.Bus).Zone(ctx, org)
}

// page makes the use case of the payment page.
func (k *Kit) page(access paymentsjobs.Access) paymentscases.Page {
	return paymentscases.Page{
		Prompts: k.prompts(access), Matching: paymentsviews.MatchingQuery{Views: k.Views},
		Later: func(ctx context.Context, asked usecases.Asked, subscribers []id.Subscriber) error {
			return k.jobs.Insert(ctx, commands.AskToPay{Subscribers: subscribers, At: k.Clock.Now()},
				id.New[id.Any](), jobs.Cause{OrgID: asked.Org(), Actor: asked.Meta.Actor}, 0)
		},
	}
}
