package routeros_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/gateways/routeros"
)

// props keeps the tables of these tests short.
type props = map[string]string

func TestContract_AnItemIsAddedReadChangedAndRemoved(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, k *kit) {
		d := k.device()
		id := k.add("ip/pool", props{
			"name": "pool-1", "ranges": "10.50.0.2-10.50.0.254", "comment": "Platform-svc:äöü \"x\\y\"",
		})
		want := []routeros.Item{
			{".id": id, "name": "pool-1", "ranges": "10.50.0.2-10.50.0.254", "comment": "Platform-svc:äöü \"x\\y\""},
		}
		query := routeros.Query{Where: props{"name": "pool-1"}, Props: []string{".id", "name", "ranges", "comment"}}
		if diff := cmp.Diff(want, k.print("ip/pool", query)); diff != "" {
			t.Error(diff)
		}
		if got := k.print("ip/pool", routeros.Query{Where: props{"comment": "Platform-svc:äöü \"x\\y\""},
			Props: []string{".id"}}); len(got) != 1 || got[0].ID() != id {
			t.Errorf("by comment: %v", got)
		}
		if err := d.Set(t.Context(), "ip/pool", id,
			props{"ranges": "10.50.0.10-10.50.0.20", "comment": ""}); err != nil {
			t.Fatal(err)
		}
		got := k.print("ip/pool", query)
		if _, commented := got[0]["comment"]; commented || got[0]["ranges"] != "10.50.0.10-10.50.0.20" {
			t.Errorf("after set: %v", got)
		}
		if err := d.Remove(t.Context(), "ip/pool", id); err != nil {
			t.Fatal(err)
		}
		if got := k.print("ip/pool", query); len(got) != 0 {
			t.Errorf("after remove: %v", got)
		}
		if err := d.Remove(t.Context(), "ip/pool", id); !routeros.IsMissing(err) {
			t.Errorf("second remove: %v", err)
		}
		if err := d.Set(t.Context(), "ip/pool", id, props{"ranges": "10.50.0.10"}); !routeros.IsMissing(err) {
			t.Errorf("set of what is gone: %v", err)
		}
	})
}

func TestContract_RefusalsKeepTheRoutersWords(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, k *kit) {
		k.add("ip/pool", props{"name": "pool-1", "ranges": "10.50.0.2-10.50.0.254"})
		for _, c := range []struct {
			menu  string
			props props
			words string
			dup   bool
		}{
			{"ip/pool", props{"name": "pool-1", "ranges": "10.50.1.2"}, "failure: pool with such name exists", true},
			{"ip/pool", props{"name": "pool-2"}, "missing =ranges=", false},
			{"ip/pool", props{"name": "pool-2", "ranges": "x"}, "invalid value for argument ranges", false},
			{
				"ip/pool", props{"name": "pool-2", "ranges": "10.0.0.1", "colour": "red"}, "unknown parameter colour",
				false,
			},
			{
				"ip/hotspot", props{"name": "h", "interface": "ether5", "comment": "x"}, "unknown parameter comment",
				false,
			},
			{
				"ip/address", props{"address": "10.50.0.1/24", "interface": "nope"},
				"input does not match any value of interface", false,
			},
			{
				"interface/vlan", props{"name": "v", "interface": "ether5", "vlan-id": "5000"},
				"value of vlan-id out of range (1..4095)", false,
			},
			{"interface/bridge", props{"name": "ether1"}, "failure: already have interface with such name", true},
			{"ip/dhcp-server/network", props{"address": "10.50.0.1/24"}, "failure: invalid network", false},
		} {
			_, err := k.device().Add(t.Context(), c.menu, c.props)
			r := routeros.RefusalOf(err)
			if r == nil || r.Message != c.words || routeros.IsDuplicate(err) != c.dup || routeros.MayHaveApplied(err) {
				t.Errorf("add %v to /%s: %v", c.props, c.menu, err)
			}
		}
		if _, err := k.device().Print(t.Context(), "ip/nowhere", routeros.Query{}); routeros.RefusalOf(err) == nil {
			t.Errorf("unknown menu: %v", err)
		}
		if states := k.breakers.States(); len(states) != 1 || states[0].Failures != 0 {
			t.Errorf("a refusal counted as a failure: %+v", states)
		}
	})
}

