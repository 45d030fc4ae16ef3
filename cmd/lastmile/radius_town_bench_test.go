package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"layeh.com/radius"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// What the routers of a town are like. Each has an address of its own, because the server bounds the packets a second
// of one router.
const (
	townRouters = 64
	townSecret  = "xyzzy5461-of-the-town"
)

// town is a program that answers routers and has a log with many subscribers who have paid.
type town struct {
	*kit
	org         id.Organization
	subscribers int
	sessions    int // the last number that was given away

	access, accounting netip.AddrPort // where the program answers
}

// newTown fills a log with BENCH_RADIUS_SUBSCRIBERS customers, and runs the program on it with the roles that sign-ins
// and accounting need: no read model and no process takes part in them.
func newTown(b *testing.B) *town {
	b.Helper()
	t := &town{
		kit:         newKit(b, "DATABASE_MAX_CONNS=24", "RADIUS_AUTH_ADDR="+freeUDPPort(b).String()),
		org:         id.New[id.Organization](),
		subscribers: benchtest.Size(b, "RADIUS_SUBSCRIBERS", 50_000),
	}
	t.open(b)
	t.fill(b)
	t.app.Stop()
	t.open(b)
	return t
}

// open starts the program.
func (t *town) open(b *testing.B) {
	b.Helper()
	app, err := StartApp(b.Context(), t.config(), roles{roleEventStore, roleRadius},
		slog.New(slog.NewJSONHandler(io.Discard, nil)), appOptions{})
	if err != nil {
		b.Fatalf("start: %v", err)
	}
	b.Cleanup(app.Stop)
	t.app, t.access, t.accounting = app, app.radius.server.AccessAddr(), app.radius.server.AccountingAddr()
}

// apart runs the program in a process of its own from now on, as it runs for an operator: what the routers of the
// benchmark leave as garbage is not the program's to collect.
func (t *town) apart(b *testing.B) {
	b.Helper()
	t.app.Stop()
	t.environ = append(t.environ, childRoles+"="+roleEventStore+","+roleRadius,
		"RADIUS_AUTH_ADDR="+t.access.String(), "RADIUS_ACCT_ADDR="+t.accounting.String())
	t.launch(freePort(b))
	t.admits(b)
}

// admits waits until a customer is signed in.
func (t *town) admits(b *testing.B) {
	b.Helper()
	few := town{subscribers: 1}
	request := few.signIns(b, 1, provePAP)[0].packet
	first := func(*caller) ([]byte, byte, []byte) { return request, byte(radius.CodeAccessAccept), nil }
	it := newCallers(b, t.access, 1)[0]
	for b.Context().Err() == nil && it.send(first) != nil {
		time.Sleep(5 * time.Millisecond)
	}
}

// begun waits until the tables have a session of every subscriber.
func (t *town) begun(b *testing.B) {
	b.Helper()
	for n := 0; n < t.subscribers; time.Sleep(10 * time.Millisecond) {
		err := t.db.Owner.QueryRow(b.Context(), `select count(distinct subscription_id) from `+
			t.db.Namespace.Schema("telemetry")+`.sessions`).Scan(&n)
		if err != nil {
			b.Fatal(err)
		}
	}
}

// townRouter is the source address of a router by number.
func townRouter(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 0, 1, byte(1 + n%townRouters)})
}

// townCustomer is the name, the password and the MAC of a subscriber by number. All names are equally long.
func townCustomer(n int) (name, password, mac string) {
	return fmt.Sprintf("subscriber-%06d", n), fmt.Sprintf("password %06d", n),
		fmt.Sprintf("02:00:00:%02X:%02X:%02X", n>>16&0xff, n>>8&0xff, n&0xff)
}

