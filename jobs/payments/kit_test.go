package paymentsjobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// shortcode is the shared paybill of the platform in these tests.
const shortcode = "600100"

// kit has the workers with an event store, read models, a vault and a simulated provider. No process runs: tests call
// the jobs.
type kit struct {
	*coretest.Kit
	clock   *clock.Manual
	views   *runner.Views
	sim     *provider.Simulator
	access  paymentsjobs.Access
	workers *paymentsjobs.Workers
	metrics *prometheus.Registry
	org     id.Organization
	sub     id.Subscriber
}

// newKit starts everything at 09:00 UTC on 2 March 2026 of the manual clock.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{
		clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
		org:   id.New[id.Organization](), sub: id.New[id.Subscriber](),
	}
	k.sim = provider.New(provider.Config{Seed: 3, Clock: k.clock})
	if err := k.sim.Start(context.Background()); err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = k.sim.Stop(context.Background()) })
	k.Kit = coretest.NewWithVault(t, vault.Config{Clock: k.clock}, paymentsviews.Payments{},
		paymentsviews.Receipts{}, paymentsviews.Gateways{}, paymentsviews.Matching{}, paymentsviews.Reconciliations{})
	bus.Register(k.Bus, payments.Payments())
	bus.Register(k.Bus, payments.Receipts())
	bus.Register(k.Bus, payments.Gateways())
	bus.Register(k.Bus, payments.Reconciliations())
	bus.Register(k.Bus, billing.Accounts())
	k.views = k.Show(t)
	k.access = paymentsjobs.Access{
		Platform: mobilemoney.Credentials{
			ConsumerKey: "platform", ConsumerSecret: "secret", ShortCode: shortcode, Passkey: "pass",
		},
		Environment: commands.EnvironmentSandbox, Providers: map[string]paymentsjobs.Provider{
			commands.EnvironmentSandbox:    k.client(t, commands.EnvironmentSandbox),
			commands.EnvironmentProduction: k.client(t, commands.EnvironmentProduction),
		},
		Secrets: k.Vault.Secrets,
	}
	k.metrics = prometheus.NewRegistry()
	k.workers = paymentsjobs.New(paymentsjobs.Config{
		PullsRefused: paymentsjobs.NewPullsRefused(k.metrics),
		Bus:          k.Bus, Views: k.views, Inbox: k.Vault.Inbox, Access: k.access, Clock: k.clock,
		Logger:     storetest.Quiet(),
		Statements: k.Vault.Statements, Pulls: k.Vault.Pulls, NominatedNumber: "254700000000",
		Addresses: paymentsjobs.Addresses{
			Prompt: "http://127.0.0.1:9/webhooks/mobile-money/stk", Tokens: k.Vault.CallbackSecrets,
		},
	})
	return k
}

// client makes the provider's client of one replica in an environment: breaker and connections are its own, the token
// is shared through the vault.
func (k *kit) client(t *testing.T, environment string) *mobilemoney.Client {
	t.Helper()
	endpoint, err := mobilemoney.NewEndpoint(mobilemoney.Config{
		BaseURL: k.sim.URL(), Test: true, Guard: breaker.New(breaker.Config{Clock: k.clock, Threshold: 1000}),
		Clock: k.clock,
	})
	if err != nil {
		t.Fatalf("provider endpoint: %v", err)
	}
	t.Cleanup(endpoint.Close)
	return mobilemoney.New(endpoint, paymentsjobs.Tokens{
		Vault: k.Vault.ProviderTokens, Environment: environment, Fetch: endpoint.FetchToken, Logger: storetest.Quiet(),
	})
}

// execute runs a command as a process would, and waits until the read models show it.
func (k *kit) execute(t *testing.T, c commands.Command) bus.Result {
	t.Helper()
	done := k.Run(t, commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	}, c)
	coretest.WaitFor(t, k.views, done.Position, paymentsviews.PaymentsName, paymentsviews.ReceiptsName,
		paymentsviews.GatewaysName)
	return done
}

// initiate begins an attempt of 1500 shillings and returns its id and the position of its event.
func (k *kit) initiate(t *testing.T, reference string) (id.Payment, uint64) {
	t.Helper()
	p := id.New[id.Payment]()
	done := k.execute(t, commands.InitiatePayment{
		PaymentID: p, OrgID: k.org, SubscriberID: k.sub, Amount: money.Major(1500, money.KES),
		Phone: personal.Of("254712345678"), Environment: commands.EnvironmentSandbox, Shortcode: shortcode,
		AccountReference: reference,
	})
	return p, done.Position
}

// newCause makes the cause of a first attempt, with a job id of its own.
func newCause() jobs.Cause { return jobs.Cause{JobID: id.New[id.Any](), Attempt: 1} }

// history gives the event types of a stream, oldest first.
func (k *kit) history(t *testing.T, category string, i id.Any) []string {
	t.Helper()
	list, err := k.Store.Read(t.Context(), category+"-"+i.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, e := range list {
		types = append(types, e.Type)
	}
	return types
}
