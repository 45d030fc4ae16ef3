package genieacs_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// answering gives the address of a server that answers everything alike, without the header of a CPE server.
func answering(t *testing.T, status int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(s.Close)
	return s.URL
}

// TestDevice_ManyLongNamesAreReadByShortRequests: the server takes no head of a request above 16 KB.
func TestDevice_ManyLongNamesAreReadByShortRequests(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	const name = "Device.DeviceInfo.SoftwareVersion"
	var paths []string
	for n := range 20 {
		path := fmt.Sprintf("Device.X_%03d", n)
		paths = append(paths, path+strings.Repeat(".Abcdefghi", (256-len(path))/10))
	}
	before := len(k.sim.Requests())
	d := k.read(id, append([]string{name}, append(paths, "Device.DeviceInfo.HardwareVersion")...)...)
	if d.Values[name].Text() == "" || d.Values["Device.DeviceInfo.HardwareVersion"].Text() == "" {
		t.Errorf("read %v", d.Values)
	}
	for _, r := range k.sim.Requests()[before:] {
		if len(r) > 9<<10 {
			t.Errorf("a request of %d bytes", len(r))
		}
	}
}

// TestCalls_ARequestThatIsTooLongIsRefused, by a server that is there: the breaker stays closed.
func TestCalls_ARequestThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge} {
		k := newKit(t, acs.Config{})
		k.connect(answering(t, status), time.Second)
		for range 6 {
			for _, err := range []error{
				second(k.Device(t.Context(), "001122-A-B")), k.AddTag(t.Context(), "001122-A-B", "x"),
				second(k.Enqueue(t.Context(), "001122-A-B", genieacs.Task{Kind: genieacs.Reboot})),
			} {
				var refused *genieacs.Refusal
				if !errors.As(err, &refused) || refused.Status != status || errors.Is(err, genieacs.ErrInDoubt) {
					t.Fatalf("%d: %v", status, err)
				}
			}
		}
		if err := k.Ready(); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
}
