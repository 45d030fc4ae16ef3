package acs_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// ssid and interval are paths of the newer tree.
const (
	ssid     = "Device.WiFi.SSID.1.SSID"
	interval = "Device.ManagementServer.PeriodicInformInterval"
)

// setting is a task that sets one parameter.
func setting(path, value string) string {
	return fmt.Sprintf(`{"name":"setParameterValues","parameterValues":[[%q,%s]]}`, path, value)
}

// reading is a task that reads one parameter.
func reading(path string) string {
	return `{"name":"getParameterValues","parameterNames":["` + path + `"]}`
}

func TestSession_EqualAndUnknownValuesAreNotSent(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.task(id, setting(ssid, `"One"`))
	k.inform(id, "2 PERIODIC")
	if err := k.SetParameters(id, map[string]any{ssid: "By hand"}); err != nil {
		t.Fatal(err)
	}
	k.task(id, setting(ssid, `"One"`))
	k.task(id, setting("Device.WiFi.SSID.9.SSID", `"Nowhere"`))
	k.task(id, setting("Device.DeviceInfo.UpTime", `1`))
	k.inform(id, "2 PERIODIC")
	if got := k.has(id, ssid); got != "By hand" {
		t.Errorf("an equal value was sent: %v", got)
	}
	if left := k.find("tasks", "{}"); len(left) != 0 {
		t.Errorf("tasks %v", left)
	}
	k.task(id, `{"name":"getParameterValues","parameterNames":["`+ssid+`"]}`)
	k.task(id, setting(ssid, `"One"`))
	k.inform(id, "2 PERIODIC")
	if got := k.has(id, ssid); got != "One" {
		t.Errorf("after a read: %v", got)
	}
}

func TestSession_SecretsReadAsEmptyUntilTheyAreSet(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	key := "Device.WiFi.AccessPoint.1.Security.KeyPassphrase"
	k.task(id, `{"name":"refreshObject","objectName":"Device.WiFi"}`)
	k.inform(id, "2 PERIODIC")
	if got := k.leaf(id, key)["_value"]; got != "" || k.has(id, key) == "" {
		t.Errorf("the server has %v", got)
	}
	k.task(id, setting(key, `"of eight"`))
	k.inform(id, "2 PERIODIC")
	if got := k.leaf(id, key)["_value"]; got != "of eight" || k.has(id, key) != "of eight" {
		t.Errorf("the server has %v", got)
	}
}

func TestSession_FaultsAreTriedAgainWithGrowingPauses(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	if err := k.SetDeviceFaults(id, acs.DeviceFaults{Reject: map[string]string{ssid: "9007"}}); err != nil {
		t.Fatal(err)
	}
	first := k.task(id, setting(ssid, `"A"`))
	k.task(id, setting("Device.WiFi.SSID.2.SSID", `"B"`))
	k.inform(id, "2 PERIODIC")
	if got := k.has(id, "Device.WiFi.SSID.2.SSID"); got != "B" {
		t.Errorf("a fault holds up others: %v", got)
	}
	faults := k.do("GET", "/faults/", "").body
	for _, want := range []string{
		`"_id":"` + id + `:task_` + first + `"`, `"code":"cwmp.9003"`, `"retries":0`, `"parameterName":"` + ssid + `"`,
		`"faultCode":"9007"`,
	} {
		if !strings.Contains(faults, want) {
			t.Errorf("faults lack %s: %s", want, faults)
		}
	}
	retries := func() string {
		_, text, _ := strings.Cut(k.do("GET", "/faults/", "").body, `"retries":`)
		return text[:1]
	}
	k.inform(id, "2 PERIODIC")
	if retries() != "0" {
		t.Error("it was tried again at once")
	}
	k.clock.Advance(5 * time.Minute)
	k.inform(id, "2 PERIODIC")
	if retries() != "1" {
		t.Error("it was not tried again after five minutes")
	}
	k.clock.Advance(5 * time.Minute)
	k.inform(id, "2 PERIODIC")
	if retries() != "1" {
		t.Error("the pause does not grow")
	}
	if err := k.SetDeviceFaults(id, acs.DeviceFaults{}); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(5 * time.Minute)
	k.inform(id, "2 PERIODIC")
	if left := k.find("faults", "{}"); len(left) != 0 || k.has(id, ssid) != "A" {
		t.Errorf("faults %v", left)
	}
}

