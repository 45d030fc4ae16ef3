package terminals_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/simulators/terminals"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// ask makes a request with a token and gives status and body.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer any")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.StatusCode, string(text)
}

func TestSimulator_IsDrivenByItsPaths(t *testing.T) {
	t.Parallel()
	s := terminals.New(terminals.Config{})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(t.Context()) })
	const onu = "/organizations/acme/olts/hill/onus/HWTC1A2B3C4D"
	for _, c := range []struct {
		method, path, body string
		status             int
		has                string
	}{
		{"PUT", "/sim/terminals", `{"organization":"acme","name":"hill","ports":["1"],"vlans":[5],
			"seen":{"1":["HWTC1A2B3C4D"]}}`, 200, "hill"},
		{"PUT", "/sim/terminals", `{"colour":"red"}`, 400, "colour"},
		{"PUT", onu, `{}`, 400, "unreadable"},
		{"PUT", onu, `{"port":"1"}`, 201, `"state":"online"`},
		{"PUT", onu, `{"port":"1"}`, 200, `"onuId":1`},
		{"PUT", onu + "/service", `{"vlan":6}`, 422, "vlan_not_allowed"},
		{"PUT", onu + "/service", `{"vlan":5}`, 200, `"vlan":5`},
		{"PUT", "/sim/faults", `{"refuse":{"read":"onu_not_found"}}`, 200, "refuse"},
		{"GET", onu, "", 422, "onu_not_found"},
		{"PUT", "/sim/faults", `{"latencyMs":-1}`, 400, "negative"},
		{"PUT", "/sim/faults", `{}`, 200, "down"},
		{"GET", onu, "", 200, `"rxDbm":-`},
		{"GET", "/sim/onus", "", 200, `"vlan":5`},
		{"DELETE", onu, "", 204, ""},
		{"DELETE", onu, "", 404, "onu_not_found"},
		{"GET", "/sim/faults", "", 200, `"loseAnswers":0`},
	} {
		status, body := ask(t, c.method, s.URL()+c.path, c.body)
		if status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s %s: %d %s, want %d with %q", c.method, c.path, c.body, status, body, c.status, c.has)
		}
	}
}

// TestSimulator_KeepsAnONUThatWasThereBefore: it is read as one that was asked for, and taken once.
func TestSimulator_KeepsAnONUThatWasThereBefore(t *testing.T) {
	t.Parallel()
	s := terminals.New(terminals.Config{})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(t.Context()) })
	const serial = "HWTC1A2B3C4D"
	s.Put(terminals.Terminal{
		Organization: "acme", Name: "hill", Ports: []string{"1"}, Seen: map[string][]string{"1": {serial}},
	})
	onu := terminals.ONU{Organization: "acme", OLT: "hill", Port: "1", Serial: serial, Number: 1, VLAN: 5}
	for range 2 {
		s.Register(onu)
	}
	status, body := ask(t, "GET", s.URL()+"/organizations/acme/olts/hill/onus/"+serial, "")
	if status != 200 || !strings.Contains(body, `"state":"online"`) || len(s.ONUs()) != 1 {
		t.Errorf("%d %s, registered %v", status, body, s.ONUs())
	}
}
