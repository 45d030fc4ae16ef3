package genieacs_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// hostile is a server whose documents anybody has made by calls.
type hostile struct {
	ids   []string       // of all documents
	large map[string]int // bytes of those that are large, unless their ids alone are asked for
	asked int
}

// kit makes a client of the server.
func (h *hostile) kit(t *testing.T) *kit {
	t.Helper()
	slices.Sort(h.ids)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	k := newKit(t, acs.Config{})
	k.connect(server.URL, 20*time.Second)
	return k
}

// ServeHTTP answers a list behind an id.
func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("GenieACS-Version", "1.2.16")
	w.Header().Set("total", fmt.Sprint(len(h.ids)))
	if r.Method == http.MethodHead {
		return
	}
	if len(r.RequestURI) > 15<<10 {
		w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
		return
	}
	h.asked++
	var query struct {
		ID struct {
			Behind string `json:"$gt"`
		} `json:"_id"`
	}
	_ = json.Unmarshal([]byte(r.FormValue("query")), &query)
	var limit int
	_, _ = fmt.Sscan(r.FormValue("limit"), &limit)
	begin := "["
	for _, id := range h.ids {
		if id <= query.ID.Behind || limit == 0 {
			continue
		}
		limit--
		device, _, _ := strings.Cut(id, ":")
		_, _ = fmt.Fprintf(w, `%s{"_id":%q,"device":%q,"_tags":["`, begin, id, device)
		if r.FormValue("projection") != "_id" {
			_, _ = io.Copy(w, io.LimitReader(spaces{}, int64(h.large[id])))
		}
		_, _ = fmt.Fprint(w, `"]}`)
		begin = ","
	}
	if begin == "[" {
		_, _ = fmt.Fprint(w, begin)
	}
	_, _ = fmt.Fprint(w, "]")
}

// spaces has no end.
type spaces struct{}

// Read implements io.Reader.
func (spaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// devices gives the ids of all that is read by pages of ten.
func (k *kit) devices() []string {
	k.t.Helper()
	var read []string
	if err := k.EachDevice(k.t.Context(), genieacs.Listing{Limit: 10}, func(d genieacs.Device) error {
		read = append(read, string(d.ID))
		return nil
	}); err != nil {
		k.t.Fatal(err)
	}
	return read
}

// faulty gives the ids of all faults that are read.
func (k *kit) faulty() []string {
	k.t.Helper()
	var read []string
	if err := k.EachFault(k.t.Context(), func(f genieacs.Fault) error {
		read = append(read, f.ID)
		return nil
	}); err != nil {
		k.t.Fatal(err)
	}
	return read
}

// TestDevices_ManyWhoseIdIsNoneHideNoOther: anybody can make documents before those of devices, of whatever length.
func TestDevices_ManyWhoseIdIsNoneHideNoOther(t *testing.T) {
	t.Parallel()
	h := &hostile{ids: []string{"001122-BOX-S1", "001122-BOX-S2"}}
	for n := range 25 {
		h.ids = append(h.ids, fmt.Sprintf("%%9-BOX-S%02d", n), fmt.Sprintf("-BOX-S%02d", n),
			fmt.Sprintf("0-BOX-%0600d", n), fmt.Sprintf("000000-BOX-%05000d-%d", n, n))
	}
	k := h.kit(t)
	want := []string{"001122-BOX-S1", "001122-BOX-S2"}
	if read := k.devices(); !slices.Equal(read, want) {
		t.Errorf("%v", read)
	}
	log := k.log.String()
	if lines := strings.Count(log, "is left out"); lines != 10 || !strings.Contains(log, "documents=") {
		t.Errorf("%d lines: %s", lines, log)
	}
}

// TestFaults_ManyOfNoDeviceHideNoOther: the ids of faults begin with those of devices.
func TestFaults_ManyOfNoDeviceHideNoOther(t *testing.T) {
	t.Parallel()
	h := &hostile{ids: []string{"001122-BOX-S1:a"}}
	for n := range 450 {
		h.ids = append(h.ids, fmt.Sprintf("-BOX-S%04d:a", n))
	}
	k := h.kit(t)
	if read := k.faulty(); !slices.Equal(read, []string{"001122-BOX-S1:a"}) {
		t.Errorf("%v", read)
	}
	if lines := strings.Count(k.log.String(), "is left out"); lines != 10 {
		t.Errorf("%d lines", lines)
	}
}

// TestDevices_LargeDocumentsHideNoOther: several are together more than is taken at once, and one may be so alone.
func TestDevices_LargeDocumentsHideNoOther(t *testing.T) {
	t.Parallel()
	h := &hostile{large: map[string]int{}}
	for n := range 12 {
		h.ids = append(h.ids, fmt.Sprintf("001122-BOX-S%02d", n))
		if n > 1 && n < 7 {
			h.large[h.ids[n]] = 14 << 20
		}
	}
	want := slices.Clone(h.ids)
	if read := h.kit(t).devices(); !slices.Equal(read, want) || h.asked > 5 {
		t.Errorf("%d readings: %v", h.asked, read)
	}
	h.asked, h.large = 0, map[string]int{h.ids[4]: 65 << 20}
	k := h.kit(t)
	if read := k.devices(); !slices.Equal(read, slices.Delete(want, 4, 5)) || h.asked > 9 {
		t.Errorf("%d readings: %v", h.asked, read)
	}
	if !strings.Contains(k.log.String(), "id="+h.ids[4]) {
		t.Errorf("not logged: %s", k.log.String())
	}
}

// TestFaults_LargeDocumentsHideNoOther: a fault may be as large as a device.
func TestFaults_LargeDocumentsHideNoOther(t *testing.T) {
	t.Parallel()
	h := &hostile{ids: []string{"001122-BOX-S1:a", "001122-BOX-S2:a", "001122-BOX-S3:a"}}
	h.large = map[string]int{h.ids[1]: 65 << 20}
	if read := h.kit(t).faulty(); !slices.Equal(read, []string{h.ids[0], h.ids[2]}) {
		t.Errorf("%v", read)
	}
}