// fill records the organization, its routers and its subscribers.
func (t *town) fill(b *testing.B) {
	b.Helper()
	now := time.Now().UTC()
	t.record(b, "organization-"+t.org.String(), events.OrganizationCreated{
		OrgID: t.org, Slug: "town", Name: "Town", Billing: events.BillingSettings{Timezone: "Africa/Nairobi"},
	})
	for n := range townRouters {
		router := id.New[id.Device]()
		t.record(b, "device-"+router.String(), events.DeviceRegistered{
			DeviceID: router, OrgID: t.org, TunnelAddress: townRouter(n).String(), RadiusRef: t.keep(b, townSecret),
			Details: events.DeviceDetails{Name: fmt.Sprintf("tower %d", n), IPAddress: "203.0.113.1"}, At: now,
		})
	}
	plan, terms := id.New[id.Plan](), events.PlanTerms{
		Name: "Home", Kind: "pppoe", Mode: events.Prepaid, Rates: events.Rates{Down: 10_000, Up: 5_000},
		Access: events.AccessTerms{
			Pool: "homes", Burst: events.Burst{
				Down: 16_000, Up: 10_000, ThresholdDown: 8_000, ThresholdUp: 4_000, Seconds: 10,
			},
		},
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range benchWriters {
		group.Go(func() {
			for from := next.Add(townGroup) - townGroup; from < int64(t.subscribers); from = next.Add(townGroup) -
				townGroup {
				var list []events.Event
				for n := int(from); n < min(int(from)+townGroup, t.subscribers); n++ {
					list = append(list, t.customer(b, n, plan, terms)...)
				}
				t.record(b, "subscription-"+id.New[id.Subscription]().String(), list...)
			}
		})
	}
	group.Wait()
	t.past(b)
	if b.Failed() {
		b.FailNow()
	}
}

// past records BENCH_RADIUS_PAST invoices, usually none, which a start has to pass over.
func (t *town) past(b *testing.B) {
	b.Helper()
	var group sync.WaitGroup
	streams := benchtest.Size(b, "RADIUS_PAST", townGroup) / townGroup
	for writer := range benchWriters {
		group.Go(func() {
			for range streams / benchWriters {
				who, list := id.New[id.Subscriber](), make([]events.Event, townGroup)
				for i := range list {
					list[i] = events.InvoiceIssued{
						SubscriberID: who, InvoiceID: id.New[id.Invoice](), Number: fmt.Sprintf("INV-%d-%d", writer, i),
					}
				}
				t.record(b, "account-"+who.String(), list...)
			}
		})
	}
	group.Wait()
}

// townGroup is how many customers are recorded at once, in one stream, which is quicker than one by one. Who reads the
// whole log sees no difference.
const townGroup = 50

// customer gives the events of a customer who has paid, and keeps the password.
func (t *town) customer(b *testing.B, n int, plan id.Plan, terms events.PlanTerms) []events.Event {
	b.Helper()
	now := time.Now().UTC()
	name, password, _ := townCustomer(n)
	it, who := id.New[id.Subscription](), id.New[id.Subscriber]()
	return []events.Event{
		events.SubscriptionCreated{
			SubscriptionID: it, OrgID: t.org, SubscriberID: who, PlanID: plan, PlanVersion: 1, Terms: terms,
			Timezone: "Africa/Nairobi", StartsAt: now, Username: personal.Of(name), CreatedAt: now,
			PasswordRef: t.keep(b, password),
		},
		events.SubscriptionExtended{SubscriptionID: it, SubscriberID: who, PaidUntil: now.AddDate(0, 1, 0)},
		events.SubscriptionActivated{SubscriptionID: it, SubscriberID: who, At: now},
	}
}

// record appends to the log. It may be called from any goroutine.
func (t *town) record(b *testing.B, stream string, list ...events.Event) {
	b.Helper()
	if err := t.append(b, stream, t.org, list...); err != nil {
		b.Error(err)
	}
}

// keep stores a secret. It may be called from any goroutine.
func (t *town) keep(b *testing.B, text string) id.Secret {
	b.Helper()
	ref := id.New[id.Secret]()
	err := t.app.storage.vault.Secrets.Put(context.Background(), vault.Secret{
		Ref: ref, OrgID: t.org, Purpose: "bench",
	}, []byte(text))
	if err != nil {
		b.Error(err)
	}
	return ref
}
