package httpapi

import (
	"context"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Config has the dependencies and limits of the server. Production, TrustedProxies, Limits, Keys, Storage, Subscribers,
// Refusals and Metrics may be zero; all other fields are required.
type Config struct {
	ServiceDomain  string         // "lastmile.localhost", without port
	Production     bool           // sends HSTS; origins must be https
	TrustedProxies []netip.Prefix // may set X-Forwarded-For (docs/rules/http.md#trusted-proxies)
	CursorKey      []byte         // 32 bytes; the same on every replica
	Limits         Limits

	Organizations Organizations
	Authenticator Authenticator
	Keys          KeyAuthenticator // nil = there are no API keys
	Idempotency   *vault.Idempotency
	Limiter       vault.SeveralLimiter // in memory with one replica, else in PostgreSQL
	Visibility    Visibility
	// Storage ends requests that the database cannot serve; nil = they run until their time is over.
	Storage Storage
	// Subscribers names the subscribers in rows and answers; nil = they are not named.
	Subscribers SubscriberNames
	// Refusals records refused and failed writes for the audit log; nil = they are logged only.
	Refusals Refusals
	// Metrics takes the server's own collectors; nil = none are registered.
	Metrics prometheus.Registerer
	Clock   clock.Clock
	Logger  *slog.Logger
	// UploadPause is how long a large body may pause, 0 = 30 s; for tests.
	UploadPause time.Duration
}

// requestLimit bounds the work on one request. The listener's write limit is longer, so that the answer gets out.
const requestLimit = 30 * time.Second

// Server answers HTTP by its table of routes. Safe for concurrent use.
type Server struct {
	cfg       Config
	table     *table
	cursors   cipher.AEAD
	uploads   *uploads
	places    *fair.Slots
	scopes    map[events.Role][]string // that exist for API keys of a role, sorted
	metrics   *httpMetrics
	openAPI   map[Hosts]func() ([]byte, error)     // /openapi.json, made when somebody reads it
	reference map[Hosts]func() (*reference, error) // /docs, made when somebody reads it
	// errorsPage is /docs/errors, made when somebody reads it.
	errorsPage func() (*madePage, error)
}

// New makes a server of the routes of all areas and adds its own: / and /openapi.json. It fails when a dependency is
// missing, or when a route is incomplete or conflicts with another one.
func New(cfg Config, routes ...[]Route) (*Server, error) {
	if cfg.ServiceDomain == "" || cfg.Organizations == nil || cfg.Authenticator == nil || cfg.Idempotency == nil ||
		cfg.Limiter == nil || cfg.Visibility == nil || cfg.Clock == nil || cfg.Logger == nil {
		return nil, errors.New("http server: a dependency is missing")
	}
	cfg.ServiceDomain = strings.ToLower(cfg.ServiceDomain)
	s := &Server{cfg: cfg, places: newPlaces(), uploads: newUploads()}
	var err error
	if s.cursors, err = newCursors(cfg.CursorKey); err != nil {
		return nil, fmt.Errorf("http server: %w", err)
	}
	if s.metrics, err = newHTTPMetrics(cfg.Metrics); err != nil {
		return nil, fmt.Errorf("http server: %w", err)
	}
	all := s.ownRoutes()
	for _, area := range routes {
		all = append(all, area...)
	}
	if s.table, err = newTable(all); err != nil {
		return nil, fmt.Errorf("http server: %w", err)
	}
	s.scopes = scopesOf(s.table.routes)
	s.openAPI = map[Hosts]func() ([]byte, error){}
	for _, kind := range []Hosts{OnOrganization, OnRoot, onForeign} {
		s.openAPI[kind] = sync.OnceValues(func() ([]byte, error) { return openAPIDocument(s.table.routes, kind) })
	}
	s.reference = map[Hosts]func() (*reference, error){}
	for _, kind := range []Hosts{OnOrganization, OnRoot} {
		s.reference[kind] = sync.OnceValues(func() (*reference, error) { return newReference(s.table.routes, kind) })
	}
	s.errorsPage = sync.OnceValues(newErrorsPage)
	return s, nil
}

// Routes is the whole table with its defaults filled in, for tests and documents. Callers must not change it.
func (s *Server) Routes() []Route { return s.table.routes }

// OpenAPI is the document of one kind of host, made when somebody reads it. Callers must not change it. It fails when
// two structs want the name of one schema.
func (s *Server) OpenAPI(kind Hosts) ([]byte, error) { return s.openAPI[kind]() }

// Description is the OpenAPI document of both kinds of host in one, from which the dashboard's types are made. Where
// the hosts differ at an address, it has the organization's.
func (s *Server) Description() ([]byte, error) {
	whole, err := openAPI(s.table.routes, OnBoth)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(whole, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write OpenAPI document: %w", err)
	}
	return append(text, '\n'), nil
}

// ServeHTTP answers one request, then logs and counts it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestLimit+uploadTime(r))
	defer cancel()
	c := &Call{Request: r, server: s, started: s.cfg.Clock.Now()}
	c.Writer = &recorder{to: w, call: c}
	c.RequestID = requestID(r)
	c.IP = ClientIP(r, s.cfg.TrustedProxies)
	s.setHeaders(c)
	defer c.givePlace()
	s.guard(ctx, c)
	s.finish(ctx, c)
}

