package handset_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// call sends a request to a control path, which must answer with the status, and decodes the answer.
func call[T any](t *testing.T, url, method, path, body string, status int) T {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url+"/sim/handsets"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waittest.Limit}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		t.Fatalf("%s %s: %d %s %v", method, path, response.StatusCode, text, err)
	}
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSimulator_IsDrivenOverHTTP(t *testing.T) {
	t.Parallel()
	var cfg handset.Config
	k := start(t, plan(radius.Attributes{}.Number(27, 3600)), func(c *handset.Config) { cfg = *c })
	cfg.Clock = clock.NewMovable(k.clock, 0)
	sim, err := handset.NewSimulator(cfg, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Stop)
	url := sim.URL()
	r := call[handset.Result](t, url, "POST", "/sessions", `{"name":"jane","password":"pw-jane"}`, 200)
	if r.Outcome != handset.Accepted || r.RoundTrip <= 0 || r.Attributes[0].Name != "MS-CHAP2-Success" &&
		len(r.Attributes) < 2 {
		t.Errorf("%+v", r)
	}
	if r := call[handset.Result](t, url, "POST", "/sessions", `{"name":"jane","password":"x"}`, 200); r.Session != nil {
		t.Errorf("%+v", r)
	}
	call[map[string]string](t, url, "POST", "/sessions", `{"name":"jane","pass":"x"}`, 400)
	list := call[[]handset.Session](t, url, "GET", "/sessions?user=jane", "", 200)
	if len(list) != 1 || len(call[[]handset.Session](t, url, "GET", "/sessions?user=kim", "", 200)) != 0 {
		t.Errorf("%+v", list)
	}
	call[struct{}](t, url, "DELETE", "/sessions/"+list[0].ID, "", 200)
	call[map[string]string](t, url, "DELETE", "/sessions/"+list[0].ID, "", 404)
	call[handset.Result](t, url, "POST", "/sessions", `{"name":"kim","password":"pw-kim","load":0.5}`, 200)
	call[struct{}](t, url, "GET", "/idle", "", 200)
	cut := call[map[string]any](t, url, "POST", "/power-cut", `{"signIn":true}`, 200)
	if cut["cut"] != 1.0 {
		t.Errorf("%v", cut)
	}
	call[handset.Faults](t, url, "PUT", "/faults", `{"loseStops":1}`, 200)
	call[map[string]string](t, url, "PUT", "/faults", `{"loseStops":2}`, 400)
	if f := call[handset.Faults](t, url, "GET", "/faults", "", 200); f.LoseStops != 1 {
		t.Errorf("%+v", f)
	}
	call[struct{}](t, url, "GET", "/idle", "", 200)
	call[map[string]time.Time](t, url, "POST", "/clock", `{"advanceSeconds":3599}`, 200)
	call[map[string]string](t, url, "POST", "/clock", `{"advanceSeconds":-1}`, 400)
	if n := call[map[string]int](t, url, "DELETE", "/sessions", "", 200); n["ended"] != 1 {
		t.Errorf("%v", n)
	}
	st := call[handset.Statistics](t, url, "GET", "/statistics", "", 200)
	if st.Accepted != 3 || st.Rejected != 1 || st.ReportsLost != 1 || st.Online != 0 {
		t.Errorf("%+v", st)
	}
}
