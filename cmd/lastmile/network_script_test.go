package main

import (
	"context"
	"slices"
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
		k.eventually("the script's showing to be in the audit log", func(ctx context.Context) (bool, error) {
			log, err := k.admin.call(ctx, "GET",
				"/audit-log?action=network.ShowBootstrap&target=device:"+device, "", nil)
			entries := log.list("data")
			return len(entries) == 1 && entries[0].text("outcome") == "succeeded" && entries[0]["ip"] != nil, err
		})
		if diff := k.must(k.admin, "GET", "/nas/devices/"+device+"/firewall", nil); diff["inSync"] != true {
			t.Errorf("%s: firewall %v", r.Name(), diff)
		}
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
