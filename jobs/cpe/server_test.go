package cpejobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// served has a simulated CPE server with one device, and what we send to it. Both have one clock, which stands, unless
// the server's is ahead.
type served struct {
	cpejobs.ACS
	t      *testing.T
	sim    *acs.Simulator
	now    *clock.Manual
	device string
}

// serve starts them. The device has called once, and has a file of firmware to load.
func serve(t *testing.T) served { return serveAhead(t, 0) }

// serveAhead is serve with a server whose clock stands at another time than ours; negative = it is behind.
func serveAhead(t *testing.T, ahead time.Duration) served {
	t.Helper()
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	there := now
	if ahead != 0 {
		there = clock.NewManual(now.Now().Add(ahead))
	}
	s := served{t: t, now: now, sim: acs.New(acs.Config{Clock: there})}
	if err := s.sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.sim.Stop(context.Background()) })
	gateway, err := genieacs.New(genieacs.Config{
		NBI: s.sim.URL(), Guard: breaker.New(breaker.Config{Clock: now}), Clock: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gateway.Close)
	s.ACS = cpejobs.ACS{Gateway: gateway, Clock: now}
	if s.device, err = s.sim.AddDevice(acs.DeviceConfig{Serial: "SN-1"}); err != nil {
		t.Fatal(err)
	}
	s.idle()
	err = gateway.PutFile(t.Context(), genieacs.File{
		Name: "box.bin", Type: genieacs.FirmwareImage, Version: "2.0",
	}, []byte("image"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// idle waits until nothing is under way.
func (s served) idle() {
	s.t.Helper()
	if err := s.sim.Idle(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// TestOutcome_ADeviceThatWasNotThereWasNotTold: a task that nobody has taken back ends by itself, and nothing but the
// device's last call tells it from one that ran.
func TestOutcome_ADeviceThatWasNotThereWasNotTold(t *testing.T) {
	t.Parallel()
	for _, comes := range []bool{false, true} {
		s := serve(t)
		s.now.Advance(5 * time.Minute)
		w := cpejobs.Write{
			Key: "3f1c", Kind: events.CpeFirmware,
			CPE: events.CpeIdentity{SerialNumber: "SN-1", OUI: "00D09E", ProductClass: "HomeBox-2"},
			Deployment: cpejobs.Deployment{
				Image: cpejobs.Image{File: "box.bin", Version: "2.0"}, BeginBy: s.now.Now().Add(10 * time.Minute),
				Going: true, AskedAt: s.now.Now(), SentAt: s.now.Now(),
			},
		}
		sent, err := s.Send(t.Context(), w)
		if err != nil || len(sent.Tasks) != 1 {
			t.Fatalf("%+v, %v", sent, err)
		}
		w.Tasks = sent.Tasks
		if comes { // it does not take the file, and says nothing of it
			fault := acs.DeviceFaults{KeepFirmware: true}
			if err := s.sim.SetDeviceFaults(s.device, fault); err != nil {
				t.Fatal(err)
			}
			if err := s.sim.Inform(s.device, "2 PERIODIC"); err != nil {
				t.Fatal(err)
			}
			s.idle()
		} else if err := s.Gateway.DeleteTask(t.Context(), genieacs.TaskID(w.Tasks[0].ID)); err != nil {
			t.Fatal(err) // as the server's database does by itself
		}
		s.now.Advance(20 * time.Minute)
		early, err := s.Outcome(t.Context(), w)
		if err != nil || early.Code == events.CpeNotBegun {
			t.Errorf("it comes: %t, and at first %+v, %v", comes, early, err)
		}
		s.now.Advance(time.Minute)
		late, err := s.Outcome(t.Context(), w)
		if err != nil || (late.Code == events.CpeNotBegun) == comes {
			t.Errorf("it comes: %t, and then %+v, %v", comes, late, err)
		}
	}
}

// TestOutcome_AFaultOfALaterDownloadIsNotThatOfALostOne: it stays for the one whose task it is.
func TestOutcome_AFaultOfALaterDownloadIsNotThatOfALostOne(t *testing.T) {
	t.Parallel()
	s := serve(t)
	w := cpejobs.Write{
		Key: "3f1c", Kind: events.CpeFirmware,
		CPE: events.CpeIdentity{SerialNumber: "SN-1", OUI: "00D09E", ProductClass: "HomeBox-2"},
		Deployment: cpejobs.Deployment{
			Image: cpejobs.Image{File: "box.bin", Version: "2.0"}, BeginBy: s.now.Now().Add(time.Hour),
			Going: true, AskedAt: s.now.Now(), SentAt: s.now.Now(),
		},
	}
	if err := s.sim.SetDeviceFaults(s.device, acs.DeviceFaults{TransferFault: "9010"}); err != nil {
		t.Fatal(err)
	}
	s.now.Advance(time.Minute)
	later := w
	later.Key = "4a2d"
	sent, err := s.Send(t.Context(), later)
	if err != nil || len(sent.Tasks) != 1 {
		t.Fatalf("%+v, %v", sent, err)
	}
	later.Tasks, w.Others = sent.Tasks, sent.Tasks
	if err := s.sim.Inform(s.device, "2 PERIODIC"); err != nil {
		t.Fatal(err)
	}
	s.idle()
	if out, err := s.Outcome(t.Context(), w); err != nil || out.Code != "" {
		t.Errorf("the lost one: %+v (%v)", out, err)
	}
	if out, err := s.Outcome(t.Context(), later); err != nil || out.Code != "cwmp.9010" {
		t.Errorf("the later one: %+v (%v)", out, err)
	}
}

// TestOutcome_TheServersClockMayDiffer: whether a fault is of before a download whose answer was lost is known all the
// same.
func TestOutcome_TheServersClockMayDiffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ahead, after time.Duration // of the server's clock; of the fault, after the request
		code         string
	}{
		"ahead, before the request":  {ahead: 30 * time.Second, after: -20 * time.Second},
		"ahead, after the request":   {ahead: 30 * time.Second, after: 20 * time.Second, code: "cwmp.9010"},
		"behind, before the request": {ahead: -30 * time.Second, after: -20 * time.Second},
		"behind, after the request":  {ahead: -30 * time.Second, after: 20 * time.Second, code: "cwmp.9010"},
	} {
		s := serveAhead(t, c.ahead)
		if err := s.sim.SetDeviceFaults(s.device, acs.DeviceFaults{TransferFault: "9010"}); err != nil {
			t.Fatal(err)
		}
		w := cpejobs.Write{
			Key: "3f1c", Kind: events.CpeFirmware,
			CPE: events.CpeIdentity{SerialNumber: "SN-1", OUI: "00D09E", ProductClass: "HomeBox-2"},
			Deployment: cpejobs.Deployment{
				Image: cpejobs.Image{File: "box.bin", Version: "2.0"}, BeginBy: s.now.Now().Add(time.Hour),
				Going: true, AskedAt: s.now.Now(), SentAt: s.now.Now(),
			},
		}
		if sent, err := s.Send(t.Context(), w); err != nil || len(sent.Tasks) != 1 {
			t.Fatalf("%+v, %v", sent, err)
		}
		if err := s.sim.Inform(s.device, "2 PERIODIC"); err != nil {
			t.Fatal(err)
		}
		s.idle()
		w.Key, w.AskedAt = "4a2d", s.now.Now().Add(-c.after)
		if out, err := s.Outcome(t.Context(), w); err != nil || out.Code != c.code {
			t.Errorf("%s: %+v (%v)", name, out, err)
		}
	}
}