// TestSession_AProvisionThatFailedRunsAgain, also in a session that its preset does not fit any more.
func TestSession_AProvisionThatFailedRunsAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.do("PUT", "/provisions/name", `declare("Tags.x", null, {value: false});
		declare("`+ssid+`", {value: 1}, {value: "Home"});`)
	k.do("PUT", "/presets/name", `{"channel":"name","precondition":"Tags.x IS NOT NULL",
		"configurations":[{"type":"provision","name":"name"}]}`)
	k.do("POST", "/devices/"+strings.ReplaceAll(id, "%", "%25")+"/tags/x", "")
	if err := k.SetDeviceFaults(id, acs.DeviceFaults{Reject: map[string]string{ssid: "9002"}}); err != nil {
		t.Fatal(err)
	}
	k.inform(id, "2 PERIODIC")
	if err := k.SetDeviceFaults(id, acs.DeviceFaults{}); err != nil {
		t.Fatal(err)
	}
	for n, want := range []bool{false, true} {
		k.inform(id, "2 PERIODIC")
		if got := k.has(id, ssid); (got == "Home") != want {
			t.Errorf("%d: %v", n, got)
		}
		k.clock.Advance(5 * time.Minute)
	}
	if left := k.find("faults", "{}"); len(left) != 0 {
		t.Errorf("faults %v", left)
	}
}

func TestSession_TestsAreReallyDone(t *testing.T) {
	t.Parallel()
	var uploaded atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			n, _ := io.Copy(io.Discard, r.Body)
			uploaded.Add(n)
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 100_000))
	}))
	t.Cleanup(web.Close)
	k := newKit(t, acs.Config{})
	for root, prefix := range map[string]string{
		"Device": "Device.IP.Diagnostics.", "InternetGatewayDevice": "InternetGatewayDevice.",
	} {
		id := k.add(acs.DeviceConfig{Serial: "T-" + root, Root: root})
		test := func(name string, values string) string {
			k.task(id, fmt.Sprintf(`{"name":"setParameterValues","parameterValues":[%s,[%q,"Requested"]]}`,
				strings.ReplaceAll(values, "~", prefix+name+"."), prefix+name+".DiagnosticsState"))
			k.inform(id, "2 PERIODIC")
			state, _ := k.has(id, prefix+name+".DiagnosticsState").(string)
			return state
		}
		for range 2 { // the server remembers Requested: the second time it must be read first
			k.task(id, reading(prefix+"DownloadDiagnostics.DiagnosticsState"))
			if got := test("DownloadDiagnostics", `["~DownloadURL","`+web.URL+`/10mb"]`); got != "Complete" {
				t.Errorf("download: %s", got)
			}
			if n := k.has(id, prefix+"DownloadDiagnostics.TestBytesReceived"); n != 100_000.0 {
				t.Errorf("received %v", n)
			}
		}
		began := k.has(id, prefix+"DownloadDiagnostics.BOMTime")
		if ended := k.has(id, prefix+"DownloadDiagnostics.EOMTime"); began == ended {
			t.Errorf("from %v to %v", began, ended)
		}
		got := test("UploadDiagnostics", `["~UploadURL","`+web.URL+`/up"],["~TestFileLength",5000]`)
		if got != "Complete" || uploaded.Swap(0) != 5000 {
			t.Errorf("upload: %s", got)
		}
		ping := map[string]string{"Device": "IPPing", "InternetGatewayDevice": "IPPingDiagnostics"}[root]
		if got := test(ping, `["~Host","10.0.0.1"],["~NumberOfRepetitions",10],["~Timeout",5000]`); got != "Complete" ||
			k.has(id, prefix+ping+".SuccessCount") != 10.0 {
			t.Errorf("ping: %s", got)
		}
		k.task(id, reading(prefix+ping+".DiagnosticsState"))
		if got := test(ping, `["~Host","nobody.invalid"]`); got != "Error_CannotResolveHostName" {
			t.Errorf("ping of nobody: %s", got)
		}
		k.task(id, reading(prefix+"DownloadDiagnostics.DiagnosticsState"))
		if got := test("DownloadDiagnostics", `["~DownloadURL","http://example.com/"]`); got == "Complete" {
			k.t.Errorf("a simulated device went out into the world")
		}
	}
}

