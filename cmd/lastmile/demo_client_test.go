package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAPIClient_TriesAgainWhatPassesByItself, when it stays: a call that was not served, and one whose key is in use.
func TestAPIClient_TriesAgainWhatPassesByItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refusals []string
		stays    bool
		asks     int32
		code     string
	}{
		"one that stays": {
			[]string{"503 database_unavailable", "409 idempotency_key_running"}, true, 3, "",
		},
		"another one":      {[]string{"503 database_unavailable"}, false, 1, "database_unavailable"},
		"a lasting reason": {[]string{"409 plan_code_taken"}, true, 1, "plan_code_taken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asks atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := int(asks.Add(1))
				if got := r.Header.Get("Idempotency-Key"); got != "key" {
					t.Errorf("ask %d has the key %q", n, got)
				}
				if n > len(c.refusals) {
					_, _ = w.Write([]byte(`{"id":"1"}`))
					return
				}
				status, code, _ := strings.Cut(c.refusals[n-1], " ")
				w.WriteHeader(map[string]int{"503": 503, "409": 409}[status])
				_, _ = w.Write([]byte(`{"code":"` + code + `"}`))
			}))
			atEnd(t, server.Close)
			client := apiClient{addr: strings.TrimPrefix(server.URL, "http://")}
			if c.stays {
				client = client.staying("", "")
			}
			out, err := client.call(t.Context(), http.MethodPost, "/plans", "key", nil)
			code := ""
			if no := asAPIError(err); no != nil {
				code = no.Code
			}
			if code != c.code || code == "" && out.text("id") != "1" || asks.Load() != c.asks {
				t.Errorf("asked %d times: got %v, %v", asks.Load(), out, err)
			}
		})
	}
}
