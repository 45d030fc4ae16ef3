package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// another gives a customer of acme with a service of a plan, and what has the login.
func (k acsKit) another(phone, username, plan string) (line connection) {
	k.t.Helper()
	line = connection{username: username}
	line.subscriber, _ = k.subscriber(phone)
	made := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": line.subscriber, "planId": plan, "username": username,
	})
	line.password, line.subscription = made.text("password"), made.text("id")
	return line
}

// hasNoLogin fails when a device has anything of the login of a line.
func (k acsKit) hasNoLogin(device, root string, line connection) {
	k.t.Helper()
	has, err := k.acs.Parameters(device)
	at := dialledAt[root]
	if err != nil || has[at+"Username"] != "" || has[at+"Password"] == line.password || has[at+"Enable"] != false {
		k.t.Errorf("%s has the login of %v, enabled %v (%v)", device, has[at+"Username"], has[at+"Enable"], err)
	}
}

// serverFaults gives the retries of each fault of a device at the CPE server, by channel.
func (k acsKit) serverFaults(ctx context.Context, device string) map[string]int {
	k.t.Helper()
	var list []struct {
		ID      string `json:"_id"`
		Channel string
		Retries int
	}
	if err := json.Unmarshal([]byte(k.served(ctx, "/faults/")), &list); err != nil {
		k.t.Fatal(err)
	}
	out := map[string]int{}
	for _, f := range list {
		if strings.HasPrefix(f.ID, device+":") {
			out[f.Channel] = f.Retries
		}
	}
	return out
}

// serverLives fails when a process of the CPE server has ended.
func (k acsKit) serverLives() {
	k.t.Helper()
	for _, line := range k.acs.Log() {
		if strings.Contains(line, "process ended") {
			k.t.Error(line)
		}
	}
}

// TestCpe_ADeviceThatChangedHandsWhileItWasOffGivesTheLoginUpThatItHas: it is not that of its last customer, and not
// the one that the platform has told last.
func TestCpe_ADeviceThatChangedHandsWhileItWasOffGivesTheLoginUpThatItHas(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	next := k.another("254711000073", "baraka-line", k.plan("other", 1000))
	for n, root := range []string{"Device", "InternetGatewayDevice"} {
		device, box := k.adds(serialOf(n), root)
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
		k.has(device, map[string]any{
			dialledAt[root] + "Username": "amina-line", dialledAt[root] + "Password": line.password,
		})
		k.tagged(device, "org:acme", "sub:amina-line", "plan:home")
		if err := k.acs.SetPower(device, false); err != nil {
			t.Fatal(err)
		}
		k.must(k.admin, "POST", "/cpe/devices/"+box+"/assign-subscriber", map[string]any{
			"subscriberId": next.subscriber,
		})
		k.tagged(device, "org:acme", "sub:baraka-line", "plan:other")
		k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
		k.tagged(device)
		if err := k.acs.SetPower(device, true); err != nil {
			t.Fatal(err)
		}
		k.informs(device)
		k.hasNoLogin(device, root, line)
		if tags := k.served(t.Context(), "/devices/?projection=_tags"); strings.Contains(tags, "lastmile_was:") {
			t.Errorf("tags %s", tags)
		}
	}
}

// TestCpe_NamesThatLookLikeNumbersOfSignsAreTags: usernames and codes of plans with 0x and two digits or capitals, or
// with another x that the CPE server's scripts would read otherwise, which also an earlier program has written.
func TestCpe_NamesThatLookLikeNumbersOfSignsAreTags(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_SYNC_INTERVAL=1s")
	for n, c := range []struct{ username, plan, login, code string }{
		{"a0xFF", "50x50", "sub:a0xFF", "plan:50x50"}, {"a0x41", "100x80", "sub:a0x41", "plan:100x80"},
		{"jane@x5.net", "10x2.5", "sub:jane@:x5.net", "plan:10:x2.5"},
	} {
		line := k.another(fmt.Sprint("25471100008", n), c.username, k.plan(c.plan, 1000))
		device, box := k.adds(serialOf(n), "Device")
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
		k.has(device, map[string]any{
			dialledAt["Device"] + "Username": c.username, dialledAt["Device"] + "Password": line.password,
		})
		for range 2 {
			k.informs(device)
		}
		k.tagged(device, "org:acme", c.login, c.code)
		if c.login != "sub:"+c.username {
			k.tags(device, "sub:"+c.username, true)
			k.tags(device, c.login, false)
			k.eventually("the tag of an earlier program to go", func(ctx context.Context) (bool, error) {
				err := errors.Join(k.acs.Inform(device, "2 PERIODIC"), k.acs.Idle(ctx))
				document := k.served(ctx, "/devices/?projection=_tags")
				return !strings.Contains(document, c.username) && strings.Contains(document, c.login), err
			})
			k.tagged(device, "org:acme", c.login, c.code)
		}
		k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
		k.tagged(device)
		k.informs(device)
		k.hasNoLogin(device, "Device", line)
	}
	k.serverLives()
}

