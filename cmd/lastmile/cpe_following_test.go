package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// Prefixes of the dialled connection in the two data models.
var dialledAt = map[string]string{
	"Device":                "Device.PPP.Interface.1.",
	"InternetGatewayDevice": "InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1.",
}

// adds makes a device that has called, and gives its id at the CPE server and ours.
func (k acsKit) adds(serial, root string) (device, box string) {
	k.t.Helper()
	device, err := k.acs.AddDevice(acs.DeviceConfig{Serial: serial, Root: root})
	if err = errors.Join(err, k.acs.Idle(k.t.Context())); err != nil { // before, the server does not know it
		k.t.Fatal(err)
	}
	return device, k.pendingID(k.admin, serial)
}

// faulty sets how a device misbehaves.
func (k acsKit) faulty(device string, f acs.DeviceFaults) {
	k.t.Helper()
	if err := k.acs.SetDeviceFaults(device, f); err != nil {
		k.t.Fatal(err)
	}
}

// informs has a device call as it does every five minutes.
func (k acsKit) informs(device string) {
	k.t.Helper()
	if err := k.acs.Inform(device, "2 PERIODIC"); err != nil {
		k.t.Fatal(err)
	}
	if err := k.acs.Idle(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
}

// later lets time pass, after which the sign-in is over and the breaker lets calls pass again.
func (k acsKit) later(d time.Duration) {
	k.t.Helper()
	k.now.Advance(d)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
}

// has waits until a device has some values.
func (k acsKit) has(device string, want map[string]any) {
	k.t.Helper()
	k.eventually(fmt.Sprint(len(want), " values of ", device), func(context.Context) (bool, error) {
		k.now.Advance(time.Second)
		values, err := k.acs.Parameters(device)
		for path, value := range want {
			if values[path] != value {
				return false, err
			}
		}
		return true, err
	})
}

// tagged waits until a device has exactly these tags of ours at the CPE server.
func (k acsKit) tagged(device string, want ...string) {
	k.t.Helper()
	k.eventually(fmt.Sprint("tags ", want, " at the server"), func(ctx context.Context) (bool, error) {
		var document string
		for part := range strings.SplitSeq(k.served(ctx, "/devices/?projection=_tags"), "\n") {
			if strings.Contains(part, device) {
				document = part
			}
		}
		n := 0
		for _, prefix := range []string{`"org:`, `"sub:`, `"plan:`} {
			n += strings.Count(document, prefix)
		}
		return n == len(want) && !slices.ContainsFunc(want, func(tag string) bool {
			return !strings.Contains(document, `"`+tag+`"`)
		}), nil
	})
}

// kinds lists the kinds of the operations on a CPE, the latest first.
func (k acsKit) kinds(box string) (list []string) {
	k.t.Helper()
	for _, row := range k.all(k.admin, "/cpe/devices/"+box+"/operations") {
		list = append(list, row.text("kind"))
	}
	return list
}

// TestCpe_TheLoginIsPushedAndTagsFollowAtOnce: with the claim, with each change of the login, and with what staff ask
// for; nothing of it waits for the device to ask who it is.
func TestCpe_TheLoginIsPushedAndTagsFollowAtOnce(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	rival := k.organization("rival", "ada@rival.test")
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	next, _ := k.subscriber("254711000073")
	for n, root := range []string{"Device", "InternetGatewayDevice"} {
		device, box := k.adds(serialOf(n), root)
		at := "/cpe/devices/" + box
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
		username, password := "amina-line", line.password
		if n > 0 {
			username, password = "amina-new0", "another secret 0"
		}
		k.has(device, map[string]any{
			dialledAt[root] + "Username": username, dialledAt[root] + "Password": password,
			dialledAt[root] + "Enable": true,
		})
		k.tagged(device, "org:acme", "sub:"+username, "plan:home")
		k.must(k.admin, "POST", "/subscriptions/"+line.subscription+"/credentials", map[string]any{
			"username": fmt.Sprint("amina-new", n), "password": fmt.Sprint("another secret ", n),
		})
		k.has(device, map[string]any{
			dialledAt[root] + "Username": fmt.Sprint("amina-new", n),
			dialledAt[root] + "Password": fmt.Sprint("another secret ", n),
		})
		k.tagged(device, "org:acme", fmt.Sprint("sub:amina-new", n), "plan:home")
		k.must(k.admin, "POST", at+"/assign-subscriber", map[string]any{"subscriberId": next, "pushNow": true})
		k.tagged(device, "org:acme") // the next customer has no login, so none is pushed
		if list := k.kinds(box); fmt.Sprint(list) != "[login login]" {
			t.Errorf("operations %v", list)
		}
		k.must(k.admin, "POST", at+"/assign-subscriber", map[string]any{"subscriberId": line.subscriber})
		k.tagged(device, "org:acme", fmt.Sprint("sub:amina-new", n), "plan:home")
		k.must(k.admin, "POST", at+"/assign-subscriber", map[string]any{
			"subscriberId": line.subscriber, "pushNow": true,
		})
		k.eventually("the third push", func(context.Context) (bool, error) { return len(k.kinds(box)) == 3, nil })
		pushed := k.all(k.admin, at+"/operations")[0]
		if state, code := k.ends(pushed.text("id")); state != "confirmed" {
			t.Errorf("the push is %s %s", state, code)
		}
		k.must(k.admin, "POST", at+"/release", nil)
		k.tagged(device)
		k.must(rival, "POST", "/cpe/pending/"+box+"/claim", nil)
		k.tagged(device, "org:rival")
		if rows := k.all(rival, at+"/operations"); len(rows) != 0 {
			t.Errorf("the next organization sees %v", rows)
		}
	}
	k.keeps(line.password, "another secret")
}

// TestCpe_WithoutAPushTheNextCallBringsTheLogin: the tags are right at once, and the device asks for the rest.
func TestCpe_WithoutAPushTheNextCallBringsTheLogin(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	for n, root := range []string{"Device", "InternetGatewayDevice"} {
		device, box := k.adds(serialOf(n), root)
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
		k.must(k.admin, "POST", "/cpe/devices/"+box+"/assign-subscriber", map[string]any{
			"subscriberId": line.subscriber,
		})
		k.tagged(device, "org:acme", "sub:amina-line", "plan:home")
		k.eventually("the login of "+device, func(ctx context.Context) (bool, error) {
			if err := errors.Join(k.acs.Inform(device, "2 PERIODIC"), k.acs.Idle(ctx)); err != nil {
				return false, err
			}
			has, err := k.acs.Parameters(device)
			at := dialledAt[root]
			return has[at+"Username"] == "amina-line" && has[at+"Password"] == line.password, err
		})
		if list := k.kinds(box); len(list) != 0 {
			t.Errorf("operations %v", list)
		}
	}
	k.keeps(line.password)
}

// TestCpe_ALoginThatWasNotWrittenComesWithALaterCall: the device refuses it once, or does not come while the write is
// to be done.
func TestCpe_ALoginThatWasNotWrittenComesWithALaterCall(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	device, box := k.adds("SN-1", "Device")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
	k.has(device, map[string]any{dialledAt["Device"] + "Password": line.password})
	for n, c := range []struct {
		state string
		away  bool
	}{{"failed", false}, {"expired", true}} {
		if err := k.acs.SetNAT(device, c.away); err != nil {
			t.Fatal(err)
		}
		if !c.away {
			k.faulty(device, acs.DeviceFaults{Fail: map[string]string{"SetParameterValues": "9002"}})
		}
		k.must(k.admin, "POST", "/subscriptions/"+line.subscription+"/credentials", map[string]any{
			"username": "amina-line", "password": fmt.Sprint("another secret ", n),
		})
		k.eventually("the push", func(context.Context) (bool, error) {
			all := k.all(k.admin, "/cpe/devices/"+box+"/operations")
			return len(all) == n+2 && all[0].text("state") != "queued", nil
		})
		if c.away {
			k.later(25 * time.Hour)
		}
		pushed := k.all(k.admin, "/cpe/devices/"+box+"/operations")[0]
		if state, code := k.ends(pushed.text("id")); state != c.state {
			t.Errorf("the push is %s %s, want %s", state, code, c.state)
		}
		k.faulty(device, acs.DeviceFaults{})
		k.eventually("the login of "+device, func(context.Context) (bool, error) {
			k.now.Advance(5 * time.Minute)
			k.informs(device)
			has, err := k.acs.Parameters(device)
			return has[dialledAt["Device"]+"Password"] == fmt.Sprint("another secret ", n), err
		})
		k.later(0)
	}
	k.keeps(line.password, "another secret")
}

// TestCpe_AReleasedDeviceGivesItsLoginUp at its next call, and so does one whose service ends.
func TestCpe_AReleasedDeviceGivesItsLoginUp(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	for n, root := range []string{"Device", "InternetGatewayDevice", "Device"} {
		device, box := k.adds(serialOf(n), root)
		at, tags := dialledAt[root], []string{}
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
		k.has(device, map[string]any{at + "Username": "amina-line", at + "Password": line.password})
		k.tagged(device, "org:acme", "sub:amina-line", "plan:home")
		if n < 2 {
			k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
		} else {
			tags = append(tags, "org:acme")
			k.must(k.admin, "POST", "/subscriptions/"+line.subscription+"/end", map[string]any{"reason": "moved"})
		}
		k.tagged(device, tags...)
		k.eventually("the login to leave "+device, func(context.Context) (bool, error) {
			k.informs(device)
			has, err := k.acs.Parameters(device)
			return has[at+"Username"] == "" && has[at+"Password"] != line.password && has[at+"Enable"] == false, err
		})
		k.tagged(device, tags...)
	}
}

// TestCpe_AReleaseTakesBackAtOnceWhatWaits: the next look for an operation of yesterday is minutes away, in which the
// device could come for the next organization.
func TestCpe_AReleaseTakesBackAtOnceWhatWaits(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	device, box := k.adds("SN-1", "Device")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	k.tagged(device, "org:acme")
	if err := k.acs.SetPower(device, false); err != nil {
		t.Fatal(err)
	}
	asked := k.must(k.admin, "POST", "/cpe/devices/"+box+"/wifi", map[string]any{
		"ssid": "Home of Amina", "password": "s3cret-wifi",
	}).text("operationId")
	k.eventually("the task", func(ctx context.Context) (bool, error) {
		got, err := k.admin.call(ctx, "GET", "/cpe/operations/"+asked, "", nil)
		return got.text("state") == "sent", err
	})
	k.eventually("six looks", func(context.Context) (bool, error) { // each twice as late as the one before
		k.now.Advance(5 * time.Second)
		return strings.Count(strings.Join(k.acs.Requests(), "\n"), "GET /tasks/") >= 6, nil
	})
	k.signInAgain()
	k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
	k.eventually("no task", func(ctx context.Context) (bool, error) {
		return !strings.Contains(k.served(ctx, "/tasks/?projection=name"), "setParameterValues"), nil
	})
	k.eventually("the end", func(ctx context.Context) (bool, error) {
		got, err := k.admin.call(ctx, "GET", "/cpe/operations/"+asked, "", nil)
		return got.text("state") == "failed" && got.at("error.code") == "released", err
	})
}

// faults waits until somebody sees the faults of some devices and no others, and gives the last of them.
func (k acsKit) faults(as apiClient, want ...string) (last answer) {
	k.t.Helper()
	k.eventually(fmt.Sprint("faults of ", want), func(context.Context) (bool, error) {
		var serials []string
		for _, row := range k.all(as, "/cpe/faults") {
			last = row
			serials = append(serials, row.text("serialNumber"))
		}
		slices.Sort(serials)
		return slices.Equal(serials, want), nil
	})
	return last
}

// TestCpe_FaultsAreShownAndCleared: once in the log, to the organization alone that had the device when they happened,
// and until somebody has them cleared or they are gone.
func TestCpe_FaultsAreShownAndCleared(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_FAULT_POLL_INTERVAL=1s")
	rival := k.organization("rival", "ada@rival.test")
	device, box := k.adds("SN-1", "Device")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	broken := acs.DeviceFaults{Fail: map[string]string{"GetParameterValues": "9002"}}
	faults := k.faults
	k.faulty(device, broken)
	k.informs(device)
	fault := faults(k.admin, "SN-1")
	if fault.text("deviceId") != box || fault.text("code") != "cwmp.9002" || fault.text("message") == "" ||
		fault.text("channel") == "" || fault.at("retries") == "" || fault.text("firstSeen") == "" {
		t.Errorf("the fault is %v", fault)
	}
	first := fault.text("lastSeen")
	k.eventually("another reading", func(context.Context) (bool, error) {
		return faults(k.admin, "SN-1").text("lastSeen") > first, nil
	})
	if n := strings.Count(k.log.String(), "fault of a cpe"); n != 1 || !strings.Contains(k.log.String(), "SN-1") {
		t.Errorf("the log has it %d times", n)
	}
	clear := "POST /cpe/faults/" + fault.text("id") + "/clear"
	faults(rival)
	k.refused(rival, clear, nil, 404, "cpe_fault_not_found")
	k.acs.SetFaults(acs.Faults{Refuse: true})
	k.refused(k.admin, clear, nil, 503, "cpe_server_unavailable")
	faults(k.admin, "SN-1")
	k.acs.SetFaults(acs.Faults{})
	k.now.Advance(time.Minute) // the breaker lets calls pass again
	k.faulty(device, acs.DeviceFaults{})
	for range 2 { // what is gone is no failure
		k.must(k.admin, "POST", "/cpe/faults/"+fault.text("id")+"/clear", map[string]any{"reason": "a new fibre"})
	}
	faults(k.admin)
	if left := k.served(t.Context(), "/faults/?projection=_id"); strings.Contains(left, device) {
		t.Errorf("the server has %s", left)
	}
	k.audited("cpe.ClearCpeFault")
	k.faulty(device, broken)
	k.informs(device)
	faults(k.admin, "SN-1")
	k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
	faults(k.admin)
	k.must(rival, "POST", "/cpe/pending/"+box+"/claim", nil)
	other, second := k.adds("SN-2", "InternetGatewayDevice")
	k.must(rival, "POST", "/cpe/pending/"+second+"/claim", nil)
	k.faulty(other, broken)
	k.informs(other)
	faults(rival, "SN-2") // and not that of before its claim
}

// TestCpe_TestsAreMeasured in both data models, by the device's own times; an upload to the platform is counted there,
// too. The next organization sees nothing of them.
func TestCpe_TestsAreMeasured(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	rival := k.organization("rival", "ada@rival.test")
	for n, root := range []string{"Device", "InternetGatewayDevice"} {
		device, box := k.adds(serialOf(n), root)
		at := "/cpe/devices/" + box
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
		for _, c := range []struct {
			what string
			body map[string]any
		}{
			{"speed-test", map[string]any{}}, {"upload-test", map[string]any{}},
			{"ping", map[string]any{"host": "192.0.2.1"}},
			{"ping", map[string]any{"host": "203.0.113.9"}}, {"speed-test", map[string]any{}},
		} {
			if state, code := k.asks(box, c.what, c.body); state != "confirmed" {
				t.Fatalf("%s %s: %s %s", root, c.what, state, code)
			}
		}
		got := k.must(k.admin, "GET", at+"/diagnostics", nil)
		for path, want := range map[string]string{
			"download.bytes": "1e+07", "download.receivedBytes": "<nil>", "upload.bytes": "1e+07",
			"upload.receivedBytes": "1e+07", "ping.successCount": "10", "ping.failureCount": "0",
			"ping.averageMs": "12",
		} {
			if got.at(path) != want {
				t.Errorf("%s: %s is %s", root, path, got.at(path))
			}
		}
		for _, path := range []string{"download.bitsPerSecond", "upload.bitsPerSecond", "download.beganAt"} {
			if got.at(path) == "<nil>" {
				t.Errorf("%s: there is no %s", root, path)
			}
		}
		history := got.list("history")
		if len(history) != 5 || history[0].text("kind") != "speed-test" || history[2].at("ping.failureCount") != "10" {
			t.Errorf("%s: the history is %v", root, history)
		}
		sent := k.uploadsTo(device)
		k.eventually("the end of the address", func(context.Context) (bool, error) {
			status, _ := k.puts(sent, strings.NewReader("more"))
			return status == http.StatusNotFound, nil
		})
		k.must(k.admin, "POST", at+"/release", nil)
		k.must(rival, "POST", "/cpe/pending/"+box+"/claim", nil)
		got = k.must(rival, "GET", at+"/diagnostics", nil)
		if got["download"] != nil || len(got.list("history")) != 0 {
			t.Errorf("%s: the next organization sees %v", root, got)
		}
		k.refused(k.admin, "GET "+at+"/diagnostics", nil, 404, "cpe_not_found")
	}
}

// uploadsTo is the address that a device was told for its upload test, without the host.
func (k acsKit) uploadsTo(device string) string {
	k.t.Helper()
	values, err := k.acs.Parameters(device)
	if err != nil {
		k.t.Fatal(err)
	}
	for path, value := range values {
		if strings.HasSuffix(path, ".UploadURL") {
			_, token, _ := strings.Cut(fmt.Sprint(value), "/cpe-uploads/")
			return "/cpe-uploads/" + token
		}
	}
	return ""
}

// puts sends a body as a device does, which knows the program by its address alone.
func (k acsKit) puts(path string, body io.Reader) (status int, answer string) {
	k.t.Helper()
	req, err := http.NewRequestWithContext(k.t.Context(), http.MethodPut, "http://"+k.addr+path, body)
	if err != nil {
		k.t.Fatal(err)
	}
	w, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer w.Body.Close()
	text, _ := io.ReadAll(w.Body)
	return w.StatusCode, string(text)
}

// TestCpe_AnUploadNeedsItsToken: the address of a running test counts what comes, within its limit; all others do not
// exist, and it does not after the end.
func TestCpe_AnUploadNeedsItsToken(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	device, box := k.adds("SN-1", "Device")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	k.faulty(device, acs.DeviceFaults{NoDiagnostics: true})
	asked := k.must(k.admin, "POST", "/cpe/devices/"+box+"/upload-test", map[string]any{})
	var path string
	k.eventually("the address of the test", func(context.Context) (bool, error) {
		path = k.uploadsTo(device)
		return len(path) > len("/cpe-uploads/"), nil
	})
	if status, text := k.puts(path, strings.NewReader("abc")); status != 200 || text != `{"bytes":3}` {
		t.Errorf("an upload: %d %s", status, text)
	}
	last := map[bool]string{true: "1", false: "0"}[strings.HasSuffix(path, "0")]
	for _, wrong := range []string{
		"/cpe-uploads/x", path[:len(path)-1] + last, path + "00", "/cpe-uploads/" + strings.Repeat("0", 64),
		strings.ToUpper(path[:13]) + path[13:],
	} {
		if status, _ := k.puts(wrong, strings.NewReader("abc")); status != http.StatusNotFound {
			t.Errorf("%s: %d", wrong, status)
		}
	}
	zero := apitest.Send(t, http.DefaultClient, k.addr, apitest.Request{Path: path})
	if zero.Status != http.StatusMethodNotAllowed {
		t.Errorf("a GET: %d %s", zero.Status, zero.Body)
	}
	if status, text := k.puts(path, io.LimitReader(neverEnding{}, 21_000_000)); status != 413 && status != 0 {
		t.Errorf("a large upload: %d %s", status, text)
	}
	k.later(2 * time.Hour)
	if state, _ := k.ends(asked.text("operationId")); state != "expired" {
		t.Errorf("the test is %s", state)
	}
	k.eventually("the end of the address", func(context.Context) (bool, error) {
		status, _ := k.puts(path, strings.NewReader("abc"))
		return status == http.StatusNotFound, nil
	})
	if strings.Contains(k.log.String(), strings.TrimPrefix(path, "/cpe-uploads/")) {
		t.Error("the log has the token")
	}
}

// neverEnding is a reader of zeros.
type neverEnding struct{}

// Read implements io.Reader.
func (neverEnding) Read(b []byte) (int, error) { return len(b), nil }
