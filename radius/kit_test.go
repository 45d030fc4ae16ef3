package radius_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"encoding/binary"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2869"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/radius"
)

// noon is the instant at which tests begin.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// The addresses of routers in tests: all of 127/8 is this machine.
var (
	localhost = netip.MustParseAddr("127.0.0.1")
	neighbour = netip.MustParseAddr("127.0.0.2")
)

// users is a directory in memory, for each organization. It keeps what was decided.
type users struct {
	mu       sync.Mutex
	known    map[id.Organization]map[string]*radius.Credential
	refused  map[string]string // by user name, with the reason
	prepared radius.Attributes
	keys     bool
	more     func(*radius.Reply) // after the accept, nil = nothing
	asked    []radius.Question   // copies, without the request
	names    []string
}

// add adds a user and returns the directory.
func (u *users) add(t testing.TB, org id.Organization, name, password string) *users {
	t.Helper()
	hash, err := radius.NTHash(password)
	if err != nil {
		t.Fatal(err)
	}
	if u.known == nil {
		u.known = map[id.Organization]map[string]*radius.Credential{}
	}
	if u.known[org] == nil {
		u.known[org] = map[string]*radius.Credential{}
	}
	u.known[org][name] = &radius.Credential{Password: []byte(password), NTHash: hash, Subject: name}
	return u
}

// Find implements radius.Directory. The user "bomb" makes it panic.
func (u *users) Find(nas *radius.NAS, r *radius.Request) *radius.Credential {
	if string(r.UserName) == "bomb" {
		panic("bomb")
	}
	return u.known[nas.Org][string(r.UserName)]
}

// Decide implements radius.Directory: it tries to accept everybody who is not refused by name.
func (u *users) Decide(q radius.Question, reply *radius.Reply) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.names = append(u.names, string(q.Request.UserName))
	request := *q.Request
	q.Request = &request
	u.asked = append(u.asked, q)
	if reason := u.refused[string(q.Request.UserName)]; reason != "" {
		reply.Reject(reason)
		return
	}
	reply.Accept(u.prepared)
	if u.keys {
		reply.EncryptionKeys()
	}
	if u.more != nil {
		u.more(reply)
	}
}

// last is the question that was decided most recently; there must be one.
func (u *users) last(t *testing.T) radius.Question {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.asked) == 0 {
		t.Fatal("the directory was not asked")
	}
	return u.asked[len(u.asked)-1]
}

// count is the number of decisions about a user.
func (u *users) count(name string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for _, asked := range u.names {
		if asked == name {
			n++
		}
	}
	return n
}

// ledger is an accounting sink that acknowledges at once, or leaves it to the test.
type ledger struct {
	manual  bool
	records chan *radius.Record
}

// newLedger makes a sink with room for as many records as a test sends.
func newLedger() *ledger { return &ledger{records: make(chan *radius.Record, 1000)} }

// Take implements radius.Accounting. The user "bomb" makes it panic.
func (l *ledger) Take(r *radius.Record) {
	if r.UserName == "bomb" {
		panic("bomb")
	}
	l.records <- r
	if !l.manual {
		r.Acknowledge()
	}
}

// kit is a server on this machine with its parts.
type kit struct {
	t       testing.TB
	server  *radius.Server
	users   *users
	ledger  *ledger
	clock   *clock.Manual
	metrics *prometheus.Registry
	notices chan []radius.Notice
}

// secret is the secret of routers in tests, unless a test is about secrets.
var secret = []byte("xyzzy5461")

// router makes a NAS of a new organization that owns an address.
func router(own ...netip.Addr) *radius.NAS {
	return &radius.NAS{
		ID: id.New[id.Device](), Org: id.New[id.Organization](), Name: "router", Secret: secret, Own: own,
	}
}

// claims are addresses that a router claims, as long as all others whose claims have no position.
func claims(addresses ...netip.Addr) (list []radius.Claim) {
	for _, addr := range addresses {
		list = append(list, radius.Claim{Addr: addr})
	}
	return list
}

// start starts a server with routers; the test stops it.
func start(t testing.TB, u *users, l *ledger, limits radius.Limits, routers ...*radius.NAS) *kit {
	t.Helper()
	k := &kit{
		t: t, users: u, ledger: l, clock: clock.NewManual(noon), metrics: prometheus.NewRegistry(),
		notices: make(chan []radius.Notice, 10),
	}
	var err error
	k.server, err = radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: u, Accounting: l, Clock: k.clock,
		Sockets: 2, Limits: limits, Metrics: k.metrics, Notices: func(n []radius.Notice) { k.notices <- n },
	})
	if err != nil {
		t.Fatal(err)
	}
	k.server.SetNAS(routers)
	if err := k.server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.server.Stop)
	return k
}

// results are the counts of one port that are not zero.
func (k *kit) results(port string) map[string]int {
	k.t.Helper()
	families, err := k.metrics.Gather()
	if err != nil {
		k.t.Fatal(err)
	}
	out := map[string]int{}
	for _, family := range families {
		for _, metric := range family.Metric {
			labels := map[string]string{}
			for _, label := range metric.Label {
				labels[label.GetName()] = label.GetValue()
			}
			if n := int(metric.Counter.GetValue()); n > 0 && labels["port"] == port {
				out[labels["result"]] = n
			}
		}
	}
	return out
}

// final stops the server and returns the results of a port. Before that the last packet may not be counted yet.
func (k *kit) final(port string) map[string]int {
	k.t.Helper()
	k.server.Stop()
	return k.results(port)
}

