package networkcases_test

import (
	"context"
	"net"
	"strings"
	"sync"

	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// wire is the way to a router. It keeps what went through it and loses requests: the platform has sent them, and the
// router never gets them. Safe for concurrent use; the zero value loses nothing.
type wire struct {
	mu    sync.Mutex
	story []string // "dial", and the first line of each request, in order
	lose  []string // each loses the next request that begins with it
	seen  func(request string)
}

// losing makes the next request with this beginning get lost.
func (w *wire) losing(beginning string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lose = append(w.lose, beginning)
}

// watch calls seen with the first line of each request before it is sent, and forgets the story so far.
func (w *wire) watch(seen func(request string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.story = seen, nil
}

// told gives the story.
func (w *wire) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.story...)
}

// takes notes a request and reports whether it gets through.
func (w *wire) takes(request string) bool {
	line, _, _ := strings.Cut(request, " HTTP/1.1\r\n")
	w.mu.Lock()
	seen := w.seen
	w.story = append(w.story, line)
	through := true
	for i, beginning := range w.lose {
		if strings.HasPrefix(line, beginning) {
			w.lose, through = append(w.lose[:i:i], w.lose[i+1:]...), false
			break
		}
	}
	w.mu.Unlock()
	if seen != nil {
		seen(line)
	}
	return through
}

// dialer dials the routers of a simulator over the wire.
func (w *wire) dialer(sim *router.Simulator) routeros.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := sim.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		w.takes("dial")
		return &wired{Conn: conn, wire: w}, nil
	}
}

// wired is one connection over a wire.
type wired struct {
	net.Conn
	wire *wire
}

// Write sends a request, or loses it and ends the connection.
func (c *wired) Write(b []byte) (int, error) {
	if !c.wire.takes(string(b)) {
		_ = c.Close()
		return len(b), nil
	}
	return c.Conn.Write(b)
}
