package directory

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/radius"
)

// TestDirectory_ADeviceLeadsToAFewSubscriptions: however many have it, a sign-in by its MAC looks through a few. The
// one that is paid stays among them, and another one that is paid, or is no longer blocked, comes back.
func TestDirectory_ADeviceLeadsToAFewSubscriptions(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	d, org := New(Config{Clock: now}), id.New[id.Organization]()
	key := device{org, radius.MAC{2, 0, 0, 0, 0, 1}}
	apply := func(list ...events.Event) {
		for _, e := range list {
			now.Advance(time.Second)
			d.Apply(events.Envelope{ID: id.New[id.Event](), Event: e, Meta: events.Metadata{At: now.Now()}})
		}
		if n := len(d.byMAC[key]); n > 16 {
			t.Fatalf("the device leads to %d subscriptions", n)
		}
	}
	pay := func(s id.Subscription, until time.Time) {
		apply(events.SubscriptionExtended{SubscriptionID: s, PaidUntil: until})
	}
	leadsTo := func(what string, want id.Subscription) {
		t.Helper()
		if got := d.ofMAC(key, now.Now()); got == nil || got.id != want {
			t.Errorf("%s: the device does not sign in by it", what)
		}
	}
	customers := make([]id.Subscriber, 10*maxOfDevice)
	lines := make([]id.Subscription, len(customers))
	for i := range lines {
		customers[i], lines[i] = id.New[id.Subscriber](), id.New[id.Subscription]()
		apply(events.SubscriptionCreated{
			SubscriptionID: lines[i], OrgID: org, SubscriberID: customers[i], StartsAt: now.Now(), CreatedAt: now.Now(),
			Terms: events.PlanTerms{Kind: hotspotKind, Mode: events.Prepaid},
		}, events.SubscriptionActivated{SubscriptionID: lines[i], At: now.Now()}, events.SubscriptionAddressesAssigned{
			SubscriptionID: lines[i], MACAddresses: []personal.Text{personal.Of("02:00:00:00:00:01")},
		})
		if i == 0 {
			pay(lines[0], now.Now().AddDate(0, 1, 0))
		}
	}
	leadsTo("the first one is paid", lines[0])
	apply(events.SubscriberBlocked{SubscriberID: customers[0]})
	for _, line := range lines[1:] {
		pay(line, now.Now().Add(time.Hour))
	}
	apply(events.SubscriberUnblocked{SubscriberID: customers[0]})
	now.Advance(2 * time.Hour)
	leadsTo("it is no longer blocked", lines[0])
	apply(events.SubscriptionEnded{SubscriptionID: lines[0]})
	pay(lines[1], now.Now().Add(time.Hour))
	leadsTo("another one is paid", lines[1])
	apply(events.SubscriberForgotten{SubscriberID: customers[1]})
	if s := d.ofMAC(key, now.Now()); s == nil || s.id == lines[1] {
		t.Error("the device of a forgotten customer signs in by nothing, or by what the customer had")
	}
}
