package handset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Config of a NAS. Server and Secret are required.
type Config struct {
	Name       string         // NAS-Identifier; "handset" when empty
	Server     netip.AddrPort // of the RADIUS server, for access
	Accounting netip.AddrPort // when zero, the server's address and the port after its own
	Secret     []byte
	Local      netip.Addr // from which requests go; 127.0.0.1 when zero
	Address    netip.Addr // NAS-IP-Address; Local when zero
	CoAPort    uint16     // at Local, for requests to change and to disconnect; a free one when 0
	// Legacy is RouterOS before 7.15, which sends no Message-Authenticator and demands none. Newer ones take an answer
	// only when it begins with a valid one.
	Legacy bool
	// Pools are the addresses for sessions without one of their own, by the name in Framed-Pool; "" is the profile's
	// own pool. A session for a pool that is not there ends at once. When nil, every pool is there and has
	// 100.64.0.0/10.
	Pools   map[string]netip.Prefix
	Interim time.Duration // between reports where the answer has no Acct-Interim-Interval; 0 = none
	Timeout time.Duration // until a request is repeated; 3 s when 0
	Tries   int           // how often a request is sent at most; 3 when 0
	Sockets int           // to each port of the server, with 256 requests each on their way; 4 when 0
	Boots   uint32        // restarts so far, which Acct-Session-Id has modulo 16
	Seed    uint64        // challenges, MACs and faults follow from it
	Clock   clock.Clock   // the machine's when nil
	Logger  *slog.Logger  // silent when nil

	// Started and Ended are told of sessions, from any goroutine, and must not block. nil = nobody.
	Started func(Session)
	Ended   func(Session, Cause)
}

