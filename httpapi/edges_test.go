package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

func TestOrigin_CookieMutationsMustComeFromThisHost(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for name, tc := range map[string]struct {
		header map[string]string
		w      apitest.Want
	}{
		"no browser":              {nil, apitest.Is(201, "")},
		"own page":                {map[string]string{"Origin": "http://" + apitest.Acme}, apitest.Is(201, "")},
		"own page, default port":  {map[string]string{"Origin": "http://" + apitest.Acme + ":80"}, apitest.Is(201, "")},
		"other scheme, same host": {map[string]string{"Origin": "https://" + apitest.Acme}, apitest.Is(201, "")},
		"sibling tenant": {
			map[string]string{"Origin": "http://" + apitest.Other}, apitest.Is(403, "bad_origin"),
		},
		"sibling tenant, same site, own fetch header": {
			map[string]string{"Origin": "http://" + apitest.Other, "Sec-Fetch-Site": "same-origin"},
			apitest.Is(403, "bad_origin"),
		},
		"root host": {map[string]string{"Origin": "http://" + apitest.Domain}, apitest.Is(403, "bad_origin")},
		"other port": {
			map[string]string{"Origin": "http://" + apitest.Acme + ":8080"}, apitest.Is(403, "bad_origin"),
		},
		"null":            {map[string]string{"Origin": "null"}, apitest.Is(403, "bad_origin")},
		"empty":           {map[string]string{"Origin": ""}, apitest.Is(403, "bad_origin")},
		"other protocol":  {map[string]string{"Origin": "ftp://" + apitest.Acme}, apitest.Is(403, "bad_origin")},
		"fetch, own":      {map[string]string{"Sec-Fetch-Site": "same-origin"}, apitest.Is(201, "")},
		"fetch, typed":    {map[string]string{"Sec-Fetch-Site": "none"}, apitest.Is(201, "")},
		"fetch, sibling":  {map[string]string{"Sec-Fetch-Site": "same-site"}, apitest.Is(403, "bad_origin")},
		"fetch, stranger": {map[string]string{"Sec-Fetch-Site": "cross-site"}, apitest.Is(403, "bad_origin")},
		"a form":          {map[string]string{"Content-Type": "text/plain"}, apitest.Is(403, "bad_origin")},
	} {
		apitest.Sends(t, k, name, apitest.Request{
			Method: "POST", Path: "/parcels", Cookie: apitest.Admin, Body: apitest.Good,
			Header: tc.header,
		}, tc.w)
	}
	bad := map[string]string{"Origin": "http://" + apitest.Other}
	apitest.Sends(t, k, "bearer", apitest.Request{
		Method: "POST", Path: "/parcels", As: apitest.Admin, Cookie: apitest.Admin,
		Body: apitest.Good, Header: bad,
	}, apitest.Is(201, ""))
	apitest.Sends(t, k, "reading", apitest.Request{Path: "/parcels", Cookie: apitest.Admin, Header: bad},
		apitest.Is(200, ""))
	apitest.Sends(t, k, "public with a cookie",
		apitest.Request{Method: "POST", Path: "/auth/knock", Cookie: apitest.Admin, Header: bad},
		apitest.Is(403, "bad_origin"))
	apitest.Sends(t, k, "callback", apitest.Request{Method: "POST", Path: "/webhooks/parcels/t", Cookie: apitest.Admin,
		Header: bad}, apitest.Is(200, ""))
	apitest.Sends(t, k, "without a body", apitest.Request{
		Method: "DELETE", Path: apitest.AParcel, Cookie: apitest.Admin,
	},
		apitest.Is(204, ""))
	production := apitest.New(t, func(cfg *httpapi.Config) { cfg.Production = true }, apitest.NewParcels().Routes())
	apitest.Sends(t, production, "plain page in production", apitest.Request{
		Method: "POST", Path: "/parcels", Cookie: apitest.Admin, Body: apitest.Good,
		Header: map[string]string{"Origin": "http://" + apitest.Acme},
	}, apitest.Is(403, "bad_origin"))
}

