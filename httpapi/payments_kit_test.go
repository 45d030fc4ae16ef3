package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/gatewayregistration"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/paymentprompt"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/receipts"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// The shared paybill and its credentials.
const (
	platformShortcode = "600100"
	aminaPhone        = "+254712345678"
	moneyPatience     = 20 * time.Second
)

// moneyKit is the whole of payments behind a server, with a provider on the other side: log, bus, processes, jobs,
// inbox, read models, endpoints. The vault and the jobs run by the machine's clock, business by one that is moved by
// hand.
type moneyKit struct {
	*apitest.Kit
	store    *storetest.Kit
	clock    *clock.Manual
	bus      *bus.Bus
	views    *runner.Views
	procs    *processrunner.Runner
	jobs     *jobrunner.Runner
	inbox    *paymentsjobs.Inbox
	vault    *vault.Vault
	breakers *breaker.Set
	sim      *provider.Simulator
	org      id.Organization
	amina    id.Subscriber
	brian    id.Subscriber // of the other organization
	chege    id.Subscriber // Amina's neighbour
}

// moneyOptions are what tests choose.
type moneyOptions struct {
	live    bool           // bare addresses prove nothing
	allowed []netip.Prefix // the provider's addresses
	limit   int            // callbacks a minute
}

// late is a receiver that is made after the server whose address it needs.
type late struct{ paymentsjobs.Receiver }

// newMoneyKit starts it with a subscriber in each of two organizations.
func newMoneyKit(t *testing.T, o moneyOptions) *moneyKit {
	t.Helper()
	k := &moneyKit{
		store: storetest.New(t), clock: clock.NewManual(time.Now()), sim: provider.New(provider.Config{Seed: 7}),
		amina: id.New[id.Subscriber](), brian: id.New[id.Subscriber](), chege: id.New[id.Subscriber](),
	}
	if err := k.sim.Start(context.Background()); err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = k.sim.Stop(context.Background()) })
	ring, err := secrets.New(bytes.Repeat([]byte{9}, secrets.KeySize))
	if err == nil {
		k.vault, err = vault.Open(t.Context(), vault.Config{DB: k.store.DB, Keyring: ring, Clock: clock.System()})
	}
	if err != nil {
		t.Fatalf("open vault: %v", err)
	}
	k.bus = bus.New(bus.Config{
		Store: k.store.Store, Claims: storetest.ClaimKey, Clock: k.clock, Logger: storetest.Quiet(),
	})
	bus.Register(k.bus, billing.Accounts())
	bus.Register(k.bus, billing.NumberSeries())
	bus.Register(k.bus, identity.Organizations())
	bus.Register(k.bus, subscribers.Subscribers())
	bus.Register(k.bus, subscribers.Subscriptions())
	bus.RegisterStored[commands.DraftInvoice](k.bus)
	bus.RegisterStored[commands.GrantNumber](k.bus)
	bus.RegisterStored[commands.IssueInvoice](k.bus)
	bus.RegisterStored[commands.VoidInvoice](k.bus)
	bus.RegisterStored[commands.IssueCreditNote](k.bus)
	registerForPayments(k.bus)
	k.startReading(t)
	receiver := &late{}
	access := k.access(t)
	k.serve(t, o, receiver, access)
	workers := paymentsjobs.New(paymentsjobs.Config{
		Bus: k.bus, Views: k.views, Inbox: k.vault.Inbox, Access: access, Clock: k.clock, Logger: storetest.Quiet(),
		Addresses: paymentsjobs.Addresses{
			Prompt: k.URL() + "/webhooks/mobile-money/stk", Tokens: k.vault.CallbackSecrets,
		},
	})
	k.inbox = paymentsjobs.NewInbox(workers)
	receiver.Receiver = paymentsjobs.Receiver{Workers: workers, Inbox: k.inbox, Allowed: o.allowed, TrustBare: !o.live}
	k.startWorking(t, workers)
	if err := workers.RegisterPlatform(t.Context(), commands.RegisterPlatform{}, jobs.Cause{}); err != nil {
		t.Fatalf("register the platform's paybill: %v", err)
	}
	k.populateMoney(t)
	return k
}

