package httpapi_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// system has the system's endpoints over one stopped projection and two breakers, one of them of an organization.
func system(checks []httpapi.Check) httpapi.SystemAPI {
	return httpapi.SystemAPI{Checks: checks, Logger: slog.New(slog.DiscardHandler),
		Parts: func(ctx context.Context) []httpapi.Part { return httpapi.Parts(ctx, checks) },
		Projections: func() []runner.Status {
			return []runner.Status{
				{Name: "parcels", Version: 2, State: runner.StateStopped, Position: 40, Head: 100, Error: "a name"},
			}
		},
		Breakers: func() []httpapi.BreakerState {
			return []httpapi.BreakerState{{Target: "provider", Kind: "mobile_money", State: "open"},
				{Target: "router-1", Kind: "router", State: "closed", OrgID: "1f0c7f6e-0000-5000-8000-000000000000"}}
		}}
}

func TestReady_NamesEachDependency(t *testing.T) {
	t.Parallel()
	up := httpapi.Check{Name: "database", Probe: func(context.Context) error { return nil }}
	k := apitest.New(t, nil, system([]httpapi.Check{up}).Routes())
	for _, host := range []string{apitest.Acme, apitest.Domain, "10.0.0.1:8080", apitest.Unknown, apitest.Gone} {
		if got := k.Do(t, apitest.Request{Path: "/readyz", Host: host}); got.Status != 200 ||
			string(got.Body) != `{"status":"ready","checks":{"database":{"status":"up"}}}` {
			t.Errorf("%s: %d %s", host, got.Status, got.Body)
		}
		if got := k.Do(t, apitest.Request{Path: "/healthz", Host: host}); got.Status != 200 {
			t.Errorf("%s: %d %s", host, got.Status, got.Body)
		}
	}
	down := apitest.New(t, nil, system([]httpapi.Check{up, {
		Name: "log", Probe: func(context.Context) error { return errors.New("password=x") },
	},
		{Name: "parcels", Probe: refuses}}).Routes())
	got := down.Do(t, apitest.Request{Path: "/readyz"})
	want := `{"status":"not_ready","checks":{"database":{"status":"up"},"log":{"status":"down"},` +
		`"parcels":{"status":"down","detail":"one event cannot be applied"}}}`
	if got.Status != 503 || string(got.Body) != want {
		t.Errorf("down: %d %s", got.Status, got.Body)
	}
}

// TestParts_ASuperAdminAloneReadsWhichAreDown: the sentence of a failure is shown, and no other error.
func TestParts_ASuperAdminAloneReadsWhichAreDown(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, system([]httpapi.Check{
		{Name: "database", Probe: func(context.Context) error { return nil }},
		{Name: "log", Probe: func(context.Context) error { return errors.New("password=x") }},
		{Name: "parcels", Probe: refuses},
		{Name: "jobs", Probe: func(context.Context) error { return nil }, WaitsFor: []string{"database"}},
	}).Routes())
	got := k.Do(t, apitest.Request{Path: "/system/parts", Host: apitest.Domain, As: apitest.Super})
	want := `{"data":[{"name":"database","state":"up","detail":null,"waitsFor":[]},` +
		`{"name":"log","state":"down","detail":null,"waitsFor":[]},` +
		`{"name":"parcels","state":"down","detail":"one event cannot be applied","waitsFor":[]},` +
		`{"name":"jobs","state":"up","detail":null,"waitsFor":["database"]}]}`
	if got.Status != 200 || string(got.Body) != want {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := k.Do(t, apitest.Request{Path: "/system/parts", As: apitest.Admin}); got.Status == 200 {
		t.Errorf("an administrator reads %s", got.Body)
	}
}

