package radius

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2759"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The size of the benchmarks of signing in.
const (
	benchUsers   = 50_000
	benchCallers = 64 // requests on their way at the same time
)

// town is a directory of many subscribers in one map, which all have a password of their own.
type town struct{ subscribers map[string]*Credential }

// newTown makes the subscribers of a town, each with what an accept carries.
func newTown(b *testing.B) *town {
	b.Helper()
	out := &town{make(map[string]*Credential, benchUsers)}
	for i := range benchUsers {
		name, password := benchUser(i)
		hash, err := NTHash(password)
		if err != nil {
			b.Fatal(err)
		}
		prepared := Attributes{}.MikroTik(8, "5M/10M 8M/16M 4M/8M 10/10 8").Number(85, 300).Text(88, "homes").
			Octets(25, []byte("0123456789abcdef"))
		out.subscribers[name] = &Credential{Password: []byte(password), NTHash: hash, Subject: prepared}
	}
	return out
}

// benchUser is the name and the password of a subscriber by number.
func benchUser(i int) (name, password string) {
	return fmt.Sprintf("subscriber-%05d", i), fmt.Sprintf("password %05d", i)
}

// Find implements Directory.
func (d *town) Find(_ *NAS, r *Request) *Credential { return d.subscribers[string(r.UserName)] }

// Decide implements Directory.
func (d *town) Decide(q Question, reply *Reply) {
	if q.Outcome == Verified {
		reply.Accept(q.Credential.Subject.(Attributes))
		reply.Add(27, 86400)
		reply.EncryptionKeys()
	}
}

// Take implements Accounting.
func (d *town) Take(r *Record) { r.Acknowledge() }

// benchProofs add the attributes of one method to a request, by name of the benchmark.
var benchProofs = []struct {
	name string
	aim  float64
	add  func(p *radius.Packet, name, password string) (Attributes, error)
}{
	{"PAP", 0.7, func(p *radius.Packet, _, password string) (Attributes, error) {
		value, err := radius.NewUserPassword([]byte(password), p.Secret, p.Authenticator[:])
		return Attributes{}.Octets(2, value), err
	}},
	{"CHAP", 0.7, func(p *radius.Packet, _, password string) (Attributes, error) {
		sum := md5.Sum([]byte("\x05" + password + string(p.Authenticator[:])))
		return Attributes{}.Octets(60, p.Authenticator[:]).Octets(3, append([]byte{5}, sum[:]...)), nil
	}},
	{"MSCHAPv2", 0.4, func(p *radius.Packet, name, password string) (Attributes, error) {
		response, peer := make([]byte, msResponseSize), []byte("challenge of CPE")
		copy(response[peerChallengeAt:], peer)
		answer, err := rfc2759.GenerateNTResponse(p.Authenticator[:], peer, []byte(name), []byte(password))
		copy(response[ntResponseAt:], answer)
		return Attributes{}.Vendor(VendorMicrosoft, msCHAPChallenge, p.Authenticator[:]).
			Vendor(VendorMicrosoft, msCHAP2Response, response), err
	}},
}

// BenchmarkSignIn measures authentications per second with requests as routers send them, signed in both directions,
// and compares them with an echo of the same packets through sockets and loops of the same kind.
func BenchmarkSignIn(b *testing.B) {
	directory := newTown(b)
	nas := &NAS{
		ID: id.New[id.Device](), Org: id.New[id.Organization](), Secret: []byte("xyzzy5461"),
		Own: []netip.Addr{netip.MustParseAddr("127.0.0.1")},
	}
	server, err := New(Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: directory, Accounting: directory,
		Clock: clock.System(), Limits: Limits{Rate: 1e9},
	})
	if err != nil {
		b.Fatal(err)
	}
	server.SetNAS([]*NAS{nas})
	if err := server.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	mirror := echo(b)
	for _, proof := range benchProofs {
		b.Run(proof.name, func(b *testing.B) {
			requests := make([][]byte, benchUsers)
			for i := range requests {
				name, password := benchUser(i)
				p := radius.New(radius.CodeAccessRequest, nas.Secret)
				list, err := proof.add(p, name, password)
				if err != nil {
					b.Fatal(err)
				}
				requests[i] = benchRequest(b, server, p, append(list, Attributes{}.Text(1, name)...))
			}
			ours, theirs := newCrowd(b, server.AccessAddr(), requests), newCrowd(b, mirror, requests)
			for b.Loop() {
				benchtest.Compare(b, "auths/s", proof.aim,
					func() float64 { return ours.rate(b, byte(radius.CodeAccessAccept)) },
					func() float64 { return theirs.rate(b, byte(radius.CodeAccessRequest)) })
			}
		})
	}
}

