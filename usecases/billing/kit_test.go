package billingcases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// today is the date in Nairobi at the time of a new kit.
var today = calendar.Date{Year: 2026, Month: time.March, Day: 3}

// kit is a real log with a subscriber in each of two organizations, and the use cases on it. Time moves only when a
// test moves clock.
type kit struct {
	*coretest.Kit
	clock        *clock.Manual
	acme, other  id.Organization
	amina, brian id.Subscriber // of acme and of other
	invoices     billingcases.Invoices
	notes        billingcases.CreditNotes
}

// newKit starts a kit late in the evening in UTC: in Nairobi the next day has begun.
func newKit(t *testing.T, models ...runner.Projection) *kit {
	t.Helper()
	k := &kit{
		clock: clock.NewManual(time.Date(2026, 3, 2, 21, 30, 0, 0, time.UTC)),
		acme:  id.New[id.Organization](), other: id.New[id.Organization](),
		amina: id.New[id.Subscriber](), brian: id.New[id.Subscriber](),
	}
	k.Kit = coretest.New(t, k.clock, models...)
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, identity.Users())
	bus.Register(k.Bus, subscribers.Subscribers())
	bus.Register(k.Bus, subscribers.Subscriptions())
	bus.Register(k.Bus, billing.Accounts())
	bus.Register(k.Bus, payments.Receipts())
	k.invoices, k.notes = billingcases.Invoices{Bus: k.Bus, Clock: k.clock}, billingcases.CreditNotes{Bus: k.Bus}
	for n, slug := range []string{"acme", "other"} {
		org, who := []id.Organization{k.acme, k.other}[n], []id.Subscriber{k.amina, k.brian}[n]
		k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(org, slug))
		k.Run(t, coretest.Ask(org).Meta, coretest.NewSubscriber(who, org, n))
	}
	return k
}

// account is Amina's account as the log has it.
func (k *kit) account(t *testing.T) billing.Account {
	t.Helper()
	a, _, err := bus.LoadOwned[billing.Account](t.Context(), k.Bus, k.acme, k.amina)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// log has the events of Amina's account.
func (k *kit) log(t *testing.T) []events.Envelope {
	t.Helper()
	list, err := k.Store.Read(t.Context(), commands.AccountCategory+"-"+k.amina.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// router is an invoice for Amina of 1.5 routers at 1,160.
func (k *kit) router() billingcases.DraftInvoiceInput {
	return billingcases.DraftInvoiceInput{
		SubscriberID: k.amina,
		Lines:        []billingcases.LineInput{{Description: " Router ", Quantity: "1.5", UnitPrice: "1160"}},
	}
}

// issued is an invoice for Amina over 1,740 that has its number.
func (k *kit) issued(t *testing.T) id.Invoice {
	t.Helper()
	invoice, err := k.invoices.Draft(t.Context(), coretest.Ask(k.acme), k.router())
	if err != nil {
		t.Fatal(err)
	}
	k.Run(t, coretest.Ask(k.acme).Meta, commands.IssueInvoice{
		SubscriberID: k.amina, InvoiceID: invoice, Number: "ACME-0001",
	})
	return invoice
}
