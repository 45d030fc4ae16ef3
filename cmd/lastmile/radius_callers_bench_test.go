package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // RADIUS demands it
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
)

// caller is a router with one request on its way. Not safe for concurrent use.
type caller struct {
	to     netip.AddrPort
	conn   *net.UDPConn // nil before the first request
	number int
	turn   int // requests so far
	mac    hash.Hash
	in     [4096]byte
	sum    [4096]byte
}

// errUnverified is an answer that the server has not made for this request with the secret.
var errUnverified = errors.New("the answer is not genuine")

// callers load a server, in the same way whichever server it is.
type callers []*caller

// newCallers makes callers without sockets.
func newCallers(b *testing.B, to netip.AddrPort, size int) callers {
	b.Helper()
	out := make(callers, size)
	for n := range out {
		it := &caller{to: to, number: n, mac: hmac.New(md5.New, []byte(townSecret))}
		b.Cleanup(it.close)
		out[n] = it
	}
	return out
}

// portTurns is how many requests a caller sends from one port. Then it takes another one, because a server keeps
// answers for the case that a port repeats a request.
const portTurns = 512

// open takes a new port, at the address of the caller's router.
func (it *caller) open() error {
	it.close()
	conn, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(townRouter(it.number), 0)),
		net.UDPAddrFromAddrPort(it.to))
	if err != nil {
		return err
	}
	it.conn = conn
	return nil
}

// close gives the port back.
func (it *caller) close() {
	if it.conn != nil {
		_ = it.conn.Close()
	}
}

// next gives the request of a caller, the code of the right answer, and octets that the answer must contain.
type next func(*caller) (request []byte, code byte, proof []byte)

// rate is the number of verified answers a second.
func (c callers) rate(b *testing.B, next next) float64 {
	b.Helper()
	return benchtest.Rate(b, len(c), func(_ context.Context, caller int) error { return c[caller].send(next) })
}

// A caller repeats a request that stays without an answer, as routers do.
const (
	repeatAfter = time.Second
	mostTries   = 8
)

// send sends the next request of a caller and waits for the answer.
func (it *caller) send(next next) error {
	if it.turn%portTurns == 0 {
		if err := it.open(); err != nil {
			return err
		}
	}
	request, code, proof := next(it)
	it.turn++
	return it.ask(request, code, proof)
}

// ask sends a request and verifies the answer.
func (it *caller) ask(request []byte, code byte, proof []byte) error {
	var n int
	err := os.ErrDeadlineExceeded
	for try := 0; try < mostTries && errors.Is(err, os.ErrDeadlineExceeded); try++ {
		if _, err = it.conn.Write(request); err != nil {
			return err
		}
		if err = it.conn.SetReadDeadline(time.Now().Add(repeatAfter)); err != nil {
			return err
		}
		n, err = it.conn.Read(it.in[:])
	}
	if err != nil {
		return err
	}
	answer := it.in[:n]
	switch {
	case n < 20 || answer[1] != request[1] || int(binary.BigEndian.Uint16(answer[2:])) != n:
		return errUnverified
	case answer[0] != code:
		return fmt.Errorf("answered with code %d: %q", answer[0], answer[20:])
	case !bytes.Contains(answer, proof):
		return errUnverified
	}
	return it.verify(request, answer)
}

// verify checks the authenticator of an answer, and its Message-Authenticator where it begins with one.
func (it *caller) verify(request, answer []byte) error {
	n := copy(it.sum[:], answer)
	copy(it.sum[4:20], request[4:20])
	copy(it.sum[n:], townSecret)
	if md5.Sum(it.sum[:n+len(townSecret)]) != [md5.Size]byte(answer[4:20]) { //nolint:gosec // RADIUS demands it
		return errUnverified
	}
	if n < 38 || answer[20] != 80 {
		return nil
	}
	clear(it.sum[22:38])
	it.mac.Reset()
	it.mac.Write(it.sum[:n])
	if !bytes.Equal(it.mac.Sum(it.sum[n:n]), answer[22:38]) {
		return errUnverified
	}
	return nil
}
