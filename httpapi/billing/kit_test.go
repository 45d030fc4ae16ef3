package billingapi_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// billingKit is the whole of billing behind a server: log, bus, processes, read models and endpoints. Time moves only
// when a test moves clock.
type billingKit struct {
	*apitest.Kit
	bus   *bus.Bus
	views *runner.Views
	amina id.Subscriber // of Acme
	brian id.Subscriber // of Other
	sent  int           // receipts credited by pay
	store *storetest.Kit
	feed  *feed.Feed
	clock *clock.Manual
}

// newBillingKit starts a kit with a subscriber in each of two organizations. Without processes, no draft is numbered.
func newBillingKit(t *testing.T, withProcesses bool) *billingKit {
	t.Helper()
	store := storetest.New(t)
	manual := clock.NewManual(time.Date(2026, 3, 2, 21, 30, 0, 0, time.UTC)) // the third of March in Nairobi
	k := &billingKit{amina: id.New[id.Subscriber](), brian: id.New[id.Subscriber](), store: store, clock: manual}
	k.bus = bus.New(bus.Config{
		Store: store.Store, Claims: storetest.ClaimKey, Clock: manual, Logger: storetest.Quiet(),
	})
	registerForBilling(k.bus)
	f := feed.New(feed.FromStore(store.Store), storetest.Quiet())
	k.feed = f
	if err := f.Start(t.Context()); err != nil {
		t.Fatalf("start feed: %v", err)
	}
	t.Cleanup(f.Stop)
	shows := runner.New(runner.Config{Feed: f, DB: store.DB, Clock: manual})
	shows.Register(billingviews.Invoices{}, billingviews.Statement{}, subscribersviews.Subscribers{})
	if err := shows.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(shows.Stop)
	k.views = shows.Views()
	if withProcesses {
		k.startProcesses(t)
	}
	invoices := billingapi.Invoices{
		Cases: billingcases.Invoices{Bus: k.bus, Clock: manual}, Notes: billingcases.CreditNotes{Bus: k.bus},
		Bus: k.bus, Invoices: billingviews.InvoicesQuery{Views: k.views}, Clock: manual,
	}
	statement := billingapi.Statements{
		Statement:   billingviews.StatementQuery{Views: k.views},
		Subscribers: subscribersviews.SubscribersQuery{Views: k.views},
	}
	k.Kit = apitest.New(t, func(c *httpapi.Config) { c.Visibility = k.views }, invoices.Routes(), statement.Routes())
	k.populate(t)
	return k
}

// registerForBilling registers the aggregates that billing needs.
func registerForBilling(b *bus.Bus) {
	bus.Register(b, billing.Accounts())
	bus.Register(b, billing.NumberSeries())
	bus.Register(b, identity.Organizations())
	bus.Register(b, subscribers.Subscribers())
	bus.Register(b, subscribers.Subscriptions())
}

// startProcesses starts the processes that number and issue documents.
func (k *billingKit) startProcesses(t *testing.T) *processrunner.Runner {
	t.Helper()
	p := processrunner.New(processrunner.Config{
		Feed: k.feed, DB: k.store.DB, Clock: k.clock, Bus: k.bus,
	})
	p.Register(invoicing.Process())
	p.Register(invoicing.DocumentProcess())
	if err := p.Start(t.Context()); err != nil {
		t.Fatalf("start processes: %v", err)
	}
	t.Cleanup(p.Stop)
	return p
}

// do executes a command as the platform's operator; a failure ends the test.
func (k *billingKit) do(t *testing.T, c commands.Command, org id.Organization) bus.Result {
	t.Helper()
	done, err := k.bus.Execute(t.Context(), c, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorOperator},
	})
	if err != nil {
		t.Fatalf("%s: %v", c.CommandName(), err)
	}
	return done
}

// populate makes the organizations with a subscriber each.
func (k *billingKit) populate(t *testing.T) {
	t.Helper()
	who := map[string]id.Subscriber{"acme": k.amina, "other": k.brian}
	for n, slug := range []string{"acme", "other"} {
		org := k.Orgs[slug].ID
		k.do(t, commands.CreateOrganization{
			OrgID: org, Slug: slug, Name: "The " + slug, Billing: events.BillingSettings{
				Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: fmt.Sprintf("ISP%d", n),
				Tax: events.TaxRule{
					Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}},
				},
			},
		}, id.Organization{})
		done := k.do(t, commands.RegisterSubscriber{
			SubscriberID: who[slug], OrgID: org, AccountNumber: commands.AccountNumber(1_000_000 + n),
			Currency: money.KES, Details: events.SubscriberDetails{
				FirstName: personal.Of("Somebody"), Phone: personal.Of("+254700000000"),
			},
		}, org)
		if err := k.views.WaitFor(t.Context(), subscribersviews.SubscribersName, done.Position); err != nil {
			t.Fatalf("subscriber: %v", err)
		}
	}
}

// pay credits a receipt to Amina, in minor units, and waits until both read models show it.
func (k *billingKit) pay(t *testing.T, minor int64) {
	t.Helper()
	k.sent++
	done := k.do(t, commands.CreditReceipt{
		SubscriberID: k.amina, OrgID: k.Orgs["acme"].ID, Number: fmt.Sprintf("QGH%07d", k.sent),
		ReceiptID: id.New[id.Receipt](), Channel: "c2b", Amount: money.Of(minor, money.KES), PaidAt: k.Clock.Now(),
	}, k.Orgs["acme"].ID)
	for _, name := range []string{billingviews.InvoicesName, billingviews.StatementName} {
		if err := k.views.WaitFor(t.Context(), name, done.Position); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}
