package main

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/acs"
	"github.com/lastmile-isp/lastmile/simulators/terminals"
)

// onuToken is OLT_TOKEN of the tests.
const onuToken = "a token of the tests"

// newTerminals simulates a terminal of acme that has two ONUs on its fibre.
func newTerminals(t *testing.T) *terminals.Simulator {
	t.Helper()
	sim := terminals.New(terminals.Config{Token: onuToken})
	sim.Put(terminals.Terminal{
		Organization: "acme", Name: "hill", Ports: []string{"0/1/1", "0/1/2"}, VLANs: []int{100, 200},
		Seen: map[string][]string{"0/1/1": {onuSerial(1), onuSerial(2)}},
	})
	if err := sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, func() { _ = sim.Stop(context.Background()) })
	return sim
}

// onuSerial has the form that makers print on the box.
func onuSerial(n int) string { return fmt.Sprintf("HWTC%08X", n) }

// onuAt is the body of a request for an ONU.
func onuAt(n, vlan int) map[string]any {
	return map[string]any{"olt": "hill", "port": "0/1/1", "serial": onuSerial(n), "vlan": vlan}
}

// onuKit runs a program with a CPE server and a terminal.
type onuKit struct {
	acsKit
	olt *terminals.Simulator
}

// newOnuKit starts both.
func newOnuKit(t *testing.T) onuKit {
	t.Helper()
	sim := newTerminals(t)
	return onuKit{newACSKit(t, "OLT_URL="+sim.URL(), "OLT_TOKEN="+onuToken), sim}
}

// box adds a device that waits to be claimed.
func (k onuKit) box(serial string) string {
	k.t.Helper()
	if _, err := k.acs.AddDevice(acs.DeviceConfig{Serial: serial}); err != nil {
		k.t.Fatal(err)
	}
	return k.pendingID(k.admin, serial)
}

// isOut waits until the terminal has no ONU.
func (k onuKit) isOut() {
	k.t.Helper()
	k.eventually("the ONU to be taken out", func(context.Context) (bool, error) {
		k.now.Advance(time.Second)
		return len(k.olt.ONUs()) == 0, nil
	})
}

// TestCpe_TheOnuIsSetUpWithTheClaim goes from the claim over its steps and the levels to the release, after which the
// ONU is free.
func TestCpe_TheOnuIsSetUpWithTheClaim(t *testing.T) {
	t.Parallel()
	k := newOnuKit(t)
	rival := k.organization("rival", "ada@rival.test")
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	box := k.box("SN-1")
	claimed := k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", map[string]any{
		"subscriberId": line.subscriber, "onu": onuAt(1, 100),
	})
	operation := claimed.text("operationId")
	if state, code := k.ends(operation); state != "confirmed" {
		t.Fatalf("set-up %s %s", state, code)
	}
	got := k.must(k.admin, "GET", "/cpe/operations/"+operation, nil)
	steps := got.list("steps")
	if got.text("kind") != "onu-setup" || len(steps) != 4 || steps[0].text("name") != "register" {
		t.Errorf("operation %v", got)
	}
	for _, s := range steps {
		if s["done"] != true {
			t.Errorf("step %v", s)
		}
	}
	if onus := k.olt.ONUs(); len(onus) != 1 || onus[0].VLAN != 100 || onus[0].Organization != "acme" {
		t.Errorf("registered %v", onus)
	}
	levels := k.must(k.admin, "GET", "/cpe/devices/"+box+"/optical", nil)
	if levels["online"] != true || levels.text("quality") != "good" || levels.at("vlan") != "100" {
		t.Errorf("levels %v", levels)
	}
	k.refused(rival, "GET /cpe/devices/"+box+"/optical", nil, 404, "cpe_not_found")
	k.refused(rival, "POST /cpe/devices/"+box+"/onu", onuAt(1, 100), 404, "cpe_not_found")
	other := k.box("SN-2")
	k.refused(k.admin, "POST /cpe/pending/"+other+"/claim", map[string]any{"onu": onuAt(1, 100)}, 409, "onu_in_use")
	for n := range 2 { // its own ONU, and another one, for which its own would have to go
		k.refused(k.admin, "POST /cpe/pending/"+box+"/claim", map[string]any{"onu": onuAt(n+1, 100)}, 409,
			"already_claimed")
	}
	k.refused(rival, "POST /cpe/pending/"+box+"/claim", map[string]any{"onu": onuAt(2, 100)}, 409, "already_claimed")
	if k.pendingID(k.admin, "SN-2") != other {
		t.Error("a claim without its ONU was done")
	}
	theirs := k.must(rival, "POST", "/cpe/pending/"+other+"/claim", map[string]any{"onu": onuAt(1, 100)})
	if state, code := k.ends2(rival, theirs.text("operationId")); state != "failed" || code != "olt_not_found" {
		t.Errorf("the terminal of another organization: %s %s", state, code)
	}
	k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
	k.isOut()
	k.keeps(line.password, onuToken)
}

