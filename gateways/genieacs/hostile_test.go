package genieacs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// secret is a password that must be found nowhere.
const secret = "Str0ng&Secret!"

// key is the path of the first network's key.
const key = "Device.WiFi.AccessPoint.1.Security.KeyPassphrase"

// wifi sets a key.
func wifi(value any) genieacs.Task {
	return genieacs.Task{
		Kind: genieacs.SetParameters, UniqueKey: "w",
		Values: []genieacs.Parameter{{Name: key, Value: value, Type: "xsd:string"}},
	}
}

func TestSecrets_GoInAndNeverComeOut(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	if sent, err := k.Call(t.Context(), id, wifi(secret)); err != nil || sent.Outcome != genieacs.Done {
		t.Fatalf("%+v, %v", sent, err)
	}
	if k.inside(id, key) != secret {
		t.Fatalf("the device has %v", k.inside(id, key))
	}
	d := k.read(id, key, "Device.WiFi.AccessPoint.1.Security", "Device.WiFi")
	if v := d.Values[key]; v.Value != nil || !v.Writable {
		t.Errorf("key: %+v", v)
	}
	if strings.Contains(fmt.Sprintf("%#v", d), secret) {
		t.Error("a read of an object brought a key")
	}
	if err := k.sim.SetDeviceFaults(string(id), acs.DeviceFaults{Reject: map[string]string{key: "9007"}}); err != nil {
		t.Fatal(err)
	}
	sent, err := k.Call(t.Context(), id, wifi(secret+"2"))
	if err != nil || sent.Outcome != genieacs.Failed || len(sent.Fault.Parameters) != 1 ||
		sent.Fault.Parameters[0] != (genieacs.ParameterFault{
			Name: key, Code: "9007", Message: "Invalid parameter value",
		}) {
		t.Fatalf("%+v, %v", sent, err)
	}
	shown := fmt.Sprintf("%#v %+v %v", sent.Fault, sent.Fault, wifi(secret))
	if _, err := json.Marshal(wifi(secret)); err == nil {
		t.Error("a task was written as JSON")
	}
	for _, bad := range []any{secret + "\x00", []string{secret}} {
		_, err := k.Enqueue(t.Context(), id, wifi(bad))
		if !errors.Is(err, genieacs.ErrUnfit) {
			t.Errorf("%v", err)
		}
		shown += fmt.Sprint(err)
	}
	k.sim.SetFaults(acs.Faults{CrashNext: 1})
	_, err = k.Enqueue(t.Context(), id, wifi(secret))
	shown += fmt.Sprint(err)
	if tasks, err := k.Tasks(t.Context(), id); err == nil {
		shown += fmt.Sprintf("%#v", tasks)
	}
	shown += fmt.Sprintf("%+v %#v", wifi(secret).Values, wifi(secret).Values)
	if strings.Contains(shown, secret) || strings.Contains(k.log.String(), secret) {
		t.Errorf("a secret was shown: %s\n%s", shown, k.log.String())
	}
	for _, r := range k.sim.Requests() {
		if strings.Contains(r, "_value") && strings.Contains(r, "KeyPassphrase._value") {
			t.Errorf("a key was asked for: %s", r)
		}
	}
}