// registerForPayments adds what payments take part in.
func registerForPayments(b *bus.Bus) {
	bus.Register(b, payments.Payments())
	bus.Register(b, payments.Receipts())
	bus.Register(b, payments.Gateways())
	bus.Register(b, identity.Users())
	bus.RegisterStored[commands.ExpirePayment](b)
	bus.RegisterStored[commands.SettlePayment](b)
	bus.RegisterStored[commands.MatchReceipt](b)
	bus.RegisterStored[commands.HoldReceipt](b)
	bus.RegisterStored[commands.AbsorbReceipt](b)
	bus.RegisterStored[commands.ClaimProvisional](b)
	bus.RegisterStored[commands.MarkUnclaimed](b)
	bus.RegisterStored[commands.CreditReceipt](b)
	bus.RegisterStored[commands.WithdrawReceipt](b)
	bus.RegisterStored[commands.ReleasePrompt](b)
}

// startReading fills the read models.
func (k *moneyKit) startReading(t *testing.T) {
	t.Helper()
	f := feed.New(feed.FromStore(k.store.Store), storetest.Quiet())
	if err := f.Start(t.Context()); err != nil {
		t.Fatalf("start feed: %v", err)
	}
	t.Cleanup(f.Stop)
	shows := runner.New(runner.Config{Feed: f, DB: k.store.DB, Clock: k.clock})
	shows.Register(paymentsviews.Payments{}, paymentsviews.Receipts{}, paymentsviews.Gateways{},
		paymentsviews.Matching{}, billingviews.Statement{}, billingviews.Invoices{}, billingviews.Collections{},
		subscribersviews.Subscribers{},
		subscribersviews.Timeline{}, identityviews.Users{})
	if err := shows.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(shows.Stop)
	k.views = shows.Views()
	k.jobs = jobrunner.New(jobrunner.Config{DB: k.store.DB})
	k.procs = processrunner.New(processrunner.Config{
		Feed: f, DB: k.store.DB, Clock: k.clock, Decode: k.bus.DecodeStored, Jobs: k.jobs,
		Execute: func(ctx context.Context, cmd commands.Command, meta commands.Meta) error {
			_, err := k.bus.Execute(ctx, cmd, meta)
			return err
		},
	})
}

// access reaches the simulator with the platform's credentials.
func (k *moneyKit) access(t *testing.T) paymentsjobs.Access {
	t.Helper()
	k.breakers = breaker.New(breaker.Config{Clock: k.clock})
	endpoint, err := mobilemoney.NewEndpoint(mobilemoney.Config{
		BaseURL: k.sim.URL(), Test: true, Guard: k.breakers, Clock: k.clock,
	})
	if err != nil {
		t.Fatalf("provider endpoint: %v", err)
	}
	client := mobilemoney.New(endpoint, paymentsjobs.Tokens{
		Vault: k.vault.ProviderTokens, Fetch: endpoint.FetchToken, Logger: storetest.Quiet(),
	})
	return paymentsjobs.Access{
		Platform: mobilemoney.Credentials{
			ConsumerKey: "platform", ConsumerSecret: "secret", ShortCode: platformShortcode, Passkey: "pass",
		},
		Environment: commands.EnvironmentSandbox, Secrets: k.vault.Secrets,
		Providers: map[string]paymentsjobs.Provider{
			commands.EnvironmentSandbox: client, commands.EnvironmentProduction: client,
		},
	}
}

