package genieacs_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant of every test's clock.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// journal is a log that tests search for secrets.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

// String gives all that was logged.
func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// kit has a client with its breaker in front of a running simulator.
type kit struct {
	*genieacs.Server
	t        *testing.T
	sim      *acs.Simulator
	clock    *clock.Manual
	breakers *breaker.Set
	log      *journal
}

// newKit starts a simulator and stops it with the test.
func newKit(t *testing.T, cfg acs.Config) *kit {
	t.Helper()
	k := &kit{t: t, clock: clock.NewManual(start), log: &journal{}}
	cfg.Clock = k.clock
	if cfg.SessionWait == 0 {
		cfg.SessionWait = 50 * time.Millisecond
	}
	if cfg.LockWait == 0 {
		cfg.LockWait = 50 * time.Millisecond
	}
	cfg.RunLimit = waittest.Limit
	k.sim = acs.New(cfg)
	if err := k.sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.sim.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	k.connect(k.sim.URL(), waittest.Limit)
	k.settle()
	return k
}

// connect makes the client, with a time-out of its calls.
func (k *kit) connect(url string, timeout time.Duration) {
	k.t.Helper()
	k.breakers = breaker.New(breaker.Config{Clock: k.clock})
	s, err := genieacs.New(genieacs.Config{
		NBI: url, Guard: k.breakers, Clock: k.clock, Timeout: timeout, TaskTimeout: timeout,
		Patience: time.Millisecond, Logger: slog.New(slog.NewTextHandler(k.log, nil)),
	})
	if err != nil {
		k.t.Fatal(err)
	}
	k.Server = s
	k.t.Cleanup(s.Close)
}

// settle waits until no session and nothing that follows one is under way.
func (k *kit) settle() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), waittest.Limit)
	defer cancel()
	if err := k.sim.Idle(ctx); err != nil {
		k.t.Fatal(err)
	}
}

// inform lets a device begin a session a while later, and waits for its end.
func (k *kit) inform(id genieacs.DeviceID, events ...string) {
	k.t.Helper()
	k.clock.Advance(10 * time.Second)
	if err := k.sim.Inform(string(id), events...); err != nil {
		k.t.Fatal(err)
	}
	k.settle()
}

// add switches a new device on and waits until the server knows it.
func (k *kit) add(cfg acs.DeviceConfig) genieacs.DeviceID {
	k.t.Helper()
	id, err := k.sim.AddDevice(cfg)
	if err != nil {
		k.t.Fatal(err)
	}
	k.settle()
	return genieacs.DeviceID(id)
}

// read gives one device, or ends the test.
func (k *kit) read(id genieacs.DeviceID, paths ...string) genieacs.Device {
	k.t.Helper()
	d, err := k.Device(k.t.Context(), id, paths...)
	if err != nil {
		k.t.Fatal(err)
	}
	return d
}

// inside gives what the device itself has, with its secrets.
func (k *kit) inside(id genieacs.DeviceID, path string) any {
	k.t.Helper()
	all, err := k.sim.Parameters(string(id))
	if err != nil {
		k.t.Fatal(err)
	}
	return all[path]
}

// platform answers identification like the endpoint of ours.
type platform struct {
	*httptest.Server
	mu     sync.Mutex
	answer string
	status int
	asked  []string // the bodies that came
	// Each device must show the password; "" = all are let in.
	password string
	knocks   int // so often it was asked whether a device is let in
}

// newPlatform starts the endpoint. It wants the key "internal".
func newPlatform(t *testing.T) *platform {
	t.Helper()
	p := &platform{status: http.StatusOK}
	p.Server = httptest.NewServer(p.handler())
	t.Cleanup(p.Close)
	return p
}

// handler answers as the platform was told to.
func (p *platform) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		if !strings.HasSuffix(r.URL.Path, "/sign-in") { // that is asked at each session
			p.asked = append(p.asked, body.String())
		}
		if r.Header.Get("X-Internal-Key") != "internal" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/sign-in") {
			_, _ = fmt.Fprint(w, p.admission(body.String()))
			return
		}
		w.WriteHeader(p.status)
		_, _ = fmt.Fprint(w, p.answer)
	})
}

// admission answers the expression of cwmp.auth.
func (p *platform) admission(asked string) string {
	p.knocks++
	switch {
	case strings.Contains(asked, `"shown":true`), strings.Contains(asked, `"shown":false`) && p.password == "":
		return `{"password":null,"admitted":true}`
	case strings.Contains(asked, `"shown":false`):
		return `{"password":null,"admitted":false}`
	case p.password == "":
		return `{"password":null,"admitted":null}`
	}
	return `{"password":"` + p.password + `","admitted":null}`
}

// knocked reports whether the server asks whom it lets in.
func (p *platform) knocked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.knocks > 0
}

// requires lets in only who shows a password, from now on; "" lets all in.
func (p *platform) requires(password string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.password = password
}

// tell sets the answer from now on.
func (p *platform) tell(status int, answer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.answer = status, answer
}

// questions gives the bodies that came.
func (p *platform) questions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.asked...)
}

// site is a server with one device, to which the contract holds: the simulator, or an installation.
type site struct {
	*genieacs.Server
	id      genieacs.DeviceID
	root    genieacs.Root
	begin   func(events ...string)  // a session with events; of an installation only
	session func()                  // the device informs, and the session ends
	offline func(bool)              // connection requests do not reach the device
	reject  func(path, code string) // the device refuses values of a parameter; "" ends it
	value   func(string) any
	knock   func() error            // one session, perhaps refused; of an installation only
	set     func(map[string]string) // changes texts of the device itself; of an installation only
}

// everywhere runs a contract at the simulator, with a device of each tree, and at the installation of ACS_NBI_URL and
// ACS_CWMP_URL, if they are set, with devices of our own that speak TR-069.
func everywhere(t *testing.T, contract func(t *testing.T, s *site)) {
	t.Helper()
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		t.Run("simulator/"+string(root), func(t *testing.T) {
			t.Parallel()
			k := newKit(t, acs.Config{})
			id := k.add(acs.DeviceConfig{Serial: "C-1 x", Root: string(root)})
			contract(t, &site{
				Server: k.Server, id: id, root: root, session: func() { k.inform(id, "2 PERIODIC") },
				offline: func(on bool) {
					if err := k.sim.SetNAT(string(id), on); err != nil {
						t.Fatal(err)
					}
				},
				reject: func(path, code string) {
					f := acs.DeviceFaults{Reject: map[string]string{path: code}}
					if err := k.sim.SetDeviceFaults(string(id), f); err != nil {
						t.Fatal(err)
					}
				},
				value: func(path string) any { return k.inside(id, path) },
			})
		})
		if nbi, cwmp := os.Getenv("ACS_NBI_URL"), os.Getenv("ACS_CWMP_URL"); nbi != "" && cwmp != "" {
			t.Run("installation/"+string(root), func(t *testing.T) { contract(t, installation(t, nbi, cwmp, root)) })
		}
	}
}
