package acs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestScripts_MakeAsManyInstancesAsTheySay: the server makes them in its memory first, so that a great number ends its
// process, and then asks the device 255 times at most.
func TestScripts_MakeAsManyInstancesAsTheySay(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	k.do("PUT", "/presets/make", `{"channel":"make","events":{"2 PERIODIC":true},
		"configurations":[{"type":"provision","name":"make"}]}`)
	run := func(script string) string {
		k.do("PUT", "/provisions/make", script)
		k.inform(id, "2 PERIODIC")
		faults := k.do("GET", "/faults/", "").body
		k.do("DELETE", "/faults/"+strings.ReplaceAll(id, "%", "%25")+":make", "")
		return faults
	}
	const prefix, suffix = "Device.WiFi.SSID.", ".Enable"
	numbers := func() []string {
		all, err := k.Parameters(id)
		if err != nil {
			t.Fatal(err)
		}
		out := []string{}
		for path := range all {
			if number, is := strings.CutSuffix(strings.TrimPrefix(path, prefix), suffix); is && path != number+suffix {
				out = append(out, number)
			}
		}
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		script string
		want   []string
		fault  string
	}{
		{`declare("Device.WiFi.SSID.*", null, {path: 4});`, []string{"1", "2", "3", "4"}, "[\n\n]"},
		{`declare("Device.WiFi.SSID.*", null, {path: [1, 3]});`, []string{"1", "2", "3"}, "[\n\n]"},
		{`declare("Device.WiFi.SSID.2", null, {path: 0});`, []string{"1", "3"}, "[\n\n]"},
		{`declare("Device.WiFi.SSID.7", null, {path: 1e9});`, []string{"1", "3"}, "[\n\n]"},
		{`declare("Device.WiFi.SSID.*", null, {path: 1e9});`, []string{"1", "3"}, "the process ended"},
	} {
		if faults := run(c.script); !strings.Contains(faults, c.fault) || !slices.Equal(numbers(), c.want) {
			t.Errorf("%s: instances %v, faults %s", c.script, numbers(), faults)
		}
	}
	if !slices.Contains(k.Log(), "process ended: heap out of memory") {
		t.Errorf("log %v", k.Log())
	}
	faults := run(`declare("Device.WiFi.SSID.*", null, {path: 1000});`)
	if n := len(numbers()); !strings.Contains(faults, "too_many_rpcs") || n != 2+255 {
		t.Errorf("%d instances, faults %s", n, faults)
	}
}
