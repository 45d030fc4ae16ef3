// Package apitest runs an HTTP server with given routes on a real listener, for contract tests: two organizations, a
// caller of each role, a real vault in a database of its own, a clock moved by hand.
package apitest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/usecases"
)

// The hosts of a kit. Acme and Other are organizations, Gone is a suspended one, Unknown is none.
const (
	Domain  = "lastmile.test"
	Acme    = "acme." + Domain
	Other   = "other." + Domain
	Gone    = "gone." + Domain
	Unknown = "nobody." + Domain
)

// The tokens of a kit. All but OtherAdmin and Super belong to Acme.
const (
	Admin      = "token-admin"
	Support    = "token-support"
	Subscriber = "token-subscriber"
	NewAdmin   = "token-new-admin" // must change the password
	OtherAdmin = "token-other-admin"
	Super      = "token-super"
)

// Kit is a running server on a loopback port with two organizations and a caller of each role. It stops with its test.
type Kit struct {
	Clock   *clock.Manual
	Server  *httpapi.Server
	Log     *Log
	Metrics *prometheus.Registry
	Orgs    map[string]httpapi.Organization // by slug
	Callers map[string]httpapi.Caller       // by token
	Vault   *vault.Vault

	described map[httpapi.Hosts]func() Description // made for the first answer that is compared
	config    httpapi.Config
	address   string
	client    *http.Client
}

// Config is the configuration of the kit's server, without the metrics registry, so that a second server can be made of
// it.
func (k *Kit) Config() httpapi.Config {
	cfg := k.config
	cfg.Metrics = nil
	return cfg
}

// New starts a server with the routes and its own. adjust may change the configuration first; nil = no change.
func New(t testing.TB, adjust func(*httpapi.Config), routes ...[]httpapi.Route) *Kit {
	t.Helper()
	k := &Kit{
		Clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)), Log: &Log{},
		Metrics: prometheus.NewRegistry(), Orgs: map[string]httpapi.Organization{},
		client: &http.Client{Timeout: waittest.Limit, CheckRedirect: noRedirect},
	}
	for _, slug := range []string{"acme", "other", "gone"} {
		k.Orgs[slug] = httpapi.Organization{
			ID: id.Derive[id.Organization]("test", slug), Slug: slug, Name: "The " + slug, Suspended: slug == "gone",
		}
	}
	k.Callers = map[string]httpapi.Caller{
		Admin: k.caller("acme", events.RoleAdmin, Admin), Support: k.caller("acme", events.RoleSupport, Support),
		Subscriber: k.caller("acme", events.RoleSubscriber, Subscriber),
		NewAdmin:   k.caller("acme", events.RoleAdmin, NewAdmin),
		OtherAdmin: k.caller("other", events.RoleAdmin, OtherAdmin), Super: k.caller("", events.RoleSuperAdmin, Super),
	}
	fresh := k.Callers[NewAdmin]
	fresh.MustChangePassword = true
	k.Callers[NewAdmin] = fresh
	k.start(t, adjust, routes)
	return k
}

// start makes the vault, the server and its listener.
func (k *Kit) start(t testing.TB, adjust func(*httpapi.Config), routes [][]httpapi.Route) {
	t.Helper()
	logger := slog.New(slog.NewJSONHandler(k.Log, nil))
	k.Vault = coretest.NewVault(t, vault.Config{Clock: k.Clock, Logger: logger})
	cfg := httpapi.Config{
		ServiceDomain: Domain, CursorKey: k.Vault.Key(secrets.Cursors), Organizations: directory{k},
		Authenticator: tokens{k}, Idempotency: k.Vault.Idempotency, Limiter: vault.NewLocalLimits(k.Clock),
		Visibility: Immediately{}, Metrics: k.Metrics, Clock: k.Clock, Logger: logger,
	}
	if adjust != nil {
		adjust(&cfg)
	}
	k.config = cfg
	var err error
	if k.Server, err = httpapi.New(cfg, routes...); err != nil {
		t.Fatalf("make server: %v", err)
	}
	k.described = map[httpapi.Hosts]func() Description{}
	for _, kind := range []httpapi.Hosts{httpapi.OnOrganization, httpapi.OnRoot} {
		k.described[kind] = sync.OnceValue(func() Description {
			document, err := k.Server.OpenAPI(kind)
			if err != nil {
				t.Errorf("describe the server: %v", err)
			}
			return Describe(t, document)
		})
	}
	listener, err := httpapi.Listen(t.Context(), "127.0.0.1:0", k.Server, logger)
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	if err := listener.Start(t.Context()); err != nil {
		t.Fatalf("serve: %v", err)
	}
	t.Cleanup(func() {
		k.client.CloseIdleConnections()
		listener.Stop()
	})
	k.address = listener.Addr()
}

