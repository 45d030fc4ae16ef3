package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// signsIn waits until a device has a password other than those of before and must show it, and gives it. Meanwhile the
// device calls.
func (k acsKit) signsIn(device, box, root string, before ...string) (password string) {
	k.t.Helper()
	k.eventually("a new password that is required", func(ctx context.Context) (bool, error) {
		k.now.Advance(10 * time.Second)
		k.informs(device)
		values, err := k.acs.Parameters(device)
		if err != nil {
			return false, err
		}
		password, _ = values[root+".ManagementServer.Password"].(string)
		for _, old := range before {
			if password == old {
				return false, nil
			}
		}
		got, err := k.reads(ctx, "/cpe/devices/"+box)
		return password != "" && got.at("signIn.required") == "true", err
	})
	return password
}

// TestCpe_DevicesSignIn goes, in both trees, from the claim over a stranger and a pin to the release: the device gets a
// password of its own and shows it, who comes as it without is refused and learns no login, and each way back lets it
// in.
func TestCpe_DevicesSignIn(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SIGN_IN=on")
	k.acs.SetSignIn(genieacs.SignIn())
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	for n, root := range []string{"Device", "InternetGatewayDevice"} {
		device, box := k.adds(fmt.Sprintf("SI-%d", n), root)
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
		first := k.signsIn(device, box, root)
		login := map[string]any{dialledAt[root] + "Username": "amina-line", dialledAt[root] + "Password": line.password}
		k.has(device, login)
		if got := k.must(k.admin, "GET", "/cpe/devices/"+box, nil); got.at("signIn.refusedAt") != "<nil>" {
			t.Errorf("the device itself was refused at %s", got.at("signIn.refusedAt"))
		}

		k.strangers(device, box, root)
		at := "/cpe/devices/" + box + "/sign-in-anew"
		k.refused(k.admin, "POST "+at, map[string]any{"reason": ""}, 422, "invalid_input")
		k.must(k.admin, "POST", at, map[string]any{"reason": "the customer has used the pin"})
		second := k.signsIn(device, box, root, first)
		k.has(device, login) // it is the same device that comes again

		if state, code := k.asks(box, "factory-reset", nil); state != "confirmed" {
			t.Errorf("factory reset: %s %s", state, code)
		}
		third := k.signsIn(device, box, root, first, second)
		k.has(device, login)

		k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
		k.tagged(device)
		before := k.acs.Identifications()
		if err := k.acs.PressReset(device); err != nil {
			t.Fatal(err)
		}
		if err := k.acs.Idle(t.Context()); err != nil || k.acs.Identifications() == before {
			t.Errorf("a released device was not let in: %v", err)
		}
		k.keeps(first, second, third)
	}
	k.audited("cpe.EndCpeSignIn", "cpe.ProveCpeSignIn")
}

// strangers come as a device, with another password and then with none, as it does itself after its pin was pressed.
// They are refused, learn nothing, and are shown with the device.
func (k acsKit) strangers(device, box, root string) {
	k.t.Helper()
	other := map[string]any{root + ".ManagementServer.Password": "another"}
	if err := k.acs.SetParameters(device, other); err != nil {
		k.t.Fatal(err)
	}
	asked := k.acs.Identifications()
	k.informs(device)
	if err := k.acs.PressReset(device); err != nil {
		k.t.Fatal(err)
	}
	k.eventually("a refusal at the device", func(ctx context.Context) (bool, error) {
		k.now.Advance(10 * time.Second) // it tries again
		got, err := k.reads(ctx, "/cpe/devices/"+box)
		return got.at("signIn.refusedAt") != "<nil>" && got.at("signIn.required") == "true", err
	})
	if err := k.acs.Idle(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	values, err := k.acs.Parameters(device)
	if err != nil || values[dialledAt[root]+"Username"] != "" || k.acs.Identifications() != asked {
		k.t.Errorf("a stranger was told of %v, %v", values[dialledAt[root]+"Username"], err)
	}
}

// TestCpe_TheKeyOfTheSignIn: the address is the CPE server's alone, and lets everybody in without the setting.
func TestCpe_TheKeyOfTheSignIn(t *testing.T) {
	t.Parallel()
	ask := func(k *kit, key string, body map[string]any) apitest.Answer {
		return apitest.Send(t, http.DefaultClient, k.addr, apitest.Request{
			Method: "POST", Path: "/internal/cpe/sign-in", Host: "127.0.0.1", Body: body,
			Header: map[string]string{"X-Internal-Key": key},
		})
	}
	box := map[string]any{"serialNumber": "SN-1", "oui": "00AABB", "shown": false}
	if got := ask(newKit(t).start(), "anything", box); got.Status != 404 || got.Code() != "not_found" {
		t.Errorf("without a key of ours: %d %s", got.Status, got.Body)
	}
	k := newCpeKit(t)
	for _, key := range []string{"", "x", internalKey + "x", internalKey[:5]} {
		got := ask(k, key, box)
		if got.Status != 401 || got.Code() != "unauthenticated" || strings.Contains(string(got.Body), "key") {
			t.Errorf("%q: %d %s", key, got.Status, got.Body)
		}
	}
	if got := ask(k, internalKey, box); got.Status != 200 || !strings.Contains(string(got.Body), `"admitted":true`) {
		t.Errorf("without the setting: %d %s", got.Status, got.Body)
	}
	delete(box, "shown")
	if got := ask(k, internalKey, box); got.Status != 200 || !strings.Contains(string(got.Body), `"password":null`) {
		t.Errorf("without the setting: %d %s", got.Status, got.Body)
	}
}

func TestConfig_CpesSignInWithAKeyOfTheHookAlone(t *testing.T) {
	t.Parallel()
	key := "ACS_INTERNAL_KEY=" + signing32
	for setting, refused := range map[string]bool{"on": false, "off": false, "yes": true} {
		if got := faulty(t, sound("CPE_SIGN_IN="+setting, key)); (len(got) > 0) != refused {
			t.Errorf("%s: faults of %v", setting, got)
		}
	}
	if got := faulty(t, sound("CPE_SIGN_IN=on")); len(got) != 1 || got[0] != "CPE_SIGN_IN" {
		t.Errorf("without a key: faults of %v", got)
	}
}
