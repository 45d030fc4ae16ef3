package routeros

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	client "github.com/go-routeros/routeros/v3"
)

// api speaks the API protocol to one device. Each connection carries one call at a time, because the client is not safe
// for more. The client's contexts do not interrupt a read, so deadlines are set on the connection.
type api struct {
	l       *link
	address string
	secure  bool

	mu     sync.Mutex
	idle   []*session
	closed bool
}

// session is a connection with a user logged in.
type session struct {
	conn   *limited
	client *client.Client
	expiry *time.Timer // closes the connection after Config.Idle without a call
	used   bool        // carried a call before
}

// newAPI makes the API protocol of a place; nothing is dialled yet.
func newAPI(l *link, p place) *api {
	return &api{l: l, address: netip.AddrPortFrom(l.target.Address, p.port).String(), secure: p.secure}
}

// close drops idle connections; those in use close at the end of their call.
func (a *api) close() {
	a.mu.Lock()
	idle := a.idle
	a.idle, a.closed = nil, true
	a.mu.Unlock()
	for _, s := range idle {
		s.expiry.Stop()
		_ = s.client.Close()
	}
}

// do makes one exchange. A read over a kept connection that turns out to be dead is repeated over a new one; a write
// never is.
func (a *api) do(ctx context.Context, r request) ([]Item, error) {
	s, err := a.take(ctx, r.writes())
	if err != nil {
		return nil, err
	}
	again := s.used && !r.writes()
	items, err := a.run(ctx, s, r)
	var broken *Lost
	if again && errors.As(err, &broken) && ctx.Err() == nil {
		if s, err = a.open(ctx); err != nil {
			return nil, err
		}
		items, err = a.run(ctx, s, r)
	}
	return items, err
}

// run sends a request over a connection, then keeps the connection for the next call, or closes it after an error.
func (a *api) run(ctx context.Context, s *session, r request) ([]Item, error) {
	stop := s.bound(ctx)
	out, err := s.client.RunArgs(words(r))
	whole := stop()
	var device *client.DeviceError
	refusal := errors.As(err, &device)
	if !whole || err != nil && !refusal || refusal && device.Sentence.Word == "!fatal" {
		_ = s.client.Close()
	} else {
		a.keep(s)
	}
	switch {
	case refusal:
		return nil, &Refusal{
			Category: device.Sentence.Map["category"], Message: printable(device.Sentence.Map["message"]),
		}
	case err != nil:
		return nil, lost(true, cause(ctx, err))
	}
	items := make([]Item, 0, len(out.Re))
	for _, sentence := range out.Re {
		item := make(Item, len(sentence.List))
		for _, pair := range sentence.List {
			item[pair.Key] = printable(pair.Value)
		}
		items = append(items, item)
	}
	if ret, ok := out.Done.Map["ret"]; ok {
		name := "ret"
		if r.command == "add" {
			name = ".id"
		}
		items = append(items, Item{name: ret})
	}
	return items, nil
}

// words makes the sentence of a request: command, id, properties, then queries, sorted by name.
func words(r request) []string {
	out := []string{"/" + r.menu + "/" + r.command}
	if r.id != "" {
		out = append(out, "=.id="+r.id)
	}
	if r.props != nil {
		out = append(out, "=.proplist="+strings.Join(r.props, ","))
	}
	for _, name := range slices.Sorted(maps.Keys(r.args)) {
		out = append(out, "="+name+"="+r.args[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.where)) {
		out = append(out, "?"+name+"="+r.where[name])
	}
	return out
}

// take gives an idle connection, or a new one. Before a write an idle connection is tested, because a write cannot be
// repeated.
func (a *api) take(ctx context.Context, test bool) (*session, error) {
	for {
		a.mu.Lock()
		n := len(a.idle)
		if n == 0 {
			a.mu.Unlock()
			return a.open(ctx)
		}
		s := a.idle[n-1]
		a.idle = a.idle[:n-1]
		a.mu.Unlock()
		if s.expiry.Stop() && (!test || s.conn.alive()) {
			return s, nil
		}
		_ = s.client.Close()
	}
}

// keep stores a connection for the next call and starts its idle time.
func (a *api) keep(s *session) {
	s.used = true
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		_ = s.client.Close()
		return
	}
	s.expiry = time.AfterFunc(a.l.g.cfg.Idle, func() { a.expire(s) })
	a.idle = append(a.idle, s)
}

// expire closes a connection whose idle time is over, unless a call took it.
func (a *api) expire(s *session) {
	a.mu.Lock()
	at := slices.Index(a.idle, s)
	if at >= 0 {
		a.idle = slices.Delete(a.idle, at, at+1)
	}
	a.mu.Unlock()
	if at >= 0 {
		_ = s.client.Close()
	}
}

// open connects and logs in. A refused connection means that the device does not speak this protocol.
func (a *api) open(ctx context.Context) (*session, error) {
	conn, err := a.l.g.dial(ctx, "tcp", a.address)
	if err != nil {
		var op *net.OpError
		switch {
		case errors.Is(err, errForbidden):
			return nil, err
		case errors.As(err, &op) && (errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(err.Error(), "refused")):
			return nil, fmt.Errorf("%w: %w", errClosed, err)
		}
		return nil, lost(false, err)
	}
	raw := &limited{Conn: conn}
	if a.secure {
		secure := tls.Client(conn, acceptAny())
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, lost(false, fmt.Errorf("shake hands: %w", err))
		}
		raw = &limited{Conn: secure, raw: conn}
	}
	c, err := client.NewClient(raw)
	if err != nil {
		_ = raw.Close()
		return nil, lost(false, err)
	}
	c.SetLogHandler(slog.DiscardHandler) // it would log passwords to the standard output
	s := &session{conn: raw, client: c}
	stop := s.bound(ctx)
	err = c.Login(a.l.target.Credentials.User, a.l.target.Credentials.Password)
	stop()
	var device *client.DeviceError
	switch {
	case err == nil:
		return s, nil
	case errors.As(err, &device):
		_ = c.Close()
		return nil, &Refusal{
			Category: device.Sentence.Map["category"], Message: printable(device.Sentence.Map["message"]),
		}
	}
	_ = c.Close()
	return nil, lost(false, fmt.Errorf("log in: %w", cause(ctx, err)))
}

// bound lets the context interrupt the connection. Its result ends that, and reports whether the connection
// was not interrupted.
func (s *session) bound(ctx context.Context) (stop func() bool) {
	s.conn.begin()
	done := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(done)
		_ = s.conn.SetDeadline(longAgo)
	})
	return func() bool {
		if release() {
			return true
		}
		<-done
		return false
	}
}

// longAgo is a deadline in the past: it interrupts reads and writes at once.
var longAgo = time.Unix(1, 0)

// cause puts the context's error first, when the context has ended.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}
