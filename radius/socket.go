package radius

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// port is one of the two services of the protocol.
type port uint8

// The ports.
const (
	accessPort port = iota
	accountingPort
)

// String is the word for metrics and logs.
func (p port) String() string { return [...]string{"access", "accounting"}[p] }

// socket is one of several sockets on a port. The operating system spreads clients over them by source address and
// port.
type socket struct {
	server  *Server
	port    port
	conn    *net.UDPConn
	replies *replies
	lost    uint32 // packets that the operating system had dropped when countLost looked
}

// listen opens the first socket of a port, which nobody else may have, and lets further sockets share it by join. The
// buffers are as large as asked where the operating system allows it.
func listen(ctx context.Context, address string, room int) (*net.UDPConn, error) {
	conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	udp := conn.(*net.UDPConn)
	raw, err := udp.SyscallConn()
	if err == nil {
		err = share("", "", raw) // after the bind, so that another program's sockets are in the way
	}
	if err != nil {
		_ = udp.Close()
		return nil, err
	}
	return roomy(udp, room), nil
}

// join opens a further socket at the address of one that listen opened. The operating system spreads clients over them.
func join(ctx context.Context, first *net.UDPConn, room int) (*net.UDPConn, error) {
	conn, err := (&net.ListenConfig{Control: share}).ListenPacket(ctx, "udp", first.LocalAddr().String())
	if err != nil {
		return nil, err
	}
	return roomy(conn.(*net.UDPConn), room), nil
}

// share allows further sockets of this user at the address of a socket.
func share(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	if err != nil {
		return err
	}
	return failed
}

// run reads and answers packets, one after the other, until ctx ends.
func (s *socket) run(ctx context.Context) {
	end := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer end()
	w, pause := newWorker(s), loop.Backoff{Min: time.Millisecond, Max: time.Second}
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(w.in[:])
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.server.logger.WarnContext(ctx, "radius socket failed", "port", s.port.String(), "error", err)
			if !pause.Wait(ctx) {
				return
			}
		default:
			pause.Reset()
			w.packet(w.in[:n], from)
		}
	}
}

// send sends an answer and returns the result that counts.
func (s *socket) send(answer []byte, to netip.AddrPort, result Result) Result {
	if _, err := s.conn.WriteToUDPAddrPort(answer, to); err != nil {
		return SendFailed
	}
	return result
}

// count shows a result in the metrics of the port.
func (s *socket) count(r Result) { s.server.counters[s.port][r].Inc() }
