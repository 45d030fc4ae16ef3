package radius

import (
	"context"
	"fmt"
	"net"
	"unsafe"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"
)

// roomy asks for large buffers, above the limit of the operating system where the program may go beyond it. Smaller
// ones work too, but a burst that they do not hold is lost: tellRoom warns of them.
func roomy(conn *net.UDPConn, room int) *net.UDPConn {
	forced := control(conn, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, room)
	})
	if forced != nil {
		_ = conn.SetReadBuffer(room)
	}
	_ = conn.SetWriteBuffer(room)
	return conn
}

// roomOf is the octets of a socket's buffer for what comes, in the unit of roomy; 0 = it cannot be read.
func roomOf(conn *net.UDPConn) (room int) {
	_ = control(conn, func(fd int) (err error) {
		room, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
		return err
	})
	return room / 2 // Linux shows twice what was asked for
}

// lostBy is how many packets the operating system has dropped because a socket's buffer was full. It begins at 0 again
// after 2^32. ok is false when the system does not tell.
func lostBy(conn *net.UDPConn) (lost uint32, ok bool) {
	var info [9]uint32 // SK_MEMINFO_VARS of Linux; the last one is the drops
	size := uint32(unsafe.Sizeof(info))
	err := control(conn, func(fd int) error {
		_, _, failed := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0) //nolint:gosec // the system fills it
		if failed != 0 {
			return failed
		}
		return nil
	})
	return info[8], err == nil && size >= uint32(unsafe.Sizeof(info))
}

// control calls do with the descriptor of a socket.
func control(conn *net.UDPConn, do func(fd int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = do(int(fd)) }) //nolint:gosec // descriptors are small
	if err != nil {
		return err
	}
	return failed
}

// newDropped registers the counters of lost packets of both ports at to; nil = they are kept, but not shown.
func newDropped(to prometheus.Registerer) (*prometheus.CounterVec, error) {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "lastmile", Subsystem: "radius", Name: "dropped_total",
		Help: "Packets of RADIUS clients that the operating system dropped because the buffer of a socket was full.",
	}, []string{"port"})
	for _, p := range []port{accessPort, accountingPort} {
		all.WithLabelValues(p.String())
	}
	if to != nil {
		if err := to.Register(all); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return all, nil
}

// tellRoom warns once of buffers that are smaller than was asked for.
func (s *Server) tellRoom(ctx context.Context) {
	for _, socket := range s.sockets {
		if got := roomOf(socket.conn); got > 0 && got < s.limits.ReadRoom {
			s.logger.WarnContext(ctx, "radius sockets have little room, and a burst of packets can be lost",
				"octets", got, "wanted", s.limits.ReadRoom,
				"do", fmt.Sprintf("sysctl -w net.core.rmem_max=%d and start again", s.limits.ReadRoom))
			return
		}
	}
}

// countLost adds what the operating system has dropped since the last time to the metrics, and warns of it. One
// goroutine at a time calls it.
func (s *Server) countLost(ctx context.Context) {
	more := map[port]uint32{}
	for _, socket := range s.sockets {
		if now, ok := lostBy(socket.conn); ok {
			more[socket.port] += now - socket.lost
			socket.lost = now
		}
	}
	for p, n := range more {
		if n > 0 {
			s.dropped.WithLabelValues(p.String()).Add(float64(n))
			s.logger.WarnContext(ctx, "packets were lost before they could be read", "port", p.String(), "count", n)
		}
	}
}