// until waits until so many packets of a port came to one result.
func (k *kit) until(port string, result radius.Result, n int) {
	k.t.Helper()
	for end := time.Now().Add(waittest.Limit); k.results(port)[result.String()] < n; runtime.Gosched() {
		if time.Now().After(end) {
			k.t.Fatalf("%s: %v, want %d %s", port, k.results(port), n, result)
		}
	}
}

// told stops the server and returns the notices of the last report.
func (k *kit) told() map[radius.Result]radius.Notice {
	k.t.Helper()
	k.server.Stop()
	close(k.notices)
	out := map[radius.Result]radius.Notice{}
	for list := range k.notices {
		for _, n := range list {
			out[n.Result] = n
		}
	}
	return out
}

// line is a socket of a router.
type line struct {
	t    testing.TB
	conn *net.UDPConn
}

// dial opens a socket of a router at an address, to one port of the server.
func dial(t testing.TB, from netip.Addr, to netip.AddrPort) *line {
	t.Helper()
	conn, err := net.DialUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &line{t: t, conn: conn}
}

// send does not wait for an answer.
func (l *line) send(datagram []byte) {
	l.t.Helper()
	if _, err := l.conn.Write(datagram); err != nil {
		l.t.Fatal(err)
	}
}

// receive waits for one datagram.
func (l *line) receive() []byte {
	l.t.Helper()
	buffer := make([]byte, 4096)
	if err := l.conn.SetReadDeadline(time.Now().Add(waittest.Limit)); err != nil {
		l.t.Fatal(err)
	}
	n, err := l.conn.Read(buffer)
	if err != nil {
		l.t.Fatalf("no answer: %v", err)
	}
	return buffer[:n]
}

// ask sends a datagram and returns its answer, which must be signed with the secret and, in answers to Access-Requests,
// begin with a valid Message-Authenticator.
func (l *line) ask(datagram, secret []byte) *layeh.Packet {
	l.t.Helper()
	l.send(datagram)
	return l.check(l.receive(), datagram, secret)
}

// check decodes an answer and checks all signatures with code of its own.
func (l *line) check(answer, request, secret []byte) *layeh.Packet {
	l.t.Helper()
	if !layeh.IsAuthenticResponse(answer, request, secret) {
		l.t.Fatalf("the answer to %d is not authentic: %x", request[1], answer)
	}
	p, err := layeh.Parse(answer, secret)
	if err != nil {
		l.t.Fatal(err)
	}
	if p.Identifier != request[1] {
		l.t.Fatalf("identifier %d, want %d", p.Identifier, request[1])
	}
	if p.Code == layeh.CodeAccountingResponse && request[0] == byte(layeh.CodeAccountingRequest) {
		return p
	}
	if len(answer) < 38 || answer[20] != byte(rfc2869.MessageAuthenticator_Type) || answer[21] != 18 {
		l.t.Fatalf("the answer does not begin with a Message-Authenticator: %x", answer)
	}
	unsigned := bytes.Clone(answer)
	copy(unsigned[4:20], request[4:20])
	clear(unsigned[22:38])
	if !bytes.Equal(hmacOf(unsigned, secret), answer[22:38]) {
		l.t.Fatal("the answer's Message-Authenticator is wrong")
	}
	return p
}

// silent sends datagrams that must get no answer. It proves that by a last request on the same socket, whose answer
// comes first, because the server takes the packets of one socket in their order.
func (l *line) silent(last []byte, datagrams ...[]byte) {
	l.t.Helper()
	for _, d := range datagrams {
		l.send(d)
	}
	l.send(last)
	if answer := l.receive(); answer[1] != last[1] {
		l.t.Fatalf("a packet that must get no answer got %x", answer)
	}
}

// hmacOf is the HMAC-MD5 of a packet.
func hmacOf(packet, secret []byte) []byte {
	sum := hmac.New(md5.New, secret)
	sum.Write(packet)
	return sum.Sum(nil)
}

// access makes an Access-Request of a user.
func access(name string) *layeh.Packet {
	p := layeh.New(layeh.CodeAccessRequest, secret)
	p.Add(rfc2865.UserName_Type, layeh.Attribute(name))
	return p
}

// pap makes an Access-Request with User-Password.
func pap(t testing.TB, name, password string, secret []byte) *layeh.Packet {
	t.Helper()
	p := access(name)
	value, err := layeh.NewUserPassword([]byte(password), secret, p.Authenticator[:])
	if err != nil {
		t.Fatal(err)
	}
	p.Add(rfc2865.UserPassword_Type, value)
	return p
}

// wire encodes a packet as it is.
func wire(t testing.TB, p *layeh.Packet) []byte {
	t.Helper()
	out, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// signed encodes a packet with a Message-Authenticator at its end, as routers do.
func signed(t testing.TB, p *layeh.Packet, secret []byte) []byte {
	t.Helper()
	out := append(wire(t, p), byte(rfc2869.MessageAuthenticator_Type), 18)
	out = append(out, make([]byte, 16)...)
	binary.BigEndian.PutUint16(out[2:], uint16(len(out)))
	copy(out[len(out)-16:], hmacOf(out, secret))
	return out
}

// beacon is a Status-Server request with an identifier, as the last packet of a test of silence.
func beacon(t testing.TB, identifier byte) []byte {
	t.Helper()
	p := layeh.New(layeh.CodeStatusServer, secret)
	p.Identifier = identifier
	return signed(t, p, secret)
}
