package network_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
)

// FuzzOpening checks that a stored opening is either a state that the next closing writes again, or a clear stop.
func FuzzOpening(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`null`))
	f.Add([]byte(``))
	f.Add([]byte(`{"ID":"0195a000-0000-7000-8000-000000000001","Held":[{}],"Planned":[{}],"Reboot":{"Over":true}}`))
	for _, closed := range []any{
		devices.Close(folded(devices, events.DeviceEvent(registered))),
		services.Close(folded(services, events.ServiceEvent(asked))),
		plans.Close(folded(plans, events.AddressingEvent(allocated(service, device, pppoe, plan)))),
	} {
		body, err := json.Marshal(closed)
		if err != nil {
			f.Fatal(err)
		}
		var opening struct{ Opening []byte }
		if err := json.Unmarshal(body, &opening); err != nil || len(opening.Opening) == 0 {
			f.Fatalf("%s: %v", body, err)
		}
		f.Add(opening.Opening)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		again(t, func(b []byte) []byte {
			return devices.Close(folded(devices, events.DeviceEvent(events.DevicePeriodClosed{Opening: b}))).(events.
				DevicePeriodClosed).Opening
		}, body)
		again(t, func(b []byte) []byte {
			return services.Close(folded(services,
				events.ServiceEvent(events.ServicePeriodClosed{Opening: b}))).(events.
				ServicePeriodClosed).Opening
		}, body)
		again(t, func(b []byte) []byte {
			return plans.Close(folded(plans,
				events.AddressingEvent(events.AddressingPeriodClosed{Opening: b}))).(events.
				AddressingPeriodClosed).Opening
		}, body)
		again(t, func(b []byte) []byte {
			return runs.Close(folded(runs, events.ReconcileEvent(events.ReconcilePeriodClosed{Opening: b}))).(events.
				ReconcilePeriodClosed).Opening
		}, body)
	})
}

// again wants reading and closing to give the same bytes the second time, or the first reading to stop with a reason.
func again(t *testing.T, through func([]byte) []byte, body []byte) {
	t.Helper()
	first, stopped := attempt(through, body)
	if stopped != "" {
		if !strings.Contains(stopped, "opening") {
			t.Fatalf("%s stops with %s", body, stopped)
		}
		return
	}
	if second, stopped := attempt(through, first); stopped != "" || !bytes.Equal(first, second) {
		t.Fatalf("%s is written as %s, and then as %s %s", body, first, second, stopped)
	}
}

// attempt gives the text of a panic in place of a result.
func attempt(through func([]byte) []byte, body []byte) (out []byte, stopped string) {
	defer func() {
		if p := recover(); p != nil {
			stopped = fmt.Sprint(p)
		}
	}()
	return through(body), ""
}