func TestSession_FirmwareIsFetchedAndTold(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.do("PUT", "/files/fw%202.bin", "firmware", "fileType", "1 Firmware Upgrade Image", "version", "2.0")
	k.do("PUT", "/files/untyped", "x")
	k.do("PUT", "/provisions/seen", `log("events " + args[0]);`)
	k.do("PUT", "/presets/seen", `{"channel":"seen","events":{"7 TRANSFER COMPLETE":true},
		"configurations":[{"type":"provision","name":"seen","args":["transfer"]}]}`)
	k.task(id, `{"name":"download","file":"fw 2.bin"}`)
	k.inform(id, "2 PERIODIC")
	version := "Device.DeviceInfo.SoftwareVersion"
	if got := k.leaf(id, version)["_value"]; got != "2.0" || !slices.Contains(k.Log(), id+": events transfer") {
		t.Errorf("firmware %v, log %v", got, k.Log())
	}
	if got := k.leaf(id, "Downloads.1.LastFileName")["_value"]; got != "fw%202.bin" {
		t.Errorf("last file %v", got)
	}
	k.task(id, `{"name":"download","file":"untyped"}`)
	k.inform(id, "2 PERIODIC")
	if faults := k.do("GET", "/faults/", "").body; !strings.Contains(faults, `"code":"script.Error"`) {
		t.Errorf("a file without a type: %s", faults)
	}
	if err := k.SetDeviceFaults(id, acs.DeviceFaults{TransferFault: "9018"}); err != nil {
		t.Fatal(err)
	}
	task := k.task(id, `{"name":"download","file":"fw 2.bin"}`)
	k.inform(id, "2 PERIODIC")
	if got := k.find("faults", `{"code":"cwmp.9018"}`); !slices.Equal(got, []string{id + ":task_" + task}) {
		t.Errorf("faults %v", got)
	}
}

// TestSession_AFailedDownloadIsDoneAgainUntilItsFaultIsCleared: its task is gone by then, and cannot be deleted.
func TestSession_AFailedDownloadIsDoneAgainUntilItsFaultIsCleared(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.do("PUT", "/files/fw.bin", "firmware", "fileType", "1 Firmware Upgrade Image", "version", "2.0")
	if err := k.SetDeviceFaults(id, acs.DeviceFaults{TransferFault: "9010"}); err != nil {
		t.Fatal(err)
	}
	task := k.task(id, `{"name":"download","file":"fw.bin"}`)
	k.inform(id, "2 PERIODIC")
	if got := k.do("DELETE", "/tasks/"+task, ""); got.status != http.StatusNotFound {
		t.Errorf("the task is there: %d", got.status)
	}
	retries := func() string {
		_, text, _ := strings.Cut(k.do("GET", "/faults/", "").body, `"retries":`)
		return text[:min(1, len(text))]
	}
	k.inform(id, "2 PERIODIC")
	if retries() != "0" {
		t.Error("it was tried again at once")
	}
	k.clock.Advance(5 * time.Minute)
	k.inform(id, "2 PERIODIC")
	if retries() != "1" {
		t.Error("it was not tried again after five minutes")
	}
	if err := k.SetDeviceFaults(id, acs.DeviceFaults{}); err != nil {
		t.Fatal(err)
	}
	version := "Device.DeviceInfo.SoftwareVersion"
	k.clock.Advance(5 * time.Minute)
	k.inform(id, "2 PERIODIC")
	if got := k.has(id, version); got != "1.0.0" {
		t.Errorf("the pause does not grow: it runs %v", got)
	}
	k.do("DELETE", "/faults/"+url.PathEscape(id+":task_"+task), "")
	k.clock.Advance(time.Hour)
	k.inform(id, "2 PERIODIC")
	if got := k.has(id, version); got != "1.0.0" || len(k.find("faults", "{}")) > 0 {
		t.Errorf("a cleared fault was tried again: it runs %v", got)
	}
}

