package directory_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// TestReply_SaysWhatTheScriptSetsOnRouters: how often they report, and the list for which they have rules.
func TestReply_SaysWhatTheScriptSetsOnRouters(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon)...)...)
	k.apply(events.WalledGardenEntered{DunningSubject: events.DunningSubject{
		SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber,
	}})
	answer, _ := k.accepted(request("amina", "pw"))
	if got := mikrotik(answer, 19); got != routerplan.GardenList {
		t.Errorf("the list is %s, and the rules are for %s", got, routerplan.GardenList)
	}
	script, err := routerplan.Bootstrap(routerplan.BootstrapConfig{
		Concentrator: "vpn.example.net", SSTPPort: 443, TunnelUser: "nas-1a2b3c4d", TunnelSecret: "tunnelSecret1",
		RadiusHost: "10.99.0.1", RadiusSecret: "radiusSecret1", CoAPort: 3799, APIUser: "platform",
		APIPassword: "apiPassword1", APIPort: 80,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, set, _ := strings.Cut(script, "interim-update=")
	every, err := time.ParseDuration(strings.Fields(set)[0])
	if told := time.Duration(rfc2869.AcctInterimInterval_Get(answer)) * time.Second; err != nil || every != told {
		t.Errorf("the script sets %v, %v, and the accept says %v", every, err, told)
	}
}

// TestReply_RoutesAreReturnedAsRoutersReadThem, and in the walled garden there is none.
func TestReply_RoutesAreReturnedAsRoutersReadThem(t *testing.T) {
	t.Parallel()
	s, i := newSafe(), newISP()
	routed := events.SubscriptionAddressesAssigned{
		SubscriptionID: i.subscription, SubscriberID: i.subscriber,
		Routes: personal.OfAll([]string{"203.0.113.0/29", "2001:db8:5::/48", "192.168.7.0/24"}),
	}
	k := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon.AddDate(0, 1, 0))...)...)
	before := k.dir.Present(i.subscription, noon).Grant
	k.apply(routed)
	answer, _ := k.accepted(request("amina", "pw"))
	routes, _ := rfc2865.FramedRoute_GetStrings(answer)
	routes6, _ := rfc3162.FramedIPv6Route_GetStrings(answer)
	if !slices.Equal(routes, []string{"203.0.113.0/29 0.0.0.0 1", "192.168.7.0/24 0.0.0.0 1"}) ||
		!slices.Equal(routes6, []string{"2001:db8:5::/48 :: 1"}) {
		t.Errorf("%q and %q", routes, routes6)
	}
	if after := k.dir.Present(i.subscription, noon).Grant; after.Rest == before.Rest {
		t.Error("a session keeps the routes of before")
	}
	g := newKit(t, s, append(i.begin(s, "127.0.0.1", "amina", "pw"), i.paid(noon)...)...)
	g.apply(routed, events.WalledGardenEntered{DunningSubject: events.DunningSubject{
		SubscriptionID: i.subscription, OrgID: i.org, SubscriberID: i.subscriber,
	}})
	answer, _ = g.accepted(request("amina", "pw"))
	routes, _ = rfc2865.FramedRoute_GetStrings(answer)
	routes6, _ = rfc3162.FramedIPv6Route_GetStrings(answer)
	if len(routes)+len(routes6) != 0 {
		t.Errorf("in the walled garden %q and %q", routes, routes6)
	}
}
