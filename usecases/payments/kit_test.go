package paymentscases_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// platformShortcode is the number of the platform's paybill.
const platformShortcode = "600100"

// kit has two organizations with subscribers, a log, a vault and the use cases. Read models run only after show:
// without them, every decision must come from the log.
type kit struct {
	*coretest.Kit
	clock     *clock.Manual
	org       id.Organization
	other     id.Organization
	amina     id.Subscriber
	chege     id.Subscriber // Amina's neighbour
	dollar    id.Subscriber // of the same organization, billed in another currency
	brian     id.Subscriber // of the other organization
	prompts   paymentscases.Prompts
	receipts  paymentscases.Receipts
	gateways  paymentscases.Gateways
	readiness error // what Ready gives
}

// newKit starts a kit without read models; it stops with the test.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{
		clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
		org:   id.New[id.Organization](), other: id.New[id.Organization](), amina: id.New[id.Subscriber](),
		chege: id.New[id.Subscriber](), dollar: id.New[id.Subscriber](), brian: id.New[id.Subscriber](),
	}
	k.Kit = coretest.NewWithVault(t, vault.Config{Clock: k.clock})
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, subscribers.Subscribers())
	bus.Register(k.Bus, subscribers.Subscriptions())
	bus.Register(k.Bus, billing.Accounts())
	bus.Register(k.Bus, payments.Payments())
	bus.Register(k.Bus, payments.Receipts())
	bus.Register(k.Bus, payments.Gateways())
	platform := paymentscases.PlatformGateway{Shortcode: platformShortcode, Environment: commands.EnvironmentSandbox}
	k.prompts = paymentscases.Prompts{
		Bus: k.Bus, Platform: platform, Limiter: vault.NewLocalLimits(k.clock), Limit: 3,
		Ready: func(string) error { return k.readiness },
	}
	k.receipts = paymentscases.Receipts{Bus: k.Bus, Clock: k.clock}
	k.gateways = paymentscases.Gateways{Bus: k.Bus, Secrets: k.Vault.Secrets, Platform: platform}
	k.populate(t)
	return k
}

// populate makes the organizations and their subscribers, one of them with an account in USD.
func (k *kit) populate(t *testing.T) {
	t.Helper()
	for slug, org := range map[string]id.Organization{"acme": k.org, "other": k.other} {
		k.run(t, coretest.NewOrganization(org, slug))
	}
	for n, s := range []struct {
		id       id.Subscriber
		org      id.Organization
		currency money.Currency
	}{
		{k.amina, k.org, money.KES}, {k.chege, k.org, money.KES}, {k.dollar, k.org, "USD"},
		{k.brian, k.other, money.KES},
	} {
		c := coretest.NewSubscriber(s.id, s.org, n)
		c.Currency, c.Details.Phone = s.currency, personal.Of("+25471200000"+strconv.Itoa(n))
		k.run(t, c)
	}
}

// run executes a command as the platform's operator; a failure ends the test.
func (k *kit) run(t *testing.T, c commands.Command) bus.Result {
	t.Helper()
	return k.Run(t, coretest.Operator(id.Organization{}), c)
}

// recorded has the events of one type in a stream, in order.
func recorded[E events.Event](t *testing.T, k *kit, category, of string) []E {
	t.Helper()
	list, err := k.Store.Read(t.Context(), category+"-"+of, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []E
	for _, e := range list {
		if e, ok := e.Event.(E); ok {
			out = append(out, e)
		}
	}
	return out
}

// atOnce calls f for 0 to times-1, all at the same time, and gives the failure codes, sorted.
func atOnce(times int, f func(n int) error) []string {
	return coretest.Codes(coretest.AtOnce(times, f))
}

// show starts the read models for which use cases wait.
func (k *kit) show(t *testing.T) *runner.Views {
	t.Helper()
	views := k.Show(t, paymentsviews.Payments{}, paymentsviews.Receipts{}, paymentsviews.Gateways{},
		billingviews.Statement{}, billingviews.Invoices{}, billingviews.Collections{}, subscribersviews.Subscribers{})
	k.receipts.Views = views
	k.prompts.Payments = paymentsviews.PaymentsQuery{Views: views}
	return views
}

// errCut is the error of a program that stops in the middle of a use case.
var errCut = errors.New("cut off")

// cut is a limiter at which the program stops: it cancels the context, so no later step can run.
type cut struct{ die context.CancelFunc }

// Allow implements vault.SeveralLimiter; it always fails.
func (c cut) Allow(context.Context, string, int, time.Duration) (bool, time.Duration, error) {
	c.die()
	return false, 0, errCut
}

// AllowAll implements vault.SeveralLimiter; it always fails.
func (c cut) AllowAll(context.Context, ...vault.Quota) (bool, time.Duration, error) {
	c.die()
	return false, 0, errCut
}