func TestCalls_BadRequestsNeverReachTheServer(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	before := len(k.sim.Requests())
	ctx := t.Context()
	get := func(name string) genieacs.Task {
		return genieacs.Task{Kind: genieacs.GetParameters, Names: []string{name}}
	}
	set := func(kind string) genieacs.Task {
		return genieacs.Task{
			Kind: genieacs.SetParameters, Values: []genieacs.Parameter{{Name: key, Value: "x", Type: kind}},
		}
	}
	for name, err := range map[string]error{
		"empty names":   second(k.Enqueue(ctx, id, genieacs.Task{Kind: genieacs.GetParameters})),
		"empty name":    second(k.Enqueue(ctx, id, get(""))),
		"wildcard":      second(k.Enqueue(ctx, id, get("Device.*"))),
		"kind":          second(k.Enqueue(ctx, id, genieacs.Task{Kind: "format"})),
		"half second":   second(k.Enqueue(ctx, id, genieacs.Task{Kind: genieacs.Reboot, Expiry: time.Second / 2})),
		"unique key":    second(k.Enqueue(ctx, id, genieacs.Task{Kind: genieacs.Reboot, UniqueKey: `{"$ne":1}`})),
		"no object":     second(k.Enqueue(ctx, id, genieacs.Task{Kind: genieacs.DeleteObject})),
		"type":          second(k.Enqueue(ctx, id, set("int"))),
		"value":         second(k.Enqueue(ctx, id, set("xsd:int"))),
		"no file":       second(k.Enqueue(ctx, id, genieacs.Task{Kind: genieacs.Download})),
		"device":        second(k.Enqueue(ctx, "a/b", genieacs.Task{Kind: genieacs.Reboot})),
		"broken escape": second(k.Enqueue(ctx, "001122-a%2-b", genieacs.Task{Kind: genieacs.Reboot})),
		"empty device":  second(k.Device(ctx, "")),
		"task id":       k.DeleteTask(ctx, "123"),
		"retry id":      k.RetryTask(ctx, `{"$gt":""}`),
		"fault":         k.ClearFault(ctx, string(id)+":task_1"),
		"fault device":  k.ClearFault(ctx, "x"),
		"tag":           k.AddTag(ctx, id, "a*"),
		"empty tag":     k.AddTag(ctx, id, ""),
		"preset":        k.PutPreset(ctx, genieacs.Preset{Name: "a", Channel: "a"}),
		"provision":     k.PutProvision(ctx, "a/b", "log(1)"),
		"file":          k.PutFile(ctx, genieacs.File{Name: "a\nb", Type: "1"}, nil),
		"file type":     k.PutFile(ctx, genieacs.File{Name: "a"}, nil),
		"serial":        second(k.Devices(ctx, genieacs.Listing{Serial: "*"}, nil)),
	} {
		if !errors.Is(err, genieacs.ErrUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range k.sim.Requests()[before:] {
		t.Errorf("sent: %s", r)
	}
}

// second gives the error of a call with two results.
func second[T any](_ T, err error) error { return err }

func TestCalls_ACrashIsToldFromAServerThatIsAway(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	for range 6 {
		k.sim.SetFaults(acs.Faults{CrashNext: 1})
		_, err := k.Enqueue(t.Context(), id, genieacs.Task{Kind: genieacs.Reboot})
		if !errors.Is(err, genieacs.ErrCrashed) || !errors.Is(err, genieacs.ErrInDoubt) ||
			failure.CodeOf(err) != "cpe_server_unavailable" {
			t.Fatalf("crash: %v", err)
		}
	}
	if err := k.Ready(); err != nil {
		t.Errorf("crashes at requests have opened the breaker: %v", err)
	}
	k.sim.SetFaults(acs.Faults{Refuse: true})
	for range 5 {
		_, err := k.Enqueue(t.Context(), id, genieacs.Task{Kind: genieacs.Reboot})
		if errors.Is(err, genieacs.ErrCrashed) || !errors.Is(err, genieacs.ErrInDoubt) ||
			failure.CodeOf(err) != "cpe_server_unavailable" {
			t.Fatalf("away: %v", err)
		}
	}
	if err := k.Ready(); failure.CodeOf(err) != "cpe_server_unavailable" {
		t.Errorf("ready: %v", err)
	}
	k.sim.SetFaults(acs.Faults{})
	_, err := k.Enqueue(t.Context(), id, genieacs.Task{Kind: genieacs.Reboot})
	if errors.Is(err, genieacs.ErrInDoubt) || failure.KindOf(err) != failure.Unavailable {
		t.Errorf("open breaker: %v", err)
	}
	k.clock.Advance(time.Minute)
	if _, err := k.Enqueue(t.Context(), id, genieacs.Task{Kind: genieacs.Reboot}); err != nil {
		t.Errorf("after the cool-down: %v", err)
	}
}

func TestCalls_AServerThatIsNotThereIsNoDoubt(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	k.connect("http://127.0.0.1:1", time.Second)
	_, err := k.Enqueue(t.Context(), "001122-A-B", genieacs.Task{Kind: genieacs.FactoryReset})
	if errors.Is(err, genieacs.ErrInDoubt) || failure.CodeOf(err) != "cpe_server_unavailable" {
		t.Errorf("%v", err)
	}
}

func TestCalls_ALostAnswerIsADoubtThatTheKeyResolves(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.sim.SetFaults(acs.Faults{LoseAnswers: 1})
	_, err := k.Enqueue(t.Context(), id, genieacs.Task{Kind: genieacs.FactoryReset, UniqueKey: "op-1"})
	if !errors.Is(err, genieacs.ErrInDoubt) {
		t.Fatalf("%v", err)
	}
	tasks, err := k.Tasks(t.Context(), id)
	if err != nil || len(tasks) != 1 || tasks[0].UniqueKey != "op-1" || tasks[0].Kind != genieacs.FactoryReset {
		t.Errorf("%+v, %v", tasks, err)
	}
}

func TestCalls_AnswersOfProxiesAndHalfAnswersAreFailures(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	for name, f := range map[string]acs.Faults{
		"page": {HTML: 200}, "bad gateway": {HTML: 502}, "cut": {CutLists: true}, "database": {FailNext: 1},
	} {
		k.sim.SetFaults(f)
		if _, err := k.Device(t.Context(), id); err == nil || errors.Is(err, genieacs.ErrUnknownDevice) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k.sim.SetFaults(acs.Faults{HTML: 200})
	if err := k.AddTag(t.Context(), id, "x"); !errors.Is(err, genieacs.ErrInDoubt) {
		t.Errorf("write answered by a page: %v", err)
	}
}

func TestCalls_AHangingServerEndsByTime(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.connect(k.sim.URL(), 50*time.Millisecond)
	k.sim.SetFaults(acs.Faults{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Device(ctx, id); err == nil {
		t.Error("a call of a caller who has gone")
	}
	if _, err := k.Device(t.Context(), id); failure.CodeOf(err) != "cpe_server_unavailable" {
		t.Errorf("%v", err)
	}
}

func TestCall_StrippedReasonsAreLookedUp(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.sim.SetFaults(acs.Faults{StripReasons: true})
	fail := acs.DeviceFaults{Fail: map[string]string{"Reboot": "9002"}}
	if err := k.sim.SetDeviceFaults(string(id), fail); err != nil {
		t.Fatal(err)
	}
	sent, err := k.Call(t.Context(), id, genieacs.Task{Kind: genieacs.Reboot})
	if err != nil || sent.Outcome != genieacs.Failed || sent.Reason != "cwmp.9002" {
		t.Errorf("failed: %+v, %v", sent, err)
	}
	if err := k.sim.SetDeviceFaults(string(id), acs.DeviceFaults{NoSession: true}); err != nil {
		t.Fatal(err)
	}
	sent, err = k.Call(t.Context(), id, genieacs.Task{Kind: genieacs.FactoryReset})
	if err != nil || sent.Outcome != genieacs.Queued || sent.Reason != "" {
		t.Errorf("queued: %+v, %v", sent, err)
	}
}

func TestCall_ADeviceWithoutAnAddressIsOnlyQueued(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S0", Off: true})
	if err := k.sim.SetDeviceFaults(string(id), acs.DeviceFaults{NoAddress: true}); err != nil {
		t.Fatal(err)
	}
	if err := k.sim.SetPower(string(id), true); err != nil {
		t.Fatal(err)
	}
	k.settle()
	sent, err := k.Call(t.Context(), id, genieacs.Task{Kind: genieacs.Reboot})
	if err != nil || sent.Outcome != genieacs.Queued || sent.Reason == "" {
		t.Errorf("%+v, %v", sent, err)
	}
	if _, _, err := k.RequestConnection(t.Context(), id); !errors.Is(err, genieacs.ErrUnfit) {
		t.Errorf("%v", err)
	}
}

func TestRequestConnection_ReachesADeviceOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	if reached, reason, err := k.RequestConnection(t.Context(), id); !reached || reason != "" || err != nil {
		t.Errorf("%v, %q, %v", reached, reason, err)
	}
	k.settle()
	if err := k.sim.SetPower(string(id), false); err != nil {
		t.Fatal(err)
	}
	reached, reason, err := k.RequestConnection(t.Context(), id)
	if reached || reason != "Device is offline" || err != nil {
		t.Errorf("%v, %q, %v", reached, reason, err)
	}
}

func TestCalls_ADeviceInSessionIsTriedAgainAndThenTold(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	sent, err := k.Enqueue(t.Context(), id, genieacs.Task{Kind: genieacs.Reboot})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.sim.SetDeviceFaults(string(id), acs.DeviceFaults{Held: true}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"task": k.DeleteTask(t.Context(), sent.ID), "retry": k.RetryTask(t.Context(), sent.ID),
		"fault": k.ClearFault(t.Context(), string(id)+":default"), "device": k.DeleteDevice(t.Context(), id),
	} {
		if !errors.Is(err, genieacs.ErrInSession) {
			t.Errorf("%s: %v", name, err)
		}
	}
	called, err := k.Call(t.Context(), id, genieacs.Task{Kind: genieacs.Reboot})
	if err != nil || called.Outcome != genieacs.Queued || called.Reason != "Task queued but not processed" {
		t.Errorf("call: %+v, %v", called, err)
	}
	if err := k.Ready(); err != nil {
		t.Errorf("a busy device has opened the breaker: %v", err)
	}
	tries := 0
	for _, r := range k.sim.Requests() {
		if strings.HasPrefix(r, "DELETE /devices/") {
			tries++
		}
	}
	if tries != 4 {
		t.Errorf("%d tries", tries)
	}
}

func TestDevices_PagesGoOnWhileDevicesComeAndGo(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	for i := range 25 {
		k.add(acs.DeviceConfig{Serial: fmt.Sprintf("P%02d", i)})
	}
	seen := map[string]int{}
	err := k.EachDevice(t.Context(), genieacs.Listing{Limit: 4}, func(d genieacs.Device) error {
		seen[d.Serial]++
		if d.Serial == "P05" {
			return k.DeleteDevice(t.Context(), d.ID) // skipping by number would miss one now
		}
		return nil
	})
	if err != nil || len(seen) != 25 {
		t.Fatalf("%d devices: %v", len(seen), err)
	}
	for serial, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", serial, n)
		}
	}
	if n, err := k.CountDevices(t.Context(), genieacs.Listing{}); n != 24 || err != nil {
		t.Errorf("count %d, %v", n, err)
	}
	page := 0
	total, err := k.Devices(t.Context(), genieacs.Listing{Skip: 20, Limit: 10}, func(genieacs.Device) error {
		page++
		return nil
	})
	if err != nil || total != 24 || page != 4 {
		t.Errorf("page of %d, total %d, %v", page, total, err)
	}
	k.clock.Advance(time.Hour)
	at := k.clock.Now()
	k.inform("00D09E-HomeBox%2D2-P07", "2 PERIODIC")
	n, err := k.CountDevices(t.Context(), genieacs.Listing{Since: at})
	if n != 1 || err != nil {
		t.Errorf("since: %d, %v", n, err)
	}
}

func TestSerial_DigitsDoNotMatchNumbers(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	k.add(acs.DeviceConfig{Serial: "0123"})
	k.add(acs.DeviceConfig{Serial: "123"})
	var found []string
	if _, err := k.Devices(t.Context(), genieacs.Listing{Serial: "123"}, func(d genieacs.Device) error {
		found = append(found, d.Serial)
		return nil
	}); err != nil || len(found) != 1 || found[0] != "123" {
		t.Errorf("%v, %v", found, err)
	}
}

func TestIsSecret_KnowsKeysAndPasswordsByTheirNames(t *testing.T) {
	t.Parallel()
	const lan = "InternetGatewayDevice.LANDevice.1.WLANConfiguration.1."
	for path, want := range map[string]bool{
		key: true, "Device.PPP.Interface.1.Password": true, "Device.PPP.Interface.1.Username": false,
		"Device.ManagementServer.ConnectionRequestPassword": true, lan + "PreSharedKey.1.PreSharedKey": true,
		lan + "PreSharedKey.1.KeyPassphrase": true, lan + "WEPKey.1.WEPKey": true, lan + "X_ACME_PreSharedKey": true,
		lan + "PreSharedKey.1.AssociatedDeviceMACAddress": false, lan + "SSID": false, "Device.Routing.Spin": false,
		"Device.WiFi.AccessPoint.1.Security.SAEPassphrase": true, "Device.WiFi.AccessPoint.1.WPS.PIN": true,
		"Device.WiFi.AccessPoint.1.Security.RadiusSecret": true,
	} {
		if got := genieacs.IsSecret(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestNew_RefusesWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	guard := breaker.New(breaker.Config{})
	for _, address := range []string{"", "acs", "ftp://acs", "http://u:p@acs", "http://acs?x=1", "http://acs#x"} {
		if _, err := genieacs.New(genieacs.Config{NBI: address, Guard: guard}); err == nil {
			t.Errorf("%q was taken", address)
		}
	}
	if _, err := genieacs.New(genieacs.Config{NBI: "http://acs"}); err == nil {
		t.Error("without a breaker")
	}
}
