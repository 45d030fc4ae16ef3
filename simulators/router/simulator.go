package router

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// quiet drops the messages of net/http about broken connections, which the faults cause.
var quiet = log.New(io.Discard, "", 0)

// Config of a simulator; the zero value has no routers.
type Config struct {
	Routers []RouterConfig
	Addr    string // of the control surface; a free loopback port when empty
	Seed    uint64
	Clock   clock.Clock  // uptime, dates and traffic; the machine's when nil. Latencies are real time.
	Logger  *slog.Logger // silent when nil
	// CommandLimit is the time after which a command without an end is cut; 60 s when 0.
	CommandLimit time.Duration
}

// Simulator runs several routers in one process. Safe for concurrent use. Start it once and Stop it once.
type Simulator struct {
	cfg     Config
	clock   clock.Clock
	log     *slog.Logger
	routers []*Router
	byName  map[string]*Router
	menus   map[version]map[string]*menu // by release; never changed once made
	control *http.Server
	url     string
	done    chan struct{} // closed when the control surface has stopped
	halt    context.CancelFunc
}

// New makes the routers; they listen after Start. Each needs a unique name.
func New(cfg Config) (*Simulator, error) {
	s := &Simulator{
		cfg: cfg, clock: cfg.Clock, log: cfg.Logger, byName: map[string]*Router{},
		menus: map[version]map[string]*menu{}, done: make(chan struct{}),
	}
	if s.clock == nil {
		s.clock = clock.System()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.cfg.CommandLimit == 0 {
		s.cfg.CommandLimit = time.Minute
	}
	for i, rc := range cfg.Routers {
		if rc.Name == "" || s.byName[rc.Name] != nil {
			return nil, fmt.Errorf("router %d needs a name of its own, not %q", i, rc.Name)
		}
		r, err := newRouter(s, rc, cfg.Seed+uint64(i))
		if err != nil {
			return nil, err
		}
		s.routers = append(s.routers, r)
		s.byName[rc.Name] = r
	}
	return s, nil
}

// Start listens and serves until Stop. When one listener fails, all are closed.
func (s *Simulator) Start(ctx context.Context) error {
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	addr := s.cfg.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen as router control: %w", err)
	}
	s.url = "http://" + listener.Addr().String()
	run, halt := context.WithCancel(ctx)
	s.halt = halt
	for _, r := range s.routers {
		if err := r.open(run, certificate); err != nil {
			_ = listener.Close()
			s.shut()
			return err
		}
		if err := r.serveCustomers(run); err != nil {
			_ = listener.Close()
			s.shut()
			return err
		}
		s.log.Info("router simulator listens", "router", r.cfg.Name, "www", r.Addr(serviceWWW), "www_ssl",
			r.Addr(serviceWWWSSL), "api", r.Addr(serviceAPI), "api_ssl", r.Addr(serviceAPISSL))
	}
	s.control = &http.Server{Handler: s.controls(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet}
	go func() {
		defer close(s.done)
		_ = s.control.Serve(listener)
	}()
	return nil
}

// shut closes all routers and waits for their goroutines.
func (s *Simulator) shut() {
	s.halt()
	for _, r := range s.routers {
		r.close()
	}
}

// Stop closes all listeners and connections. The configurations can still be read.
func (s *Simulator) Stop(context.Context) error {
	if s.control == nil {
		return nil
	}
	err := s.control.Close()
	<-s.done
	s.shut()
	return err
}

// URL gives the base address of the control paths; empty before Start.
func (s *Simulator) URL() string { return s.url }

// Router finds a router by its name; nil when there is none.
func (s *Simulator) Router(name string) *Router { return s.byName[name] }

// Routers gives all routers in the order of Config.
func (s *Simulator) Routers() []*Router { return s.routers }

// Dial connects to a tunnel address at the port that a service of the router has, as through the tunnel. A router that
// is off, or whose firewall drops the connection, does not answer: Dial waits until ctx ends or the power comes back. A
// port without a service refuses the connection; to an address without a router there is no route.
func (s *Simulator) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	fail := func(why error) error {
		return fmt.Errorf("dial %s: %w", address, &net.OpError{Op: "dial", Net: network, Err: why})
	}
	at := slices.IndexFunc(s.routers, func(r *Router) bool {
		return r.cfg.Tunnel.IsValid() && r.cfg.Tunnel.String() == host
	})
	if at < 0 {
		return nil, fail(os.NewSyscallError("connect", syscall.EHOSTUNREACH))
	}
	for r := s.routers[at]; ; {
		service, woken := r.serviceAt(port)
		addr := r.Addr(service)
		switch verdict := r.admits(service); {
		case verdict == unheard:
		case verdict == refused || addr == "":
			return nil, fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
		default:
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return nil, fail(ctx.Err())
		}
	}
}

// selfSigned makes one certificate for all routers; it is random, also with a fixed seed.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make router key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "router"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make router certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