func TestLimits_EachScopeHasItsOwn(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(cfg *httpapi.Config) { cfg.Limits = httpapi.Limits{User: 3, Login: 2, Webhook: 1} },
		apitest.NewParcels().Routes())
	for name, tc := range map[string]struct {
		r   apitest.Request
		max int
		w   apitest.Want
	}{
		"user":    {apitest.Request{Path: "/parcels", As: apitest.Admin}, 3, apitest.Is(200, "")},
		"login":   {apitest.Request{Method: "POST", Path: "/auth/knock"}, 2, apitest.Is(200, "")},
		"webhook": {apitest.Request{Method: "POST", Path: "/webhooks/parcels/t"}, 1, apitest.Is(200, "")},
	} {
		for range tc.max {
			apitest.Sends(t, k, name, tc.r, tc.w)
		}
		got := apitest.Sends(t, k, name+" over", tc.r, apitest.Is(429, "rate_limited"))
		if after := got.Header.Get("Retry-After"); after == "" || after == "0" {
			t.Errorf("%s: Retry-After is %q", name, after)
		}
	}
	apitest.Sends(t, k, "another user", apitest.Request{Path: "/parcels", As: apitest.Support}, apitest.Is(200, ""))
	k.Clock.Advance(2 * time.Minute)
	apitest.Sends(t, k, "later", apitest.Request{Path: "/parcels", As: apitest.Admin}, apitest.Is(200, ""))
}

// page is the envelope of the list of parcels.
type page = httpapi.Envelope[apitest.RowResponse]

func TestLists_EveryRowOnceToTheEnd(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for _, limit := range []int{1, 7, 25, 49, 50, 51, 100} {
		var seen []int
		path := fmt.Sprintf("/parcels?limit=%d&kind=box", limit)
		next := ""
		for {
			var got page
			k.Do(t, apitest.Request{Path: path + next, As: apitest.Admin}).Into(t, &got)
			for _, row := range got.Data {
				seen = append(seen, row.Number)
			}
			if got.HasMore != (got.NextCursor != nil) {
				t.Fatalf("hasMore %v with cursor %v", got.HasMore, got.NextCursor)
			}
			if !got.HasMore {
				break
			}
			next = "&cursor=" + *got.NextCursor
		}
		if len(seen) != 50 || !slices.IsSortedFunc(seen, func(a, b int) int { return b - a }) {
			t.Errorf("limit %d: saw %v", limit, seen)
		}
	}
	var first page
	k.Do(t, apitest.Request{Path: "/parcels", As: apitest.Admin}).Into(t, &first)
	if len(first.Data) != 25 {
		t.Errorf("a page has %d rows", len(first.Data))
	}
}

func TestLists_LimitAndCursorAreChecked(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	var first page
	k.Do(t, apitest.Request{Path: "/parcels?kind=box", As: apitest.Admin}).Into(t, &first)
	cursor := *first.NextCursor
	flipped := []byte(cursor)
	flipped[len(flipped)/2] ^= 1
	for query, w := range map[string]apitest.Want{
		"limit=0": apitest.Is(422, "invalid_input"), "limit=101": apitest.Is(422, "invalid_input"),
		"limit=-1": apitest.Is(422, "invalid_input"), "limit=x": apitest.Is(422, "invalid_input"),
		"limit=": apitest.Is(422, "invalid_input"), "limit=1&limit=2": apitest.Is(422, "invalid_input"),
		"limit=1.5": apitest.Is(422, "invalid_input"), "limit=99999999999999999999": apitest.Is(422, "invalid_input"),
		"limit=%zz": apitest.Is(422, "invalid_input"), "limit=1": apitest.Is(200, ""), "limit=100": apitest.Is(200, ""),
		"cursor=x": apitest.Is(400, "bad_cursor"), "cursor=" + strings.Repeat("A", 5000): apitest.Is(400, "bad_cursor"),
		"kind=box&cursor=" + cursor: apitest.Is(200, ""), "kind=box&limit=3&cursor=" + cursor: apitest.Is(200, ""),
		"kind=box&cursor=" + string(flipped): apitest.Is(400, "bad_cursor"),
		"kind=letter&cursor=" + cursor:       apitest.Is(400, "bad_cursor"),
		"cursor=" + cursor:                   apitest.Is(400, "bad_cursor"),
	} {
		apitest.Sends(t, k, query, apitest.Request{Path: "/parcels?" + query, As: apitest.Admin}, w)
	}
	apitest.Sends(t, k, "another tenant's cursor", apitest.Request{
		Path: "/parcels?kind=box&cursor=" + cursor, As: apitest.OtherAdmin, Host: apitest.Other,
	},
		apitest.Is(400, "bad_cursor"))
}