// TestCpe_AClaimWithAnOnuNamesItsService: of a customer's two services the one that is named gives the login.
func TestCpe_AClaimWithAnOnuNamesItsService(t *testing.T) {
	t.Parallel()
	k := newOnuKit(t)
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	first := k.must(k.admin, "GET", "/subscriptions/"+line.subscription, nil)
	second := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": line.subscriber, "planId": first.text("planId"), "username": "amina-shop",
	})
	device, box := k.adds("SN-1", "Device")
	body := map[string]any{"subscriberId": line.subscriber, "onu": onuAt(1, 100)}
	k.refused(k.admin, "POST /cpe/pending/"+box+"/claim", body, 422, "invalid_input")
	body["subscriptionId"] = second.text("id")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", body)
	k.tagged(device, "org:acme", "sub:amina-shop", "plan:home")
}

// claimsOnu claims a device with an ONU, which may have to be free first, and gives the operation.
func (k *kit) claimsOnu(box string, onu map[string]any) (operation string) {
	k.t.Helper()
	k.eventually("the ONU to be free", func(ctx context.Context) (bool, error) {
		claimed, err := k.admin.call(ctx, "POST", "/cpe/pending/"+box+"/claim", "", map[string]any{"onu": onu})
		operation = claimed.text("operationId")
		return err == nil, err
	})
	return operation
}

// TestCpe_TwoClaimsWithAnOnuAtOnce: the device has the ONU of the claim that was done, and the other one is free.
func TestCpe_TwoClaimsWithAnOnuAtOnce(t *testing.T) {
	t.Parallel()
	k := newOnuKit(t)
	box := k.box("SN-1")
	var won [3]answer
	var all sync.WaitGroup
	for n := 1; n <= 2; n++ {
		all.Go(func() {
			done, err := k.admin.call(t.Context(), "POST", "/cpe/pending/"+box+"/claim", "", map[string]any{
				"onu": onuAt(n, 100),
			})
			if err == nil {
				won[n] = done
			}
		})
	}
	all.Wait()
	n := 1
	if won[1] == nil {
		n = 2
	}
	if won[n] == nil || won[3-n] != nil {
		t.Fatalf("claims %v", won)
	}
	if state, code := k.ends(won[n].text("operationId")); state != "confirmed" {
		t.Errorf("set-up %s %s", state, code)
	}
	other := k.box("SN-2")
	if state, code := k.ends(k.claimsOnu(other, onuAt(3-n, 200))); state != "confirmed" {
		t.Errorf("set-up of the other one %s %s", state, code)
	}
	vlans := map[string]int{}
	for _, onu := range k.olt.ONUs() {
		vlans[onu.Serial] = onu.VLAN
	}
	if len(vlans) != 2 || vlans[onuSerial(n)] != 100 || vlans[onuSerial(3-n)] != 200 {
		t.Errorf("registered %v", vlans)
	}
}

// ends2 is ends for the operation of another organization.
func (k onuKit) ends2(as apiClient, operation string) (state, code string) {
	k.t.Helper()
	mine := k.acsKit
	copied := *mine.kit
	copied.admin = as
	mine.kit = &copied
	return mine.ends(operation)
}

