// Package moneytest runs the whole area of payments for contract tests, with a simulated provider on the other side.
package moneytest

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/billing"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/gatewayregistration"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/paymentprompt"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/receipts"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/reconciliations"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/refunds"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/reversals"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/simulators/provider"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// The platform's paybill, and Amina's phone.
const (
	PlatformShortcode = "600100"
	aminaPhone        = "+254712345678"
)

// Kit is the whole of payments behind a server, with a simulated provider on the other side: log, bus, processes, jobs,
// inbox, read models, endpoints. Vault and jobs use the machine's clock; all else uses Clock, which a test moves.
type Kit struct {
	*apitest.Kit
	Core     *coretest.Kit
	Clock    *clock.Manual
	Views    *runner.Views
	Procs    *processrunner.Runner
	jobs     *jobrunner.Runner
	inbox    *paymentsjobs.Inbox
	Workers  *paymentsjobs.Workers
	Vault    *vault.Vault
	breakers *breaker.Set
	Sim      *provider.Simulator
	Org      id.Organization
	Amina    id.Subscriber
	Brian    id.Subscriber // of the other organization
	Chege    id.Subscriber // of Amina's organization, once Neighbour has registered him
}

// Options change a kit. The zero value is test mode, in which callbacks at addresses without a token are believed.
type Options struct {
	Live    bool           // callbacks without a token in their address are stored, but not believed
	Allowed []netip.Prefix // addresses from which callbacks are accepted; nil = any
	Login   int            // sign-ins a minute for each address; 0 = no limit
	Limit   int            // callbacks a minute for each shortcode and kind; 0 = no limit
	// Initiator lets the platform ask for the status of transactions and for reversals.
	Initiator bool
	Shared    bool // limits are counted in PostgreSQL, as with several replicas
}

// late is a receiver that is set after the server has started, because it needs the server's address.
type late struct{ paymentsjobs.Receiver }

// New starts a kit with the platform's paybill, and with a subscriber in each of two organizations. All of it stops
// with the test.
func New(t *testing.T, o Options) *Kit {
	t.Helper()
	k := &Kit{
		Clock: clock.NewManual(time.Now()), Sim: provider.New(provider.Config{Seed: 7}),
		Amina: id.New[id.Subscriber](), Brian: id.New[id.Subscriber](), Chege: id.New[id.Subscriber](),
	}
	if err := k.Sim.Start(context.Background()); err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = k.Sim.Stop(context.Background()) })
	k.Core = coretest.New(t, k.Clock, readModels()...)
	k.Vault = coretest.OpenVault(t, vault.Config{DB: k.Core.DB, Clock: k.Clock})
	bus.Register(k.Core.Bus, billing.Accounts())
	bus.Register(k.Core.Bus, billing.NumberSeries())
	bus.Register(k.Core.Bus, billing.Allowances())
	bus.Register(k.Core.Bus, billing.Approvals())
	bus.Register(k.Core.Bus, identity.Organizations())
	bus.Register(k.Core.Bus, subscribers.Subscribers())
	bus.Register(k.Core.Bus, subscribers.Subscriptions())
	bus.Register(k.Core.Bus, audit.Lookups())
	registerForPayments(k.Core.Bus)
	k.startReading(t)
	receiver := &late{}
	access := k.access(t)
	if o.Initiator {
		access.Initiator = mobilemoney.Initiator{Name: "operator", SecurityCredential: "c2VhbGVk"}
	}
	k.serve(t, o, receiver, access)
	k.CustomerSees(k.Amina)
	page := k.page(access)
	workers := paymentsjobs.New(paymentsjobs.Config{
		Ask: func(ctx context.Context, meta commands.Meta, subscribers []id.Subscriber) error {
			return page.Ask(ctx, usecases.Asked{Meta: meta, Keyed: true}, subscribers)
		},
		Bus: k.Core.Bus, Views: k.Views, Inbox: k.Vault.Inbox, Access: access, Clock: k.Clock,
		Statements: k.Vault.Statements,
		Logger:     storetest.Quiet(),
		Addresses: paymentsjobs.Addresses{
			Prompt: k.URL() + "/webhooks/mobile-money/stk", Tokens: k.Vault.CallbackSecrets,
		},
	})
	k.Workers, k.inbox = workers, paymentsjobs.NewInbox(workers)
	receiver.Receiver = paymentsjobs.Receiver{Workers: workers, Inbox: k.inbox, Allowed: o.Allowed, TrustBare: !o.Live}
	k.startWorking(t, workers)
	if err := workers.RegisterPlatform(t.Context(), commands.RegisterPlatform{}, jobs.Cause{}); err != nil {
		t.Fatalf("register the platform's paybill: %v", err)
	}
	k.populateMoney(t)
	return k
}

