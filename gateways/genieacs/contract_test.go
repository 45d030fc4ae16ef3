package genieacs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// serials counts the devices that were made at an installation.
var serials atomic.Int64

// installation is a real server with a device of our own, which the server forgets at the end.
func installation(t *testing.T, nbi, cwmp string, root genieacs.Root) *site {
	t.Helper()
	s, err := genieacs.New(genieacs.Config{NBI: nbi, Guard: breaker.New(breaker.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	remote, err := acs.NewRemote(context.Background(), acs.RemoteConfig{
		CWMP: cwmp, Listen: os.Getenv("ACS_DEVICE_LISTEN"),
		Device: acs.DeviceConfig{
			Root: string(root), Serial: fmt.Sprintf("LM %d-%d", os.Getpid(), serials.Add(1)),
			NoClass: root == genieacs.TR098, // its informs have no product class
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	session := func(events ...string) {
		t.Helper()
		before, _ := s.Device(t.Context(), genieacs.DeviceID(remote.ID()))
		loop.Sleep(t.Context(), 1100*time.Millisecond) // what was read within a second is not read again
		for try := 0; ; try++ {
			err := remote.Session(t.Context(), events...)
			if err == nil {
				break
			}
			if try == 5 {
				t.Fatal(err)
			}
			loop.Sleep(t.Context(), time.Second) // a session right after another is refused
		}
		for range 100 { // the server writes the device down a while after the session
			now, _ := s.Device(t.Context(), genieacs.DeviceID(remote.ID()))
			if now.LastInform.After(before.LastInform) {
				return
			}
			loop.Sleep(t.Context(), 50*time.Millisecond)
		}
		t.Fatal("the server does not write the device down")
	}
	t.Cleanup(func() {
		if err := s.DeleteDevice(context.Background(), genieacs.DeviceID(remote.ID())); err != nil {
			t.Error(err)
		}
		if err := remote.Close(); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	session("0 BOOTSTRAP", "1 BOOT")
	return &site{
		Server: s, id: genieacs.DeviceID(remote.ID()), root: root, begin: session,
		session: func() { session("2 PERIODIC") },
		offline: remote.SetOffline, reject: remote.SetRejected, value: remote.Value, set: remote.Set,
		knock: func() error { return remote.Session(context.Background(), "2 PERIODIC") },
	}
}

// ssid is the path of the first network's name.
func (s *site) ssid() string {
	if s.root == genieacs.TR098 {
		return "InternetGatewayDevice.LANDevice.1.WLANConfiguration.1.SSID"
	}
	return "Device.WiFi.SSID.1.SSID"
}

func TestContract_ADeviceIsFoundAndRead(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s *site) {
		oui, class, serial, err := s.id.Split()
		if err != nil {
			t.Fatal(err)
		}
		var found []genieacs.Device
		listing := genieacs.Listing{Serial: serial, Paths: genieacs.HealthOfAll()}
		total, err := s.Devices(t.Context(), listing, func(d genieacs.Device) error {
			found = append(found, d)
			return nil
		})
		if err != nil || total != 1 || len(found) != 1 {
			t.Fatalf("%d of %d: %v", len(found), total, err)
		}
		d := found[0]
		if d.ID != s.id || d.OUI != oui || d.ProductClass != class || d.Serial != serial || d.Root != s.root ||
			d.LastInform.IsZero() || d.Registered.IsZero() {
			t.Errorf("device: %+v", d)
		}
		if v := d.Values[genieacs.TreeOf(s.root).Firmware]; v.Text() != "1.0.0" || v.At.IsZero() {
			t.Errorf("firmware: %+v", v)
		}
		if n, err := s.CountDevices(t.Context(), genieacs.Listing{Serial: serial}); err != nil || n != 1 {
			t.Errorf("count %d: %v", n, err)
		}
		stop := errors.New("enough")
		_, err = s.Devices(t.Context(), listing, func(genieacs.Device) error { return stop })
		if !errors.Is(err, stop) {
			t.Errorf("ended by the caller: %v", err)
		}
		if _, err := s.Device(t.Context(), "000000-None-None"); !errors.Is(err, genieacs.ErrUnknownDevice) {
			t.Errorf("unknown device: %v", err)
		}
	})
}

func TestContract_TagsComeAndGo(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s *site) {
		tags := []string{"org:acme", "sub:john.doe@x~y", "plan:50% Ünlimited"}
		for range 2 {
			for _, tag := range tags {
				if err := s.AddTag(t.Context(), s.id, tag); err != nil {
					t.Fatal(err)
				}
			}
		}
		have := func() []string {
			d, err := s.Device(t.Context(), s.id)
			if err != nil {
				t.Fatal(err)
			}
			return d.Tags
		}
		for _, tag := range tags {
			if !slices.Contains(have(), tag) {
				t.Errorf("tags %v lack %s", have(), tag)
			}
		}
		n := 0
		if _, err := s.Devices(t.Context(), genieacs.Listing{Tag: tags[1]}, func(d genieacs.Device) error {
			if d.ID == s.id {
				n++
			}
			return nil
		}); err != nil || n != 1 {
			t.Errorf("by tag: %d, %v", n, err)
		}
		for range 2 {
			if err := s.RemoveTag(t.Context(), s.id, tags[1]); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Contains(have(), tags[1]) || !slices.Contains(have(), tags[0]) {
			t.Errorf("tags after removal: %v", have())
		}
		if err := s.AddTag(t.Context(), "000000-None-None", "x"); !errors.Is(err, genieacs.ErrUnknownDevice) {
			t.Errorf("tag of an unknown device: %v", err)
		}
	})
}

func TestContract_AQueuedTaskRunsAtTheNextSession(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s *site) {
		set := genieacs.Task{
			Kind: genieacs.SetParameters, UniqueKey: "wifi-1", Expiry: time.Hour,
			Values: []genieacs.Parameter{{Name: s.ssid(), Value: "Ufukwe Wi-Fi ä<&>", Type: "xsd:string"}},
		}
		if _, err := s.Enqueue(t.Context(), s.id, set); err != nil {
			t.Fatal(err)
		}
		set.Values[0].Value = "Second"
		sent, err := s.Enqueue(t.Context(), s.id, set)
		if err != nil || sent.Outcome != genieacs.Queued {
			t.Fatalf("%+v: %v", sent, err)
		}
		waiting, err := s.Tasks(t.Context(), s.id)
		if err != nil || len(waiting) != 1 || waiting[0].ID != sent.ID || waiting[0].UniqueKey != "wifi-1" ||
			waiting[0].Kind != genieacs.SetParameters || waiting[0].Device != s.id || waiting[0].Expires.IsZero() {
			t.Fatalf("waiting: %+v, %v", waiting, err)
		}
		s.session()
		if waits, err := s.Waits(t.Context(), sent.ID); waits || err != nil {
			t.Errorf("after the session: %v, %v", waits, err)
		}
		if got := s.value(s.ssid()); got != "Second" {
			t.Errorf("the device has %v", got)
		}
		d, err := s.Device(t.Context(), s.id, s.ssid())
		if v := d.Values[s.ssid()]; err != nil || v.Text() != "Second" || !v.Writable || v.Type != "xsd:string" {
			t.Errorf("read back: %+v, %v", v, err)
		}
		if err := s.DeleteTask(t.Context(), sent.ID); !errors.Is(err, genieacs.ErrUnknownTask) {
			t.Errorf("delete a task that is done: %v", err)
		}
		if err := s.RetryTask(t.Context(), sent.ID); !errors.Is(err, genieacs.ErrUnknownTask) {
			t.Errorf("retry a task that is done: %v", err)
		}
	})
}

func TestContract_ACallIsDoneQueuedOrFailed(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s *site) {
		set := func(name string, value any) genieacs.Task {
			return genieacs.Task{
				Kind: genieacs.SetParameters, Values: []genieacs.Parameter{{Name: name, Value: value}},
			}
		}
		s.session()
		if sent, err := s.Call(t.Context(), s.id, genieacs.Task{
			Kind: genieacs.GetParameters, Names: []string{s.ssid()},
		}); err != nil || sent.Outcome != genieacs.Done {
			t.Fatalf("read: %+v, %v", sent, err)
		}
		sent, err := s.Call(t.Context(), s.id, set(s.ssid(), "Called"))
		if err != nil || sent.Outcome != genieacs.Done || s.value(s.ssid()) != "Called" {
			t.Fatalf("set: %+v, %v; the device has %v", sent, err, s.value(s.ssid()))
		}
		s.reject(s.ssid(), "9007")
		sent, err = s.Call(t.Context(), s.id, set(s.ssid(), "Refused"))
		if err != nil || sent.Outcome != genieacs.Failed || sent.Fault == nil || sent.Fault.Code != "cwmp.9003" ||
			len(sent.Fault.Parameters) != 1 || sent.Fault.Parameters[0].Name != s.ssid() ||
			sent.Fault.Parameters[0].Code != "9007" {
			t.Fatalf("refused: %+v, %v", sent, err)
		}
		if task, ok := sent.Fault.Task(); !ok || task != sent.ID {
			t.Errorf("fault: %+v", sent.Fault)
		}
		if faults, err := s.DeviceFaults(t.Context(), s.id); err != nil || len(faults) != 1 {
			t.Errorf("faults: %+v, %v", faults, err)
		}
		if err := s.RetryTask(t.Context(), sent.ID); err != nil {
			t.Errorf("retry: %v", err)
		}
		s.session()
		if faults, err := s.DeviceFaults(t.Context(), s.id); err != nil || len(faults) != 1 {
			t.Fatalf("faults after a retry: %+v, %v", faults, err)
		}
		if err := s.ClearFault(t.Context(), string(s.id)+":task_"+string(sent.ID)); err != nil {
			t.Errorf("clear: %v", err)
		}
		if tasks, err := s.Tasks(t.Context(), s.id); err != nil || len(tasks) != 0 {
			t.Errorf("the task went with its fault: %+v, %v", tasks, err)
		}
		s.reject(s.ssid(), "")
		s.offline(true)
		sent, err = s.Call(t.Context(), s.id, set(s.ssid(), "Later"))
		if err != nil || sent.Outcome != genieacs.Queued || sent.Reason != "Device is offline" {
			t.Errorf("offline: %+v, %v", sent, err)
		}
		s.offline(false)
		s.session()
		if s.value(s.ssid()) != "Later" {
			t.Errorf("the device has %v", s.value(s.ssid()))
		}
	})
}

func TestContract_FilesAreKept(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s *site) {
		f := genieacs.File{
			Name: "lm test (1)~" + string(s.root) + ".bin", Type: genieacs.FirmwareImage, OUI: "00D09E",
			ProductClass: "HomeBox-2", Version: "2.0",
		}
		for range 2 {
			if err := s.PutFile(t.Context(), f, []byte(strings.Repeat("x", 1000))); err != nil {
				t.Fatal(err)
			}
		}
		files, err := s.Files(t.Context())
		at := slices.IndexFunc(files, func(o genieacs.File) bool { return o.Name == f.Name })
		if err != nil || at < 0 {
			t.Fatalf("files: %+v, %v", files, err)
		}
		got := files[at]
		if got.At.IsZero() || got.Size != 1000 {
			t.Errorf("file: %+v", got)
		}
		got.At, got.Size = time.Time{}, 0
		if got != f {
			t.Errorf("file: %+v, want %+v", got, f)
		}
		if err := s.DeleteFile(t.Context(), f.Name); err != nil {
			t.Error(err)
		}
		if err := s.DeleteFile(t.Context(), f.Name); !errors.Is(err, genieacs.ErrUnknownFile) {
			t.Errorf("second time: %v", err)
		}
	})
}

