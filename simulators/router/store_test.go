package router_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

func TestSession_LeavesItsTracesAndTakesThemAway(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version).withRADIUS()
		k.do("interface/pppoe-server/server", "add", router.Item{
			"service-name": "s", "interface": "ether5", "disabled": "no",
		})
		k.do("ip/hotspot", "add", router.Item{"name": "h", "interface": "ether4", "disabled": "no"})
		k.do("ip/address", "add", router.Item{"address": "10.50.1.1/24", "interface": "ether4"})
		before := k.Snapshot(true)
		for _, s := range []router.Session{
			{
				Kind: "pppoe", User: "jane", Server: "s", MAC: "aa:bb:cc:00:11:22", Address: "10.50.0.7",
				Rate: "5M/10M", List: "customers", RxBytes: 10, TxBytes: 100,
			},
			{Kind: "pppoe", User: "jane", Server: "s", Address: "10.50.0.8"},
			{Kind: "hotspot", User: "v1", Server: "h", Address: "10.50.1.5", Rate: "1M/2M", TxBytes: 7},
		} {
			if _, err := k.Connect(s); err != nil {
				t.Fatal(err)
			}
		}
		k.clock.Advance(time.Minute)
		if got := k.only("ppp/active", "address",
			"10.50.0.7"); got["uptime"] != "1m" || got["caller-id"] != "AA:BB:CC:00:11:22" ||
			got[".id"] != "*80000001" || got["session-id"] != "0x81000001" {
			t.Errorf("active: %v", got)
		}
		if got := k.only("interface", "name", "<pppoe-jane>"); got["dynamic"] != "true" || got["type"] != "pppoe-in" ||
			got["tx-byte"] != "6000" {
			t.Errorf("interface: %v", got)
		}
		k.only("interface", "name", "<pppoe-jane-1>")
		queue := k.only("queue/simple", "name", "<pppoe-jane>")
		if queue["max-limit"] != "5000000/10000000" || queue["dynamic"] != "true" {
			t.Errorf("queue: %v", queue)
		}
		if _, err := k.Do("queue/simple", "set", router.Item{".id": queue[".id"], "max-limit": "1M/1M"}); err == nil {
			t.Error("a dynamic queue was changed")
		}
		k.only("ip/firewall/address-list", "address", "10.50.0.7")
		if got := k.only("ip/hotspot/active", "user", "v1"); got[".id"] != "*A320105" || got["bytes-out"] != "420" {
			t.Errorf("hotspot: %v", got)
		}
		k.do("ppp/active", "remove", router.Item{".id": "*80000001"})
		k.Disconnect("jane")
		k.do("ip/hotspot/active", "remove", router.Item{".id": "*A320105"})
		if diff := cmp.Diff(before, k.Snapshot(true)); diff != "" {
			t.Errorf("%s: %s", version, diff)
		}
	}
}

// TestSession_AListHasAnAddressOnce: of two sessions with one address only the first has an entry, and takes it away.
func TestSession_AListHasAnAddressOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, versions[0]).withRADIUS()
	k.do("interface/pppoe-server/server", "add", router.Item{
		"service-name": "s", "interface": "ether5", "disabled": "no",
	})
	entries := func() (n int) {
		for _, row := range k.Snapshot(true)["ip/firewall/address-list"] {
			if row["list"] == "customers" {
				n++
			}
		}
		return n
	}
	for _, user := range []string{"jane", "joe"} {
		if _, err := k.Connect(router.Session{
			Kind: "pppoe", User: user, Server: "s", Address: "10.50.0.7", List: "customers",
		}); err != nil {
			t.Fatal(err)
		}
		if n := entries(); n != 1 {
			t.Errorf("%d entries with %s", n, user)
		}
	}
	k.Disconnect("joe")
	if n := entries(); n != 1 {
		t.Errorf("%d entries without joe", n)
	}
	k.Disconnect("jane")
	if n := entries(); n != 0 {
		t.Errorf("%d entries without jane", n)
	}
}

func TestSession_EndsWithItsServer(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(k *kit){
		"removed":  func(k *kit) { k.do("interface/pppoe-server/server", "remove", router.Item{".id": "*1"}) },
		"disabled": func(k *kit) { k.do("interface/pppoe-server/server", "disable", router.Item{".id": "*1"}) },
		"moved": func(k *kit) {
			k.do("interface/pppoe-server/server", "set", router.Item{".id": "*1", "interface": "ether4"})
		},
		"port off":  func(k *kit) { k.do("interface", "disable", router.Item{"numbers": "ether5"}) },
		"rebooted":  func(k *kit) { k.Reboot() },
		"unplugged": func(k *kit) { k.SetPower(false) },
	} {
		k := newKit(t, "7.16").withRADIUS()
		k.do("interface/pppoe-server/server", "add", router.Item{
			"service-name": "s", "interface": "ether5", "disabled": "no",
		})
		if _, err := k.Connect(router.Session{Kind: "pppoe", User: "u", Server: "s",
			Address: "10.50.0.7"}); err != nil {
			t.Fatal(err)
		}
		k.do("interface/pppoe-server/server", "set", router.Item{".id": "*1", "max-sessions": "100"})
		if len(k.do("ppp/active", "print", nil)) != 1 {
			t.Errorf("%s: a harmless change ended the session", name)
		}
		change(k)
		if left := k.do("ppp/active", "print", nil); len(left) != 0 {
			t.Errorf("%s: %v", name, left)
		}
	}
}

