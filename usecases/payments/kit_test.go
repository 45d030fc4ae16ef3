package paymentscases_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
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
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// platformShortcode is the number of the platform's paybill.
const platformShortcode = "600100"

// kit has two organizations with subscribers, a log, a vault and the use cases. Read models run only after show:
// without them, every decision must come from the log.
type kit struct {
	store     *storetest.Kit
	bus       *bus.Bus
	clock     *clock.Manual
	vault     *vault.Vault
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
		store: storetest.New(t), clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
		org: id.New[id.Organization](), other: id.New[id.Organization](), amina: id.New[id.Subscriber](),
		chege: id.New[id.Subscriber](), dollar: id.New[id.Subscriber](), brian: id.New[id.Subscriber](),
	}
	ring, err := secrets.New(bytes.Repeat([]byte{9}, secrets.KeySize))
	if err == nil {
		k.vault, err = vault.Open(t.Context(), vault.Config{DB: k.store.DB, Keyring: ring, Clock: k.clock})
	}
	if err != nil {
		t.Fatalf("open vault: %v", err)
	}
	k.bus = bus.New(bus.Config{
		Store: k.store.Store, Claims: storetest.ClaimKey, Clock: k.clock, Logger: storetest.Quiet(),
	})
	bus.Register(k.bus, identity.Organizations())
	bus.Register(k.bus, subscribers.Subscribers())
	bus.Register(k.bus, billing.Accounts())
	bus.Register(k.bus, payments.Payments())
	bus.Register(k.bus, payments.Receipts())
	bus.Register(k.bus, payments.Gateways())
	platform := paymentscases.PlatformGateway{Shortcode: platformShortcode, Environment: commands.EnvironmentSandbox}
	k.prompts = paymentscases.Prompts{
		Bus: k.bus, Platform: platform, Limiter: vault.NewLocalLimits(k.clock), Limit: 3,
		Ready: func(string) error { return k.readiness },
	}
	k.receipts = paymentscases.Receipts{Bus: k.bus}
	k.gateways = paymentscases.Gateways{Bus: k.bus, Secrets: k.vault.Secrets, Platform: platform}
	k.populate(t)
	return k
}

// populate makes the organizations and their subscribers, one of them with an account in USD.
func (k *kit) populate(t *testing.T) {
	t.Helper()
	for slug, org := range map[string]id.Organization{"acme": k.org, "other": k.other} {
		k.run(t, commands.CreateOrganization{OrgID: org, Slug: slug, Name: slug, Billing: events.BillingSettings{
			Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: strings.ToUpper(slug[:3]),
		}})
	}
	for n, s := range []struct {
		id       id.Subscriber
		org      id.Organization
		currency money.Currency
	}{
		{k.amina, k.org, money.KES}, {k.chege, k.org, money.KES}, {k.dollar, k.org, "USD"}, {
			k.brian, k.other, money.KES,
		},
	} {
		k.run(t, commands.RegisterSubscriber{
			SubscriberID: s.id, OrgID: s.org, AccountNumber: commands.AccountNumber(1_000_000 + n),
			Currency: s.currency,
			Details: events.SubscriberDetails{
				FirstName: personal.Of("A"), Phone: personal.Of("+25471200000" + string(rune('0'+n))),
			},
		})
	}
}

// asked is a new request under a key of an organization's administrator; the same value again is a repeat.
func (k *kit) asked(org id.Organization) usecases.Asked {
	return usecases.Asked{Keyed: true, Meta: commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorUser, ID: "ada"},
	}}
}

// run executes a command as the platform's operator; a failure ends the test.
func (k *kit) run(t *testing.T, c commands.Command) bus.Result {
	t.Helper()
	done, err := k.bus.Execute(t.Context(), c, commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorOperator},
	})
	if err != nil {
		t.Fatalf("%s: %v", c.CommandName(), err)
	}
	return done
}

// recorded has the events of one type in a stream, in order.
func recorded[E events.Event](t *testing.T, k *kit, category, of string) []E {
	t.Helper()
	list, err := k.store.Store.Read(t.Context(), category+"-"+of, 0)
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

// wantCode reports an error unless the failure has the code, "" for no failure.
func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	if failure.CodeOf(err) != code || code == "" && err != nil {
		t.Errorf("%s: have %v, want %q", what, err, code)
	}
}

// atOnce calls f several times at the same time and gives the failure codes, sorted.
func atOnce(n int, f func(n int) error) (failed []string) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for i := range n {
		all.Go(func() {
			if err := f(i); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, failure.CodeOf(err))
			}
		})
	}
	all.Wait()
	slices.Sort(failed)
	return failed
}

// show starts the read models for which use cases wait.
func (k *kit) show(t *testing.T) *runner.Views {
	t.Helper()
	f := feed.New(feed.FromStore(k.store.Store), storetest.Quiet())
	if err := f.Start(t.Context()); err != nil {
		t.Fatalf("start feed: %v", err)
	}
	t.Cleanup(f.Stop)
	shows := runner.New(runner.Config{Feed: f, DB: k.store.DB, Clock: k.clock})
	shows.Register(paymentsviews.Payments{}, paymentsviews.Receipts{}, billingviews.Statement{},
		billingviews.Invoices{},
		billingviews.Collections{}, subscribersviews.Subscribers{})
	if err := shows.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(shows.Stop)
	k.prompts.Payments = paymentsviews.PaymentsQuery{Views: shows.Views()}
	return shows.Views()
}

// errCut is the error of a program that stops in the middle of a use case.
var errCut = errors.New("cut off")

// cut is a limiter at which the program stops: it cancels the context, so no later step can run.
type cut struct{ die context.CancelFunc }

// Allow implements vault.Limiter; it always fails.
func (c cut) Allow(context.Context, string, int, time.Duration) (bool, time.Duration, error) {
	c.die()
	return false, 0, errCut
}
