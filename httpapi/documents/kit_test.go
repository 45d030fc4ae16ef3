package documentsapi_test

import (
	"context"
	"fmt"
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
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/httpapi/documents"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/internal/paper/papertest"
	"github.com/lastmile-isp/lastmile/internal/parsing"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/billing"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
	"github.com/lastmile-isp/lastmile/usecases/documents"
)

// documentsKit is billing with its documents behind a server. Time moves only when a test moves clock.
type documentsKit struct {
	*apitest.Kit
	core  *coretest.Kit
	views *runner.Views
	org   id.Organization
	amina id.Subscriber // of Acme
	brian id.Subscriber // of Other
	clock *clock.Manual
	// paybill stands in for the number that customers pay to; nil = 600100.
	paybill documentscases.PaybillOf
}

// press is shared, since reading the fonts takes longer than the tests.
var press = paper.NewPress()

// newDocumentsKit starts a kit with a subscriber in each of two organizations, whose documents are numbered and issued.
func newDocumentsKit(t *testing.T) *documentsKit {
	t.Helper()
	k := newDraftsKit(t)
	k.startProcesses(t)
	return k
}

// newDraftsKit starts a kit in which no draft gets a number.
func newDraftsKit(t *testing.T) *documentsKit {
	t.Helper()
	manual := clock.NewManual(time.Date(2026, 3, 2, 21, 30, 0, 0, time.UTC)) // the third of March in Nairobi
	k := &documentsKit{
		core: coretest.New(t, manual, billingviews.Invoices{}, billingviews.Statement{}, billingviews.Numbering{},
			subscribersviews.Subscribers{}, paymentsviews.Receipts{}, paymentsviews.Refunds{},
			identityviews.Letterheads{}, identityviews.Organizations{}, billingviews.Signatures{}),
		clock: manual, amina: id.New[id.Subscriber](), brian: id.New[id.Subscriber](),
	}
	b := k.core.Bus
	bus.Register(b, billing.Accounts())
	bus.Register(b, billing.NumberSeries())
	bus.Register(b, identity.Organizations())
	bus.Register(b, subscribers.Subscribers())
	bus.Register(b, subscribers.Subscriptions())
	bus.Register(b, payments.Receipts())
	bus.Register(b, payments.Refunds())
	bus.Register(b, billing.TaxGateways())
	bus.Register(b, billing.Signatures())
	k.views = k.core.Show(t)
	settings := usecases.RecordedSettings(b)
	logos := documentscases.Logos{
		Bus: b, Vault: coretest.OpenVault(t, vault.Config{DB: k.core.DB, Clock: manual}).Logos,
		Organizations: identityviews.OrganizationsQuery{Views: k.views},
		Turns:         parsing.NewTurns(),
	}
	k.Kit = apitest.New(t, func(c *httpapi.Config) { c.Visibility = k.views },
		billingapi.Invoices{
			Cases: billingcases.Invoices{Bus: b, Clock: manual}, Notes: billingcases.CreditNotes{Bus: b},
			Bus: b, Settings: settings, Invoices: billingviews.InvoicesQuery{Views: k.views},
			Receipts: paymentsviews.ReceiptsQuery{Views: k.views}, Clock: manual,
			Signatures: billingviews.SignaturesQuery{Views: k.views},
		}.Routes(),
		billingapi.Statements{
			Statement:   billingviews.StatementQuery{Views: k.views},
			Subscribers: subscribersviews.SubscribersQuery{Views: k.views},
		}.Routes(),
		documentsapi.Documents{Cases: documentscases.Documents{
			Press: press, Views: k.views, Settings: settings, Clock: manual, Logos: logos,
			Paybill: func(ctx context.Context, org id.Organization) (documentscases.Paybill, error) {
				if k.paybill != nil {
					return k.paybill(ctx, org)
				}
				return documentscases.Paybill{Shortcode: "600100"}, nil
			},
		}}.Routes(),
		documentsapi.Logo{Cases: logos}.Routes())
	k.populate(t)
	return k
}