func TestSession_PowerResetAndReboot(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	up := "Device.DeviceInfo.UpTime"
	k.clock.Advance(time.Hour)
	if got := k.has(id, up); got != 3600.0 {
		t.Errorf("uptime %v", got)
	}
	k.task(id, `{"name":"reboot"}`)
	k.inform(id, "2 PERIODIC")
	if got := k.has(id, up); got != 0.0 {
		t.Errorf("uptime after a reboot %v", got)
	}
	if err := k.SetPower(id, false); err != nil {
		t.Fatal(err)
	}
	k.task(id, setting(ssid, `"Waits"`))
	k.inform(id, "2 PERIODIC")
	if k.has(id, ssid) == "Waits" {
		t.Error("a device without power took a value")
	}
	if err := k.SetPower(id, true); err != nil {
		t.Fatal(err)
	}
	k.settle()
	if k.has(id, ssid) != "Waits" {
		t.Error("the task did not run at the boot")
	}
	k.task(id, `{"name":"factoryReset"}`)
	k.inform(id, "2 PERIODIC")
	if got := k.has(id, ssid); got == "Waits" {
		t.Errorf("after a reset: %v", got)
	}
	if got := k.leaf(id, ssid)["_value"]; got != "Waits" {
		t.Errorf("the server's memory is not stale: %v", got)
	}
}

func TestTick_DevicesInformWhenTheirTimeHasCome(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.task(id, setting(interval, "300"))
	k.inform(id, "2 PERIODIC")
	last := func() string {
		return fmt.Sprint(k.do("GET", "/devices/?projection=_lastInform", "").body)
	}
	before := last()
	k.clock.Advance(299 * time.Second)
	k.Tick()
	k.settle()
	if last() != before {
		t.Error("it informed too early")
	}
	k.clock.Advance(time.Second)
	k.Tick()
	k.settle()
	if last() == before {
		t.Error("it did not inform")
	}
}

func TestScripts_AreSandboxedAndTheirErrorsAreFaults(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	for name, c := range map[string]struct{ script, code string }{
		"missing":  {`declare("Device.No.Such", {value: 1}).value[0];`, "script.TypeError"},
		"thrown":   {`throw new Error("no");`, "script.Error"},
		"number":   {`throw {name: "x", message: 1};`, "script.x"},
		"text":     {`throw "no";`, "script"},
		"stack":    {`throw {name: "x", stack: 1};`, "script.Error"},
		"ext":      {`ext("lastmile", "identify", "x");`, "ext.Error"},
		"restless": {`declare("Device.WiFi.SSID.1.SSID", {value: Date.now()}, {value: "x" + Math.random()});`, ""},
		"random":   {`log(String(Math.random()));`, ""},
		"fixed":    {`if (Date.now() !== new Date().getTime()) { throw new Error("x"); }`, ""},
		"wide":     {`for (const s of declare("Device.WiFi.SSID.*.SSID", {path: 1})) { log(s.path + s.size); }`, ""},
	} {
		k.do("PUT", "/provisions/"+name, c.script)
		k.do("PUT", "/presets/"+name, strings.ReplaceAll(
			`{"channel":"~","configurations":[{"type":"provision","name":"~"}]}`, "~", name))
		id := k.add(acs.DeviceConfig{Serial: name})
		faults := k.find("faults", `{"channel":"`+name+`"}`)
		if c.code == "" && len(faults) > 0 || c.code != "" && !slices.Contains(faults, id+":"+name) {
			t.Errorf("%s: %s", name, k.do("GET", "/faults/", "").body)
		}
		if c.code != "" && len(k.find("faults", `{"code":"`+c.code+`"}`)) == 0 {
			t.Errorf("%s: %s", name, k.do("GET", "/faults/", "").body)
		}
		k.do("DELETE", "/presets/"+name, "")
	}
}

