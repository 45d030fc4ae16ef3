package genieacs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestDevices_OneWithoutAnIdEndsNoReading: a device that tells no serial number makes no page look like the last one.
func TestDevices_OneWithoutAnIdEndsNoReading(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("GenieACS-Version", "1.2.16")
		w.Header().Set("total", "3")
		ids := []string{"001122-BOX-", "001122-BOX-S1"}
		if strings.Contains(r.URL.Query().Get("query"), "S1") {
			ids = []string{"001122-BOX-S2"}
		}
		_, _ = fmt.Fprintf(w, `[{"_id":"%s"}]`, strings.Join(ids, `"},{"_id":"`))
	}))
	t.Cleanup(server.Close)
	client, err := genieacs.New(genieacs.Config{
		NBI: server.URL, Guard: breaker.New(breaker.Config{Clock: clock.System()}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	var read []genieacs.DeviceID
	err = client.EachDevice(t.Context(), genieacs.Listing{Limit: 2}, func(d genieacs.Device) error {
		read = append(read, d.ID)
		return nil
	})
	if want := []genieacs.DeviceID{"001122-BOX-S1", "001122-BOX-S2"}; err != nil || !slices.Equal(read, want) {
		t.Errorf("%v (%v)", read, err)
	}
}
