package main

import (
	"context"
	"testing"
)

// TestCpe_CustomersChangeTheWifiOfTheirOwnDevices, and of no other one.
func TestCpe_CustomersChangeTheWifiOfTheirOwnDevices(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	device, box := k.adds("SN-1", "Device")
	_, other := k.adds("SN-2", "Device")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
	k.must(k.admin, "POST", "/cpe/pending/"+other+"/claim", nil)
	k.seen(line.subscriber, map[string]string{"phone": "+254711000077"})
	customer := k.atPortal("acme", "+254711000077", 1)
	wifi := map[string]any{"ssid": "Home of Amina", "password": "s3cret-wifi"}
	k.refused(customer, "POST /me/devices/"+other+"/wifi", wifi, 404, "cpe_not_found")
	k.refused(k.admin, "POST /me/devices/"+box+"/wifi", wifi, 404, "cpe_not_found") // staff have none of their own
	k.refused(customer, "POST /me/devices/"+box+"/wifi", map[string]any{"ssid": "Home", "password": "short"}, 422, "")
	k.refused(customer, "POST /cpe/devices/"+box+"/wifi", wifi, 403, "role_required")
	mine := func(of apiClient) string {
		rows := k.all(of, "/me/devices")
		return rows[0].at("wifiChange.state")
	}
	k.must(k.admin, "POST", "/cpe/devices/"+box+"/wifi", wifi) // is none of theirs
	if got := mine(customer); got != "<nil>" {
		t.Errorf("before the first change: %s", got)
	}
	asked := k.must(customer, "POST", "/me/devices/"+box+"/wifi", wifi)
	if len(asked.list("tasks")) != 0 {
		t.Errorf("the customer is told %v", asked)
	}
	if state, code := k.ends(asked.text("operationId")); state != "confirmed" {
		t.Fatalf("Wi-Fi %s %s", state, code)
	}
	k.hasWifi(device, "Device")
	k.eventually("the customer to see it", func(context.Context) (bool, error) {
		return mine(customer) == "confirmed", nil
	})
	k.keeps("s3cret-wifi")
}
