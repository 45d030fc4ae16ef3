package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/payments"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/parsing"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/gatewayregistration"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/paymentprompt"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/receipts"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/reconciliations"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/refunds"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/reversals"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// paymentsArea gives payment attempts, receipts and gateway settings.
func paymentsArea() area {
	return area{
		aggregates: registerPayments,
		readModels: []runner.Projection{
			paymentsviews.Payments{}, paymentsviews.Receipts{}, paymentsviews.Gateways{}, paymentsviews.Matching{},
			paymentsviews.Settlement{},
			paymentsviews.Proof{}, paymentsviews.Refunds{}, paymentsviews.Reconciliations{},
		},
		processes: []processmanagers.Any{
			paymentprompt.Process(), receipts.Process(), refunds.Process(), reversals.Process(),
			reconciliations.Process(),
			gatewayregistration.Process(),
		},
		wire: (*App).wirePayments,
	}
}

// registerPayments adds attempts, receipts, refunds and gateway settings.
func registerPayments(b *bus.Bus) {
	bus.Register(b, payments.Payments())
	bus.Register(b, payments.Receipts())
	bus.Register(b, payments.Refunds())
	bus.Register(b, payments.Reconciliations())
	bus.Register(b, payments.Gateways())
}

// wirePayments makes the provider's client, registers the jobs of payments and makes their endpoints.
func (a *App) wirePayments(ctx context.Context) ([][]httpapi.Route, error) {
	access, err := a.paymentAccess()
	if err != nil {
		return nil, err
	}
	page := a.paymentPage(access)
	workers := paymentsjobs.New(paymentsjobs.Config{
		Ask: func(ctx context.Context, meta commands.Meta, subscribers []id.Subscriber) error {
			return page.Ask(ctx, usecases.Asked{Meta: meta, Keyed: true}, subscribers)
		},
		Bus: a.engines.bus, Views: a.engines.views, Inbox: a.storage.vault.Inbox, Access: access, Clock: a.clock,
		Statements: a.storage.vault.Statements, Pulls: a.storage.vault.Pulls, NominatedNumber: a.nominatedNumber(),
		PullsRefused: paymentsjobs.NewPullsRefused(a.metrics),
		Gate:         &a.gates.jobs, Logger: a.logger,
		Addresses: paymentsjobs.Addresses{Prompt: a.callbackURL(), Tokens: a.storage.vault.CallbackSecrets},
	})
	workers.Register(a.engines.jobs)
	inbox := paymentsjobs.NewInbox(workers)
	if a.storage.sole(a.roles) {
		if err := a.storage.vault.Inbox.TakeOver(ctx); err != nil {
			return nil, err
		}
	}
	if a.roles.has(roleJobs) {
		if err := a.life.startBeside(ctx, "callback inbox", stopEngines, inbox); err != nil {
			return nil, err
		}
	}
	receiver := paymentsjobs.Receiver{
		Workers: workers, Inbox: inbox, Allowed: a.cfg.PaymentAllowedIPs,
		TrustBare: a.cfg.GatewayMode == gatewayTest || a.cfg.PaymentEnv == string(mobilemoney.Sandbox),
	}
	if a.roles.has(roleAPI) {
		a.kept.Serve(receiver)
		if err := a.life.startBeside(ctx, "kept callbacks", stopEngines, a.kept); err != nil {
			return nil, err
		}
		receiver.Kept = a.kept
	}
	return append(a.paymentRoutes(access, workers), paymentsapi.Webhooks{Receiver: receiver}.Routes(),
		paymentsapi.Page{Cases: page}.Routes(), a.settlement(workers).Routes()), nil
}

// testNominated answers for shortcodes towards the simulated provider, which asks for a phone as the real one does.
const testNominated = "254700000000"

// nominatedNumber gives the phone of who answers for shortcodes when payments are asked for.
func (a *App) nominatedNumber() string {
	if a.cfg.PaymentNominated == "" && a.cfg.GatewayMode == gatewayTest {
		return testNominated
	}
	return a.cfg.PaymentNominated
}

// settlement makes the endpoints of what the platform owes.
func (a *App) settlement(workers *paymentsjobs.Workers) paymentsapi.Settlement {
	return paymentsapi.Settlement{Cases: paymentscases.Settlement{
		Query:         paymentsviews.SettlementQuery{Views: a.engines.views},
		Organizations: identityviews.OrganizationsQuery{Views: a.engines.views}, Shared: workers.Shared, Clock: a.clock,
	}}
}