// filled gives the defaults, or the reason why there can be no such NAS.
func (c Config) filled() (Config, error) {
	if !c.Server.IsValid() || len(c.Secret) == 0 {
		return c, errors.New("a NAS needs a RADIUS server and a secret")
	}
	if !c.Accounting.IsValid() {
		c.Accounting = netip.AddrPortFrom(c.Server.Addr(), c.Server.Port()+1)
	}
	if !c.Local.IsValid() {
		c.Local = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	if !c.Address.IsValid() {
		c.Address = c.Local
	}
	if !c.Address.Is4() {
		return c, fmt.Errorf("NAS-IP-Address %s is no IPv4 address", c.Address)
	}
	c.Name, c.Timeout, c.Tries = cmp.Or(c.Name, "handset"), cmp.Or(c.Timeout, 3*time.Second), cmp.Or(c.Tries, 3)
	c.Sockets = cmp.Or(c.Sockets, 4)
	if c.Clock == nil {
		c.Clock = clock.System()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// NAS is a router with customers behind it. Safe for concurrent use. Start it once and Stop it once.
type NAS struct {
	cfg    Config
	clock  clock.Clock
	loops  *loop.Group
	agenda *agenda
	access *exchange
	books  *exchange // accounting
	coa    *net.UDPConn
	done   chan struct{} // closed by Stop

	mu       sync.Mutex
	after    []func() // work that unlock does without the lock
	sessions map[string]*session
	pools    pools
	chance   *rand.ChaCha8
	counter  uint32 // sessions since the last restart
	boots    uint32
	draws    uint64 // answers that a fault may lose
	faults   Faults
	stats    tally
	replies  replies
	pending  int           // sign-ins and reports under way
	idle     chan struct{} // closed when pending falls to 0
}

// New makes a NAS without sessions.
func New(cfg Config) (*NAS, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	seed := fnv.New64a()
	_, _ = fmt.Fprint(seed, cfg.Seed, cfg.Name)
	var key [32]byte
	copy(key[:], seed.Sum(nil))
	n := &NAS{
		cfg: cfg, clock: cfg.Clock, loops: loop.New(cfg.Logger), agenda: newAgenda(cfg.Clock),
		done: make(chan struct{}), sessions: map[string]*session{}, pools: newPools(cfg.Pools),
		chance: rand.NewChaCha8(key), boots: cfg.Boots, idle: make(chan struct{}),
	}
	n.access, n.books = n.exchange(), n.exchange()
	return n, nil
}

// exchange makes an exchange that is not open yet.
func (n *NAS) exchange() *exchange {
	return &exchange{
		agenda: n.agenda, timeout: n.cfg.Timeout, tries: n.cfg.Tries, lose: n.losesReply,
		genuine: func(answer, request []byte) bool { return genuine(answer, request, n.cfg.Secret, !n.cfg.Legacy) },
	}
}

// Start opens the sockets.
func (n *NAS) Start(ctx context.Context) error {
	return n.loops.Start(ctx, func(context.Context) error {
		if err := n.access.open(n.cfg.Local, n.cfg.Server, n.cfg.Sockets); err != nil {
			return err
		}
		if err := n.books.open(n.cfg.Local, n.cfg.Accounting, n.cfg.Sockets); err != nil {
			n.access.close()
			return err
		}
		var err error
		n.coa, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(n.cfg.Local, n.cfg.CoAPort)))
		if err != nil {
			n.access.close()
			n.books.close()
			return fmt.Errorf("listen for changes of sessions: %w", err)
		}
		for _, x := range []*exchange{n.access, n.books} {
			for _, l := range x.lanes {
				n.loops.Go("answers", func(ctx context.Context) { x.read(ctx, l) })
			}
		}
		n.loops.Go("changes", n.listen)
		n.loops.Go("agenda", n.agenda.run)
		return nil
	})
}

// Stop closes the sockets. Sessions are dropped without a word to the server: SignOutAll comes before.
func (n *NAS) Stop() {
	n.lock()
	select {
	case <-n.done:
	default:
		close(n.done)
	}
	n.unlock()
	n.access.close()
	n.books.close()
	if n.coa != nil {
		_ = n.coa.Close()
	}
	n.loops.Stop()
}

// CoAAddr is where the NAS takes requests to change and to end sessions; zero before Start.
func (n *NAS) CoAAddr() netip.AddrPort {
	if n.coa == nil {
		return netip.AddrPort{}
	}
	return n.coa.LocalAddr().(*net.UDPAddr).AddrPort()
}

// lock must be followed by unlock.
func (n *NAS) lock() { n.mu.Lock() }

// unlock ends the lock and then does what was put off until then.
func (n *NAS) unlock() {
	work := n.after
	n.after = nil
	n.mu.Unlock()
	for _, do := range work {
		do()
	}
}

// later puts work off until unlock; the lock is held.
func (n *NAS) later(do func()) { n.after = append(n.after, do) }

// random gives octets that follow from the seed and the order of calls.
func (n *NAS) random(size int) []byte {
	out := make([]byte, size)
	n.lock()
	defer n.unlock()
	_, _ = n.chance.Read(out) // never fails
	return out
}

// finished ends pieces of work that Idle waits for; the lock is held.
func (n *NAS) finished(count int) {
	if n.pending -= count; count > 0 && n.pending == 0 {
		close(n.idle)
		n.idle = make(chan struct{})
	}
}

// Idle waits until no sign-in and no report is under way; it fails with ctx's error.
func (n *NAS) Idle(ctx context.Context) error {
	for {
		n.lock()
		pending, idle := n.pending, n.idle
		n.unlock()
		if pending == 0 {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d requests: %w", pending, ctx.Err())
		}
	}
}

// Sessions gives the sessions that are online, in the order of their ids.
func (n *NAS) Sessions() []Session {
	n.lock()
	defer n.unlock()
	now := n.clock.Now()
	list := make([]Session, 0, len(n.sessions))
	for _, s := range n.sessions {
		list = append(list, s.show(now))
	}
	slices.SortFunc(list, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Session finds a session that is online.
func (n *NAS) Session(id string) (Session, bool) {
	n.lock()
	defer n.unlock()
	s, ok := n.sessions[id]
	if !ok {
		return Session{}, false
	}
	return s.show(n.clock.Now()), true
}
