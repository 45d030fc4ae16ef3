package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// knockFrom calls a public route from an address and gives the status.
func knockFrom(k *apitest.Kit, path, address string) int {
	r := httptest.NewRequest(http.MethodPost, path, nil)
	r.Host, r.RemoteAddr = apitest.Acme, address
	w := httptest.NewRecorder()
	k.Server.ServeHTTP(w, r)
	return w.Code
}

func TestLimits_AnIPv6SubnetCountsAsOneAddress(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(cfg *httpapi.Config) { cfg.Limits = httpapi.Limits{Login: 2} },
		apitest.NewParcels().Routes())
	for i, address := range []string{"[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff::9]:1", "[2001:db8:1:2:1:2:3:4]:1"} {
		want := 200
		if i == 2 {
			want = 429
		}
		if got := knockFrom(k, "/auth/knock", address); got != want {
			t.Errorf("%s: %d, want %d", address, got, want)
		}
	}
	for _, address := range []string{"[2001:db8:1:3::1]:1", "192.0.2.1:1", "192.0.2.2:1", "[::ffff:192.0.2.2]:1"} {
		if got := knockFrom(k, "/auth/knock", address); got != 200 {
			t.Errorf("another subnet or address %s: %d", address, got)
		}
	}
}

func TestLimits_RenewalsOfAnAddressAreBounded(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(cfg *httpapi.Config) { cfg.Limits = httpapi.Limits{Login: 1} },
		[]httpapi.Route{{
			Method: "POST", Path: "/auth/renew", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
			RefreshLimit: true, Summary: "Renew",
			Handle: func(_ context.Context, c *httpapi.Call) error { return c.NoContent() },
		}})
	for n := range 7 {
		want := 204
		if n == 6 {
			want = 429
		}
		if got := knockFrom(k, "/auth/renew", "192.0.2.1:1"); got != want {
			t.Errorf("call %d: %d, want %d", n+1, got, want)
		}
	}
}