// serve starts the endpoints.
func (k *moneyKit) serve(t *testing.T, o moneyOptions, receiver *late, access paymentsjobs.Access) {
	t.Helper()
	platform := httpapi.PlatformGateway{Shortcode: platformShortcode, Environment: commands.EnvironmentSandbox}
	books := httpapi.Books{Statement: billingviews.StatementQuery{Views: k.views}}
	pays := httpapi.PaymentsAPI{
		Books: books, Bus: k.bus, Payments: paymentsviews.PaymentsQuery{Views: k.views},
		Gateways: paymentsviews.GatewaysQuery{Views: k.views},
		Limiter:  k.vault.Limits, PromptLimit: 3, Ready: access.Ready, Platform: platform, Clock: k.clock,
		Own: func(context.Context, id.Organization, id.User) ([]id.Subscriber, error) {
			return []id.Subscriber{k.amina}, nil
		},
	}
	k.Kit = apitest.New(t, func(c *httpapi.Config) { c.Visibility, c.Limits.Webhook = k.views, o.limit },
		pays.Routes(),
		httpapi.ReceiptsAPI{
			Bus: k.bus, Receipts: paymentsviews.ReceiptsQuery{Views: k.views},
			Matching: paymentsviews.MatchingQuery{Views: k.views}, Books: books,
		}.Routes(),
		httpapi.PaymentGatewayAPI{
			Bus: k.bus, Gateways: paymentsviews.GatewaysQuery{Views: k.views}, Secrets: k.vault.Secrets,
			Platform: platform,
		}.Routes(),
		httpapi.TimelineAPI{
			Timeline:    subscribersviews.TimelineQuery{Views: k.views},
			Subscribers: subscribersviews.SubscribersQuery{Views: k.views},
			Users:       identityviews.UsersQuery{Views: k.views},
		}.Routes(),
		httpapi.CollectionsAPI{
			Collections: billingviews.CollectionsQuery{Views: k.views}, Users: identityviews.UsersQuery{Views: k.views},
			Settings: httpapi.OrganizationSettingsAPI{Bus: k.bus}, Clock: k.clock,
		}.Routes(),
		httpapi.MobileMoneyWebhooks{Receiver: receiver}.Routes())
}

// startWorking starts jobs, inbox and processes.
func (k *moneyKit) startWorking(t *testing.T, workers *paymentsjobs.Workers) {
	t.Helper()
	workers.Register(k.jobs)
	if err := k.jobs.Start(t.Context()); err != nil {
		t.Fatalf("start jobs: %v", err)
	}
	t.Cleanup(k.jobs.Stop)
	if err := k.inbox.Start(t.Context()); err != nil {
		t.Fatalf("start inbox: %v", err)
	}
	t.Cleanup(k.inbox.Stop)
	processrunner.Register(k.procs, invoicing.Process())
	processrunner.Register(k.procs, invoicing.DocumentProcess())
	processrunner.Register(k.procs, paymentprompt.Process())
	processrunner.Register(k.procs, receipts.Process())
	processrunner.Register(k.procs, gatewayregistration.Process())
	if err := k.procs.Start(t.Context()); err != nil {
		t.Fatalf("start processes: %v", err)
	}
	t.Cleanup(k.procs.Stop)
}

// run executes a command of the platform itself.
func (k *moneyKit) run(t *testing.T, c commands.Command, org id.Organization) bus.Result {
	t.Helper()
	done, err := k.bus.Execute(t.Context(), c, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorOperator},
	})
	if err != nil {
		t.Fatalf("%s: %v", c.CommandName(), err)
	}
	return done
}

// populateMoney makes the organizations with a subscriber each.
func (k *moneyKit) populateMoney(t *testing.T) {
	t.Helper()
	k.org = k.Orgs["acme"].ID
	for n, who := range []struct {
		slug, phone string
		id          id.Subscriber
	}{{"acme", aminaPhone, k.amina}, {"other", "+254722000001", k.brian}} {
		org := k.Orgs[who.slug].ID
		k.run(t, commands.CreateOrganization{
			OrgID: org, Slug: who.slug, Name: "The " + who.slug, Billing: events.BillingSettings{
				Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: fmt.Sprintf("ISP%d", n),
				Tax: events.TaxRule{
					Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}},
				},
			},
		}, id.Organization{})
		k.run(t, commands.RegisterSubscriber{
			SubscriberID: who.id, OrgID: org, AccountNumber: commands.AccountNumber(1_000_000 + n),
			Currency: money.KES, Details: events.SubscriberDetails{
				FirstName: personal.Of("Somebody"), Phone: personal.Of(who.phone),
			},
		}, org)
	}
}

// neighbour registers Chege, a second subscriber of Amina's organization.
func (k *moneyKit) neighbour(t *testing.T) {
	t.Helper()
	k.run(t, commands.RegisterSubscriber{
		SubscriberID: k.chege, OrgID: k.org, AccountNumber: commands.AccountNumber(1_000_009),
		Currency: money.KES, Details: events.SubscriberDetails{
			FirstName: personal.Of("Chege"), Phone: personal.Of("+254744000000"),
		},
	}, k.org)
}

