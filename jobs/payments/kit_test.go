package paymentsjobs_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
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
	clock   *clock.Manual
	store   *storetest.Kit
	bus     *bus.Bus
	views   *runner.Views
	vault   *vault.Vault
	sim     *provider.Simulator
	access  paymentsjobs.Access
	workers *paymentsjobs.Workers
	org     id.Organization
	sub     id.Subscriber
}

// newKit starts everything at 09:00 UTC on 2 March 2026 of the manual clock.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{store: storetest.New(t), clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
		org: id.New[id.Organization](), sub: id.New[id.Subscriber]()}
	k.sim = provider.New(provider.Config{Seed: 3, Clock: k.clock})
	if err := k.sim.Start(context.Background()); err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = k.sim.Stop(context.Background()) })
	k.bus = bus.New(bus.Config{
		Store: k.store.Store, Claims: storetest.ClaimKey, Clock: k.clock, Logger: storetest.Quiet(),
	})
	bus.Register(k.bus, payments.Payments())
	bus.Register(k.bus, payments.Receipts())
	ring, err := secrets.New(bytes.Repeat([]byte{9}, secrets.KeySize))
	if err == nil {
		k.vault, err = vault.Open(t.Context(), vault.Config{DB: k.store.DB, Keyring: ring, Clock: k.clock})
	}
	if err != nil {
		t.Fatalf("open vault: %v", err)
	}
	k.startReading(t)
	k.access = paymentsjobs.Access{
		Platform: mobilemoney.Credentials{
			ConsumerKey: "platform", ConsumerSecret: "secret", ShortCode: shortcode, Passkey: "pass",
		},
		Environment: commands.EnvironmentSandbox, Providers: map[string]paymentsjobs.Provider{
			commands.EnvironmentSandbox: k.client(t),
		},
		Secrets: k.vault.Secrets,
	}
	k.workers = paymentsjobs.New(paymentsjobs.Config{
		Bus: k.bus, Views: k.views, Inbox: k.vault.Inbox, Access: k.access, Clock: k.clock, Logger: storetest.Quiet(),
		Addresses: paymentsjobs.Addresses{
			Prompt: "http://127.0.0.1:9/webhooks/mobile-money/stk", Tokens: k.vault.CallbackSecrets,
		},
	})
	return k
}

// startReading starts the read models that the workers query.
func (k *kit) startReading(t *testing.T) {
	t.Helper()
	f := feed.New(feed.FromStore(k.store.Store), storetest.Quiet())
	if err := f.Start(t.Context()); err != nil {
		t.Fatalf("start feed: %v", err)
	}
	t.Cleanup(f.Stop)
	shows := runner.New(runner.Config{Feed: f, DB: k.store.DB, Clock: k.clock})
	shows.Register(paymentsviews.Payments{}, paymentsviews.Receipts{}, paymentsviews.Gateways{},
		paymentsviews.Matching{})
	if err := shows.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(shows.Stop)
	k.views = shows.Views()
}

// client makes the provider's client of one replica: breaker and connections are its own, the token is shared through
// the vault.
func (k *kit) client(t *testing.T) *mobilemoney.Client {
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
		Vault: k.vault.ProviderTokens, Fetch: endpoint.FetchToken, Logger: storetest.Quiet(),
	})
}

// execute runs a command as a process would, and waits until the read models show it.
func (k *kit) execute(t *testing.T, c commands.Command) bus.Result {
	t.Helper()
	done, err := k.bus.Execute(t.Context(), c, commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	})
	if err != nil {
		t.Fatalf("%s: %v", c.CommandName(), err)
	}
	for _, name := range []string{paymentsviews.PaymentsName, paymentsviews.ReceiptsName} {
		if err := k.views.WaitFor(t.Context(), name, done.Position); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
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
	list, err := k.store.Store.Read(t.Context(), category+"-"+i.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, e := range list {
		types = append(types, e.Type)
	}
	return types
}

// refusedAs fails the test unless err has the code.
func refusedAs(t *testing.T, err error, code string) {
	t.Helper()
	if failure.CodeOf(err) != code {
		t.Errorf("want %s, have %v", code, err)
	}
}
