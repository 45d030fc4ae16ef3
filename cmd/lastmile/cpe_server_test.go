package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// acsKit runs a program with a simulated CPE server, which asks it who its devices are. Both have one clock.
type acsKit struct {
	*kit
	acs *acs.Simulator
	now *clock.Movable
}

// newACS starts a CPE server that no program has seen yet.
func newACS(t *testing.T) (*acs.Simulator, *clock.Movable) {
	t.Helper()
	now := clock.NewMovable(clock.System(), 0)
	sim := acs.New(acs.Config{Clock: now, Live: true, SessionWait: 10 * time.Second})
	if err := sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, func() { _ = sim.Stop(context.Background()) })
	return sim, now
}

// newACSKit starts a program and its CPE server.
func newACSKit(t *testing.T, settings ...string) acsKit {
	t.Helper()
	sim, now := newACS(t)
	return acsKitAt(t, sim, now, settings...)
}

// acsKitAt waits until the program has brought its provisions and the file of speed tests.
func acsKitAt(t *testing.T, sim *acs.Simulator, now *clock.Movable, settings ...string) acsKit {
	t.Helper()
	k := newKit(t, append(settings, "ACS_INTERNAL_KEY="+internalKey, "ACS_NBI_URL="+sim.URL(),
		"ACS_FS_URL="+sim.FilesURL())...)
	k.clock = now
	k.start().signIn()
	sim.SetIdentify(acs.Identify{URL: "http://" + k.addr + "/internal/cpe/identify", Key: internalKey})
	out := acsKit{kit: k, acs: sim, now: now}
	k.eventually("provisions and the file of speed tests", func(ctx context.Context) (bool, error) {
		files, presets := out.served(ctx, "/files/?projection=_id"), out.served(ctx, "/presets/?projection=_id")
		return strings.Contains(files, "lastmile-10mb.bin") &&
			strings.Count(presets, "lastmile-") == len(genieacs.OwnPresets()), nil
	})
	return out
}

// served reads a list of the CPE server as it stands.
func (k acsKit) served(ctx context.Context, path string) string {
	k.t.Helper()
	got := apitest.Send(k.t, http.DefaultClient, strings.TrimPrefix(k.acs.URL(), "http://"), apitest.Request{
		Method: "GET", Path: path,
	})
	return string(got.Body)
}

// ends waits for the end of an operation, whose pauses pass at once.
func (k acsKit) ends(operation string) (state, code string) {
	k.t.Helper()
	k.eventually("the end of an operation", func(ctx context.Context) (bool, error) {
		got, err := k.admin.call(ctx, "GET", "/cpe/operations/"+operation, "", nil)
		state, code = got.text("state"), strings.ReplaceAll(got.at("error.code"), "<nil>", "")
		if state == "queued" || state == "sent" {
			k.now.Advance(5 * time.Second)
			return false, err
		}
		return err == nil, err
	})
	return state, code
}

// asks queues a write, and waits for its end.
func (k acsKit) asks(box, what string, body map[string]any) (state, code string) {
	k.t.Helper()
	queued := k.must(k.admin, "POST", "/cpe/devices/"+box+"/"+what, body)
	if queued.text("deviceId") != box || queued.text("operationId") == "" {
		k.t.Fatalf("%s: %v", what, queued)
	}
	return k.ends(queued.text("operationId"))
}

// TestCpe_TheWayOfADevice goes from the first call over claim, customer and writes to the release, with a device of
// each data model.
func TestCpe_TheWayOfADevice(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	for n, root := range []string{"Device", "InternetGatewayDevice"} {
		serial := serialOf(n)
		device, err := k.acs.AddDevice(acs.DeviceConfig{Serial: serial, Root: root})
		if err != nil {
			t.Fatal(err)
		}
		box := k.pendingID(k.admin, serial)
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
		k.must(k.admin, "POST", "/cpe/devices/"+box+"/assign-subscriber", map[string]any{
			"subscriberId": line.subscriber,
		})
		state, code := k.asks(box, "wifi", map[string]any{"ssid": "Home of Amina", "password": "s3cret-wifi"})
		if state != "confirmed" {
			t.Fatalf("%s: Wi-Fi %s %s", root, state, code)
		}
		k.hasWifi(device, root)
		k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
		k.refused(k.admin, "POST /cpe/devices/"+box+"/reboot", nil, 404, "cpe_not_found")
	}
	k.keeps("s3cret-wifi", line.password)
}