// TestCpe_EachStepOfAnOnuCanBeRefused: the operation says which, what was done stays, and once the cause is gone it is
// asked for again.
func TestCpe_EachStepOfAnOnuCanBeRefused(t *testing.T) {
	t.Parallel()
	k := newOnuKit(t)
	for n, c := range []struct{ step, refusal, code string }{
		{terminals.StepRegister, "onu_not_seen", "onu_not_seen"},
		{terminals.StepVLAN, "vlan_not_allowed", "olt_vlan_not_allowed"},
		{terminals.StepRegister, "tired", "olt_refused"},
	} {
		if err := k.olt.SetFaults(terminals.Faults{Refuse: map[string]string{c.step: c.refusal}}); err != nil {
			t.Fatal(err)
		}
		box := k.box(serialOf(n))
		if state, code := k.ends(k.claimsOnu(box, onuAt(1, 200))); state != "failed" || code != c.code {
			t.Errorf("%s: %s %s", c.step, state, code)
		}
		shown := k.must(k.admin, "GET", "/cpe/devices/"+box, nil)
		registered := fmt.Sprint(c.step != terminals.StepRegister)
		if shown.at("onu.serial") != onuSerial(1) || shown.at("onu.registered") != registered ||
			shown["takesOnu"] != true {
			t.Errorf("%s: the device shows %v", c.step, shown["onu"])
		}
		if err := k.olt.SetFaults(terminals.Faults{LoseAnswers: 2}); err != nil {
			t.Fatal(err)
		}
		again := k.must(k.admin, "POST", "/cpe/devices/"+box+"/onu", onuAt(1, 200))
		if state, code := k.ends(again.text("operationId")); state != "confirmed" {
			t.Errorf("%s again: %s %s", c.step, state, code)
		}
		k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
		k.isOut()
	}
}

// TestCpe_WithoutTerminalsNothingIsSetUp: the device stays pending, for a claim without its ONU.
func TestCpe_WithoutTerminalsNothingIsSetUp(t *testing.T) {
	t.Parallel()
	k := newCpeKit(t)
	k.calls("SN-1")
	box := k.pendingID(k.admin, "SN-1")
	if waits := k.all(k.admin, "/cpe/pending")[0]; waits["takesOnu"] != false {
		t.Errorf("without terminals a claim may name an ONU: %v", waits)
	}
	claim := "POST /cpe/pending/" + box + "/claim"
	k.refused(k.admin, claim, map[string]any{"onu": onuAt(1, 100)}, 503, "olt_not_set_up")
	k.must(k.admin, "POST", "/cpe/pending/"+box+"/claim", nil)
	k.refused(k.admin, "POST /cpe/devices/"+box+"/onu", onuAt(1, 100), 503, "olt_not_set_up")
	k.refused(k.admin, "GET /cpe/devices/"+box+"/optical", nil, 409, "onu_not_registered")
	if shown := k.must(k.admin, "GET", "/cpe/devices/"+box, nil); shown["takesOnu"] != false || shown["onu"] != nil {
		t.Errorf("without terminals a device shows %v", shown)
	}
}

// TestCpe_AKillBetweenTheStepsOfAnOnu: the next program goes on where the killed one was.
func TestCpe_AKillBetweenTheStepsOfAnOnu(t *testing.T) {
	t.Parallel()
	olt := newTerminals(t)
	sim := acs.New(acs.Config{Live: true, SessionWait: 10 * time.Second})
	if err := sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	atEnd(t, func() { _ = sim.Stop(context.Background()) })
	k := newKit(t, "ACS_INTERNAL_KEY="+internalKey, "ACS_NBI_URL="+sim.URL(), "OLT_URL="+olt.URL(),
		"OLT_TOKEN="+onuToken)
	child := k.spawn(freePort(t))
	k.signIn()
	sim.SetIdentify(acs.Identify{URL: "http://" + k.addr + "/internal/cpe/identify", Key: internalKey})
	for n, reached := range []func() bool{
		func() bool { return len(olt.ONUs()) == 1 },                                 // registered, and perhaps not told
		func() bool { all := olt.ONUs(); return len(all) == 1 && all[0].VLAN != 0 }, // in its VLAN
	} {
		if _, err := sim.AddDevice(acs.DeviceConfig{Serial: serialOf(n)}); err != nil {
			t.Fatal(err)
		}
		box := k.pendingID(k.admin, serialOf(n))
		if err := olt.SetFaults(terminals.Faults{LatencyMs: 300}); err != nil {
			t.Fatal(err)
		}
		operation := k.claimsOnu(box, onuAt(1, 100))
		k.eventually("the step to be done", func(context.Context) (bool, error) { return reached(), nil })
		child.kill9()
		child = k.spawn(child.addr)
		k.eventually("the set-up to be done", func(ctx context.Context) (bool, error) {
			got, err := k.admin.call(ctx, "GET", "/cpe/operations/"+operation, "", nil)
			return got.text("state") == "confirmed", err
		})
		k.must(k.admin, "POST", "/cpe/devices/"+box+"/release", nil)
		child.kill9() // before or after it was taken out
		child = k.spawn(child.addr)
		k.eventually("the ONU to be taken out", func(context.Context) (bool, error) {
			return len(olt.ONUs()) == 0, nil
		})
	}
}