func TestHeaders_SecurityAndRequestID(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for _, path := range []string{"/parcels", "/nothing", "/breaks/panic"} {
		got := k.Do(t, apitest.Request{Path: path, As: apitest.Admin})
		for name, value := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
			"Strict-Transport-Security": "", "Content-Type": "application/json; charset=utf-8",
		} {
			if got.Header.Get(name) != value {
				t.Errorf("%s: %s is %q", path, name, got.Header.Get(name))
			}
		}
		if len(got.Header.Get("X-Request-Id")) != 36 {
			t.Errorf("%s: request id %q", path, got.Header.Get("X-Request-Id"))
		}
	}
	for given, kept := range map[string]bool{
		"abc-123_x.y:z": true, "a b": false, "é": false, `a"b`: false, strings.Repeat("a", 128): true,
		strings.Repeat("a", 129): false,
	} {
		got := k.Do(t, apitest.Request{Path: "/parcels", As: apitest.Admin,
			Header: map[string]string{"X-Request-Id": given}}).Header.Get("X-Request-Id")
		if (got == given) != kept {
			t.Errorf("request id %q became %q", given, got)
		}
	}
	production := apitest.New(t, func(cfg *httpapi.Config) { cfg.Production = true }, apitest.NewParcels().Routes())
	if got := production.Do(t, apitest.Request{Path: "/parcels"}); got.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no HSTS in production")
	}
}

func TestClientAddress_ForwardedOnlyByTrustedProxies(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trusted   string
		forwarded string
		want      string
	}{
		"nobody trusted":          {"", "198.51.100.7", "127.0.0.1"},
		"other network trusted":   {"10.0.0.0/8", "198.51.100.7", "127.0.0.1"},
		"trusted":                 {"127.0.0.0/8", "198.51.100.7", "198.51.100.7"},
		"from the right":          {"127.0.0.0/8", "1.1.1.1, 198.51.100.7", "198.51.100.7"},
		"through trusted hops":    {"127.0.0.0/8,10.0.0.0/8", "1.1.1.1, 198.51.100.7, 10.1.2.3", "198.51.100.7"},
		"all hops trusted":        {"127.0.0.0/8,10.0.0.0/8", "10.0.0.1, 10.1.2.3", "10.0.0.1"},
		"rubbish ends the walk":   {"127.0.0.0/8", "198.51.100.7, unknown", "127.0.0.1"},
		"without the header":      {"127.0.0.0/8", "", "127.0.0.1"},
		"mapped IPv4 is the same": {"127.0.0.0/8", "::ffff:198.51.100.7", "198.51.100.7"},
	} {
		p := apitest.NewParcels()
		k := apitest.New(t, func(cfg *httpapi.Config) {
			for _, network := range strings.FieldsFunc(tc.trusted, func(r rune) bool { return r == ',' }) {
				cfg.TrustedProxies = append(cfg.TrustedProxies, netip.MustParsePrefix(network))
			}
		}, p.Routes())
		r := apitest.Request{Method: "POST", Path: "/auth/knock", Header: map[string]string{}}
		if tc.forwarded != "" {
			r.Header["X-Forwarded-For"] = tc.forwarded
		}
		k.Do(t, r)
		if meta := <-p.Seen; meta.IP != tc.want {
			t.Errorf("%s: address %q, want %q", name, meta.IP, tc.want)
		}
	}
}

