package main

import (
	"context"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestCpe_TheStoryOfADevice goes from the first call of a home's equipment to its second customer, and the audit log
// tells it.
func TestCpe_TheStoryOfADevice(t *testing.T) {
	t.Parallel()
	for root, class := range map[string]string{"Device": "HomeBox-2", "InternetGatewayDevice": "HG8"} {
		t.Run(root, func(t *testing.T) {
			t.Parallel()
			k := newACSKit(t, "CPE_SYNC_INTERVAL=1s", "CPE_FAULT_POLL_INTERVAL=1s")
			amina := k.connect(k.admin, "secret-of-acme", "amina-line")
			second, _ := k.subscriber("254711000073")
			baraka := k.must(k.admin, "POST", "/subscriptions", map[string]any{
				"subscriberId": second, "planId": k.all(k.admin, "/plans")[0].text("id"), "username": "baraka-line",
			}).text("password")

			device, box := k.adds("SN-1", root)
			at := "/cpe/devices/" + box
			k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
			k.must(k.admin, "POST", at+"/assign-subscriber", map[string]any{
				"subscriberId": amina.subscriber, "pushNow": true,
			})
			k.has(device, map[string]any{
				dialledAt[root] + "Username": "amina-line", dialledAt[root] + "Password": amina.password,
				dialledAt[root] + "Enable": true,
			})
			k.tagged(device, "org:acme", "sub:amina-line", "plan:home")

			k.does(box, "wifi", map[string]any{"ssid": "Home of Amina", "password": "s3cret-wifi"})
			k.hasWifi(device, root)
			k.does(box, "speed-test", map[string]any{})
			k.does(box, "ping", map[string]any{"host": "203.0.113.9"})
			if got := k.must(k.admin, "GET", at+"/diagnostics", nil); got.at("download.bitsPerSecond") == "<nil>" ||
				got.at("ping.successCount") != "10" {
				t.Errorf("tested: %v", got)
			}
			k.upgraded(device, box, class)
			k.breaksAndIsMended(device, box)

			k.must(k.admin, "POST", at+"/assign-subscriber", map[string]any{
				"subscriberId": second, "pushNow": true,
			})
			k.has(device, map[string]any{
				dialledAt[root] + "Username": "baraka-line", dialledAt[root] + "Password": baraka,
				dialledAt[root] + "Enable": true,
			})
			if got := k.must(k.admin, "GET", at, nil); got.at("subscriberId") != second {
				t.Errorf("reassigned: %v", got)
			}
			k.toldInTurn("ClaimCpe", "AssignSubscriberToCpe", "QueueCpeOperation", "QueueCpeOperation",
				"QueueCpeOperation", "BeginCpeFirmware", "RecordCpeFirmware", "StartCpeCampaign", "QueueCpeOperation",
				"ClearCpeFault", "AssignSubscriberToCpe")
			k.keeps("s3cret-wifi", amina.password, baraka)
		})
	}
}

// does asks for something that a device carries out.
func (k acsKit) does(box, what string, body map[string]any) {
	k.t.Helper()
	if state, code := k.asks(box, what, body); state != "confirmed" {
		k.t.Fatalf("%s: %s %s", what, state, code)
	}
}

// upgraded brings a device to a newer version.
func (k acsKit) upgraded(device, box, class string) {
	k.t.Helper()
	k.upload("box-2.0.bin", class, "2.0")
	model := k.must(k.admin, "GET", "/cpe/devices/"+box, nil).text("model")
	begun := k.must(k.admin, "POST", "/cpe/firmware/deploy", map[string]any{
		"filename": "box-2.0.bin", "model": model,
	})
	k.campaignIs(begun.text("campaignId"), "finished 1: 1 + 0 + 0, 0 skipped")
	k.runs(device, box, "2.0", 1)
}

// breaksAndIsMended lets a device refuse what the server asks, and be restarted.
func (k acsKit) breaksAndIsMended(device, box string) {
	k.t.Helper()
	k.faulty(device, acs.DeviceFaults{Fail: map[string]string{"GetParameterValues": "9002"}})
	k.informs(device)
	fault := k.faults(k.admin, "SN-1")
	k.faulty(device, acs.DeviceFaults{})
	k.does(box, "reboot", nil)
	k.must(k.admin, "POST", "/cpe/faults/"+fault.text("id")+"/clear", map[string]any{"reason": "restarted"})
	k.faults(k.admin)
}

// toldInTurn waits until the audit log has these acts upon devices, in this order, each with who, from where and when.
// Acts of the program on behalf of the same person lie between them.
func (k acsKit) toldInTurn(want ...string) {
	k.t.Helper()
	k.eventually("the story in the audit log", func(context.Context) (bool, error) {
		left := want
		for _, e := range slices.Backward(k.all(k.admin, "/audit-log")) {
			if len(left) > 0 && e.text("action") == "cpe."+left[0] && e.at("actor.name") == "Ada" &&
				e.text("ip") == "127.0.0.1" && e.text("outcome") == "succeeded" {
				left = left[1:]
			}
		}
		if len(left) > 0 {
			return false, &apiError{Body: "no entry " + left[0] + " after the others"}
		}
		return true, nil
	})
}