// caller makes a user whose ids derive from the token; slug "" = a user of no organization.
func (k *Kit) caller(slug string, role events.Role, token string) httpapi.Caller {
	return httpapi.Caller{
		Kind: events.ActorUser, UserID: id.Derive[id.User]("test", token), OrgID: k.Orgs[slug].ID, Role: role,
		SessionID: id.Derive[id.Session]("test", token),
	}
}

// CustomerSees says which subscribers the customer sees who signs in as Subscriber: nobody before that.
func (k *Kit) CustomerSees(own ...id.Subscriber) {
	customer := k.Callers[Subscriber]
	customer.Own = own
	k.Callers[Subscriber] = customer
}

// URL is the address of the server; it is the same for every Host that a request names.
func (k *Kit) URL() string { return "http://" + k.address }

// Request describes one request. Zero values mean: GET, Acme's host, nobody signed in, no body.
type Request struct {
	Method string
	Host   string
	Path   string
	As     string // bearer token
	Cookie string // access_token
	Body   any    // string and []byte as they are, else as JSON
	Header map[string]string
}

// Answer is the server's answer, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Code is the failure code of the body, "" without one.
func (a Answer) Code() string {
	var body httpapi.ErrorBody
	_ = json.Unmarshal(a.Body, &body) // any other body has no code
	return body.Code
}

// Into reads the JSON body into a value; another body ends the test.
func (a Answer) Into(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, into); err != nil {
		t.Fatalf("read answer %d %s: %v", a.Status, a.Body, err)
	}
}

// Do sends a request to the kit's server. An error of the connection ends the test; any status is an answer. What
// /openapi.json does not say of the answer is an error of the test.
func (k *Kit) Do(t testing.TB, r Request) Answer {
	t.Helper()
	got := Send(t, k.client, k.address, r)
	kind := httpapi.OnOrganization
	if r.Host == Domain {
		kind = httpapi.OnRoot
	}
	if described, known := k.described[kind]; known && r.Method != http.MethodHead {
		described().Check(t, cmp.Or(r.Method, http.MethodGet), r.Path, got)
	}
	return got
}

// Send sends a request to an address, with the Host of the request. An error of the connection ends the test.
func Send(t testing.TB, client *http.Client, address string, r Request) Answer {
	t.Helper()
	var body io.Reader
	switch b := r.Body.(type) {
	case nil:
	case string:
		body = bytes.NewReader([]byte(b))
	case []byte:
		body = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatalf("make body: %v", err)
		}
		body = bytes.NewReader(text)
	}
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(t.Context(), r.Method, "http://"+address+r.Path, body)
	if err != nil {
		t.Fatalf("make request: %v", err)
	}
	req.Host = r.Host
	if r.Host == "" {
		req.Host = Acme
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.As != "" {
		req.Header.Set("Authorization", "Bearer "+r.As)
	}
	if r.Cookie != "" {
		req.AddCookie(&http.Cookie{Name: httpapi.CookieAccess, Value: r.Cookie})
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	return send(t, client, req)
}

// send reads the whole answer; an error of the connection ends the test.
func send(t testing.TB, client *http.Client, req *http.Request) Answer {
	t.Helper()
	res, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("read answer: %v", err)
	}
	return Answer{Status: res.StatusCode, Header: res.Header, Body: text}
}

// noRedirect makes a redirect the answer, instead of following it.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// directory is httpapi.Organizations over Kit.Orgs.
type directory struct{ kit *Kit }

// OrganizationBySlug never fails, since the organizations are in memory.
func (d directory) OrganizationBySlug(_ context.Context, slug string) (httpapi.Organization, bool, error) {
	org, found := d.kit.Orgs[slug]
	return org, found, nil
}

// tokens is httpapi.Authenticator over Kit.Callers.
type tokens struct{ kit *Kit }

// Authenticate refuses each token that is not a key of Kit.Callers.
func (a tokens) Authenticate(_ context.Context, token string) (httpapi.Caller, error) {
	caller, found := a.kit.Callers[token]
	if !found {
		return caller, usecases.ErrSignIn()
	}
	return caller, nil
}

// Immediately is an httpapi.Visibility whose read models are never behind.
type Immediately struct{}

// WaitFor returns at once.
func (Immediately) WaitFor(context.Context, string, uint64) error { return nil }

// Log keeps what was logged, one JSON object for each line. Safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer for the logger; it never fails.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String is everything that was logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