// keepEarly opens the file of callbacks that wait for the database, before there is one, and gives what serves requests
// until the program is ready. It needs the platform key and DATA_DIR alone.
func (a *App) keepEarly(ctx context.Context) (http.Handler, error) {
	ring, err := openKeyring(a.cfg)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(a.cfg.DataDir, 0o755); err != nil { //nolint:gosec // the files in it are guarded one by one
		return nil, fmt.Errorf("DATA_DIR: %w", err)
	}
	a.kept = paymentsjobs.NewKept(paymentsjobs.KeptConfig{
		Dir: a.cfg.DataDir, Ring: ring, Allowed: a.cfg.PaymentAllowedIPs,
		Limits: vault.NewLocalLimits(a.clock), PerMinute: a.cfg.RateLimitWebhook,
		Written: func() bool { return a.storage.writes.State() == postgres.WritesTaken },
		Leave:   func(ctx context.Context, place string) error { return a.storage.vault.Presence.Leave(ctx, place) },
		Clock:   a.clock, Logger: a.logger,
	})
	if err := a.kept.Open(ctx); err != nil {
		return nil, err
	}
	a.life.started("file of callbacks", stopStorage, func(context.Context) { a.kept.Stop() })
	if !a.ran {
		return http.HandlerFunc(a.notReady), nil
	}
	return paymentsapi.Starting{
		Keeper: a.kept, TrustedProxies: a.cfg.TrustedProxy, Else: http.HandlerFunc(a.notReady), Logger: a.logger,
	}.Handler(), nil
}

// paymentPage makes the use case of the payment page, whose prompts are made by a job.
func (a *App) paymentPage(access paymentsjobs.Access) paymentscases.Page {
	e := a.engines
	return paymentscases.Page{
		Prompts: a.prompts(access), Matching: paymentsviews.MatchingQuery{Views: e.views},
		Later: func(ctx context.Context, asked usecases.Asked, subscribers []id.Subscriber) error {
			return e.jobs.Insert(ctx, commands.AskToPay{Subscribers: subscribers, At: a.clock.Now()},
				id.New[id.Any](), jobs.Cause{
					OrgID: asked.Org(), Actor: asked.Meta.Actor, CorrelationID: asked.Meta.CommandID.String(),
				}, 0)
		},
	}
}

// prompts makes the use case that asks phones to pay.
func (a *App) prompts(access paymentsjobs.Access) paymentscases.Prompts {
	return paymentscases.Prompts{
		Bus: a.engines.bus, Payments: paymentsviews.PaymentsQuery{Views: a.engines.views},
		Platform: a.platformGateway(), Limiter: a.storage.vault.Limits, Limit: a.cfg.RateLimitPrompt,
		Ready: access.Ready,
	}
}

// platformGateway gives the platform's shared paybill.
func (a *App) platformGateway() paymentscases.PlatformGateway {
	return paymentscases.PlatformGateway{
		Shortcode: a.cfg.PaymentShortcode, Environment: a.cfg.PaymentEnv, Live: a.cfg.GatewayMode == gatewayLive,
	}
}

// paymentAccess makes the clients of the provider for both of its environments. A configured or simulated address
// serves for either.
func (a *App) paymentAccess() (paymentsjobs.Access, error) {
	access := paymentsjobs.Access{
		Platform: mobilemoney.Credentials{
			ConsumerKey: a.cfg.PaymentConsumerKey, ConsumerSecret: a.cfg.PaymentConsumerSecret.Reveal(),
			ShortCode: a.cfg.PaymentShortcode, Passkey: a.cfg.PaymentPasskey.Reveal(),
		},
		Initiator: mobilemoney.Initiator{
			Name: a.cfg.PaymentInitiator, SecurityCredential: a.cfg.PaymentCredential.Reveal(),
		},
		Bills:       a.cfg.BillManagerShortcode,
		Environment: a.cfg.PaymentEnv, Providers: map[string]paymentsjobs.Provider{}, Secrets: a.storage.vault.Secrets,
	}
	for _, environment := range []mobilemoney.Environment{mobilemoney.Sandbox, mobilemoney.Production} {
		endpoint, err := mobilemoney.NewEndpoint(mobilemoney.Config{
			Environment: environment, BaseURL: a.provider, Test: a.cfg.GatewayMode == gatewayTest, Guard: a.breakers,
			Clock: a.clock, Logger: a.logger,
		})
		if err != nil {
			return paymentsjobs.Access{}, err
		}
		a.breakers.Know(mobilemoney.BreakerKind, endpoint.Target())
		a.providerHosts[string(environment)] = endpoint.Target()
		a.life.startedBeside("payment provider client", stopStorage, func(context.Context) { endpoint.Close() })
		tokens := paymentsjobs.Tokens{
			Vault: a.storage.vault.ProviderTokens, Environment: string(environment), Fetch: endpoint.FetchToken,
			Logger: a.logger,
		}
		access.Providers[string(environment)] = mobilemoney.New(endpoint, tokens)
	}
	return access, nil
}

