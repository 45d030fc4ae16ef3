package networkjobs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
)

// empty answers every menu that the auditor reads with nothing.
func empty(but map[string]string) map[string]string {
	answers := map[string]string{}
	for _, menu := range []string{
		"ppp/active", "interface/pppoe-server", "ip/hotspot/active", "ip/hotspot/host", "queue/simple",
		"ip/firewall/address-list", "interface/pppoe-server/server", "ip/hotspot", "interface/vlan",
		"interface/ethernet", "radius", "ppp/aaa", "ip/hotspot/profile",
	} {
		answers[menu] = "[]"
	}
	for menu, answer := range but {
		answers[menu] = answer
	}
	return answers
}

// TestObserve_ReadsThirteenMenusAndTheSpeedOfPortsOfCustomers; a part that cannot be read is an error, so that nobody
// takes the rest for the whole.
func TestObserve_ReadsThirteenMenusAndTheSpeedOfPortsOfCustomers(t *testing.T) {
	t.Parallel()
	answers := empty(map[string]string{
		"interface/pppoe-server/server": `[{".id":"*1","service-name":"lan","interface":"vlan7","disabled":"false"}]`,
		"interface/vlan":                `[{".id":"*9","name":"vlan7","interface":"ether4"}]`,
		"interface/ethernet":            `[{".id":"*2","name":"ether4"},{".id":"*3","name":"ether5"}]`,
		"interface/ethernet/monitor":    `[{"name":"ether4","rate":"100Mbps"}]`,
	})
	r, asked := answering(t, answers)
	got, err := r.observe(t.Context(), routerplan.Home{})
	if err != nil || len(got.Ports) != 1 || got.Ports[0].Rate != 100_000 || got.Ports[0].Server != "lan" {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(*asked); n != 14 {
		t.Errorf("%d requests: %v", n, *asked)
	}
	delete(answers, "interface/ethernet/monitor") // refused: the port is believed
	if got, err = r.observe(t.Context(), routerplan.Home{}); err != nil || len(got.Ports) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	delete(answers, "queue/simple")
	if got, err = r.observe(t.Context(), routerplan.Home{}); err == nil {
		t.Errorf("a part of the router was taken for the whole: %+v", got)
	}
}

// TestPlanLocal_WritesToNothingThatWasNotMeant, whatever rows a router gives.
func TestPlanLocal_WritesToNothingThatWasNotMeant(t *testing.T) {
	t.Parallel()
	const many = `[{".id":"*1","name":"bypass","user":"bypass","mac-address":"02:00:00:00:00:01",
		"session-id":"0x81A00001",
		"address":"10.0.0.1","disabled":"false","bypassed":"true"},
		{".id":"*2","name":"amina","user":"amina","mac-address":"02:00:00:00:00:02","session-id":"0x81A00002",
		"address":"10.0.0.2","disabled":"false","bypassed":"true"},
		{".id":"*3","name":"","user":"","address":"","disabled":"false"},{".id":"*4","name":"bypass","user":"bypass",
		"disabled":"true","session-id":"0x81A00009","address":"10.0.0.9"}]`
	r, _ := answering(t, map[string]string{
		"ppp/secret": many, "ppp/active": many, "ip/hotspot/user": many, "ip/hotspot/active": many,
		"ip/hotspot/host": many, "ip/hotspot/ip-binding": many,
	})
	for what, c := range map[string]struct {
		login LocalLogin
		want  string
	}{
		"a secret and its session": {
			LocalLogin{Local: true, Session: OnlineSession{User: "bypass", Key: "81a00001", Address: "10.0.0.1"}},
			"set ppp/secret *1, remove ppp/active *1",
		},
		"a session without a key": {
			LocalLogin{Session: OnlineSession{User: "bypass", Address: "10.0.0.9"}}, "remove ppp/active *4",
		},
		"a hotspot user": {
			LocalLogin{Local: true, Session: OnlineSession{Hotspot: true, User: "bypass", Address: "10.0.0.1"}},
			"set ip/hotspot/user *1, remove ip/hotspot/active *1",
		},
		"a bypassed device": {
			LocalLogin{
				Local: true, Bypass: true, MAC: "02:00:00:00:00:02",
				Session: OnlineSession{Hotspot: true, Address: "10.0.0.2"},
			}, "set ip/hotspot/ip-binding *2, remove ip/hotspot/host *2",
		},
		"a bypassed device without a MAC and an address": {
			LocalLogin{Bypass: true, Session: OnlineSession{Hotspot: true}}, "",
		},
		"a login without a name": {
			LocalLogin{Local: true, Session: OnlineSession{Key: "81a00001"}}, "remove ppp/active *3",
		},
		"one that has gone": {LocalLogin{Local: true, Session: OnlineSession{User: "x"}}, ""},
	} {
		steps, err := r.planLocal(t.Context(), c.login)
		var got []string
		for _, s := range steps {
			got = append(got, fmt.Sprint(s.Operation, " ", s.Path, " ", s.ID))
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, %v; want %s", what, got, err, c.want)
		}
		if slices.ContainsFunc(steps, func(s LocalWrite) bool {
			return strings.Contains(fmt.Sprint(s.Before, s.After),
				"02:")
		}) {
			t.Errorf("%s: personal values in %v", what, steps)
		}
	}
}
