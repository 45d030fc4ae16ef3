package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// TestBootstrap_PastedTwiceBringsTheRouterUp over all releases and protocols, on routers as they leave the factory,
// which the platform reaches through their tunnel only, with secrets that an operator chose; the router then knows its
// script, and the platform that it does.
func TestBootstrap_PastedTwiceBringsTheRouterUp(t *testing.T) {
	t.Parallel()
	k := newKit(t).withNewRouters(true, "6.49.10", "7.6", "7.16", "7.23.7", "7.6", "6.49.10").start().signIn()
	const secret = `p@ss"w$rd?\5x`
	for i, r := range k.routers.Routers() {
		device := k.must(k.admin, "POST", "/nas/devices", map[string]any{
			"name": r.Name(), "ipAddress": "203.0.113.20", "radiusSecret": secret,
			"managementAddress": simAddress(i), "apiPort": []int{8728, 80, 8080, 8729, 443, 443}[i],
		}).text("id")
		script, err := k.admin.text(t.Context(), "/nas/devices/"+device+"/bootstrap-script")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, faults := r.Paste(script); len(faults) > 0 {
				t.Fatalf("%s: %v", r.Name(), faults)
			}
		}
		k.must(k.admin, "POST", reportOf(script), nil)
		clients := r.Snapshot(false)["radius"]
		if len(clients) != 1 || !slices.ContainsFunc(clients,
			func(c router.Item) bool { return c["secret"] == secret }) {
			t.Errorf("%s: RADIUS clients %v", r.Name(), clients)
		}
		k.eventually("the script's version to be known", func(ctx context.Context) (bool, error) {
			ping, err := k.admin.call(ctx, "POST", "/nas/devices/"+device+"/ping", "", nil)
			if err != nil || ping["reachable"] != true {
				return false, err
			}
			d, err := k.admin.call(ctx, "GET", "/nas/devices/"+device, "", nil)
			b, _ := d["bootstrap"].(map[string]any)
			return b["upToDate"] == true, err
		})
		k.listsWhetherUpToDate(device)
		k.eventually("the script's showing to be in the audit log", func(ctx context.Context) (bool, error) {
			log, err := k.admin.call(ctx, "GET",
				"/audit-log?action=network.ShowBootstrap&target=device:"+device, "", nil)
			entries := log.list("data")
			return len(entries) == 1 && entries[0].text("outcome") == "succeeded" && entries[0]["ip"] != nil, err
		})
		if diff := k.must(k.admin, "GET", "/nas/devices/"+device+"/firewall", nil); diff["inSync"] != true {
			t.Errorf("%s: firewall %v", r.Name(), diff)
		}
		k.asksThePlatformFirst(r, device)
		k.tellsTheTunnel(r, device)
		if _, err := r.Do("ip/firewall/filter", "add",
			router.Item{"chain": "input", "action": "drop", "comment": "the operator's", "protocol": "icmp",
				"place-before": r.Snapshot(false)["ip/firewall/filter"][0][".id"]}); err != nil {
			t.Fatal(err)
		}
		if diff := k.must(k.admin, "GET", "/nas/devices/"+device+"/firewall", nil); diff["inSync"] != false {
			t.Errorf("%s: a rule before the tunnel's is no drift", r.Name())
		}
		k.must(k.admin, "POST", "/nas/devices/"+device+"/firewall/reconcile", nil)
		if first := r.Snapshot(false)["ip/firewall/filter"][0]["comment"]; first != "Platform-fw:tunnel" {
			t.Errorf("%s: first rule is %q", r.Name(), first)
		}
	}
}

// asksThePlatformFirst checks that the setup is as the script makes it, and that a RADIUS client which an operator puts
// before the platform's is told, and moved behind it when that is confirmed.
func (k *kit) asksThePlatformFirst(r *router.Router, device string) {
	k.t.Helper()
	setup := "/nas/devices/" + device + "/setup"
	if diff := k.must(k.admin, "GET", setup, nil); diff["inSync"] != true {
		k.t.Errorf("%s: after the script the setup differs: %v", r.Name(), diff)
	}
	if _, err := r.Do("radius", "add", router.Item{
		"service": "ppp", "address": "192.0.2.1", "place-before": r.Snapshot(false)["radius"][0][".id"],
	}); err != nil {
		k.t.Fatal(err)
	}
	if list := k.must(k.admin, "GET", setup, nil).list("resources"); len(list) != 1 || list[0]["path"] != "radius" {
		k.t.Errorf("%s: another RADIUS client is told as %v", r.Name(), list)
	}
	k.refused(k.admin, "POST "+setup+"/reconcile", nil, 409, "setup_confirmation_required")
	k.must(k.admin, "POST", setup+"/reconcile?confirm=true", nil)
	if first := r.Snapshot(false)["radius"][0]["comment"]; first != "Platform" {
		k.t.Errorf("%s: the first RADIUS client is %q", r.Name(), first)
	}
	if diff := k.must(k.admin, "GET", setup, nil); diff["inSync"] != true {
		k.t.Errorf("%s: after the repair the setup differs: %v", r.Name(), diff)
	}
}

// tellsTheTunnel checks that a tunnel which differs is told after a repair, too, because no repair writes to it.
func (k *kit) tellsTheTunnel(r *router.Router, device string) {
	k.t.Helper()
	profile := func(name string) {
		if _, err := r.Do("interface/sstp-client", "set", router.Item{
			"numbers": "platform-tunnel", "profile": name,
		}); err != nil {
			k.t.Fatal(err)
		}
	}
	profile("default")
	done := k.must(k.admin, "POST", "/nas/devices/"+device+"/setup/reconcile", nil)
	if done.text("outcome") != "done" || !strings.Contains(done.text("message"), "run the bootstrap script") {
		k.t.Errorf("%s: the repair of a tunnel: %v", r.Name(), done)
	}
	k.eventually("the tunnel to be told", func(ctx context.Context) (bool, error) {
		d, err := k.admin.call(ctx, "GET", "/nas/devices/"+device, "", nil)
		b, _ := d["bootstrap"].(map[string]any)
		return d["setupDrift"] != nil && b["upToDate"] == false, err
	})
	profile("platform-tunnel")
	k.must(k.admin, "POST", "/nas/devices/"+device+"/setup/reconcile", nil)
	k.eventually("nothing to be told", func(ctx context.Context) (bool, error) {
		d, err := k.admin.call(ctx, "GET", "/nas/devices/"+device, "", nil)
		return d["setupDrift"] == nil, err
	})
}

// listsWhetherUpToDate checks that a router which has the newest script is on the one list and not on the other.
func (k *kit) listsWhetherUpToDate(device string) {
	k.t.Helper()
	for wanted, listed := range map[string]bool{"true": true, "false": false} {
		found := k.must(k.admin, "GET", "/nas/devices?upToDate="+wanted, nil).list("data")
		if slices.ContainsFunc(found, func(d answer) bool { return d.text("id") == device }) != listed {
			k.t.Errorf("%s: upToDate=%s lists %v", device, wanted, found)
		}
	}
}
