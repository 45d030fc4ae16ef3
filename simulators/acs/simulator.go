package acs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Identify says where the extension asks who a device is.
type Identify struct {
	URL string `json:"url"` // of POST /internal/cpe/identify; "" = the extension is not installed
	Key string `json:"key"` // of the header X-Internal-Key
}

// Config of a simulator; the zero value is usable.
type Config struct {
	Addr      string // of the northbound interface and the control paths; a free loopback port when empty
	FilesAddr string // of the file server; a free loopback port when empty
	Seed      uint64
	Clock     clock.Clock  // of informs and all instants; the machine's when nil
	Logger    *slog.Logger // silent when nil
	Identify  Identify
	SignIn    string         // the expression of cwmp.auth; "" = every device is let in
	Encrypted bool           // devices come over TLS, as far as that matters: they are asked for Basic and not Digest
	Devices   []DeviceConfig // switched on at Start
	// Live lets devices inform by themselves; otherwise Tick does.
	Live bool
	// LockWait is how long a task with a connection request waits for a device in session; 30 s when 0.
	LockWait time.Duration
	// SessionWait is how long such a task waits for a session to begin; 4 s when 0, unless the request says it.
	SessionWait time.Duration
	// CrashHang is the time from a request that breaks the server's process to the end of its connection; 20 ms when 0.
	CrashHang time.Duration
	// RunLimit bounds one run of a script; 2 s when 0. The server's limit is 50 ms of a processor; this is time.
	RunLimit time.Duration
}

// Simulator is the server with its devices. Safe for concurrent use. Start it once and Stop it once.
type Simulator struct {
	cfg   Config
	clock clock.Clock
	log   *slog.Logger

	nbi, files       *http.Server
	nbiURL, filesURL string
	client           *http.Client // of devices and the extension; to loopback only
	run              context.Context
	halt             context.CancelFunc
	work             sync.WaitGroup
	programs         sync.Map      // compiled scripts by their texts
	engines          chan struct{} // a place for each script that runs: the limit of a run is time

	mu      sync.Mutex
	state   state
	pending int
	idle    chan struct{} // closed when pending falls to 0
	stopped bool
}

// New makes a simulator; it listens after Start.
func New(cfg Config) *Simulator {
	cfg.Addr = cmp.Or(cfg.Addr, "127.0.0.1:0")
	cfg.FilesAddr = cmp.Or(cfg.FilesAddr, "127.0.0.1:0")
	cfg.LockWait = cmp.Or(cfg.LockWait, 30*time.Second)
	cfg.RunLimit = cmp.Or(cfg.RunLimit, 2*time.Second)
	cfg.SessionWait = cmp.Or(cfg.SessionWait, 4*time.Second)
	cfg.CrashHang = cmp.Or(cfg.CrashHang, 20*time.Millisecond)
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Simulator{
		cfg: cfg, clock: cfg.Clock, log: cfg.Logger, client: loopbackClient(), idle: make(chan struct{}),
		engines: make(chan struct{}, runtime.NumCPU()),
	}
	s.state = newState(cfg.Identify)
	s.state.signIn = cfg.SignIn
	return s
}

// Start listens, switches the devices of Config on and serves until Stop.
func (s *Simulator) Start(ctx context.Context) error {
	nbi, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen as CPE server: %w", err)
	}
	files, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.FilesAddr)
	if err != nil {
		_ = nbi.Close()
		return fmt.Errorf("listen as file server: %w", err)
	}
	s.run, s.halt = context.WithCancel(ctx)
	s.nbiURL, s.filesURL = "http://"+nbi.Addr().String(), "http://"+files.Addr().String()
	s.nbi = s.serve(nbi, s.handler())
	s.files = s.serve(files, http.HandlerFunc(s.serveFile))
	s.log.Info("CPE server simulator listens", "nbi", s.nbiURL, "files", s.filesURL)
	for _, d := range s.cfg.Devices {
		if _, err := s.AddDevice(d); err != nil {
			return errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
		}
	}
	if s.cfg.Live {
		s.work.Go(s.live)
	}
	return nil
}

// serve runs one server until Stop.
func (s *Simulator) serve(l net.Listener, h http.Handler) *http.Server {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.work.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("CPE server simulator stopped serving", "error", err)
		}
	})
	return server
}

// livePace is the real time between two looks at who is due.
const livePace = 200 * time.Millisecond

// live lets devices inform when their time has come.
func (s *Simulator) live() {
	for loop.Sleep(s.run, livePace) {
		s.Tick()
	}
}

// URL gives the address of the northbound interface and the control paths; empty before Start.
func (s *Simulator) URL() string { return s.nbiURL }

// FilesURL gives the address of the file server; empty before Start.
func (s *Simulator) FilesURL() string { return s.filesURL }

// Stop closes the listeners and waits for what is under way.
func (s *Simulator) Stop(context.Context) error {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	if s.halt == nil {
		return nil
	}
	s.halt()
	err := errors.Join(s.nbi.Close(), s.files.Close())
	s.work.Wait()
	s.client.CloseIdleConnections()
	return err
}

// Idle waits until no session and nothing that follows one is under way; it fails with ctx's error.
func (s *Simulator) Idle(ctx context.Context) error {
	for {
		s.mu.Lock()
		pending, idle := s.pending, s.idle
		s.mu.Unlock()
		if pending == 0 {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return fmt.Errorf("wait for the CPE server simulator: %w", ctx.Err())
		}
	}
}

// later runs do in the background, unless the simulator stops; Idle waits for it.
func (s *Simulator) later(do func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || s.run == nil {
		return
	}
	s.pending++
	s.work.Go(func() {
		defer s.finished()
		do(s.run)
	})
}

// finished ends one piece of work; the last one wakes Idle.
func (s *Simulator) finished() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending--; s.pending == 0 {
		close(s.idle)
		s.idle = make(chan struct{})
	}
}

// Tick lets each device inform whose time has come, in the order of their ids. The sessions run in the background, a
// few at a time.
func (s *Simulator) Tick() {
	now := s.clock.Now()
	var due []*device
	s.mu.Lock()
	for _, d := range s.state.devices {
		if d.on && !d.next.IsZero() && !d.next.After(now) {
			d.next = time.Time{} // until its session has set it again
			due = append(due, d)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(due, func(a, b *device) int { return cmp.Compare(a.id, b.id) })
	if len(due) == 0 {
		return
	}
	s.later(func(ctx context.Context) {
		_ = loop.Each(ctx, 8, len(due), func(i int) error {
			s.inform(ctx, due[i], periodic)
			return nil
		})
	})
}

// loopbackClient reaches this machine only, so that no run of a simulator ever calls anybody else.
func loopbackClient() *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Client{
		Timeout: time.Minute,
		Transport: &http.Transport{
			IdleConnTimeout: time.Second, MaxIdleConnsPerHost: 32,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				if at, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
					_ = conn.Close()
					return nil, errNotHere
				}
				return conn, nil
			},
		},
	}
}

// errNotHere refuses an address that is not of this machine.
var errNotHere = errors.New("simulated devices reach this machine only")
