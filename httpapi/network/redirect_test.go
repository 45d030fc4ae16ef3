package networkapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi/network"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

func TestRedirect_LeadsEveryRequestToThePageOfTheRoutersOrganization(t *testing.T) {
	t.Parallel()
	asked := 0
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	d := &networkapi.Redirect{
		Clock: now, Logger: storetest.Quiet(),
		Page: func(_ context.Context, router netip.Addr) (string, error) {
			asked++
			switch router {
			case netip.MustParseAddr("10.99.0.2"):
				return "https://acme.lastmile.example/pay", nil
			case netip.MustParseAddr("10.99.0.9"):
				return "", errors.New("away")
			}
			return "", nil
		},
	}
	send := func(from, method, target string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader("x=1"))
		r.RemoteAddr = from
		r.Header.Set("X-Forwarded-For", "10.99.0.2") // what a customer says counts for nothing
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		return w
	}
	for _, target := range []string{
		"http://captive.apple.com/hotspot-detect.html", "http://connectivitycheck.gstatic.com/generate_204",
		"http://other.lastmile.example/pay?account=1", "http://10.0.0.1/%0d%0aLocation:%20http://evil.example/",
	} {
		w := send("10.99.0.2:40000", http.MethodGet, target)
		if w.Code != http.StatusFound || w.Header().Get("Location") != "https://acme.lastmile.example/pay" ||
			w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Connection") != "close" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
	if w := send("10.99.0.2:40000", http.MethodPost, "http://a.example/"); w.Code != http.StatusSeeOther {
		t.Errorf("a form elsewhere: %d", w.Code)
	}
	if asked != 1 {
		t.Errorf("the page was looked up %d times", asked)
	}
	for looks, back := range []time.Duration{0, 3 * time.Hour} { // the clock may be put back
		now.Set(now.Now().Add(-back))
		now.Advance(2 * time.Minute)
		send("10.99.0.2:40000", http.MethodGet, "http://a.example/")
		if asked != looks+2 {
			t.Errorf("two minutes later the page was looked up %d times", asked)
		}
	}
	for from, status := range map[string]int{
		"10.99.0.3:40000": http.StatusNotFound, "127.0.0.1:1": http.StatusNotFound,
		"10.99.0.9:40000": http.StatusServiceUnavailable,
	} {
		if w := send(from, http.MethodGet, "http://a.example/"); w.Code != status || w.Header().Get("Location") != "" {
			t.Errorf("from %s: %d %v", from, w.Code, w.Header())
		}
	}
}