// registerForPayments registers the aggregates of payments, and users, whose names a report shows.
func registerForPayments(b *bus.Bus) {
	bus.Register(b, payments.Payments())
	bus.Register(b, payments.Receipts())
	bus.Register(b, payments.Refunds())
	bus.Register(b, payments.Reconciliations())
	bus.Register(b, payments.Gateways())
	bus.Register(b, identity.Users())
}

// readModels lists those of the kit.
func readModels() []runner.Projection {
	return []runner.Projection{
		paymentsviews.Payments{}, paymentsviews.Receipts{}, paymentsviews.Gateways{}, paymentsviews.Matching{},
		paymentsviews.Settlement{},
		paymentsviews.Proof{}, paymentsviews.Refunds{}, paymentsviews.Reconciliations{},
		billingviews.Statement{}, billingviews.Invoices{}, billingviews.Collections{}, billingviews.Numbering{},
		subscribersviews.Subscribers{}, subscribersviews.Subscriptions{}, subscribersviews.Timeline{},
		identityviews.Users{},
		identityviews.Organizations{},
	}
}

// startReading starts feed and read models, and makes the runners of jobs and processes.
func (k *Kit) startReading(t *testing.T) {
	t.Helper()
	k.Views = k.Core.Show(t)
	k.jobs = jobrunner.New(jobrunner.Config{DB: k.Core.DB, Clock: k.Clock})
	k.Procs = processrunner.New(processrunner.Config{
		Feed: k.Core.Feed(t), DB: k.Core.DB, Clock: k.Clock, Bus: billingcases.PeriodInvoices{Bus: k.Core.Bus},
		Jobs: k.jobs,
	})
}

// access reaches the simulated provider with the platform's credentials, in both environments.
func (k *Kit) access(t *testing.T) paymentsjobs.Access {
	t.Helper()
	k.breakers = breaker.New(breaker.Config{Clock: k.Clock})
	endpoint, err := mobilemoney.NewEndpoint(mobilemoney.Config{
		BaseURL: k.Sim.URL(), Test: true, Guard: k.breakers, Clock: k.Clock,
	})
	if err != nil {
		t.Fatalf("provider endpoint: %v", err)
	}
	client := mobilemoney.New(endpoint, paymentsjobs.Tokens{
		Vault: k.Vault.ProviderTokens, Environment: commands.EnvironmentSandbox, Fetch: endpoint.FetchToken,
		Logger: storetest.Quiet(),
	})
	return paymentsjobs.Access{
		Platform: mobilemoney.Credentials{
			ConsumerKey: "platform", ConsumerSecret: "secret", ShortCode: PlatformShortcode, Passkey: "pass",
		},
		Environment: commands.EnvironmentSandbox, Secrets: k.Vault.Secrets,
		Providers: map[string]paymentsjobs.Provider{
			commands.EnvironmentSandbox: client, commands.EnvironmentProduction: client,
		},
	}
}

// prompts makes the use case that asks phones to pay.
func (k *Kit) prompts(access paymentsjobs.Access) paymentscases.Prompts {
	return paymentscases.Prompts{
		Bus: k.Core.Bus, Payments: paymentsviews.PaymentsQuery{Views: k.Views},
		Platform: paymentscases.PlatformGateway{
			Shortcode: PlatformShortcode, Environment: commands.EnvironmentSandbox,
		},
		Limiter: k.Vault.Limits, Limit: 3, Ready: access.Ready,
	}
}

