package directory_test

import (
	"testing"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

func TestGrant_ASessionKeepsWhatItsAcceptGaveWhateverIsTrueLater(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	answer, _ := k.accepted(request("amina", "pw"))
	class := rfc2865.Class_Get(answer)
	before := k.dir.Present(i.subscription, noon)
	held, found := k.dir.Holder(i.org, class, "", noon)
	if !found || !held.Told || held.Grant != before.Grant || held.Grant.Access != entitlement.Full {
		t.Fatalf("granted %+v %v, present %+v", held, found, before.Grant)
	}
	k.apply(events.WalledGardenEntered{DunningSubject: events.DunningSubject{SubscriptionID: i.subscription}})
	k.clock.Advance(2 * time.Hour)
	after := k.dir.Present(i.subscription, k.clock.Now())
	if held, _ := k.dir.Holder(i.org, class, "", k.clock.Now()); held.Grant != before.Grant {
		t.Errorf("the session had %+v, now %+v is told", before.Grant, held.Grant)
	}
	if after.Grant.Access != entitlement.WalledGarden || after.Grant.Stamp()[8:] == before.Grant.Stamp()[8:] {
		t.Errorf("present %+v", after.Grant)
	}
	k.apply(events.SubscriptionEnded{SubscriptionID: i.subscription})
	if p := k.dir.Present(i.subscription, k.clock.Now()); p.Grant.Access != entitlement.None || p.Code != "ended" {
		t.Errorf("after the end %+v", p)
	}
}

func TestGrant_AnotherPasswordOrAddressNeedsAnotherSignIn(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.Add(time.Hour))...)...)
	now := func() string { return k.dir.Present(i.subscription, noon).Grant.Stamp() }
	begun := now()
	for _, e := range []events.Event{
		events.SubscriptionCredentialsSet{
			SubscriptionID: i.subscription, Username: personal.Of("amina"), PasswordRef: s.put("next"),
		},
		events.SubscriptionCredentialsSet{
			SubscriptionID: i.subscription, Username: personal.Of("wanjiru"), PasswordRef: s.put("next"),
		},
		events.SubscriptionAddressesAssigned{SubscriptionID: i.subscription, StaticIP: personal.Of("100.64.0.9")},
	} {
		before := now()
		k.apply(e)
		if after := now(); after[8:] == before[8:] || after[:8] != begun[:8] {
			t.Errorf("%T: %s became %s", e, before, after)
		}
	}
	before := now()
	k.apply(events.SubscriptionAddressesAssigned{
		SubscriptionID: i.subscription, StaticIP: personal.Of("100.64.0.9"),
		MACAddresses: []personal.Text{personal.Of("AA:BB:CC:00:11:22")},
	})
	p := k.dir.Present(i.subscription, noon)
	if now() != before || !p.Allows("aa-bb-cc-00-11-22") || p.Allows("AA:BB:CC:00:11:23") || p.Allows("") {
		t.Errorf("bound to a device: %+v", p)
	}
}