// statementBounds reads what a statement of the provider is about, with a turn of the organization.
func (a *App) statementBounds(
	ctx context.Context, org id.Organization, file []byte, order column.DateOrder,
) (out paymentscases.StatementBounds, err error) {
	err = a.turns.Run(ctx, org, parsing.Statements, len(file), func(context.Context) error {
		s, err := mobilemoney.ReadStatement(file, order)
		out = paymentscases.StatementBounds{
			Shortcode: s.ShortCode, Lines: len(s.Lines), First: s.First, Last: s.Last,
		}
		return err
	})
	return out, err
}

// paymentRoutes makes the endpoints of payments, receipts, refunds and gateway settings, with their use cases.
func (a *App) paymentRoutes(access paymentsjobs.Access, workers *paymentsjobs.Workers) [][]httpapi.Route {
	e, v := a.engines, a.storage.vault
	platform := a.platformGateway()
	books := paymentscases.Books{Statement: billingviews.StatementQuery{Views: e.views}}
	attempts := paymentsviews.PaymentsQuery{Views: e.views}
	invoices, users := billingviews.InvoicesQuery{Views: e.views}, identityviews.UsersQuery{Views: e.views}
	receipts := paymentscases.Receipts{Bus: e.bus, Views: e.views, Clock: a.clock}
	return [][]httpapi.Route{
		paymentsapi.Payments{
			Payments: attempts, Receipts: receipts, Books: books,
			Invoices: invoices, Users: users,
			Prompts: a.prompts(access), Zone: a.zoneOf,
		}.Routes(),
		paymentsapi.Receipts{
			Receipts: paymentsviews.ReceiptsQuery{Views: e.views},
			Matching: paymentsviews.MatchingQuery{Views: e.views}, Cases: receipts, Books: books,
			Invoices: invoices, Users: users, Zone: a.zoneOf, MayAsk: workers.MayAsk,
			Suggestions: paymentscases.Suggestions{Views: e.views, Shared: workers.Shared},
			Proofs:      paymentscases.Proofs{Steps: paymentsviews.ProofQuery{Views: e.views}, Inbox: v.Inbox},
		}.Routes(),
		paymentsapi.Refunds{
			Refunds: paymentsviews.RefundsQuery{Views: e.views}, Users: users,
			Cases: paymentscases.Refunds{Bus: e.bus, Views: e.views, MayAsk: workers.MayAsk},
		}.Routes(),
		paymentsapi.Inquiries{Cases: paymentscases.Inquiries{
			Bus: e.bus, Platform: platform, Receipts: paymentsviews.ReceiptsQuery{Views: e.views}, Limiter: v.Limits,
			MayAsk: workers.MayAsk, Ask: func(ctx context.Context, job commands.AskReceipt) error {
				return e.jobs.Insert(ctx, job, id.New[id.Any](), jobs.Cause{OrgID: job.OrgID}, 0)
			},
		}}.Routes(),
		paymentsapi.Reconciliations{
			Reconciliations: paymentsviews.ReconciliationsQuery{Views: e.views}, Statements: v.Statements, Users: users,
			Cases: paymentscases.Reconciliations{
				Bus: e.bus, Statements: v.Statements, Platform: platform, Clock: a.clock, Read: a.statementBounds,
				Key: v.FileKey, Limiter: v.Limits,
			},
		}.Routes(),
		paymentsapi.Suspense{Receipts: paymentsviews.ReceiptsQuery{Views: e.views}}.Routes(),
		paymentsapi.FailedCallbacks{Cases: paymentscases.FailedCallbacks{Bus: e.bus, Inbox: v.Inbox}}.Routes(),
		paymentsapi.Gateway{
			Gateways: paymentsviews.GatewaysQuery{Views: e.views}, Settings: a.engines.settings,
			Cases: paymentscases.Gateways{
				Bus: e.bus, Secrets: v.Secrets, Platform: platform,
				Gateways: paymentsviews.GatewaysQuery{Views: e.views},
			},
			NextTry: func(ctx context.Context, org id.Organization) (*time.Time, error) {
				return e.processes.Due(ctx, gatewayregistration.Name, org.String(), gatewayregistration.TimerRetry)
			},
		}.Routes(),
	}
}