// tags puts a tag on a device at the CPE server, as somebody else does, or takes it.
func (k acsKit) tags(device, tag string, on bool) {
	k.t.Helper()
	escaped := strings.NewReplacer("%", "%25").Replace(device)
	got := apitest.Send(k.t, http.DefaultClient, strings.TrimPrefix(k.acs.URL(), "http://"), apitest.Request{
		Method: map[bool]string{true: "POST", false: "DELETE"}[on],
		Path:   "/devices/" + escaped + "/tags/" + strings.NewReplacer(":", "%3A", "@", "%40", ".", "%2E").Replace(tag),
	})
	if got.Status != http.StatusOK {
		k.t.Fatalf("tag %s: %d %s", tag, got.Status, got.Body)
	}
}

// TestCpe_PausesDoNotPassToTheNextOrganization: it sees no faults of before its claim, and could not end them. The
// script of the organization before does not run again either.
func TestCpe_PausesDoNotPassToTheNextOrganization(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_FAULT_POLL_INTERVAL=24h") // the release ends them itself
	rival := k.organization("rival", "ada@rival.test")
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	theirs := k.connect(rival, "secret-of-rival", "rival-line")
	k.must(k.admin, "PUT", "/cpe/provisions/broken", map[string]any{
		"script": `log("of acme"); log(declare("Device.None", {value: 1}).value[0]);`,
	})
	device, box := k.adds("SN-1", "Device")
	at := dialledAt["Device"]
	k.faulty(device, acs.DeviceFaults{Reject: map[string]string{at + "Username": "9007"}})
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
	k.tagged(device, "org:acme", "sub:amina-line", "plan:home")
	k.eventually("a pause of more than two hours", func(ctx context.Context) (bool, error) {
		k.now.Advance(time.Hour)
		err := errors.Join(k.acs.Inform(device, "2 PERIODIC"), k.acs.Idle(ctx))
		faults := k.serverFaults(ctx, device)
		return faults["lastmile-bootstrap"] >= 5 && faults["acme-broken"] >= 5, err
	})
	k.signInAgain()
	rival, _ = k.login("rival", "ada@rival.test", testPassword)
	k.faulty(device, acs.DeviceFaults{}) // it is called with the claim, and would refuse the next login as well
	k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
	k.must(rival, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": theirs.subscriber})
	k.tagged(device, "org:rival", "sub:rival-line", "plan:home")
	k.eventually("the end of the pauses", func(ctx context.Context) (bool, error) {
		faults := k.serverFaults(ctx, device)
		_, ours := faults["lastmile-bootstrap"]
		_, script := faults["acme-broken"]
		return !ours && !script, nil
	})
	k.eventually("the login that the claim has written", func(ctx context.Context) (bool, error) {
		k.now.Advance(5 * time.Second)
		page, err := rival.call(ctx, "GET", "/cpe/devices/"+box+"/operations?limit=100", "", nil)
		list := page.list("data")
		return len(list) > 0 && list[0].text("state") != "queued" && list[0].text("state") != "sent", err
	})
	ran := strings.Count(strings.Join(k.acs.Log(), "\n"), "of acme")
	if err := k.acs.PressReset(device); err != nil {
		t.Fatal(err)
	}
	k.informs(device)
	has, err := k.acs.Parameters(device)
	if err != nil || has[at+"Username"] != "rival-line" || has[at+"Password"] != theirs.password {
		t.Errorf("it has the login of %v (%v)", has[at+"Username"], err)
	}
	k.now.Advance(24 * time.Hour)
	k.informs(device)
	if n := strings.Count(strings.Join(k.acs.Log(), "\n"), "of acme"); n != ran {
		t.Errorf("the script of before ran %d times more", n-ran)
	}
}

// rests waits until none of the platform's presets waits on a device, which is after what a reading decides.
func (k acsKit) rests(device string) {
	k.t.Helper()
	k.eventually("presets of ours without a fault", func(ctx context.Context) (bool, error) {
		for channel := range k.serverFaults(ctx, device) {
			if strings.HasPrefix(channel, "lastmile-") {
				return false, nil
			}
		}
		return true, nil
	})
}

// TestCpe_AScriptThatNeverRestsHoldsUpNothingElse: the CPE server holds back all presets of the session, whoever of
// them it was. It did so on the only device of the organization, so the script is taken from the server, and the
// organization is told why.
func TestCpe_AScriptThatNeverRestsHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_FAULT_POLL_INTERVAL=1s")
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	device, box := k.adds("SN-1", "Device")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{"subscriberId": line.subscriber})
	k.has(device, map[string]any{dialledAt["Device"] + "Password": line.password})
	k.tagged(device, "org:acme", "sub:amina-line", "plan:home")
	const script = `const t = declare("Tags.acme-x", {value: 1}); declare("Tags.acme-x", null, {value: !t.value});`
	const at = "/cpe/provisions/turns"
	if made := k.must(k.admin, "PUT", at, map[string]any{"script": script}); made.text("state") != "installed" {
		t.Fatalf("made %v", made)
	}
	k.now.Advance(2 * time.Minute)
	k.informs(device)
	k.must(k.admin, "POST", "/subscriptions/"+line.subscription+"/end", map[string]any{"reason": "moved"})
	k.tagged(device, "org:acme")
	for range 3 {
		k.rests(device)
		k.informs(device)
	}
	k.rests(device)
	k.hasNoLogin(device, "Device", line)
	k.withoutProvision("acme-turns")
	refused := k.must(k.admin, "GET", at, nil)
	if refused.text("state") != "refused" || refused.at("error.code") != "preset_loop" ||
		!strings.Contains(refused.at("error.message"), "A second run must find nothing left to do") {
		t.Errorf("the script is %v", refused)
	}
	again := k.must(k.admin, "PUT", at, map[string]any{"script": strings.Replace(script, "!t.value", "true", 1)})
	if again.text("state") != "installed" {
		t.Errorf("another version is %v", again)
	}
	k.now.Advance(2 * time.Minute)
	k.informs(device)
	k.rests(device)
	if state := k.must(k.admin, "GET", at, nil).text("state"); state != "installed" {
		t.Errorf("then it is %s", state)
	}
}

