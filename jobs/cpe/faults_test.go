package cpejobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// faultServer gives a list of faults by pages, as the CPE server does; cut ends a page in its middle.
type faultServer struct {
	mu      sync.Mutex
	ids     []string // in their order
	at      time.Time
	code    string
	pages   int
	cut     bool
	cleared []string // addresses
	tagged  []string // addresses, each with the number of faults that were cleared before
	now     clock.Clock
	ahead   time.Duration // of its clock
}

// ServeHTTP implements http.Handler.
func (s *faultServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("GenieACS-Version", "1.2.16")
	w.Header().Set("Date", s.now.Now().Add(s.ahead).UTC().Format(http.TimeFormat))
	switch r.Method {
	case http.MethodDelete:
		s.cleared = append(s.cleared, r.URL.Path)
		return
	case http.MethodPost:
		s.tagged = append(s.tagged, fmt.Sprint(r.URL.Path, " ", len(s.cleared)))
		return
	}
	s.pages++
	var query struct {
		ID struct {
			After string `json:"$gt"`
		} `json:"_id"`
	}
	_ = json.Unmarshal([]byte(r.URL.Query().Get("query")), &query) // none on the first page
	w.Header().Set("total", fmt.Sprint(len(s.ids)))
	text, n := "[", 0
	for _, fault := range s.ids {
		if fault <= query.ID.After || n == 200 {
			continue
		}
		if n++; n > 1 {
			text += ","
		}
		text += fmt.Sprintf(`{"_id":%q,"device":%q,"channel":%q,"code":%q,"message":"no","timestamp":%q}`,
			fault, fault[:len("00AABB-SN%2D1")], fault[len("00AABB-SN%2D1:"):], s.code, s.at.Format(time.RFC3339Nano))
	}
	if !s.cut {
		text += "]"
	}
	_, _ = w.Write([]byte(text))
}

// polled has a server of faults, and one CPE of an organization.
type polled struct {
	cpejobs.Faults
	t      *testing.T
	server *faultServer
	now    *clock.Manual
	row    *cpeviews.CPERow
	// scripts are those that the server has; refused has the names of those that it should not have any more.
	scripts *[]cpeviews.ProvisionRow
	refused *[]string
}

// polls makes them; the CPE has just been claimed.
func polls(t *testing.T) polled {
	t.Helper()
	informs, now := open(t)
	claimed := now.Now()
	k := polled{t: t, now: now, server: &faultServer{at: claimed, code: "cwmp.9002", now: now}, row: &cpeviews.CPERow{
		ID:           commands.CpeID(events.CpeIdentity{SerialNumber: "SN-1", OUI: "00AABB"}),
		SerialNumber: "SN-1", OUI: "00AABB", OrgID: id.New[id.Organization](), ClaimedAt: &claimed,
	}, scripts: &[]cpeviews.ProvisionRow{}, refused: &[]string{}}
	web := httptest.NewServer(k.server)
	t.Cleanup(web.Close)
	gateway, err := genieacs.New(genieacs.Config{
		NBI: web.URL, Guard: breaker.New(breaker.Config{Clock: now}), Clock: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gateway.Close)
	k.Faults = cpejobs.Faults{
		Gateway: gateway, Informs: informs, Clock: now, Logger: storetest.Quiet(),
		Rows: func(_ context.Context, cpes []id.CPE) ([]cpeviews.CPERow, error) {
			if slices.Contains(cpes, k.row.ID) {
				return []cpeviews.CPERow{*k.row}, nil
			}
			return nil, nil
		},
		Pauses: cpejobs.Pauses{
			Gateway: gateway,
			Scripts: func(_ context.Context, names []string) (found []cpeviews.ProvisionRow, _ error) {
				for _, row := range *k.scripts {
					if slices.Contains(names, row.StoredName) {
						found = append(found, row)
					}
				}
				return found, nil
			},
			Refuse: func(_ context.Context, row cpeviews.ProvisionRow, _ jobs.Cause) error {
				*k.refused = append(*k.refused, row.StoredName)
				return nil
			},
		},
	}
	return k
}

// poll reads the faults that the server has then.
func (k polled) poll(ids ...string) error {
	k.server.ids = ids
	return k.Poll(k.t.Context(), commands.PollCpeFaults{}, jobs.Cause{JobID: id.New[id.Any]()})
}

// shows fails unless the organization sees so many faults, from an instant until now; it gives the last one.
func (k polled) shows(want int, since time.Time) (last cpeviews.FaultRow) {
	k.t.Helper()
	list, err := k.List(k.t.Context(), k.row.OrgID, id.CPE{}, cpeviews.FaultKey{}, 1000)
	if err != nil || len(list) != want {
		k.t.Fatalf("%d faults, want %d (%v)", len(list), want, err)
	}
	for _, last = range list {
		if !last.FirstSeen.Equal(since) || !last.LastSeen.Equal(k.now.Now()) {
			k.t.Errorf("seen from %s to %s", last.FirstSeen, last.LastSeen)
		}
	}
	return last
}

// TestFaults_AreThoseOfTheLastWholeReading: over several pages, of known devices alone, shown from the claim on.
func TestFaults_AreThoseOfTheLastWholeReading(t *testing.T) {
	t.Parallel()
	k := polls(t)
	began := k.now.Now()
	var ids []string
	for n := range 450 {
		ids = append(ids, fmt.Sprintf("00AABB-SN%%2D1:task_%03d", n))
	}
	ids = append(ids, "00AABB-SN%2D9:default") // of a device that nobody knows
	if err := k.poll(ids...); err != nil || k.server.pages != 3 {
		t.Fatalf("%d pages (%v)", k.server.pages, err)
	}
	one := k.shows(450, began)
	k.now.Advance(time.Minute)
	k.server.cut = true
	if err := k.poll(ids...); err == nil {
		t.Error("half a reading was taken for a whole one")
	}
	k.server.cut = false
	if err := k.poll(ids[1:]...); err != nil {
		t.Fatal(err)
	}
	k.shows(449, began)
	if err := k.poll(); err != nil {
		t.Fatal(err)
	}
	if gone, err := k.Get(t.Context(), k.row.OrgID, one.ID); err != nil || gone == nil || gone.GoneAt == nil {
		t.Errorf("afterwards %v (%v)", gone, err)
	}
	for _, other := range []id.Organization{{}, id.New[id.Organization]()} {
		if found, err := k.Get(t.Context(), other, one.ID); err != nil || found != nil {
			t.Errorf("another organization finds %v (%v)", found, err)
		}
	}
	again := began.Add(time.Hour)
	k.row.ClaimedAt = &again // it was released, and claimed again after the fault
	if err := k.poll("00AABB-SN%2D1:default"); err != nil {
		t.Fatal(err)
	}
	k.shows(0, began)
}