// benchRequest completes a request of PPPoE and signs it.
func benchRequest(b *testing.B, server *Server, p *radius.Packet, list Attributes) []byte {
	b.Helper()
	list = list.Number(6, 2).Number(7, 1).Number(5, 0x81a00012).Number(61, 15).Text(31, "A4:17:31:41:CB:B6").
		Text(30, "home").Text(87, "ether2").Text(44, "81a00012").Text(32, "MikroTik").Number(4, 0x0a000001).
		Octets(80, make([]byte, md5.Size))
	more, err := radius.ParseAttributes(list)
	if err != nil {
		b.Fatal(err)
	}
	p.Attributes = more
	out, err := p.Encode()
	if err != nil {
		b.Fatal(err)
	}
	c := server.known.Load().sources[netip.MustParseAddr("127.0.0.1")].clients[0]
	copy(out[len(out)-md5.Size:], newSigner().keyed(c, out)[:])
	return out
}

// crowd sends requests in turn; each caller has a socket of its own.
type crowd struct {
	requests [][]byte
	conns    [benchCallers]net.Conn
	next     [benchCallers]int
	buffers  [benchCallers][maxPacket]byte
}

// newCrowd connects the callers. A request comes again after all others, when its answer is not kept any more.
func newCrowd(b *testing.B, to netip.AddrPort, requests [][]byte) *crowd {
	b.Helper()
	c := &crowd{requests: requests}
	for i := range c.conns {
		conn, err := net.Dial("udp", to.String())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		c.conns[i], c.next[i] = conn, i
	}
	return c
}

// rate is the number of answers per second; each must have the code and the identifier that are right.
func (c *crowd) rate(b *testing.B, code byte) float64 {
	b.Helper()
	for _, conn := range c.conns {
		if err := conn.SetDeadline(time.Now().Add(benchtest.Turn(b) + 10*time.Second)); err != nil {
			b.Fatal(err)
		}
	}
	return benchtest.Rate(b, benchCallers, func(_ context.Context, caller int) error {
		request, buffer := c.requests[c.next[caller]], c.buffers[caller][:]
		c.next[caller] = (c.next[caller] + benchCallers) % len(c.requests)
		if _, err := c.conns[caller].Write(request); err != nil {
			return err
		}
		if _, err := c.conns[caller].Read(buffer); err != nil {
			return err
		}
		if buffer[0] != code || buffer[1] != request[1] {
			return errors.New("a wrong answer")
		}
		return nil
	})
}

// echo starts sockets and loops like those of the server that send each packet back.
func echo(b *testing.B) netip.AddrPort {
	b.Helper()
	room := Limits{}.usual().ReadRoom
	conn, err := listen(b.Context(), "127.0.0.1:0", room)
	first := conn
	for i := range runtime.GOMAXPROCS(0) {
		if i > 0 {
			conn, err = join(b.Context(), first, room)
		}
		if err != nil {
			b.Fatal(err)
		}
		conn, ended := conn, make(chan struct{})
		go func() {
			defer close(ended)
			var buffer [maxPacket]byte
			for {
				n, from, err := conn.ReadFromUDPAddrPort(buffer[:])
				if err != nil {
					return
				}
				if _, err := conn.WriteToUDPAddrPort(buffer[:n], from); err != nil {
					return
				}
			}
		}()
		b.Cleanup(func() {
			_ = conn.Close()
			<-ended
		})
	}
	return netip.MustParseAddrPort(first.LocalAddr().String())
}
