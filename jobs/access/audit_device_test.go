package accessjobs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// TestCompare_ADeviceThatWasTakenAwayHasToEnd where a hotspot signed it in by its MAC, and nothing of that was
// reported; until it is registered again. What began later is a guest's.
func TestCompare_ADeviceThatWasTakenAwayHasToEnd(t *testing.T) {
	t.Parallel()
	const mac = "02:00:00:00:00:01"
	org, subscriber, subscription := id.New[id.Organization](), id.New[id.Subscriber](), id.New[id.Subscription]()
	watch := clock.NewManual(noon)
	dir := directory.New(directory.Config{ClassKey: []byte("key"), Clock: watch})
	apply := func(list ...events.Event) {
		for _, e := range list {
			dir.Apply(events.Envelope{Event: e, Meta: events.Metadata{At: watch.Now()}})
		}
	}
	equip := func(macs ...string) {
		apply(events.SubscriptionAddressesAssigned{SubscriptionID: subscription, MACAddresses: texts(macs...)})
	}
	looks := func(uptime time.Duration) []accessjobs.Found {
		o := routerplan.Observed{Sessions: []routerplan.ObservedSession{
			{Hotspot: true, Radius: true, User: mac, MAC: mac, Address: "100.64.0.7", Uptime: uptime},
		}}
		o.Asks.Hotspot, o.SignIns.Hotspot = true, true
		return accessjobs.Compare(o, accessjobs.Known{
			Org: org, At: watch.Now(),
			Present: func(s id.Subscription) directory.Present { return dir.Present(s, watch.Now()) },
			Holder: func(s routerplan.ObservedSession) (id.Subscriber, id.Subscription) {
				shown := directory.Shown{Username: s.User, MAC: s.MAC, Hotspot: s.Hotspot}
				return dir.Named(org, shown, watch.Now())
			},
		})
	}
	apply(events.SubscriptionCreated{
		SubscriptionID: subscription, OrgID: org, SubscriberID: subscriber, StartsAt: noon, CreatedAt: noon,
		Username: personal.Of("spot"), Terms: events.PlanTerms{Kind: "hotspot", Mode: events.Postpaid},
	}, events.SubscriptionActivated{SubscriptionID: subscription, SubscriberID: subscriber, At: noon})
	equip(mac)
	watch.Advance(time.Hour)
	ends := func(what string, uptime time.Duration, want bool) (f accessjobs.Found) {
		t.Helper()
		got := looks(uptime)
		if len(got) != 1 || got[0].SubscriptionID != subscription ||
			(got[0].Expected == "a device of the subscription") != want {
			t.Fatalf("%s: %+v", what, got)
		}
		return got[0]
	}
	ends("it is registered", 30*time.Minute, false)
	equip()
	f := ends("it was taken away", 30*time.Minute, true)
	auditor := &accessjobs.Auditor{Enforcer: &accessjobs.Enforcer{
		Entitled: accessjobs.Entitled{Directory: dir}, Clock: watch,
	}}
	if auditor.EasedForTest(f) {
		t.Error("it may go on")
	}
	equip(mac)
	if !auditor.EasedForTest(f) {
		t.Error("it may not go on, although it is registered again")
	}
	equip()
	watch.Advance(time.Hour)
	ends("it began later", 30*time.Minute, false)
}