// hasWifi fails unless each network of a device has the new name and key.
func (k acsKit) hasWifi(device, root string) {
	k.t.Helper()
	has, err := k.acs.Parameters(device)
	if err != nil {
		k.t.Fatal(err)
	}
	names, keys := 0, 0
	for path, value := range has {
		if strings.HasSuffix(path, ".SSID") && value != "Home of Amina" {
			k.t.Errorf("%s is %v", path, value)
		}
		names += strings.Count(fmt.Sprint(value), "Home of Amina")
		keys += strings.Count(fmt.Sprint(value), "s3cret-wifi")
	}
	if names == 0 || keys < names {
		k.t.Errorf("%s: %d names and %d keys were written", root, names, keys)
	}
}

// keeps fails when a secret is in the log, or in an answer about devices.
func (k acsKit) keeps(secrets ...string) {
	k.t.Helper()
	texts := []string{k.log.String()}
	for _, path := range []string{"/cpe/devices", "/audit-log?limit=100", "/outbox"} {
		texts = append(texts, string(apitest.Send(k.t, http.DefaultClient, k.addr, apitest.Request{
			Path: path, Host: k.admin.host, As: k.admin.token,
		}).Body))
	}
	for _, secret := range secrets {
		for _, text := range texts {
			if strings.Contains(text, secret) {
				k.t.Errorf("a secret is in %.200s", text)
			}
		}
	}
}

// TestCpe_WritesEndInTheTruth has each kind of write, those that a device refuses, and those that nobody may ask for.
func TestCpe_WritesEndInTheTruth(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	rival := k.organization("rival", "ada@rival.test")
	if _, err := k.acs.AddDevice(acs.DeviceConfig{Serial: "SN-1"}); err != nil {
		t.Fatal(err)
	}
	box := k.pendingID(k.admin, "SN-1")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	named := func(name, value string) map[string]any {
		return map[string]any{"connectionRequest": true, "parameters": []map[string]any{{"name": name, "value": value}}}
	}
	for _, c := range []struct {
		what        string
		body        map[string]any
		state, code string
	}{
		{"parameters", named("Device.ManagementServer2.Unknown", "x"), "failed", "not_written"},
		{"parameters", named("Device.DeviceInfo.ProvisioningCode", "gold"), "confirmed", ""},
		{"ping", map[string]any{"host": "192.0.2.1"}, "confirmed", ""},
		{"ping", map[string]any{"host": "192.0.2.1"}, "confirmed", ""}, // again: the server has the state of the first
		{"speed-test", map[string]any{}, "confirmed", ""},
		{"upload-test", map[string]any{"uploadUrl": k.acs.FilesURL() + "/in"}, "", ""}, // ends, whatever takes it
		{"reboot", nil, "confirmed", ""},
		{"factory-reset", nil, "confirmed", ""},
	} {
		state, code := k.asks(box, c.what, c.body)
		if c.state != "" && (state != c.state || code != c.code) {
			t.Errorf("%s %v: %s %s, want %s %s", c.what, c.body, state, code, c.state, c.code)
		}
	}
	at := "POST /cpe/devices/" + box
	k.refused(rival, at+"/reboot", nil, 404, "cpe_not_found")
	k.refused(k.admin, at+"/wifi", map[string]any{"ssid": "Home", "password": "short"}, 422, "")
	k.refused(k.admin, at+"/upload-test", map[string]any{"uploadUrl": "ftp://test.example.com/in"}, 422, "")
	k.refused(k.admin, at+"/parameters", named("Device.ManagementServer.URL", "http://x"), 422, "")
}

// TestCpe_AWriteIsConfirmedByWhatTheDeviceHas: one that takes a write without a fault and keeps what it had is found
// out, although the server says that the value was set.
func TestCpe_AWriteIsConfirmedByWhatTheDeviceHas(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	for n, root := range []string{"Device", "InternetGatewayDevice"} {
		device, box := k.adds(serialOf(n), root)
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
		for _, c := range []struct {
			swallow            bool
			state, code, phase string
		}{{true, "failed", "not_written", "swallowed"}, {false, "confirmed", "", "taken"}} {
			k.faulty(device, acs.DeviceFaults{Swallow: c.swallow})
			state, code := k.asks(box, "wifi", map[string]any{"ssid": "Home of Amina", "password": "key " + c.phase})
			if state != c.state || code != c.code {
				t.Errorf("%s, %s: %s %s", root, c.phase, state, code)
			}
		}
	}
}