// startWorking starts jobs, inbox and processes.
func (k *Kit) startWorking(t *testing.T, workers *paymentsjobs.Workers) {
	t.Helper()
	workers.Register(k.jobs)
	coretest.Start(t, "jobs", k.jobs)
	coretest.Start(t, "inbox", k.inbox)
	k.Procs.Register(invoicing.Process())
	k.Procs.Register(invoicing.DocumentProcess())
	k.Procs.Register(paymentprompt.Process())
	k.Procs.Register(receipts.Process())
	k.Procs.Register(refunds.Process())
	k.Procs.Register(reversals.Process())
	k.Procs.Register(reconciliations.Process())
	k.Procs.Register(gatewayregistration.Process())
	coretest.Start(t, "processes", k.Procs)
	coretest.Start(t, "numbering", billingjobs.NewNumberer(billingjobs.Config{
		Bus: k.Core.Bus, Query: billingviews.NumberingQuery{Views: k.Views}, Clock: k.Clock, Logger: storetest.Quiet(),
	}))
}

// Run executes a command as the platform's operator for an organization; a failure ends the test.
func (k *Kit) Run(t *testing.T, c commands.Command, org id.Organization) bus.Result {
	t.Helper()
	return k.Core.Run(t, coretest.Operator(org), c)
}

// populateMoney makes the organizations with a subscriber each.
func (k *Kit) populateMoney(t *testing.T) {
	t.Helper()
	k.Org = k.Orgs["acme"].ID
	for n, who := range []struct {
		slug, phone string
		id          id.Subscriber
	}{{"acme", aminaPhone, k.Amina}, {"other", "+254722000001", k.Brian}} {
		org := k.Orgs[who.slug].ID
		made := coretest.NewOrganization(org, who.slug)
		made.Billing.InvoicePrefix = fmt.Sprintf("ISP%d", n)
		k.Run(t, made, id.Organization{})
		subscriber := coretest.NewSubscriber(who.id, org, n)
		subscriber.Details.Phone = personal.Of(who.phone)
		k.Run(t, subscriber, org)
	}
}

// Neighbour registers Chege, a second subscriber of Amina's organization.
func (k *Kit) Neighbour(t *testing.T) {
	t.Helper()
	k.Run(t, commands.RegisterSubscriber{
		SubscriberID: k.Chege, OrgID: k.Org, AccountNumber: commands.AccountNumber(1_000_009),
		Currency: money.KES, Details: events.SubscriberDetails{
			FirstName: personal.Of("Chege"), Phone: personal.Of("+254744000000"),
		},
	}, k.Org)
}

// Until tries a condition every 10 ms, for states that send no signal; the test ends when it never holds.
func (k *Kit) Until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(waittest.Limit)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not in time", what)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(untilPause):
		}
	}
}

// How the kit waits: the pause between two looks, and the number of looks after which Quiet moves the clock.
const (
	untilPause = 10 * time.Millisecond
	quietLooks = 25
)

