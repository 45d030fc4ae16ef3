package webhooksjobs_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/gateways/webhooks"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/webhooks"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// TestMain looks for goroutines that outlive their tests. A database server that this program has started itself stops
// with it.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(
		"github.com/lastmile-isp/lastmile/internal/postgres.startProcess.func1"))
}

// start is the instant at which every test's clock begins.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// patience bounds every wait of a test. Only a fault reaches it.
const patience = time.Minute

// kit has a log with read models, the store of deliveries, and receivers that the test drives.
type kit struct {
	*coretest.Kit
	t         testing.TB
	clock     *clock.Manual
	gate      clock.Gate
	views     *runner.Views
	store     *webhooksjobs.Store
	deliverer *webhooksjobs.Deliverer
	acme      id.Organization
	gateway   webhooksjobs.Gateway // the kit itself, unless the test has another one
	execute   webhooksjobs.Bus     // the kit's bus, unless the test has another one

	mu       sync.Mutex
	answers  map[string]func(ctx context.Context) webhooks.Outcome // by address; without one: 200
	calls    []webhooks.Call
	invoices int
}

// newKit makes a kit whose deliverer does not run yet.
func newKit(t testing.TB) *kit {
	t.Helper()
	k := &kit{
		t: t, clock: clock.NewManual(start), acme: id.New[id.Organization](),
		answers: map[string]func(context.Context) webhooks.Outcome{},
	}
	k.gateway = k
	k.Kit = coretest.NewWithVault(t, vault.Config{Clock: k.clock}, outbox.Outbox{}, webhooksviews.Endpoints{})
	registerEndpoints(k.Bus)
	k.views, k.execute = k.Show(t), k.Bus
	var err error
	if k.store, err = webhooksjobs.OpenStore(t.Context(), k.DB); err != nil {
		t.Fatal(err)
	}
	k.deliverer = k.another()
	return k
}

// another makes a deliverer on the kit's tables.
func (k *kit) another() *webhooksjobs.Deliverer {
	return webhooksjobs.New(webhooksjobs.Config{
		Store: k.store, DB: k.DB, Views: k.views, Bus: k.execute, Secrets: k.Vault.Secrets, Gateway: k.gateway,
		Clock: k.clock, Gate: &k.gate, Logger: slog.New(slog.DiscardHandler),
	})
}

// run starts the deliverer, which stops with the test.
func (k *kit) run() *kit {
	k.t.Helper()
	coretest.Start(k.t, "deliverer", k.deliverer)
	return k
}

// Send is the gateway of the test.
func (k *kit) Send(ctx context.Context, call webhooks.Call) webhooks.Outcome {
	k.mu.Lock()
	k.calls = append(k.calls, call)
	answer := k.answers[call.URL]
	k.mu.Unlock()
	if answer == nil {
		return webhooks.Outcome{Status: 200, Took: time.Millisecond}
	}
	return answer(ctx)
}

// answer sets how an endpoint answers from now on; nil = with 200.
func (k *kit) answer(url string, how func(ctx context.Context) webhooks.Outcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers[url] = how
}

// fails answers with a status.
func fails(status int) func(context.Context) webhooks.Outcome {
	return func(context.Context) webhooks.Outcome {
		return webhooks.Outcome{Status: status, Code: webhooks.CodeNotAccepted, Took: time.Millisecond}
	}
}

// called gives the calls of an address so far.
func (k *kit) called(url string) []webhooks.Call {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(k.calls), func(c webhooks.Call) bool { return c.URL != url })
}

// register makes an endpoint of an organization that is told of invoices, and gives it with its address.
func (k *kit) register(org id.Organization, name string) (id.Webhook, string) {
	k.t.Helper()
	hook, ref, url := id.New[id.Webhook](), id.New[id.Secret](), "https://"+name+".example.com"
	err := k.Vault.Secrets.Put(k.t.Context(), vault.Secret{
		Ref: ref, OrgID: org, Purpose: commands.WebhookSecretPurpose,
	}, []byte("whsec_"+name))
	if err != nil {
		k.t.Fatal(err)
	}
	place := 1
	for ; place <= commands.WebhooksPerOrganization; place++ {
		done, err := k.Bus.Execute(k.t.Context(), commands.RegisterWebhook{
			WebhookID: hook, OrgID: org, Place: place, SecretRef: ref, Settings: commands.WebhookSettings{
				URL: url, Types: []string{events.OutboxInvoiceCreated},
			},
		}, coretest.Operator(org))
		if err == nil {
			coretest.WaitFor(k.t, k.views, done.Position, webhooksviews.EndpointsName)
			return hook, url
		}
	}
	k.t.Fatal("no place is free")
	return hook, url
}

// invoice records an invoice of an organization, which is a message of the outbox.
func (k *kit) invoice(org id.Organization, n int) {
	k.t.Helper()
	who := id.New[id.Subscriber]()
	batch := make([]eventstore.New, n)
	for i := range batch {
		k.invoices++
		batch[i] = eventstore.New{Event: events.InvoiceIssued{
			SubscriberID: who, OrgID: org, InvoiceID: id.New[id.Invoice](), Number: fmt.Sprint("ACME-", k.invoices),
			Total: money.Major(1500, money.KES), IssuedAt: k.clock.Now(),
		}, Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: id.New[id.Command](), OrgID: org, Action: "test", At: k.clock.Now(),
			Actor: events.Actor{Kind: events.ActorOperator},
		}}
	}
	if _, err := k.Store.Append(k.t.Context(), "account-"+who.String(), eventstore.NoStream, batch); err != nil {
		k.t.Fatal(err)
	}
}

// list gives the deliveries of an organization's endpoint, the oldest first.
func (k *kit) list(org id.Organization, hook id.Webhook) []webhooksviews.DeliveryRow {
	k.t.Helper()
	rows, err := k.store.List(k.t.Context(), org, webhooksviews.DeliveryFilter{Webhook: hook},
		webhooksviews.DeliveryKey{}, 1000)
	if err != nil {
		k.t.Fatal(err)
	}
	slices.Reverse(rows)
	return rows
}

// until waits for a condition on the deliveries of an endpoint. It looks again after each call and each change.
func (k *kit) until(
	org id.Organization, hook id.Webhook, what string, holds func([]webhooksviews.DeliveryRow) bool,
) []webhooksviews.DeliveryRow {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	for {
		rows := k.list(org, hook)
		if holds(rows) {
			return rows
		}
		select {
		case <-ctx.Done():
			k.t.Fatalf("%s: %+v", what, rows)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// all reports whether there are so many deliveries, each in a state after so many attempts.
func all(count int, state string, tries int) func([]webhooksviews.DeliveryRow) bool {
	return func(rows []webhooksviews.DeliveryRow) bool {
		return len(rows) == count && !slices.ContainsFunc(rows, func(r webhooksviews.DeliveryRow) bool {
			return r.State != state || r.Tries != tries
		})
	}
}