func TestLog_ShowsThePatternAndNeverWhatWasSent(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	k.Do(t, apitest.Request{
		Method: "POST", Path: "/webhooks/parcels/hidden-token?q=hidden-query", Body: `"hidden-body"`,
		Header: map[string]string{"X-Secret": "hidden-header", "X-Request-Id": "visible-id"},
	})
	k.Do(t, apitest.Request{Path: "/hidden-path", As: apitest.Admin})
	text := k.Log.String()
	if strings.Contains(text, "hidden") || strings.Contains(text, apitest.Admin) ||
		strings.Contains(text, "127.0.0.1") {
		t.Errorf("the log shows too much: %s", text)
	}
	for _, part := range []string{
		`"route":"/webhooks/parcels/:token"`, `"request_id":"visible-id"`, `"status":200`, `"route":"none"`,
		`"code":"not_found"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the log lacks %s: %s", part, text)
		}
	}
	families, err := k.Metrics.Gather()
	if err != nil || len(families) != 2 || strings.Contains(fmt.Sprint(families), "hidden") {
		t.Errorf("metrics: %v %v", families, err)
	}
}

func TestTable_MistakesAreRefused(t *testing.T) {
	t.Parallel()
	route := func(change func(*httpapi.Route)) httpapi.Route {
		r := httpapi.Route{
			Method: "GET", Path: "/x", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin, Summary: "x",
			Handle: apitest.Ok,
		}
		change(&r)
		return r
	}
	k := apitest.New(t, nil)
	for name, routes := range map[string][]httpapi.Route{
		"twice": {route(func(*httpapi.Route) {}), route(func(*httpapi.Route) {})},
		"static and id": {
			route(func(r *httpapi.Route) { r.Path = "/x/:id" }),
			route(func(r *httpapi.Route) { r.Path = "/x/overdue" }),
		},
		"no host":       {route(func(r *httpapi.Route) { r.Hosts = 0 })},
		"unknown role":  {route(func(r *httpapi.Route) { r.Access = "king" })},
		"no access":     {route(func(r *httpapi.Route) { r.Access = "" })},
		"no summary":    {route(func(r *httpapi.Route) { r.Summary = "" })},
		"admin on root": {route(func(r *httpapi.Route) { r.Hosts = httpapi.OnRoot })},
		"a page for people that dies with the database": {route(func(r *httpapi.Route) {
			r.Access, r.Produces = httpapi.AccessPublic, "text/html"
		})},
		"role elsewhere": {route(func(r *httpapi.Route) { r.Hosts = httpapi.OnEvery })},
	} {
		if _, err := httpapi.New(k.Config(), routes); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	same := []httpapi.Route{
		route(func(*httpapi.Route) {}),
		route(func(r *httpapi.Route) { r.Hosts, r.Access = httpapi.OnRoot, httpapi.AccessSuperAdmin }),
	}
	if _, err := httpapi.New(k.Config(), same); err != nil {
		t.Errorf("one path on two kinds of host: %v", err)
	}
}

func TestListener_StopLetsRunningRequestsFinish(t *testing.T) {
	t.Parallel()
	running, finish := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(running)
		<-finish
		_, _ = w.Write([]byte("done"))
	})
	l, err := httpapi.Listen(t.Context(), "127.0.0.1:0", handler, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	<-running
	stopped := make(chan struct{})
	go func() { l.Stop(); close(stopped) }()
	close(finish)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("answer while stopping: %v %v", res, err)
	}
	_ = res.Body.Close()
	<-stopped
	if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr()); err == nil {
		t.Error("still listening")
	}
}

// refuses is the probe of a dependency that is down.
func refuses(context.Context) error {
	return failure.NewUnavailable("x", "one event cannot be applied", 0, nil)
}

func TestSweep_EveryRouteRefusesBadRequests(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes(), system(nil).Routes())
	k.Sweep(t, map[string]bool{"POST /webhooks/parcels/:token": true})
}
