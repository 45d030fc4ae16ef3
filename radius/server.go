package radius

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Limits bound what one NAS can take from the others. A zero field has the usual value.
type Limits struct {
	Rate     int           // packets a second of one NAS, and as many at once after a second of rest; usually 5,000
	Tries    int           // secrets tried in searches a second, of one address that several claim; usually 1,000
	Answers  int           // answers kept for repeats, of one NAS on one socket; usually 8,192
	KeepFor  time.Duration // for which answers are kept; usually 10 s
	Pending  int           // accounting records of one NAS that wait to be durable; usually 4,096
	ReadRoom int           // octets of a socket's buffer, at most net.core.rmem_max; usually 4 MiB
}

// usual fills in the usual values.
func (l Limits) usual() Limits {
	set := func(field *int, usual int) {
		if *field <= 0 {
			*field = usual
		}
	}
	set(&l.Rate, 5000)
	set(&l.Tries, 1000)
	set(&l.Answers, 8192)
	set(&l.Pending, 4096)
	set(&l.ReadRoom, 4<<20)
	if l.KeepFor <= 0 {
		l.KeepFor = 10 * time.Second
	}
	return l
}

// Config has the parts and settings of a server. All fields are required but the last five.
type Config struct {
	AccessAddr     string // host:port of UDP, such as ":1812"
	AccountingAddr string // such as ":1813"
	Directory      Directory
	Accounting     Accounting
	Clock          clock.Clock

	Sockets int                   // for each port; 0 = one for each processor
	Limits  Limits                // zero = the usual ones
	Notices func([]Notice)        // called every 10 s and at the end, when there are any; must not block for long
	Logger  *slog.Logger          // nil = no log
	Metrics prometheus.Registerer // nil = not shown
}

// Server answers routers. Safe for concurrent use.
type Server struct {
	access, accounting string
	directory          Directory
	sink               Accounting
	clock              clock.Clock
	logger             *slog.Logger
	limits             Limits
	perPort            int
	counters           [2]*counters           // by port
	dropped            *prometheus.CounterVec // by port
	notices            *notices
	signers            sync.Pool // *signer, for answers outside of the loops
	loops              *loop.Group
	known              atomic.Pointer[table]
	change             sync.Mutex // one SetNAS at a time
	sockets            []*socket  // after Start
}

// New makes a server without routers that is not started. It fails when the metrics are registered already.
func New(cfg Config) (*Server, error) {
	logger := cfg.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	access, accounting, err := newCounters(cfg.Metrics)
	if err != nil {
		return nil, err
	}
	dropped, err := newDropped(cfg.Metrics)
	if err != nil {
		return nil, err
	}
	s := &Server{
		dropped: dropped,
		access:  cfg.AccessAddr, accounting: cfg.AccountingAddr, directory: cfg.Directory, sink: cfg.Accounting,
		clock: cfg.Clock, logger: logger, limits: cfg.Limits.usual(), perPort: cfg.Sockets,
		counters: [2]*counters{accessPort: access, accountingPort: accounting},
		notices:  newNotices(logger, cfg.Notices), loops: loop.New(logger),
	}
	if s.perPort <= 0 {
		s.perPort = runtime.GOMAXPROCS(0)
	}
	s.signers.New = func() any { return newSigner() }
	s.known.Store(&table{})
	return s, nil
}

// SetNAS replaces all routers. Limits and kept answers of those that stay go on. It may be called at any time.
func (s *Server) SetNAS(list []*NAS) {
	s.change.Lock()
	defer s.change.Unlock()
	s.known.Store(newTable(list, s.known.Load()))
}

// Start opens the sockets. It fails when an address cannot be taken.
func (s *Server) Start(ctx context.Context) error {
	return s.loops.Start(ctx, func(ctx context.Context) error {
		for _, p := range []port{accessPort, accountingPort} {
			if err := s.open(ctx, p); err != nil {
				s.closeSockets()
				return err
			}
		}
		s.tellRoom(ctx)
		for i, socket := range s.sockets {
			s.loops.Go(fmt.Sprintf("radius %s %d", socket.port, i), socket.run)
		}
		s.loops.Go("radius notices", s.reports)
		return nil
	})
}

// open opens the sockets of one port. A port 0 is the one that the first socket gets.
func (s *Server) open(ctx context.Context, p port) error {
	address := s.access
	if p == accountingPort {
		address = s.accounting
	}
	conn, err := listen(ctx, address, s.limits.ReadRoom)
	for first, n := conn, 0; err == nil; n++ {
		s.sockets = append(s.sockets, &socket{
			server: s, port: p, conn: conn, replies: newReplies(s.limits.KeepFor, s.limits.Answers),
		})
		if n+1 == s.perPort {
			return nil
		}
		conn, err = join(ctx, first, s.limits.ReadRoom)
	}
	return fmt.Errorf("listen for radius %s: %w", p, err)
}

// reports reports notices and lost packets every 10 s, and once more at the end.
func (s *Server) reports(ctx context.Context) {
	for loop.Sleep(ctx, reportInterval) {
		s.notices.report(ctx)
		s.countLost(ctx)
	}
}

// Stop closes the sockets and reports the last notices. Records that are acknowledged later get no answer.
func (s *Server) Stop() {
	s.loops.Stop()
	s.closeSockets()
	s.notices.report(context.Background())
}

// closeSockets closes what open opened; it may be called twice.
func (s *Server) closeSockets() {
	for _, socket := range s.sockets {
		_ = socket.conn.Close()
	}
}

// AccessAddr is the address of the access port after Start.
func (s *Server) AccessAddr() netip.AddrPort { return s.addrOf(accessPort) }

// AccountingAddr is the address of the accounting port after Start.
func (s *Server) AccountingAddr() netip.AddrPort { return s.addrOf(accountingPort) }

// addrOf is the address of the first socket of a port, invalid before Start.
func (s *Server) addrOf(p port) netip.AddrPort {
	for _, socket := range s.sockets {
		if socket.port == p {
			return socket.conn.LocalAddr().(*net.UDPAddr).AddrPort()
		}
	}
	return netip.AddrPort{}
}
