package directory_test

import (
	"strings"
	"testing"
	"time"

	"layeh.com/radius/rfc2869"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
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
