package handset

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

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
	return &exchange{agenda: n.agenda, tries: n.cfg.Tries, lose: n.losesReply}
}

// servers gives the servers to ask, in order. It must be called without locks.
func (n *NAS) servers(service, server string) []Server {
	if n.cfg.Servers == nil {
		return []Server{{Access: n.cfg.Server, Accounting: n.cfg.Accounting, Secret: n.cfg.Secret}}
	}
	return n.cfg.Servers(service, server)
}

// callTo makes a request to one port of a server.
func (n *NAS) callTo(to netip.AddrPort, at Server, build func(byte) ([]byte, error)) *call {
	return &call{
		to: to, timeout: cmp.Or(at.Timeout, n.cfg.Timeout), build: build,
		genuine: func(answer, request []byte) bool {
			return genuine(answer, request, at.Secret, !n.cfg.Legacy && !at.Unsigned)
		},
	}
}

// Start opens the sockets.
func (n *NAS) Start(ctx context.Context) error {
	return n.loops.Start(ctx, func(context.Context) error {
		if err := n.access.open(n.cfg.Local, n.cfg.Sockets); err != nil {
			return err
		}
		if err := n.books.open(n.cfg.Local, n.cfg.Sockets); err != nil {
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
