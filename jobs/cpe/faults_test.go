package cpejobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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
	calls   int      // that were to clear a fault
	// answers are those to calls that are to clear faults of some devices, or one; 0 = the server breaks off. With
	// away, it answers nothing any more from the first of these calls on.
	answers map[string]int
	away    bool
	// before is done when it is asked for one fault; nil = nothing.
	before func()
	tagged []string // addresses, each with the number of faults that were cleared before
	now    clock.Clock
	ahead  time.Duration // of its clock
}

// clearings is the number of calls that were to clear a fault.
func (s *faultServer) clearings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// ServeHTTP implements http.Handler.
func (s *faultServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away && (s.calls > 0 || r.Method == http.MethodDelete) {
		s.calls++
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("GenieACS-Version", "1.2.16")
	w.Header().Set("Date", s.now.Now().Add(s.ahead).UTC().Format(http.TimeFormat))
	switch r.Method {
	case http.MethodDelete:
		s.clear(w, r.URL.Path)
		return
	case http.MethodPost:
		s.tagged = append(s.tagged, fmt.Sprint(r.URL.Path, " ", len(s.cleared)))
		return
	}
	one, after := asked(r)
	if one == "" {
		s.pages++
	} else if s.before != nil {
		s.before()
	}
	w.Header().Set("total", fmt.Sprint(len(s.ids)))
	text, n := "[", 0
	for _, fault := range s.ids {
		if fault <= after || n == 200 || one != "" && fault != one {
			continue
		}
		if n++; n > 1 {
			text += ","
		}
		device, channel, _ := strings.Cut(fault, ":")
		text += fmt.Sprintf(`{"_id":%q,"device":%q,"channel":%q,"code":%q,"message":"no","timestamp":%q}`,
			fault, device, channel, s.code, s.at.Format(time.RFC3339Nano))
	}
	if !s.cut {
		text += "]"
	}
	_, _ = w.Write([]byte(text))
}

// asked reads which fault a request is for, or after which one a page begins.
func asked(r *http.Request) (one, after string) {
	var query struct {
		ID json.RawMessage `json:"_id"`
	}
	_ = json.Unmarshal([]byte(r.URL.Query().Get("query")), &query) // none on the first page
	var next struct {
		After string `json:"$gt"`
	}
	if json.Unmarshal(query.ID, &one) != nil {
		_ = json.Unmarshal(query.ID, &next)
	}
	return one, next.After
}

// answerTexts are the bodies of answers that need one.
var answerTexts = map[int]string{http.StatusServiceUnavailable: "Device is in session"}

// clear answers a call that is to clear a fault.
func (s *faultServer) clear(w http.ResponseWriter, path string) {
	s.calls++
	fault := strings.TrimPrefix(path, "/faults/")
	device, _, _ := strings.Cut(fault, ":")
	status, fails := s.answers[device]
	if of, one := s.answers[fault]; one {
		status, fails = of, true
	}
	switch {
	case fails && status == 0:
		panic(http.ErrAbortHandler)
	case fails:
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answerTexts[status]))
	default:
		s.cleared = append(s.cleared, path)
		s.ids = slices.DeleteFunc(slices.Clone(s.ids), func(one string) bool { return one == fault })
	}
}

// polled has a server of faults, and one CPE of an organization.
type polled struct {
	cpejobs.Faults
	t      *testing.T
	server *faultServer
	now    *clock.Manual
	row    *cpeviews.CPERow
	// others are more CPEs of the organization.
	others map[id.CPE]cpeviews.CPERow
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
	}, scripts: &[]cpeviews.ProvisionRow{}, refused: &[]string{}, others: map[id.CPE]cpeviews.CPERow{}}
	web := httptest.NewServer(k.server)
	t.Cleanup(web.Close)
	gateway, err := genieacs.New(genieacs.Config{
		NBI: web.URL, Guard: breaker.New(breaker.Config{Clock: now}), Clock: now, Patience: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gateway.Close)
	k.Faults = cpejobs.Faults{
		Gateway: gateway, Informs: informs, Clock: now, Logger: storetest.Quiet(),
		Rows: func(_ context.Context, cpes []id.CPE) (found []cpeviews.CPERow, _ error) {
			for _, cpe := range cpes {
				if other, is := k.others[cpe]; is {
					found = append(found, other)
				} else if cpe == k.row.ID {
					found = append(found, *k.row)
				}
			}
			return found, nil
		},
		Pauses: cpejobs.Pauses{
			Gateway: gateway, Informs: informs,
			Devices: func(_ context.Context, org id.Organization, max int) ([]cpeviews.CPERow, error) {
				all := append(slices.Collect(maps.Values(k.others)), *k.row)
				all = slices.DeleteFunc(all, func(row cpeviews.CPERow) bool { return row.OrgID != org })
				return all[:min(max, len(all))], nil
			},
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

// more gives the organization so many more CPEs, and their devices at the server.
func (k polled) more(n int) (devices []string) {
	for at := range n {
		row := *k.row
		row.SerialNumber = fmt.Sprint("MORE", 1000+at)
		row.ID = commands.CpeID(events.CpeIdentity{SerialNumber: row.SerialNumber, OUI: row.OUI})
		k.others[row.ID] = row
		devices = append(devices, row.OUI+"-"+row.SerialNumber)
	}
	return devices
}

// poll reads the faults that the server has then.
func (k polled) poll(ids ...string) error {
	k.server.ids = ids
	return k.read(jobs.Cause{JobID: id.New[id.Any]()})
}

// read has a job read the faults.
func (k polled) read(cause jobs.Cause) error {
	return k.Poll(k.t.Context(), commands.PollCpeFaults{}, cause)
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