// guard runs the call and turns its error or panic into an answer. http.ErrAbortHandler goes on to net/http, which ends
// the connection.
func (s *Server) guard(ctx context.Context, c *Call) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is thrown
				panic(p)
			}
			s.fail(ctx, c, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if err := s.dispatch(ctx, c); err != nil {
		if !errors.Is(err, errStorage) { // nothing can be recorded now
			s.noteRefusal(ctx, c, err)
		}
		s.fail(ctx, c, err)
	}
}

// dispatch finds host and route, then lets the call pass its checks to the handler.
func (s *Server) dispatch(ctx context.Context, c *Call) error {
	s.resolveHost(c)
	allowed := s.table.find(c)
	if c.route == nil {
		if len(allowed) == 0 || c.hostKind == onForeign {
			return errNoAddress()
		}
		c.Writer.Header().Set("Allow", strings.Join(allowed, ", "))
		return failure.NewMalformed("method_not_allowed", "This address does not accept this method.")
	}
	return s.whileServed(ctx, c.route, func(ctx context.Context) error { return s.run(ctx, c) })
}

// run lets a call with a route pass its checks to the handler.
func (s *Server) run(ctx context.Context, c *Call) error {
	if err := s.enterOrganization(ctx, c); err != nil {
		return err
	}
	if err := s.admit(ctx, c); err != nil {
		return err
	}
	if err := c.checkParameters(); err != nil {
		return err
	}
	if c.route.OwnBody {
		return c.route.Handle(c.Request.Context(), c)
	}
	held, err := c.holdBody()
	if err != nil {
		return err
	}
	defer held.leave()
	if err := c.readBody(held); err != nil {
		return err
	}
	if c.route.Stream {
		return c.route.Handle(c.Request.Context(), c)
	}
	return s.once(ctx, c)
}

// admit checks, in this order: the limit of sign-ins, the origin, sign-in and role, the form of If-Match.
func (s *Server) admit(ctx context.Context, c *Call) error {
	if c.route.LoginLimit {
		if err := s.limit(ctx, "login:"+limitedAddress(c.IP), s.cfg.Limits.Login); err != nil {
			return err
		}
	}
	if c.route.RefreshLimit {
		err := s.limit(ctx, "refresh:"+limitedAddress(c.IP), refreshesPerLogin*s.cfg.Limits.Login)
		if err != nil {
			return err
		}
	}
	if err := s.checkOrigin(c); err != nil {
		return err
	}
	if c.route.Access.Role() != "" {
		if err := s.signIn(ctx, c); err != nil {
			return err
		}
	}
	return c.readConditions()
}