func TestControl_OverHTTP(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	if got := k.do("POST", "/sim/devices", `{"serialNumber":"H1"}`); got.status != 200 ||
		!strings.Contains(got.body, "00D09E-HomeBox%2D2-H1") {
		t.Fatalf("%+v", got)
	}
	k.do("GET", "/sim/idle", "")
	path := "/sim/devices/00D09E-HomeBox%252D2-H1"
	for _, c := range [][3]string{
		{"PUT", path + "/power", `{"on":false}`}, {"PUT", path + "/power", `{"on":true}`},
		{"PUT", path + "/faults", `{"nat":true}`}, {"PUT", path + "/faults", `{"held":false}`},
		{"PUT", path + "/parameters", `{"Device.WiFi.SSID.1.SSID":"x"}`}, {"POST", path + "/inform", ""},
		{"PUT", path + "/nat", `{"on":true}`}, {"POST", path + "/reset", ""}, {"PUT", "/sim/faults", `{"html":502}`},
		{"PUT", "/sim/faults", `{}`}, {"PUT", "/sim/identify", `{"url":"","key":""}`}, {"POST", "/sim/tick", ""},
		{"GET", "/sim/log", ""}, {"GET", "/sim/requests", ""}, {"GET", path, ""}, {"DELETE", path, ""},
	} {
		want := 200
		if strings.Contains(c[2], `"nat"`) {
			want = 400
		}
		if got := k.do(c[0], c[1], c[2]); got.status != want {
			t.Errorf("%v: %+v", c, got)
		}
	}
	if got := k.do("GET", path, ""); got.status != 404 {
		t.Errorf("%+v", got)
	}
	k.settle()
}

func TestSimulator_TheSameSeedMakesTheSameFleet(t *testing.T) {
	t.Parallel()
	var first map[string]any
	for range 2 {
		k := newKit(t, acs.Config{Seed: 7})
		id := k.add(acs.DeviceConfig{Serial: "S1"})
		task := k.task(id, `{"name":"reboot"}`)
		all, err := k.Parameters(id)
		if err != nil {
			t.Fatal(err)
		}
		all["task"] = task
		if first == nil {
			first = all
		}
		if fmt.Sprint(all) != fmt.Sprint(first) {
			t.Errorf("%v differs from %v", all, first)
		}
	}
}

func TestSession_ManyFirstInformsAtOnceBringNoFault(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, `{"tags":["org:acme"]}`)
	}))
	t.Cleanup(web.Close)
	k := newKit(t, acs.Config{Identify: acs.Identify{URL: web.URL}})
	k.do("PUT", "/provisions/who", `for (const tag of ext("lastmile", "identify", args[0]).tags) {
		declare("Tags." + tag.replace(":", "0x3A"), null, {value: true});
	}`)
	k.do("PUT", "/presets/who", `{"configurations":[{"type":"provision","name":"who","args":["x"]}]}`)
	for i := range 300 {
		if _, err := k.AddDevice(acs.DeviceConfig{Serial: fmt.Sprintf("M%03d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	k.settle()
	// at both runs of the presets
	if n := len(k.find("devices", `{"_tags":"org:acme"}`)); n != 300 || asked.Load() != 600 {
		t.Errorf("%d devices have the tag, asked %d times", n, asked.Load())
	}
	if left := k.find("faults", "{}"); len(left) > 0 {
		t.Errorf("faults %v", left)
	}
}