// until looks again and again at something that cannot be waited for, with a deadline.
func (k *moneyKit) until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(moneyPatience)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not in time", what)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// quiet waits until nothing is on its way: no callback, no stored command, no job that is due, no event unread.
func (k *moneyKit) quiet(t *testing.T) {
	t.Helper()
	if err := k.sim.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	ns := k.store.DB.Namespace
	busy := `select (select count(*) from ` + ns.Schema("vault") + `.callbacks where done_at is null)
		+ (select count(*) from ` + ns.Schema("processes") + `.commands)
		+ (select count(*) from ` + ns.Schema("river") +
		`.river_job where state in ('available', 'running', 'retryable'))`
	calm := 0
	k.until(t, "everything is done", func() bool {
		var n int
		if err := k.store.DB.Owner.QueryRow(t.Context(), busy).Scan(&n); err != nil {
			t.Fatal(err)
		}
		head, err := k.store.Store.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range k.procs.Status() {
			if s.Position < head || s.Error != "" {
				n++
			}
		}
		for _, name := range []string{
			paymentsviews.PaymentsName, paymentsviews.ReceiptsName, paymentsviews.GatewaysName,
			paymentsviews.MatchingName,
		} {
			if k.views.Position(name) < head {
				n++
			}
		}
		if n > 0 {
			calm = 0
		} else {
			calm++
		}
		return calm >= 2
	})
}

// account is Amina's money, from the log.
func (k *moneyKit) account(t *testing.T, s id.Subscriber) billing.Account {
	t.Helper()
	a, _, err := bus.LoadUnchecked[billing.Account](t.Context(), k.bus, s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// credited is what was put on an account and not taken back, in shillings, and how often.
func (k *moneyKit) credited(t *testing.T, s id.Subscriber) (shillings int64, times int) {
	t.Helper()
	list, err := k.store.Store.Read(t.Context(), commands.AccountCategory+"-"+s.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		switch v := e.Event.(type) {
		case events.ReceiptCredited:
			shillings, times = shillings+v.Amount.Minor/100, times+1
		case events.ReceiptWithdrawn:
			shillings -= v.Amount.Minor / 100
		}
	}
	return shillings, times
}

// shows waits until a read model has everything.
func (k *moneyKit) shows(t *testing.T, names ...string) {
	t.Helper()
	head, err := k.store.Store.Head(t.Context())
	for _, name := range names {
		if err == nil {
			err = k.views.WaitFor(t.Context(), name, head)
		}
	}
	if err != nil {
		t.Fatalf("wait: %v", err)
	}
}

// named gives the caller of a token a name in Acme.
func (k *moneyKit) named(t *testing.T, token, first string) id.User {
	t.Helper()
	user := k.Callers[token].UserID
	k.run(t, commands.RegisterUser{
		UserID: user, Email: personal.Of(strings.ToLower(first) + "@acme.test"), FirstName: personal.Of(first),
		LastName: personal.Of("Doe"), OrgID: k.org, Role: events.RoleAdmin,
	}, k.org)
	k.shows(t, identityviews.UsersName)
	return user
}

// shownPayment is a payment as read.
type shownPayment struct {
	ID            string  `json:"id"`
	Status        string  `json:"status"`
	Amount        float64 `json:"amount"`
	Gateway       string  `json:"gateway"`
	ReceiptID     *string `json:"receiptId"`
	ReceiptNumber *string `json:"receiptNumber"`
	Reason        *string `json:"reason"`
	Attempts      int     `json:"attempts"`
}

// paybill lets a customer pay on the phone, and waits for what follows.
func (k *moneyKit) paybill(t *testing.T, shortcode, msisdn, reference string, shillings int64) provider.PaybillResult {
	t.Helper()
	r, err := k.sim.Pay(t.Context(), provider.Paybill{ShortCode: shortcode, MSISDN: msisdn, BillRefNumber: reference,
		Amount: provider.Amount{Amount: money.Major(shillings, money.KES)}})
	if err != nil {
		t.Fatal(err)
	}
	k.quiet(t)
	return r
}

// post acts and expects a status.
func (k *moneyKit) post(t *testing.T, host, as, path string, body any, status int) apitest.Answer {
	t.Helper()
	a := k.Do(t, apitest.Request{Method: "POST", Host: host, Path: path, As: as, Body: body})
	if a.Status != status {
		t.Fatalf("%s: want %d, have %d %s", path, status, a.Status, a.Body)
	}
	return a
}
