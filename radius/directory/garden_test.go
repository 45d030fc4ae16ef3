package directory_test

import (
	"testing"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"
	"layeh.com/radius/rfc4818"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// The rules of the walled garden on routers are for IPv4.
func TestDirectory_NoIPv6InTheWalledGarden(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "2001:db8:1::/56", "2001:db8:1::/64"} {
		s, i := newSafe(), newISP()
		i.terms.Access.IPv6Pool, i.terms.Access.IPv6DelegatedPool = "links", "homes6"
		k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon)...)...)
		if prefix != "" {
			k.apply(events.SubscriptionAddressesAssigned{
				SubscriptionID: i.subscription, StaticIPv6Prefix: personal.Of(prefix),
			})
		}
		k.apply(events.WalledGardenEntered{DunningSubject: events.DunningSubject{
			SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber,
		}})
		answer, _ := k.accepted(request("amina", "pw"))
		if mikrotik(answer, 19) != "walled-garden" || mikrotik(answer, 22) != "" ||
			rfc3162.FramedIPv6Pool_GetString(answer) != "" || rfc3162.FramedIPv6Prefix_Get(answer) != nil ||
			rfc4818.DelegatedIPv6Prefix_Get(answer) != nil {
			t.Errorf("with prefix %q: %v", prefix, answer.Attributes)
		}
	}
}

// TestDirectory_NoStaticAddressInTheWalledGarden: a list of a router has an address once, and the entry goes with the
// first of two sessions that have it. So each session has an address of a pool.
func TestDirectory_NoStaticAddressInTheWalledGarden(t *testing.T) {
	t.Parallel()
	for _, pool := range []string{"home", ""} {
		s, i := newSafe(), newISP()
		i.terms.Access.Pool = pool
		k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon)...)...)
		k.apply(events.SubscriptionAddressesAssigned{
			SubscriptionID: i.subscription, StaticIP: personal.Of("100.64.0.9"),
		}, events.WalledGardenEntered{DunningSubject: events.DunningSubject{
			SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber,
		}})
		answer, _ := k.accepted(request("amina", "pw"))
		if mikrotik(answer, 19) != "walled-garden" || rfc2865.FramedIPAddress_Get(answer) != nil ||
			rfc2869.FramedPool_GetString(answer) != pool {
			t.Errorf("with pool %q: %v", pool, answer.Attributes)
		}
	}
}

// TestPresent_InTheWalledGardenAStaticAddressMakesNoDifference: nobody is given it there, so no session is ended when
// it changes, and one that was let in with it is.
func TestPresent_InTheWalledGardenAStaticAddressMakesNoDifference(t *testing.T) {
	t.Parallel()
	for _, static := range []events.SubscriptionAddressesAssigned{
		{StaticIP: personal.Of("100.64.0.9")}, {StaticIPv6Prefix: personal.Of("2001:db8:1::/56")},
	} {
		s, i := newSafe(), newISP()
		i.terms.Access.Pool = "home"
		k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon)...)...)
		k.apply(events.WalledGardenEntered{DunningSubject: events.DunningSubject{
			SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber,
		}})
		stamps := func() (paid, walled string) {
			return k.dir.Present(i.subscription, noon.Add(-time.Hour)).Grant.Stamp(),
				k.dir.Present(i.subscription, noon.Add(time.Hour)).Grant.Stamp()
		}
		paid, walled := stamps()
		static.SubscriptionID = i.subscription
		k.apply(static)
		if p, w := stamps(); p == paid || w != walled {
			t.Errorf("%+v: who has paid had %s and has %s, in the walled garden %s and %s", static, paid, p, walled, w)
		}
	}
}
