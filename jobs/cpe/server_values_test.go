package cpejobs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// Places of what is written to the devices of these tests.
const (
	wifiName      = "Device.WiFi.SSID.1.SSID"
	wifiKey       = "Device.WiFi.AccessPoint.1.Security.KeyPassphrase"
	pppoeUser     = "Device.PPP.Interface.1.Username"
	pppoePassword = "Device.PPP.Interface.1.Password" //nolint:gosec // a path
)

// explored is serve, with a device whose tree the server knows.
func explored(t *testing.T) served {
	t.Helper()
	s := serve(t)
	_, err := s.Gateway.Enqueue(t.Context(), genieacs.DeviceID(s.device), genieacs.Task{
		Kind: genieacs.RefreshObject, Object: "Device",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.comes()
	return s
}

// comes has the device call, a minute before and a minute after anything else.
func (s served) comes() {
	s.t.Helper()
	s.now.Advance(time.Minute)
	defer s.now.Advance(time.Minute)
	if err := s.sim.Inform(s.device, "2 PERIODIC"); err != nil {
		s.t.Fatal(err)
	}
	s.idle()
}

// writes sends a write, has the device come until it has ended, and gives the code of its failure.
func (s served) writes(w cpejobs.Write) string {
	s.t.Helper()
	w.CPE = events.CpeIdentity{SerialNumber: "SN-1", OUI: "00D09E", ProductClass: "HomeBox-2"}
	w.Key = fmt.Sprintf("%x", s.now.Now().Unix())
	w.ExpiresAt = s.now.Now().Add(time.Hour)
	out, err := s.Send(s.t.Context(), w)
	for range 5 {
		if err != nil {
			s.t.Fatal(err)
		}
		if out.Done || out.Code != "" {
			return out.Code
		}
		if len(out.Tasks) > 0 {
			w.Tasks = out.Tasks
		}
		s.comes()
		out, err = s.Outcome(s.t.Context(), w)
	}
	s.t.Fatalf("no end of %+v", w.Tasks)
	return ""
}

// holds fails unless the device has some values.
func (s served) holds(want map[string]any) {
	s.t.Helper()
	has, err := s.sim.Parameters(s.device)
	if err != nil {
		s.t.Fatal(err)
	}
	for path, value := range want {
		if has[path] != value {
			s.t.Errorf("%s is %v, want %v", path, has[path], value)
		}
	}
}

// TestSend_WhatTheServerTakesForTheDevicesOwnIsWritten: the server remembers what it has set, and leaves out what is
// equal to it. But somebody may have changed it at the device, or the device did not take it.
func TestSend_WhatTheServerTakesForTheDevicesOwnIsWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write cpejobs.Write
		want  map[string]any
	}{
		"Wi-Fi": {
			cpejobs.Write{Kind: events.CpeWifi, Values: commands.CpeValues{SSID: "Home", Password: "first key"}},
			map[string]any{wifiName: "Home", wifiKey: "first key"},
		},
		"login": {
			cpejobs.Write{Kind: events.CpeLogin, Values: commands.CpeValues{Username: "amina", Password: "secret"}},
			map[string]any{pppoeUser: "amina", pppoePassword: "secret"},
		},
		"parameters": {
			cpejobs.Write{Kind: events.CpeParameters, Values: commands.CpeValues{
				Parameters: []commands.CpeValue{{Name: wifiName, Value: "Home"}},
			}},
			map[string]any{wifiName: "Home"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := explored(t)
			if err := s.sim.SetDeviceFaults(s.device, acs.DeviceFaults{Swallow: true}); err != nil {
				t.Fatal(err)
			}
			if code := s.writes(c.write); code != "not_written" {
				t.Errorf("what the device swallows ends with %q", code)
			}
			if err := s.sim.SetDeviceFaults(s.device, acs.DeviceFaults{}); err != nil {
				t.Fatal(err)
			}
			for path := range c.want { // now the same once more, and then what somebody changes at the device
				if code := s.writes(c.write); code != "" {
					t.Errorf("the write ends with %q", code)
				}
				s.holds(c.want)
				if err := s.sim.SetParameters(s.device, map[string]any{path: "by hand"}); err != nil {
					t.Fatal(err)
				}
			}
			if code := s.writes(c.write); code != "" {
				t.Errorf("the last write ends with %q", code)
			}
			s.holds(c.want)
		})
	}
}

// TestOutcome_AWriteOfAnEarlierProgramEnds: it has one task, and no reading before it.
func TestOutcome_AWriteOfAnEarlierProgramEnds(t *testing.T) {
	t.Parallel()
	s := explored(t)
	set := genieacs.Task{
		Kind: genieacs.SetParameters, Values: []genieacs.Parameter{{Name: wifiName, Value: "Home"}},
	}
	sent, err := s.Gateway.Enqueue(t.Context(), genieacs.DeviceID(s.device), set)
	if err != nil {
		t.Fatal(err)
	}
	w := cpejobs.Write{
		Key: "3f1c", Kind: events.CpeParameters, ExpiresAt: s.now.Now().Add(time.Hour),
		CPE: events.CpeIdentity{SerialNumber: "SN-1", OUI: "00D09E", ProductClass: "HomeBox-2"},
		Values: commands.CpeValues{
			Parameters: []commands.CpeValue{{Name: wifiName, Value: "Home"}},
		},
		Tasks: []events.CpeTask{{ID: string(sent.ID), Name: string(set.Kind)}},
	}
	s.comes()
	for n := range 2 {
		out, err := s.Outcome(t.Context(), w)
		if err != nil || out.Done != (n == 1) || n == 0 && len(out.Tasks) != 2 {
			t.Fatalf("%d: %+v, %v", n, out, err)
		}
		if n == 0 {
			w.Tasks = out.Tasks
			s.comes()
		}
	}
}