func TestContract_MenusOfOneItem(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, k *kit) {
		if err := k.device().Set(t.Context(), "ppp/aaa", "",
			props{"use-radius": "yes", "interim-update": "5m"}); err != nil {
			t.Fatal(err)
		}
		got := k.print("ppp/aaa", routeros.Query{})
		if len(got) != 1 || got[0]["use-radius"] != "true" || got[0]["interim-update"] != "5m" || got[0].ID() != "" {
			t.Errorf("aaa: %v", got)
		}
	})
}

func TestContract_RulesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, k *kit) {
		first := k.print("ip/firewall/filter", routeros.Query{Where: props{"dynamic": "false"}})[0].ID()
		a := k.add("ip/firewall/filter", props{
			"chain": "input", "action": "accept", "comment": "Platform-fw:a", "place-before": first,
		})
		b := k.add("ip/firewall/filter", props{"chain": "input", "action": "accept", "comment": "Platform-fw:b"})
		own := func() []string {
			var ids []string
			for _, item := range k.print("ip/firewall/filter", routeros.Query{
				Where: props{"dynamic": "false"}, Props: []string{".id", "comment"},
			}) {
				ids = append(ids, item.ID())
			}
			return ids
		}
		if ids := own(); ids[0] != a || ids[1] != first || ids[len(ids)-1] != b {
			t.Errorf("order %v", ids)
		}
		if err := k.device().Move(t.Context(), "ip/firewall/filter", b, a); err != nil {
			t.Fatal(err)
		}
		if ids := own(); ids[0] != b || ids[1] != a {
			t.Errorf("order after move %v", ids)
		}
		if err := k.device().Move(t.Context(), "ip/firewall/filter", b, ""); err != nil {
			t.Fatal(err)
		}
		if ids := own(); ids[0] != a || ids[len(ids)-1] != b {
			t.Errorf("order after move to the end %v", ids)
		}
	})
}

func TestContract_CommandsRun(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, k *kit) {
		got, err := k.device().Run(t.Context(), "interface", "monitor-traffic", props{
			"interface": "ether1", "once": "",
		})
		if err != nil || len(got) != 1 || got[0]["name"] != "ether1" {
			t.Errorf("monitor: %v, %v", got, err)
		}
		if _, err := k.device().Run(t.Context(), "interface", "set",
			props{"numbers": "ether5", "disabled": "yes"}); err != nil {
			t.Error(err)
		}
		if got := k.print("interface",
			routeros.Query{Where: props{"name": "ether5"},
				Props: []string{"disabled", "running"}}); got[0]["disabled"] != "true" || got[0]["running"] != "false" {
			t.Errorf("ether5: %v", got)
		}
		count, err := k.device().Run(t.Context(), "interface/ethernet", "print", props{"count-only": ""})
		if err != nil || len(count) != 1 || count[0]["ret"] != "6" {
			t.Errorf("count: %v, %v", count, err)
		}
	})
}

func TestContract_PolicyAndPasswordAreTold(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, k *kit) {
		policy := "read,write,api"
		if k.target.Port != 0 && k.print("system/resource", routeros.Query{})[0]["version"][0] == '7' {
			policy += ",rest-api"
		}
		k.add("user/group", props{"name": "platform-api", "policy": policy})
		k.add("user", props{"name": "platform", "group": "platform-api", "password": "p"})
		k.add("radius", props{"service": "ppp", "address": "10.99.0.1", "secret": "hidden"})
		k.target.Credentials = routeros.Credentials{User: "platform", Password: "p"}
		if got := k.print("radius", routeros.Query{}); got[0]["secret"] != "" || got[0]["address"] != "10.99.0.1" {
			t.Errorf("radius: %v", got)
		}
		if err := k.device().Reboot(t.Context()); !routeros.IsDenied(err) {
			t.Errorf("reboot without the policy: %v", err)
		}
		if _, err := k.device().Add(t.Context(), "user", props{"name": "x", "group": "full"}); !routeros.IsDenied(err) {
			t.Errorf("user without the policy: %v", err)
		}
		k.target.Credentials.Password = "wrong"
		if _, err := k.device().Print(t.Context(), "system/resource",
			routeros.Query{}); !errors.Is(err, routeros.ErrUnauthorised) {
			t.Errorf("wrong password: %v", err)
		}
	})
}
