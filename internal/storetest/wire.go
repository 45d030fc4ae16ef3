package storetest

import (
	"context"
	"net"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// wireBuffer is how many bytes are carried at once.
const wireBuffer = 64 << 10

// Wire is a network between a node and its clients, or a database and its own, that can swallow everything: no
// connection ends, and what was on the way arrives when it carries again, as TCP would repeat it. Safe for concurrent
// use.
type Wire struct {
	listener net.Listener
	network  string // tcp or unix
	to       string
	pipes    sync.WaitGroup

	mu      sync.Mutex
	flows   chan struct{} // closed while the wire carries
	ended   bool
	carried []net.Conn
}

// NewWire lays a wire to an address on a free loopback port. It is cut at the end of the test.
func NewWire(t pgtest.T, to string) *Wire {
	t.Helper()
	return layWire(t, "127.0.0.1:0", "tcp", to)
}

// NewNodeWire lays a wire to the address of a node that advertises another host, which is the wire's: clients that ask
// the node who serves do not pass the wire by.
func NewNodeWire(t pgtest.T, to, advertised string) *Wire {
	t.Helper()
	_, port, err := net.SplitHostPort(to)
	if err != nil {
		t.Fatalf("lay a wire: %v", err)
	}
	return layWire(t, net.JoinHostPort(advertised, port), "tcp", to)
}

// NewDatabaseWire lays a wire to the database of a pool, and gives a second pool whose connections lead through it.
func NewDatabaseWire(t pgtest.T, pool *pgxpool.Pool) (*Wire, *pgxpool.Pool) {
	t.Helper()
	config := pool.Config()
	network, address := pgconn.NetworkAddress(config.ConnConfig.Host, config.ConnConfig.Port)
	w := layWire(t, "127.0.0.1:0", network, address)
	config.ConnConfig.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", w.Addr())
	}
	through, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatalf("lay a wire to the database: %v", err)
	}
	t.Cleanup(through.Close)
	return w, through
}

// layWire lays a wire from one address to another.
func layWire(t pgtest.T, at, network, to string) *Wire {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", at)
	if err != nil {
		t.Fatalf("lay a wire: %v", err)
	}
	w := &Wire{listener: l, network: network, to: to, flows: make(chan struct{})}
	close(w.flows)
	w.pipes.Go(w.accept)
	t.Cleanup(w.end)
	return w
}

// Addr is where clients reach the node.
func (w *Wire) Addr() string { return w.listener.Addr().String() }

// Through is the address of a store with the wire's instead of the node's.
func (w *Wire) Through(url string) string { return strings.Replace(url, w.to, w.Addr(), 1) }

// Swallow stops what is carried in both directions.
func (w *Wire) Swallow() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flows = make(chan struct{})
}

// Carry ends Swallow.
func (w *Wire) Carry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.flows:
	default:
		close(w.flows)
	}
}

// end closes all connections and waits for their goroutines.
func (w *Wire) end() {
	_ = w.listener.Close()
	w.Carry()
	w.mu.Lock()
	w.ended = true
	for _, c := range w.carried {
		_ = c.Close()
	}
	w.mu.Unlock()
	w.pipes.Wait()
}

// accept takes connections until the end.
func (w *Wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.pipes.Go(func() { w.connect(client) })
	}
}

// connect carries one connection in both directions, from when the wire carries.
func (w *Wire) connect(client net.Conn) {
	w.wait()
	node, err := (&net.Dialer{}).DialContext(context.Background(), w.network, w.to)
	if err != nil {
		_ = client.Close()
		return
	}
	w.mu.Lock()
	w.carried = append(w.carried, client, node)
	ended := w.ended
	w.mu.Unlock()
	if ended {
		_, _ = client.Close(), node.Close()
		return
	}
	w.pipes.Go(func() { w.carry(client, node) })
	w.carry(node, client)
}

// carry copies from one end to the other until one of them is closed.
func (w *Wire) carry(from, to net.Conn) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, wireBuffer)
	for {
		n, err := from.Read(buffer)
		w.wait()
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// wait waits until the wire carries.
func (w *Wire) wait() {
	w.mu.Lock()
	flows := w.flows
	w.mu.Unlock()
	<-flows
}