// TestCpe_ABrokenDeviceTakesNoScriptFromTheOthers: a script that comes to rest on the others stays, and waits on that
// one alone. It is taken away when it has not come to rest on three.
func TestCpe_ABrokenDeviceTakesNoScriptFromTheOthers(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_FAULT_POLL_INTERVAL=1s")
	devices := make([]string, 4)
	for n := range devices {
		device, box := k.adds(serialOf(n), "Device")
		k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
		k.tagged(device, "org:acme")
		devices[n] = device
	}
	const script = `const t = declare("Tags.acme-x", {value: 1}); declare("Tags.acme-x", null, {value: !t.value});`
	const at = "/cpe/provisions/turns"
	state := func() string { return k.must(k.admin, "GET", at, nil).text("state") }
	k.must(k.admin, "PUT", at, map[string]any{
		"script": `if (declare("DeviceID.SerialNumber", {value: 1}).value[0] === "SN-00") { ` + script + ` }`,
	})
	k.now.Advance(2 * time.Minute)
	for range 3 {
		for n, device := range devices {
			k.informs(device)
			k.rests(device)
			if _, waits := k.serverFaults(t.Context(), device)["acme-turns"]; waits != (n == 0) {
				t.Errorf("device %d: the script waits %v", n, waits)
			}
		}
		if is := state(); is != "installed" {
			t.Fatalf("it is %s", is)
		}
		k.now.Advance(time.Hour)
		k.signInAgain()
	}
	k.eventually("the script's fault alone to be shown", func(context.Context) (bool, error) {
		rows := k.all(k.admin, "/cpe/faults")
		return len(rows) == 1 && rows[0].text("channel") == "acme-turns" && rows[0].text("code") == "preset_loop", nil
	})
	for _, device := range devices[1:] {
		if err := k.acs.SetPower(device, false); err != nil {
			t.Fatal(err)
		}
	}
	k.must(k.admin, "PUT", at, map[string]any{"script": script})
	for n, device := range devices[:3] {
		if is := state(); is != "installed" {
			t.Errorf("before device %d it is %s", n, is)
		}
		if err := errors.Join(k.acs.SetPower(device, true), k.acs.Idle(t.Context())); err != nil {
			t.Fatal(err)
		}
		k.rests(device) // after its boot, at which it asks: who does not come to rest then is not certain
		k.now.Advance(20 * time.Minute)
		k.signInAgain()
		k.informs(device)
		k.rests(device)
	}
	k.withoutProvision("acme-turns")
	if is := state(); is != "refused" {
		t.Errorf("at last it is %s", is)
	}
}

