package billingapi_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/httpapi/subscribers"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/billing"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// billingKit is the whole of billing behind a server: log, bus, processes, read models and endpoints. Time moves only
// when a test moves clock.
type billingKit struct {
	*apitest.Kit
	core  *coretest.Kit
	views *runner.Views
	amina id.Subscriber // of Acme
	brian id.Subscriber // of Other
	sent  int           // receipts credited by pay
	clock *clock.Manual
}

// newBillingKit starts a kit with a subscriber in each of two organizations. Without processes, no draft is numbered.
func newBillingKit(t *testing.T, withProcesses bool) *billingKit {
	t.Helper()
	manual := clock.NewManual(time.Date(2026, 3, 2, 21, 30, 0, 0, time.UTC)) // the third of March in Nairobi
	k := &billingKit{
		core: coretest.New(t, manual, billingviews.Invoices{}, billingviews.Statement{}, billingviews.Numbering{},
			subscribersviews.Subscribers{}, paymentsviews.Receipts{}, billingviews.Revenue{}, subscribersviews.Plans{},
			subscribersviews.Subscriptions{}, billingviews.Signatures{}),
		clock: manual, amina: id.New[id.Subscriber](), brian: id.New[id.Subscriber](),
	}
	registerForBilling(k.core.Bus)
	k.views = k.core.Show(t)
	if withProcesses {
		k.startProcesses(t)
	}
	invoices := billingapi.Invoices{
		Cases: billingcases.Invoices{Bus: k.core.Bus, Clock: manual}, Notes: billingcases.CreditNotes{Bus: k.core.Bus},
		Bus: k.core.Bus, Settings: usecases.RecordedSettings(k.core.Bus),
		Invoices: billingviews.InvoicesQuery{Views: k.views},
		Receipts: paymentsviews.ReceiptsQuery{Views: k.views}, Clock: manual,
		Signatures: billingviews.SignaturesQuery{Views: k.views},
	}
	documents := billingapi.TaxDocuments{Bus: k.core.Bus, Signatures: invoices.Signatures, Clock: manual}
	gateway := billingapi.TaxGateway{Signatures: invoices.Signatures, Cases: billingcases.TaxGateways{
		Bus: k.core.Bus, Secrets: coretest.OpenVault(t, vault.Config{DB: k.core.DB, Clock: manual}).Secrets,
		Allows: func(address string, _ secrets.Text) error {
			if address == "http://inside" {
				return errors.New("must be a public address")
			}
			return nil
		},
	}}
	statement := billingapi.Statements{
		Statement:   billingviews.StatementQuery{Views: k.views},
		Subscribers: subscribersviews.SubscribersQuery{Views: k.views},
	}
	ageing := billingapi.Ageing{Cases: billingcases.Ageing{
		Settings: usecases.RecordedSettings(k.core.Bus), Invoices: billingviews.InvoicesQuery{Views: k.views},
		Subscribers: statement.Subscribers, Clock: manual,
	}}
	revenue := billingapi.Revenue{Cases: billingcases.Revenue{
		Settings: usecases.RecordedSettings(k.core.Bus), Revenue: billingviews.RevenueQuery{Views: k.views},
		Plans: subscribersviews.PlansQuery{Views: k.views}, Clock: manual,
	}}
	churn := billingapi.Churn{Cases: billingcases.Churn{
		Settings: revenue.Cases.Settings, Revenue: revenue.Cases.Revenue, Clock: manual,
		Subscriptions: subscribersviews.SubscriptionsQuery{Views: k.views},
	}}
	k.Kit = apitest.New(t, func(c *httpapi.Config) {
		c.Visibility, c.Subscribers = k.views, subscribersapi.Names(statement.Subscribers)
	}, invoices.Routes(), statement.Routes(), ageing.Routes(), revenue.Routes(),
		churn.Routes(), documents.Routes(), gateway.Routes())
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
	bus.Register(b, billing.TaxGateways())
	bus.Register(b, billing.Signatures())
}

// startProcesses starts the processes that number and issue documents.
func (k *billingKit) startProcesses(t *testing.T) *processrunner.Runner {
	t.Helper()
	p := processrunner.New(processrunner.Config{
		Feed: k.core.Feed(t), DB: k.core.DB, Clock: k.clock, Bus: billingcases.PeriodInvoices{Bus: k.core.Bus},
	})
	p.Register(invoicing.Process())
	p.Register(invoicing.DocumentProcess())
	coretest.Start(t, "processes", p)
	coretest.Start(t, "numbering", billingjobs.NewNumberer(billingjobs.Config{
		Bus: k.core.Bus, Query: billingviews.NumberingQuery{Views: k.views}, Clock: k.clock, Logger: storetest.Quiet(),
	}))
	return p
}

// do executes a command as the platform's operator; a failure ends the test.
func (k *billingKit) do(t *testing.T, c commands.Command, org id.Organization) bus.Result {
	t.Helper()
	return k.core.Run(t, coretest.Operator(org), c)
}

// populate makes the organizations with a subscriber each.
func (k *billingKit) populate(t *testing.T) {
	t.Helper()
	who := map[string]id.Subscriber{"acme": k.amina, "other": k.brian}
	for n, slug := range []string{"acme", "other"} {
		org := k.Orgs[slug].ID
		made := coretest.NewOrganization(org, slug)
		made.Billing.InvoicePrefix = fmt.Sprintf("ISP%d", n)
		k.do(t, made, id.Organization{})
		done := k.do(t, coretest.NewSubscriber(who[slug], org, n), org)
		coretest.WaitFor(t, k.views, done.Position, subscribersviews.SubscribersName)
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
	coretest.WaitFor(t, k.views, done.Position, billingviews.InvoicesName, billingviews.StatementName)
}