func TestContract_ADeviceFetchesItsFirmware(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s *site) {
		f := genieacs.File{Name: "lm-fw-" + string(s.root) + ".bin", Type: genieacs.FirmwareImage, Version: "2.0"}
		if err := s.PutFile(t.Context(), f, []byte("firmware")); err != nil {
			t.Fatal(err)
		}
		sent, err := s.Enqueue(t.Context(), s.id, genieacs.Task{Kind: genieacs.Download, File: f.Name})
		if err != nil {
			t.Fatal(err)
		}
		s.session()
		if waits, err := s.Waits(t.Context(), sent.ID); waits || err != nil {
			t.Errorf("after the session: %v, %v", waits, err)
		}
		if faults, err := s.DeviceFaults(t.Context(), s.id); err != nil || len(faults) > 0 {
			t.Errorf("faults: %+v, %v", faults, err)
		}
		if err := s.DeleteFile(t.Context(), f.Name); err != nil {
			t.Error(err)
		}
	})
}

func TestContract_ScriptsAndPresetsAreKept(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s *site) {
		name := "lm-test-" + string(s.root)
		script := "// ä\nconst a = args[0];\nlog(a);\n"
		if err := s.PutProvision(t.Context(), name, script); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.Provision(t.Context(), name); got != script || !ok || err != nil {
			t.Errorf("provision %q, %v, %v", got, ok, err)
		}
		var refusal *genieacs.Refusal
		if err := s.PutProvision(t.Context(), name, "if ("); !errors.As(err, &refusal) || refusal.Status != 400 ||
			!strings.HasPrefix(refusal.Message, "SyntaxError") {
			t.Errorf("syntax error: %v", err)
		}
		preset := genieacs.Preset{
			Name: name, Channel: name, Weight: 3, Events: map[string]bool{"2 PERIODIC": true, "1 BOOT": false},
			Precondition: "Tags.lm_test IS NOT NULL", Provision: name, Version: 3,
		}
		if err := s.PutPreset(t.Context(), preset); err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.Preset(t.Context(), name)
		if err != nil || !ok || fmt.Sprint(got) != fmt.Sprint(preset) {
			t.Errorf("preset %+v, %v, %v", got, ok, err)
		}
		for range 2 {
			if err := s.DeletePreset(t.Context(), name); err != nil {
				t.Error(err)
			}
			if err := s.DeleteProvision(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
		if _, ok, err := s.Preset(t.Context(), name); ok || err != nil {
			t.Errorf("preset after its end: %v, %v", ok, err)
		}
		if _, ok, err := s.Provision(t.Context(), name); ok || err != nil {
			t.Errorf("provision after its end: %v, %v", ok, err)
		}
	})
}

func TestContract_ADeviceIsForgottenAndComesBack(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, s *site) {
		if _, err := s.Enqueue(t.Context(), s.id, genieacs.Task{Kind: genieacs.Reboot}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.DeleteDevice(t.Context(), s.id); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Device(t.Context(), s.id); !errors.Is(err, genieacs.ErrUnknownDevice) {
			t.Errorf("read: %v", err)
		}
		if tasks, err := s.Tasks(t.Context(), s.id); err != nil || len(tasks) != 0 {
			t.Errorf("tasks: %v, %v", tasks, err)
		}
		_, err := s.Enqueue(t.Context(), s.id, genieacs.Task{Kind: genieacs.Reboot})
		if !errors.Is(err, genieacs.ErrUnknownDevice) {
			t.Errorf("task: %v", err)
		}
		s.session()
		if _, err := s.Device(t.Context(), s.id); err != nil {
			t.Errorf("after its inform: %v", err)
		}
	})
}