// TestCpe_TagsOfScriptsDoNotPassToTheNextOrganization: they are taken at once, and so are those that the scripts set in
// a session which had begun before. The name of the next organization begins with that of the one before, and its tags
// stay.
func TestCpe_TagsOfScriptsDoNotPassToTheNextOrganization(t *testing.T) {
	t.Parallel()
	k := newACSKit(t)
	rival := k.organization("acme-b", "ada@b.test")
	script := func(as apiClient, tag string) {
		k.must(as, "PUT", "/cpe/provisions/tags", map[string]any{
			"script": `declare("Tags.` + tag + `" + Date.now(), null, {value: true});`,
		})
	}
	script(k.admin, "acme-b-")
	device, box := k.adds("SN-1", "Device")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	k.tagged(device, "org:acme")
	document := func() string { return k.served(t.Context(), "/devices/?projection=_tags") }
	for range 3 {
		k.now.Advance(time.Minute)
		k.informs(device)
	}
	if n := strings.Count(document(), `"acme-b-`); n < 3 { // more when it has called by itself
		t.Fatalf("the script has set %d tags", n)
	}
	k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
	k.eventually("the tags to go without a call of the device", func(context.Context) (bool, error) {
		tags := document()
		return !strings.Contains(tags, `"acme-`) && !strings.Contains(tags, `"org:`), nil
	})
	k.tags(device, "acme-b-late", true) // as by a session that had begun
	script(rival, "acme-b-own-")
	k.must(rival, "POST", "/cpe/pending/"+box+"/claim", nil)
	k.tagged(device, "org:acme-b")
	for n := 1; n <= 3; n++ {
		k.now.Advance(time.Minute)
		k.informs(device)
		tags := document()
		own := strings.Count(tags, `"acme-b-own-`)
		if own < n || strings.Count(tags, `"acme-`) != own || strings.Contains(tags, genieacs.LeftOrganization) {
			t.Errorf("tags %s", tags)
		}
	}
}

// TestCpe_AReleaseWhileTheServerIsAwayLeavesNothingOfTheOrganization: what could not be done then is done when the
// server is back, without a call of the device: its failing script waits nowhere any more, and its tags go.
func TestCpe_AReleaseWhileTheServerIsAwayLeavesNothingOfTheOrganization(t *testing.T) {
	t.Parallel()
	k := newACSKit(t, "CPE_FAULT_POLL_INTERVAL=24h", "CPE_SYNC_INTERVAL=24h")
	k.organization("rival", "ada@rival.test")
	k.must(k.admin, "PUT", "/cpe/provisions/broken", map[string]any{
		"script": `declare("Tags.acme-x", null, {value: true}); log("of acme");
			log(declare("Device.None", {value: 1}).value[0]);`,
	})
	device, box := k.adds("SN-1", "Device")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	k.tagged(device, "org:acme")
	k.now.Advance(time.Minute)
	k.informs(device)
	document := func() string { return k.served(t.Context(), "/devices/?projection=_tags") }
	_, waits := k.serverFaults(t.Context(), device)["acme-broken"]
	if !waits || !strings.Contains(document(), `"acme-x"`) {
		t.Fatalf("the script has set %s", document())
	}
	k.acs.SetFaults(acs.Faults{Refuse: true})
	k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
	k.eventually("the end of all attempts", func(context.Context) (bool, error) {
		k.now.Advance(5 * time.Second)
		return strings.Contains(k.log.String(), "job discarded"), nil
	})
	k.acs.SetFaults(acs.Faults{})
	k.informs(device)
	k.eventually("the end of the script's fault, and of the tags", func(ctx context.Context) (bool, error) {
		k.now.Advance(10 * time.Second)
		tags := k.served(ctx, "/devices/?projection=_tags")
		return len(k.serverFaults(ctx, device)) == 0 && !strings.Contains(tags, `"acme-`) &&
			!strings.Contains(tags, `"org:`), nil
	})
	ran := strings.Count(strings.Join(k.acs.Log(), "\n"), "of acme")
	k.now.Advance(time.Hour)
	k.informs(device)
	rival, _ := k.login("rival", "ada@rival.test", testPassword)
	k.must(rival, "POST", "/cpe/pending/"+box+"/claim", nil)
	k.tagged(device, "org:rival")
	k.informs(device)
	if n := strings.Count(strings.Join(k.acs.Log(), "\n"), "of acme"); n != ran {
		t.Errorf("the script of before ran %d times more", n-ran)
	}
	if tags := document(); strings.Contains(tags, "acme") {
		t.Errorf("tags %s", tags)
	}
}
