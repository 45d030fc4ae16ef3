package changesapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/changes"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/projections/changes"
)

// TestMain fails when a test has left goroutines.
func TestMain(m *testing.M) { pgtest.VerifyTestMain(m) }

// noon is when all changes of the tests are.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// kit is a server with a hub that nobody but the test tells anything.
type kit struct {
	*apitest.Kit
	hub    *changesapi.Hub
	access *access
}

// access is the kit's authenticator, with callers who have changed since the start. Safe for concurrent use.
type access struct {
	httpapi.Authenticator
	mu      sync.Mutex
	changed map[string]func(*httpapi.Caller) error
}

// Authenticate implements httpapi.Authenticator.
func (a *access) Authenticate(ctx context.Context, token string) (httpapi.Caller, error) {
	caller, err := a.Authenticator.Authenticate(ctx, token)
	a.mu.Lock()
	defer a.mu.Unlock()
	if change := a.changed[token]; err == nil && change != nil {
		err = change(&caller)
	}
	return caller, err
}

// change changes a caller from now on; an error ends the sign-in.
func (a *access) change(token string, change func(*httpapi.Caller) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed[token] = change
}

// newKit starts a hub with the settings, and its server.
func newKit(t *testing.T, cfg changesapi.Config) kit {
	t.Helper()
	cfg.Clock, cfg.Logger = clock.NewManual(noon), storetest.Quiet()
	if cfg.Every == 0 {
		cfg.Every = time.Millisecond
	}
	hub := changesapi.New(cfg)
	if err := hub.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	k := kit{hub: hub, access: &access{changed: map[string]func(*httpapi.Caller) error{}}}
	k.Kit = apitest.New(t, func(c *httpapi.Config) {
		k.access.Authenticator, c.Authenticator = c.Authenticator, k.access
	}, changesapi.API{Hub: hub}.Routes())
	t.Cleanup(hub.Stop) // before the listener, which would wait for the streams
	return k
}

// tell tells the hub of a change in an organization.
func (k kit) tell(slug string, topic changesviews.Topic, what id.Any) {
	k.hub.Tell(changesviews.Change{OrgID: k.Orgs[slug].ID, Topic: topic, ID: what, Type: "test.Changed", At: noon})
}

// event is one server-sent event.
type event struct {
	name, id string
	data     changesapi.Change
	raw      string
}

// stream is an open stream of changes.
type stream struct {
	answer *http.Response
	events chan event // closed at its end; one for each block, also those without data
	close  context.CancelFunc
}

// open opens a stream. The test's end closes it.
func (k kit) open(t *testing.T, r apitest.Request) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.URL()+"/events/stream"+r.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if req.Host = r.Host; r.Host == "" {
		req.Host = apitest.Acme
	}
	req.Header.Set("Authorization", "Bearer "+r.As)
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	transport := &http.Transport{}
	answer, err := (&http.Client{Transport: transport}).Do(req) //nolint:bodyclose // read closes it
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	s := &stream{answer: answer, events: make(chan event, 1000), close: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.read()
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		transport.CloseIdleConnections()
	})
	return s
}

// read reads events until the stream ends.
func (s *stream) read() {
	defer close(s.events)
	defer func() { _ = s.answer.Body.Close() }()
	lines := bufio.NewScanner(s.answer.Body)
	var e event
	for lines.Scan() {
		line := lines.Text()
		e.raw += line + "\n"
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			_ = json.Unmarshal([]byte(value), &e.data) // a test looks at raw
		case "":
			if line == "" {
				s.events <- e
				e = event{}
			}
		}
	}
}

// next waits for the next event; one without a name when the stream has ended.
func (s *stream) next(t *testing.T) event {
	t.Helper()
	select {
	case e := <-s.events:
		return e
	case <-time.After(waittest.Limit):
		t.Fatal("nothing is told")
		return event{}
	}
}

// message waits for the next event that is no sign of life.
func (s *stream) message(t *testing.T) event {
	t.Helper()
	for {
		if e := s.next(t); e.raw == "" || strings.Contains(e.raw, "data: ") && e.name != "alive" {
			return e
		}
	}
}
