package embedded_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// swallower is a network between a node and its database that can swallow everything: connections stand, and no byte
// arrives.
type swallower struct {
	listener net.Listener
	network  string
	address  string
	pipes    sync.WaitGroup

	mu       sync.Mutex
	lost     chan struct{} // closed while bytes are swallowed
	healed   chan struct{} // closed when they are not any more; the connections until then end
	swallows bool
}

// newSwallower starts a network that passes everything on.
func newSwallower(t testing.TB) *swallower {
	t.Helper()
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	s := &swallower{lost: make(chan struct{}), healed: make(chan struct{})}
	s.network, s.address = pgconn.NetworkAddress(config.ConnConfig.Host, config.ConnConfig.Port)
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.pipes.Go(func() {
		for {
			c, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.pipes.Go(func() { s.carry(c) })
		}
	})
	t.Cleanup(func() { _ = s.listener.Close(); s.heal(); s.pipes.Wait() })
	return s
}

// pool is one whose connections lead through the network.
func (s *swallower) pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s.listener.Addr().String())
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// swallow begins to lose every byte.
func (s *swallower) swallow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swallows = true
	close(s.lost)
}

// heal lets new connections pass. What was sent on older ones is lost.
func (s *swallower) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swallows {
		s.swallows = false
		close(s.healed)
		s.lost, s.healed = make(chan struct{}), make(chan struct{})
	}
}

// carry copies the bytes of one connection in both directions.
func (s *swallower) carry(client net.Conn) {
	s.mu.Lock()
	lost, healed := s.lost, s.healed
	s.mu.Unlock()
	server, err := net.Dial(s.network, s.address)
	if err != nil {
		_ = client.Close()
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			pass(way[0], way[1], lost)
			select {
			case <-lost: // nobody hears of the end either
				<-healed
			default:
			}
			_, _ = client.Close(), server.Close()
		})
	}
	both.Wait()
}

// pass copies bytes in one direction until they are lost.
func pass(from, to net.Conn, lost <-chan struct{}) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		select {
		case <-lost:
			return
		default:
		}
		if n > 0 {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// dialled fails when nobody listens at an address.
func dialled(addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err == nil {
		_ = conn.Close()
	}
	return err
}
