package taxauthority_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/simulators/taxauthority"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call sends a JSON body to a path of the simulator and gives status and answer.
func call(t *testing.T, s *taxauthority.Simulator, method, path string, body, into any) int {
	t.Helper()
	payload, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, bytes.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer any")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	w, err := client.Do(r)
	if err != nil {
		return 0
	}
	defer w.Body.Close()
	if into != nil {
		if err := json.NewDecoder(w.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return w.StatusCode
}

func TestControl_FaultsAreSetAndTouchDocumentsAlone(t *testing.T) {
	t.Parallel()
	s := taxauthority.New(taxauthority.Config{})
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	document := map[string]any{
		"id": "one", "kind": "invoice", "number": "A-1", "device": "D", "branch": "00", "currency": "KES",
		"issuedAt": "2026-03-02T09:00:00Z", "seller": map[string]string{"pin": "P051234567A"},
		"net": "10", "total": "10",
		"lines": []map[string]string{{"description": "x", "quantity": "1", "net": "10", "total": "10"}},
	}
	for _, c := range []struct {
		faults map[string]any
		status int
		signed int
	}{
		{map[string]any{"down": true}, 0, 0},
		{map[string]any{"refuseCode": "closed"}, 422, 0},
		{map[string]any{"refuseNumber": "A-1"}, 422, 0},
		{map[string]any{"loseAnswers": 1}, 0, 1},
		{map[string]any{}, 200, 1},
	} {
		if got := call(t, s, "PUT", "/sim/faults", c.faults, nil); got != 200 {
			t.Fatalf("faults %v: %d", c.faults, got)
		}
		if got := call(t, s, "POST", "/documents", document, nil); got != c.status {
			t.Errorf("%v: %d, want %d", c.faults, got, c.status)
		}
		var list []taxauthority.Signed
		if got := call(t, s, "GET", "/sim/documents", nil, &list); got != 200 || len(list) != c.signed {
			t.Errorf("%v: %d %+v", c.faults, got, list)
		}
	}
	for _, wrong := range []any{map[string]any{"latencyMs": -1}, map[string]any{"unknown": 1}, "text"} {
		if got := call(t, s, "PUT", "/sim/faults", wrong, nil); got != 400 {
			t.Errorf("%v: %d", wrong, got)
		}
	}
	if got := call(t, s, "POST", "/documents", "nothing", nil); got != 400 {
		t.Errorf("a document that cannot be read: %d", got)
	}
}