// TestCpe_ReadingTheServerFindsWhatWasMissed: a device that could not ask who it is becomes pending, with what it says
// of itself; after its claim it gets tags and login, and loses them with its release.
func TestCpe_ReadingTheServerFindsWhatWasMissed(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
	asks := acs.Identify{URL: "http://" + k.addr + "/internal/cpe/identify", Key: internalKey}
	k.acs.SetIdentify(acs.Identify{URL: "http://127.0.0.1:1/", Key: internalKey}) // nobody listens there
	device, err := k.acs.AddDevice(acs.DeviceConfig{Serial: "SN-1", Firmware: "3.1.4"})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.acs.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	box := k.pendingID(k.admin, "SN-1")
	k.acs.SetIdentify(asks)
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
	tagged := func(want ...string) {
		k.eventually(fmt.Sprint("tags ", want), func(ctx context.Context) (bool, error) {
			if err := errors.Join(k.acs.Inform(device, "2 PERIODIC"), k.acs.Idle(ctx)); err != nil {
				return false, err
			}
			document := k.served(ctx, "/devices/?projection=_tags")
			for _, tag := range []string{"org:acme", "sub:amina-line", "plan:home"} {
				if strings.Contains(document, tag) != slices.Contains(want, tag) {
					return false, nil
				}
			}
			return true, nil
		})
	}
	tagged("org:acme", "sub:amina-line", "plan:home")
	has, err := k.acs.Parameters(device)
	if err != nil || has["Device.PPP.Interface.1.Password"] != line.password {
		t.Errorf("the login is not on the device (%v)", err)
	}
	got := k.must(k.admin, "GET", "/cpe/devices/"+box, nil)
	if got.text("firmwareVersion") != "3.1.4" || got.text("model") == "" || got.text("manufacturer") != "Acme" ||
		got.at("online") != "true" {
		t.Errorf("the device is %v", got)
	}
	k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
	tagged()
	k.keeps(line.password)
}

// TestCpe_DevicesThatTheServerKnewBeforeAsk: nobody asked at their bootstrap. One that a reading of the server has
// found is asked about at its next call.
func TestCpe_DevicesThatTheServerKnewBeforeAsk(t *testing.T) {
	t.Parallel()
	sim, now := newACS(t)
	device := knows(t, sim)
	k := acsKitAt(t, sim, now, "CPE_SYNC_INTERVAL=1s")
	k.pendingID(k.admin, "SN-1")
	k.eventually("five minutes between calls", func(ctx context.Context) (bool, error) {
		if err := errors.Join(k.acs.Inform(device, "2 PERIODIC"), k.acs.Idle(ctx)); err != nil {
			return false, err
		}
		has, err := k.acs.Parameters(device)
		return has["Device.ManagementServer.PeriodicInformInterval"] == 300.0, err
	})
}

// knows adds a device to a server that has no provisions of ours yet.
func knows(t *testing.T, sim *acs.Simulator) (device string) {
	t.Helper()
	device, err := sim.AddDevice(acs.DeviceConfig{Serial: "SN-1", OUI: "00AABB", ProductClass: "ONT"})
	if err = errors.Join(err, sim.Idle(t.Context())); err != nil {
		t.Fatal(err)
	}
	return device
}

// TestCpe_WhatADeviceHasNotToldIsReadAtItsNextCall: its networks are not known, so the write fails; the same one later
// does not.
func TestCpe_WhatADeviceHasNotToldIsReadAtItsNextCall(t *testing.T) {
	t.Parallel()
	sim, now := newACS(t)
	device := knows(t, sim)
	k := acsKitAt(t, sim, now, "CPE_SYNC_INTERVAL=1h") // no reading finds it
	k.calls("SN-1")
	box := k.pendingID(k.admin, "SN-1")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	wifi := map[string]any{"ssid": "Home of Amina", "password": "s3cret-wifi"}
	if state, code := k.asks(box, "wifi", wifi); state != "failed" || code != "no_wifi" {
		t.Errorf("before: %s %s", state, code)
	}
	k.informs(device)
	if state, code := k.asks(box, "wifi", wifi); state != "confirmed" {
		t.Errorf("after: %s %s", state, code)
	}
}

