package main

import (
	"context"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
)

// TestRotateSecrets_ScriptAndConcentratorHaveTheNewPassword, and the router counts as in need of the script until the
// new one has reported; the address in the older one is unknown.
func TestRotateSecrets_ScriptAndConcentratorHaveTheNewPassword(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	device := "/nas/devices/" + k.register(0).device
	script := func() string {
		text, err := k.admin.text(t.Context(), device+"/bootstrap-script")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	shown := func(upToDate bool) {
		k.eventually("the script's state to be shown", func(ctx context.Context) (bool, error) {
			d, err := k.admin.call(ctx, "GET", device, "", nil)
			b, _ := d["bootstrap"].(map[string]any)
			return b["upToDate"] == upToDate, err
		})
	}
	password := func() string {
		clients, err := tunnelClients(t.Context(), k.app.storage, k.app.engines.views)
		if err != nil || len(clients) != 1 {
			t.Fatalf("%d clients, %v", len(clients), err)
		}
		_, secrets, err := routerplan.AccelPPP(routerplan.TunnelConfig{Port: 443, Clients: clients})
		if err != nil || !strings.Contains(secrets, " "+clients[0].Secret+" ") {
			t.Fatalf("the concentrator's file: %v", err)
		}
		return clients[0].Secret
	}
	old, leaked := script(), password()
	k.must(k.admin, "POST", reportOf(old), nil)
	if shown(true); !strings.Contains(old, leaked) {
		t.Fatal("the first script has another password")
	}
	answer := k.must(k.admin, "POST", device+"/rotate-secrets", nil)
	if b, _ := answer["bootstrap"].(map[string]any); b["upToDate"] != false {
		t.Errorf("answered %v", answer["bootstrap"])
	}
	fresh, now := script(), password()
	if now == leaked || strings.Contains(fresh, leaked) || !strings.Contains(fresh, now) {
		t.Error("the former password is still given out")
	}
	k.refused(k.admin, "POST "+reportOf(old), nil, 404, "callback_token_unknown")
	shown(false)
	k.must(k.admin, "POST", reportOf(fresh), nil)
	shown(true)
}