// Quiet waits until no work is left, seen twice in a row: no callback, no stored command, no due job, no unread event.
// Meanwhile the clock goes on at the pace of the machine's, because retries wait for it.
func (k *Kit) Quiet(t *testing.T) {
	t.Helper()
	if err := k.Sim.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	ns := k.Core.DB.Namespace
	busy := `select (select count(*) from ` + ns.Schema("vault") + `.callbacks where done_at is null)
		+ (select count(*) from ` + ns.Schema("processes") + `.commands)
		+ (select count(*) from ` + ns.Schema("river") +
		`.river_job where state in ('available', 'running', 'retryable'))`
	calm, looks := 0, 0
	k.Until(t, "everything is done", func() bool {
		if looks++; looks%quietLooks == 0 {
			k.Clock.Advance(quietLooks * untilPause)
		}
		// In this order nothing slips through: what the log had at first was taken in and has left no work, and nothing
		// came to the log meanwhile.
		head, n := k.head(t), 0
		for _, s := range k.Procs.Status() {
			if s.Position < head || s.Error != "" {
				n++
			}
		}
		for _, name := range []string{
			paymentsviews.PaymentsName, paymentsviews.ReceiptsName, paymentsviews.GatewaysName,
			paymentsviews.MatchingName, paymentsviews.ProofName, paymentsviews.RefundsName,
			paymentsviews.ReconciliationsName,
		} {
			if k.Views.Position(name) < head {
				n++
			}
		}
		var work int
		if err := k.Core.DB.Owner.QueryRow(t.Context(), busy).Scan(&work); err != nil {
			t.Fatal(err)
		}
		if n += work; k.head(t) != head {
			n++
		}
		if n > 0 {
			calm = 0
		} else {
			calm++
		}
		return calm >= 2
	})
}

// head is the position of the newest event.
func (k *Kit) head(t *testing.T) uint64 {
	t.Helper()
	head, err := k.Core.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// Account is a subscriber's account as the log has it. It is unchecked, because tests ask for both organizations'
// accounts.
func (k *Kit) Account(t *testing.T, s id.Subscriber) billing.Account {
	t.Helper()
	a, _, err := bus.LoadUnchecked[billing.Account](t.Context(), k.Core.Bus, s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Credited gives the sum in shillings that was credited to an account and not withdrawn, and the number of credits.
func (k *Kit) Credited(t *testing.T, s id.Subscriber) (shillings int64, times int) {
	t.Helper()
	list, err := k.Core.Store.Read(t.Context(), commands.AccountCategory+"-"+s.String(), 0)
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

// Shows waits until the named read models show the whole log.
func (k *Kit) Shows(t *testing.T, names ...string) {
	t.Helper()
	k.Core.WaitForAll(t, k.Views, names...)
}

// Named makes the caller of a token a user of Acme with a first name and the last name Doe.
func (k *Kit) Named(t *testing.T, token, first string) id.User {
	t.Helper()
	user := k.Callers[token].UserID
	k.Run(t, commands.RegisterUser{
		UserID: user, Email: personal.Of(strings.ToLower(first) + "@acme.test"), FirstName: personal.Of(first),
		LastName: personal.Of("Doe"), OrgID: k.Org, Role: events.RoleAdmin,
	}, k.Org)
	k.Shows(t, identityviews.UsersName)
	return user
}

// ShownPayment is a payment as a client reads it.
type ShownPayment struct {
	ID            string  `json:"id"`
	Status        string  `json:"status"`
	Amount        float64 `json:"amount"`
	Gateway       string  `json:"gateway"`
	ReceiptID     *string `json:"receiptId"`
	ReceiptNumber *string `json:"receiptNumber"`
	Reason        *string `json:"reason"`
	Attempts      int     `json:"attempts"`
}

// Paybill has a customer pay to a shortcode on the phone, and waits until everything that follows is done.
func (k *Kit) Paybill(t *testing.T, shortcode, msisdn, reference string, shillings int64) provider.PaybillResult {
	t.Helper()
	r, err := k.Sim.Pay(t.Context(), provider.Paybill{ShortCode: shortcode, MSISDN: msisdn, BillRefNumber: reference,
		Amount: provider.Amount{Amount: money.Major(shillings, money.KES)}})
	if err != nil {
		t.Fatal(err)
	}
	k.Quiet(t)
	return r
}

// Post sends a POST; another status than the expected one ends the test.
func (k *Kit) Post(t *testing.T, host, as, path string, body any, status int) apitest.Answer {
	t.Helper()
	a := k.Do(t, apitest.Request{Method: "POST", Host: host, Path: path, As: as, Body: body})
	if a.Status != status {
		t.Fatalf("%s: want %d, have %d %s", path, status, a.Status, a.Body)
	}
	return a
}