// TestCpe_ABoxWithSpaceRoundItsSerialIsWrittenTo: it is one with the box that it was claimed as.
func TestCpe_ABoxWithSpaceRoundItsSerialIsWrittenTo(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	if _, err := k.acs.AddDevice(acs.DeviceConfig{Serial: " SN-1 ", OUI: "00d09e"}); err != nil {
		t.Fatal(err)
	}
	box := k.pendingID(k.admin, "SN-1")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	if state, code := k.asks(box, "reboot", nil); state != "confirmed" {
		t.Errorf("reboot %s %s", state, code)
	}
}

// TestCpe_ADeviceThatSaysNonsenseHoldsUpNoOther: what a stranger's device says of itself is made fit, and the
// others are read.
func TestCpe_ADeviceThatSaysNonsenseHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
	for serial, version := range map[string]string{"SN-1": "3\u0090.1\u2028", "SN-2": "3.1"} {
		if _, err := k.acs.AddDevice(acs.DeviceConfig{Serial: serial, Firmware: version}); err != nil {
			t.Fatal(err)
		}
	}
	for serial, want := range map[string]string{"SN-1": "3\uFFFD.1\uFFFD", "SN-2": "3.1"} {
		box := k.pendingID(k.admin, serial)
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
		k.eventually("the version of "+serial, func(ctx context.Context) (bool, error) {
			got, err := k.admin.call(ctx, "GET", "/cpe/devices/"+box, "", nil)
			return got.text("firmwareVersion") == want, err
		})
	}
}

// TestCpe_WithoutAServerNothingIsQueued: what nobody could do is not kept.
func TestCpe_WithoutAServerNothingIsQueued(t *testing.T) {
	t.Parallel()
	k := newCpeKit(t)
	k.calls("SN-1")
	box := k.pendingID(k.admin, "SN-1")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	k.refused(k.admin, "POST /cpe/devices/"+box+"/reboot", nil, 503, "cpe_server_not_set_up")
	if rows := k.all(k.admin, "/cpe/devices/"+box+"/operations"); len(rows) != 0 {
		t.Errorf("queued %v", rows)
	}
}

// TestCpe_ADevicePageHasWhatTheDeviceSaid, in both data models. What it said before a claim is not told to who has it
// since.
func TestCpe_ADevicePageHasWhatTheDeviceSaid(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
	rival := k.organization("rival", "ada@rival.test")
	boxes, devices := make([]string, 2), make([]string, 2)
	for n, root := range []string{"Device", "InternetGatewayDevice"} {
		device, err := k.acs.AddDevice(acs.DeviceConfig{Serial: serialOf(n), Root: root})
		if err != nil {
			t.Fatal(err)
		}
		box := k.pendingID(k.admin, serialOf(n))
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
		boxes[n], devices[n] = box, device
	}
	k.now.Advance(301 * time.Second) // they call
	for n, box := range boxes {
		health := k.tells(k.admin, box)
		has, err := k.acs.Parameters(devices[n])
		if err != nil {
			t.Fatal(err)
		}
		clients, free := 0.0, 0.0
		for path, value := range has {
			number, _ := value.(float64)
			switch {
			case strings.HasSuffix(path, "AssociatedDeviceNumberOfEntries"),
				strings.HasSuffix(path, "TotalAssociations"):
				clients += number
			case strings.HasSuffix(path, "MemoryStatus.Free"):
				free = number
			}
		}
		up, _ := health["uptimeSeconds"].(float64)
		total, _ := health["memoryTotal"].(float64)
		if health["wifiClients"] != clients || health["memoryFree"] != free*1024 || total <= free*1024 || up < 60 ||
			health["bytesReceived"] == nil || health["bytesSent"] == nil || health["cpuPercent"] == nil {
			t.Errorf("%s tells %v; it has %v clients and %v kB", devices[n], health, clients, free)
		}
	}
	k.must(k.admin, "POST", "/cpe/devices/"+boxes[0]+"/release", nil)
	if got := k.must(rival, "POST", "/cpe/pending/"+boxes[0]+"/claim", nil); got["health"] != nil {
		t.Errorf("another organization is told %v", got["health"])
	}
	k.now.Advance(301 * time.Second)
	k.tells(rival, boxes[0])
}

// tells waits until a device has said how it is, and gives that.
func (k acsKit) tells(as apiClient, box string) answer {
	k.t.Helper()
	var health answer
	k.eventually("what a device says of itself", func(ctx context.Context) (bool, error) {
		got, err := as.call(ctx, "GET", "/cpe/devices/"+box, "", nil)
		said, is := got["health"].(map[string]any)
		health = said
		return is, err
	})
	return health
}