func TestReferences_FollowNamesAndDangle(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.do("ip/pool", "add", router.Item{"name": "p", "ranges": "10.0.0.2-10.0.0.9"})
	k.do("ppp/profile", "add", router.Item{"name": "prof", "local-address": "10.0.0.1", "remote-address": "p"})
	k.do("interface/vlan", "add", router.Item{"name": "v", "interface": "ether5", "vlan-id": "7"})
	k.do("ip/address", "add", router.Item{"address": "10.0.0.1/24", "interface": "v"})
	k.do("interface", "set", router.Item{"numbers": "v", "name": "w"})
	if got := k.only("ip/address", "address", "10.0.0.1/24"); got["interface"] != "w" || got["network"] != "10.0.0.0" {
		t.Errorf("address: %v", got)
	}
	if got := k.only("ip/route", "dst-address", "10.0.0.0/24"); got["dynamic"] != "true" || got["connect"] != "true" {
		t.Errorf("route: %v", got)
	}
	k.do("ip/pool", "set", router.Item{"numbers": "p", "name": "q"})
	k.do("ip/pool", "remove", router.Item{"numbers": "q"})
	if got := k.only("ppp/profile", "name", "prof"); got["remote-address"] != "*2" {
		t.Errorf("profile: %v", got)
	}
	k.do("interface/vlan", "remove", router.Item{"numbers": "w"})
	if got := k.only("ip/address", "address", "10.0.0.1/24"); !strings.HasPrefix(got["interface"], "*") ||
		got["invalid"] != "true" {
		t.Errorf("address: %v", got)
	}
}

func TestRefusals_OfWhatIsNotToBeTouched(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.do("user/group", "add", router.Item{"name": "g", "policy": "read"})
	k.do("user", "add", router.Item{"name": "u", "group": "g"})
	for _, c := range []struct {
		menu, command string
		args          router.Item
		want          string
	}{
		{"user/group", "remove", router.Item{"numbers": "g"}, "failure: group has some users"},
		{"ppp/profile", "remove", router.Item{"numbers": "default"}, "failure: can not remove default item"},
		{
			"interface/bridge/port", "add", router.Item{"interface": "ether2", "bridge": "bridge"},
			"failure: device already added as bridge port",
		},
		{"ip/firewall/address-list", "add", router.Item{"list": "l"}, "missing =address="},
		{"ip/hotspot/profile", "add", router.Item{"name": "x", "comment": "y"}, "unknown parameter comment"},
		{"ip/pool", "set", router.Item{"ranges": "10.0.0.1"}, "missing =.id="},
		{
			"ip/firewall/filter", "add", router.Item{"chain": "input", "place-before": "*77"},
			"input does not match any value of place-before",
		},
		{
			"ip/firewall/filter", "add", router.Item{"chain": "input", "in-interface": "nope"},
			"input does not match any value of in-interface",
		},
	} {
		if _, err := k.Do(c.menu, c.command, c.args); err == nil || err.Error() != c.want {
			t.Errorf("/%s %s %v: %v", c.menu, c.command, c.args, err)
		}
	}
	k.do("ip/firewall/address-list", "add", router.Item{"list": "l", "address": "10.0.0.1/32"})
	if _, err := k.Do("ip/firewall/address-list", "add",
		router.Item{"list": "l", "address": "10.0.0.1", "comment": "x"}); err == nil ||
		err.Error() != "failure: already have such entry" {
		t.Errorf("duplicate entry: %v", err)
	}
	k.do("ip/hotspot/walled-garden", "add", router.Item{"dst-host": "*.example.com"})
	if rows := k.do("ip/hotspot/walled-garden/ip", "print", nil); len(rows) != 1 || rows[0]["dynamic"] != "true" {
		t.Errorf("walled garden: %v", rows)
	}
	k.do("ip/hotspot/walled-garden", "remove", router.Item{".id": "*1"})
	if rows := k.do("ip/hotspot/walled-garden/ip", "print", nil); len(rows) != 0 {
		t.Errorf("walled garden: %v", rows)
	}
}

func TestSeed_SameSeedSameRouter(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(newKit(t, "7.16").Snapshot(true), newKit(t, "7.16").Snapshot(true)); diff != "" {
		t.Error(diff)
	}
	k := newKit(t, "7.16")
	if cmp.Equal(k.Snapshot(true), k.sim.Router("r2").Snapshot(true)) {
		t.Error("two routers have the same addresses")
	}
}

func TestFaults_SomebodyElseEdits(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.SetFaults(router.Faults{
		EditAfterWrites: router.After(2), Edits: []router.Edit{
			{Menu: "ip/pool", Command: "add", Args: router.Item{"name": "theirs", "ranges": "10.9.9.9"}},
		},
	})
	for i, name := range []string{"a", "b", "c"} {
		if status, body := k.rest("www", "PUT", "/rest/ip/pool",
			`{"name":"`+name+`","ranges":"10.0.0.1"}`); status != 201 {
			t.Fatal(body)
		}
		if n := len(k.Snapshot(false)["ip/pool"]); n != []int{2, 4, 5}[i] {
			t.Errorf("after %s: %d pools", name, n)
		}
	}
	k.SetFaults(router.Faults{RebootAfterWrites: router.After(0)})
	k.clock.Advance(time.Hour)
	if status, _ := k.rest("www", "PUT", "/rest/ip/pool", `{"name":"d","ranges":"10.0.0.1"}`); status != 0 {
		t.Errorf("status %d", status)
	}
	if got := k.do("system/resource", "print", nil); got[0]["uptime"] != "0s" ||
		len(k.Snapshot(false)["ip/pool"]) != 6 {
		t.Errorf("after the reboot: %v", got)
	}
	k.SetFaults(router.Faults{DenyWrites: true})
	if status, body := k.rest("www", "DELETE", "/rest/ip/pool/*2", ""); status != 500 ||
		!strings.Contains(body, "not enough permissions (9)") {
		t.Errorf("%d %s", status, body)
	}
}