func TestReady_StrangersLearnOnlyWhetherItIsReady(t *testing.T) {
	t.Parallel()
	parts := `"database"`
	k := apitest.New(t, nil, system([]httpapi.Check{
		{Name: "database", Probe: func(context.Context) error { return nil }},
	}).Routes())
	for name, c := range map[string]struct {
		r     *http.Request
		shown bool
	}{
		"program on the machine": {from("127.0.0.1:4711", nil), true},
		"the machine, IPv6":      {from("[::1]:4711", nil), true},
		"stranger":               {from("203.0.113.9:4711", nil), false},
		"through a proxy": {
			from("127.0.0.1:4711", map[string]string{"X-Forwarded-For": "203.0.113.9"}), false,
		},
		"through a modern proxy":   {from("127.0.0.1:4711", map[string]string{"Forwarded": "for=203.0.113.9"}), false},
		"administrator, far away":  {from("203.0.113.9:4711", bearer(apitest.Admin)), false},
		"super_admin, far away":    {from("203.0.113.9:4711", bearer(apitest.Super)), true},
		"somebody with no account": {from("203.0.113.9:4711", bearer("rubbish")), false},
	} {
		w := httptest.NewRecorder()
		k.Server.ServeHTTP(w, c.r)
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"status":"ready"`) ||
			strings.Contains(w.Body.String(), parts) != c.shown {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestReady_TellsTheLogWhatHasChangedOnly: anybody may ask, as often as he likes.
func TestReady_TellsTheLogWhatHasChangedOnly(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	var fault error
	asked := func(context.Context) error { return fault }
	a := system([]httpapi.Check{{Name: "database", Probe: asked}, {Name: "log", Probe: asked}})
	a.Logger = slog.New(slog.NewTextHandler(&log, nil))
	k := apitest.New(t, nil, a.Routes())
	for _, c := range []struct {
		fault error
		line  string
	}{
		{nil, ""}, {errors.New("it hangs"), "level=WARN msg=\"readiness check failed\" check=database"},
		{nil, "level=INFO msg=\"readiness check passes again\" check=database"},
		{errors.New("it hangs"), "error=\"it hangs\""},
	} {
		log.Reset()
		fault = c.fault
		for range 50 {
			k.Do(t, apitest.Request{Path: "/readyz"})
		}
		if got := log.String(); strings.Count(got, "\n") != 2*min(len(c.line), 1) || !strings.Contains(got, c.line) {
			t.Errorf("%v, log:\n%s", c.fault, got)
		}
	}
}

// TestReady_ACallerWhoLeavesSaysNothingAboutACheck: it fails for him alone.
func TestReady_ACallerWhoLeavesSaysNothingAboutACheck(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	a := system([]httpapi.Check{{Name: "database", Probe: func(ctx context.Context) error { return ctx.Err() }}})
	a.Logger = slog.New(slog.NewTextHandler(&log, nil))
	k := apitest.New(t, nil, a.Routes())
	gone, leave := context.WithCancel(t.Context())
	leave()
	k.Server.ServeHTTP(httptest.NewRecorder(), from("203.0.113.9:4711", nil).WithContext(gone))
	if log.Len() > 0 {
		t.Error(log.String())
	}
}

// from is a request for /readyz from an address, with headers.
func from(address string, header map[string]string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/readyz", nil)
	r.Host, r.RemoteAddr = apitest.Acme, address
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return r
}

// bearer is the header of a signed-in caller.
func bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token}
}

func TestSystem_ShowsProjectionsAndBreakersByHost(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, system(nil).Routes())
	for name, tc := range map[string]struct {
		r        apitest.Request
		has, not string
	}{
		"projections, root": {
			apitest.Request{Path: "/system/projections", As: apitest.Super, Host: apitest.Domain},
			`"lag":60,"error":"a name"`, "provider",
		},
		"projections, organization": {
			apitest.Request{Path: "/system/projections", As: apitest.Admin}, `"lag":60`, "a name",
		},
		"breakers, root": {
			apitest.Request{Path: "/platform/breakers", As: apitest.Super, Host: apitest.Domain}, "router-1", "orgId",
		},
		"breakers, organization": {
			apitest.Request{Path: "/platform/breakers", As: apitest.Admin}, `{"data":[]}`, "provider",
		},
	} {
		got := k.Do(t, tc.r)
		if got.Status != 200 || !strings.Contains(string(got.Body), tc.has) ||
			strings.Contains(string(got.Body), tc.not) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	apitest.Sends(t, k, "support", apitest.Request{Path: "/system/projections", As: apitest.Support},
		apitest.Is(403, "role_required"))
}

// What cannot be reached is asked for when much else fails, too.
func TestBreakers_AreShownWithoutNamesWhenThoseCannotBeRead(t *testing.T) {
	t.Parallel()
	a := system(nil)
	a.Name = func(context.Context, []httpapi.BreakerState) error { return errors.New("no database") }
	k := apitest.New(t, nil, a.Routes())
	got := k.Do(t, apitest.Request{Path: "/platform/breakers", As: apitest.Super, Host: apitest.Domain})
	if got.Status != 200 || !strings.Contains(string(got.Body), `"target":"router-1"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

func TestMetrics_ShowLagAndBreakers(t *testing.T) {
	t.Parallel()
	s, registry := system(nil), prometheus.NewRegistry()
	registry.MustRegister(httpapi.ProjectionMetrics(s.Projections)...)
	registry.MustRegister(httpapi.BreakerMetrics(s.Breakers))
	w := httptest.NewRecorder()
	httpapi.MetricsHandler(registry).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	for _, line := range []string{
		`lastmile_projection_lag{projection="parcels"} 60`, `lastmile_projection_stopped{projection="parcels"} 1`,
		`lastmile_projection_rebuild_stopped{projection="parcels"} `,
		`lastmile_breaker_open{kind="mobile_money",target="provider"} 1`,
	} {
		if !strings.Contains(w.Body.String(), line) {
			t.Errorf("no %s in\n%s", line, w.Body)
		}
	}
}

// TestMetrics_ABreakerIsOpenUntilACallSucceeds: an alarm on ten minutes of 1 has to sound while nobody calls, too.
func TestMetrics_ABreakerIsOpenUntilACallSucceeds(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	set := breaker.New(breaker.Config{Clock: now})
	states := func() []httpapi.BreakerState {
		var out []httpapi.BreakerState
		for _, s := range set.States() {
			out = append(out, httpapi.BreakerState{Kind: s.Kind, Target: s.Target, State: string(s.State)})
		}
		return out
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(httpapi.BreakerMetrics(states))
	shows := func(when, value string) {
		t.Helper()
		w := httptest.NewRecorder()
		httpapi.MetricsHandler(registry).ServeHTTP(w,
			httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		if line := `lastmile_breaker_open{kind="provider",target="x"} ` +
			value; !strings.Contains(w.Body.String(), line) {
			t.Errorf("%s: no %s in\n%s", when, line, w.Body)
		}
	}
	set.Know("provider", "x")
	shows("before the first call", "0")
	for range 5 {
		_ = set.Do(t.Context(), "provider", "x", func(context.Context) error { return errors.New("away") })
	}
	shows("open", "1")
	now.Advance(20 * time.Minute)
	shows("nobody has called since", "1")
	_ = set.Do(t.Context(), "provider", "x", func(context.Context) error { return nil })
	shows("after a success", "0")
}