// startProcesses starts the processes that number and issue documents.
func (k *documentsKit) startProcesses(t *testing.T) {
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
}

// do executes a command as the operator of an organization and waits until everything shows it.
func (k *documentsKit) do(t *testing.T, org id.Organization, c commands.Command) {
	t.Helper()
	done := k.core.Run(t, coretest.Operator(org), c)
	coretest.WaitFor(t, k.views, done.Position, billingviews.InvoicesName, billingviews.StatementName,
		subscribersviews.SubscribersName, paymentsviews.ReceiptsName, identityviews.LetterheadsName,
		identityviews.OrganizationsName, billingviews.SignaturesName, paymentsviews.RefundsName)
}

// populate makes the organizations with a subscriber each. Acme has a tax PIN.
func (k *documentsKit) populate(t *testing.T) {
	t.Helper()
	k.org = k.Orgs["acme"].ID
	who := map[string]id.Subscriber{"acme": k.amina, "other": k.brian}
	for n, slug := range []string{"acme", "other"} {
		org := k.Orgs[slug].ID
		made := coretest.NewOrganization(org, slug)
		made.Billing.InvoicePrefix, made.Billing.TaxPIN = fmt.Sprintf("ISP%d", n), "P05100000"+strings.ToUpper(slug[:1])
		k.do(t, id.Organization{}, made)
		subscriber := coretest.NewSubscriber(who[slug], org, n)
		subscriber.Details.LastName = personal.Of("Wanjiru")
		subscriber.Details.Address = personal.Of("Plot 7\nNgong Road")
		subscriber.Details.TaxPIN = personal.Of("A012345678Z")
		k.do(t, org, subscriber)
	}
}

// named gives Amina another name.
func (k *documentsKit) named(t *testing.T, first, last string) {
	t.Helper()
	k.do(t, k.org, commands.CorrectSubscriberDetails{SubscriberID: k.amina, Details: events.SubscriberDetails{
		FirstName: personal.Of(first), LastName: personal.Of(last), Phone: personal.Of("+254712345678"),
	}})
}

// pay credits cash to Amina, in minor units, and gives the receipt.
func (k *documentsKit) pay(t *testing.T, minor int64, reference string) id.Receipt {
	t.Helper()
	return k.payFor(t, minor, reference, id.Invoice{})
}

// payFor books cash of Amina that names an invoice, and waits until it is shown.
func (k *documentsKit) payFor(t *testing.T, minor int64, reference string, invoice id.Invoice) id.Receipt {
	t.Helper()
	receipt, paid := id.New[id.Receipt](), money.Of(minor, money.KES)
	k.do(t, k.org, commands.RecordCash{
		ReceiptID: receipt, OrgID: k.org, SubscriberID: k.amina, Amount: paid, Reference: reference,
	})
	k.do(t, k.org, commands.CreditReceipt{
		SubscriberID: k.amina, OrgID: k.org, Number: reference, ReceiptID: receipt, Channel: "cash", Amount: paid,
		PaidAt: k.clock.Now(), InvoiceID: invoice,
	})
	return receipt
}

// document reads a document as the support user.
func (k *documentsKit) document(t *testing.T, path string) papertest.Pieces {
	t.Helper()
	a := k.Do(t, apitest.Request{Path: path, As: apitest.Support})
	if a.Status != 200 || a.Header.Get("Content-Type") != "application/pdf" {
		t.Fatalf("GET %s: %d %.300s", path, a.Status, a.Body)
	}
	return papertest.Read(t, a.Body)
}

// expects fails unless a document has lines with these cells side by side.
func expects(t *testing.T, p papertest.Pieces, lines ...[]string) {
	t.Helper()
	for _, cells := range lines {
		if !p.Has(cells...) {
			t.Errorf("no line %q in\n%s", cells, p.Text())
		}
	}
}
