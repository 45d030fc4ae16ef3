package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// BenchmarkServer measures the cost of the conventions: sign-in, tenant, limit, headers, metrics, log and envelope,
// against a bare handler that writes the same page.
func BenchmarkServer(b *testing.B) {
	k := apitest.New(b, func(cfg *httpapi.Config) { cfg.Limits = httpapi.Limits{User: 1 << 30} },
		apitest.NewParcels().Routes())
	rows := make([]apitest.RowResponse, 25)
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, _ := json.Marshal(httpapi.Envelope[apitest.RowResponse]{Data: rows, HasMore: true})
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
	var limit float64
	for _, side := range []struct {
		name    string
		handler http.Handler
	}{{"bare", bare}, {"server", k.Server}} {
		b.Run(side.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/parcels", nil)
				r.Host = apitest.Acme
				r.Header.Set("Authorization", "Bearer "+apitest.Admin)
				w := httptest.NewRecorder()
				side.handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatalf("status %d: %s", w.Code, w.Body)
				}
			}
			took := float64(b.Elapsed()) / float64(b.N)
			if side.name == "bare" {
				limit = took
				return
			}
			b.ReportMetric(limit/took, "ratio")
			b.Logf("ratio %.2f, no aim", limit/took)
		})
	}
}

// BenchmarkReference measures what the pages cost that need no sign-in.
func BenchmarkReference(b *testing.B) {
	k := apitest.New(b, nil, apitest.NewParcels().Routes(), system(nil).Routes())
	for _, side := range []struct{ name, method, path string }{
		{"whole", http.MethodGet, "/docs"}, {"head", http.MethodHead, "/docs?q=a"},
		{"search", http.MethodGet, "/docs?q=a"}, {"errors", http.MethodGet, "/docs/errors"},
	} {
		b.Run(side.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), side.method, side.path, nil)
				r.Host = apitest.Acme
				r.Header.Set("Accept-Encoding", "gzip")
				w := httptest.NewRecorder()
				k.Server.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatalf("status %d: %s", w.Code, w.Body)
				}
			}
		})
	}
}
