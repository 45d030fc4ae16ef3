package radius

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// everybody is a directory in which each user has the password "pw", and a sink that acknowledges at once.
type everybody struct {
	cred     *Credential
	prepared Attributes
}

// newEverybody prepares the one credential.
func newEverybody(t testing.TB) *everybody {
	t.Helper()
	hash, err := NTHash("pw")
	if err != nil {
		t.Fatal(err)
	}
	prepared := Attributes{}.MikroTik(8, "5M/10M 8M/16M 4M/8M 10/10 8 1M/2M").
		Number(rfc2865.SessionTimeout_Type, 86400).Octets(rfc2865.Class_Type, []byte("0123456789abcdef")).
		Text(rfc2865.UserName_Type, "amina")
	return &everybody{&Credential{Password: []byte("pw"), NTHash: hash}, prepared}
}

// Find implements Directory.
func (e *everybody) Find(*NAS, *Request) *Credential { return e.cred }

// Decide implements Directory.
func (e *everybody) Decide(_ Question, reply *Reply) { reply.Accept(e.prepared) }

// Take implements Accounting.
func (e *everybody) Take(r *Record) { r.Acknowledge() }

// bench is a worker on a socket of its own whose answers go to a socket that nobody reads.
func bench(t testing.TB, c clock.Clock, limits Limits) (*worker, netip.AddrPort) {
	t.Helper()
	e := newEverybody(t)
	s, err := New(Config{Directory: e, Accounting: e, Clock: c, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	var conns [2]netip.AddrPort
	var w *worker
	for i := range conns {
		conn, err := listen(t.Context(), "127.0.0.1:0", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		conns[i] = netip.MustParseAddrPort(conn.LocalAddr().String())
		w = newWorker(&socket{server: s, conn: conn, replies: newReplies(s.limits.KeepFor, s.limits.Answers)})
	}
	s.SetNAS([]*NAS{{
		ID: id.New[id.Device](), Org: id.New[id.Organization](), Secret: []byte("xyzzy5461"),
		Own: []netip.Addr{netip.MustParseAddr("127.0.0.1")},
	}})
	return w, conns[0]
}

// signIn makes an Access-Request by PAP as routers send it, with Message-Authenticator.
func signIn(t testing.TB, w *worker, password string) []byte {
	t.Helper()
	c := w.server.known.Load().sources[netip.MustParseAddr("127.0.0.1")].clients[0]
	p := radius.New(radius.CodeAccessRequest, c.Secret)
	value, err := radius.NewUserPassword([]byte(password), c.Secret, p.Authenticator[:])
	if err != nil {
		t.Fatal(err)
	}
	for kind, value := range map[radius.Type]string{
		1: "amina", 2: string(value), 6: "\x00\x00\x00\x02", 7: "\x00\x00\x00\x01", 5: "\x81\xa0\x00\x12",
		61: "\x00\x00\x00\x0f", 31: "A4:17:31:41:CB:B6", 30: "home", 87: "ether2", 44: "81a00012", 32: "MikroTik",
		4: "\x0a\x00\x00\x01", 80: strings.Repeat("\x00", 16),
	} {
		p.Add(kind, radius.Attribute(value))
	}
	out, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var r Request
	if err := r.parse(out, time.Time{}); err != nil {
		t.Fatal(err)
	}
	copy(out[r.ma:], newSigner().keyed(c, out)[:])
	return out
}

func TestPAP_AllocatesNothing(t *testing.T) {
	w, from := bench(t, clock.NewManual(time.Unix(1e9, 0)), Limits{Rate: 1e6, Answers: 64})
	for name, password := range map[string]string{"accept": "pw", "reject": "wrong"} {
		const runs = 2000
		requests := make([][]byte, 2*runs)
		for i := range requests {
			requests[i] = signIn(t, w, password)
		}
		next := 0
		ask := func() {
			w.packet(requests[next], from)
			next++
		}
		for range runs - 1 { // fills the cache
			ask()
		}
		if n := testing.AllocsPerRun(runs, ask); n != 0 {
			t.Errorf("%s: %v allocations for a packet", name, n)
		}
		if e := w.reply.accept; e != (password == "pw") {
			t.Errorf("%s: accepted %v", name, e)
		}
		repeat := requests[next-1]
		if n := testing.AllocsPerRun(100, func() { w.packet(repeat, from) }); n != 0 {
			t.Errorf("%s: %v allocations for a repeat", name, n)
		}
	}
}

func TestReplies_EachRouterHasPlacesOfItsOwn(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	c := newReplies(10*time.Second, 100)
	calm, loud := &state{}, &state{}
	name := func(n int) key {
		packet := binary.BigEndian.AppendUint32(make([]byte, headerSize), uint32(n))
		return c.keyOf(packet, netip.MustParseAddrPort("192.0.2.1:1"))
	}
	c.begin(calm, name(0), now)
	c.finish(name(0), []byte("calm"))
	for i := range 10000 {
		c.begin(loud, name(1+i), now)
		c.finish(name(1+i), bytes.Repeat([]byte("x"), 100))
	}
	if answer, taken := c.look(name(0), now, make([]byte, 10)); !taken || string(answer) != "calm" {
		t.Errorf("the calm router's answer: %q, %v", answer, taken)
	}
	if _, taken := c.look(name(9900), now, nil); taken {
		t.Error("the flood keeps more than its places")
	}
	if _, taken := c.look(name(9901), now, make([]byte, 100)); !taken {
		t.Error("the newest hundred are not kept")
	}
	if len(c.known) != 101 || len(c.rings) != 2 {
		t.Errorf("%d answers of %d routers", len(c.known), len(c.rings))
	}
	c.begin(calm, name(-1), now.Add(10*time.Second))
	if len(c.known) != 1 || len(c.rings) != 1 {
		t.Errorf("after their time: %d answers of %d routers", len(c.known), len(c.rings))
	}
}

func TestReplies_ARequestInWorkIsSwallowedUntilItEnds(t *testing.T) {
	t.Parallel()
	now, s := time.Unix(1e9, 0), &state{}
	c := newReplies(10*time.Second, 4)
	k := c.keyOf(make([]byte, headerSize), netip.AddrPort{})
	c.begin(s, k, now)
	if answer, taken := c.look(k, now, nil); answer != nil || !taken {
		t.Errorf("in work: %q, %v", answer, taken)
	}
	c.forget(k)
	if _, taken := c.look(k, now, nil); taken {
		t.Error("forgotten, but taken")
	}
	c.begin(s, k, now)
	c.begin(s, k, now.Add(time.Second)) // the entry of the first time leaves later
	for range 3 {
		c.begin(s, c.keyOf(append(make([]byte, headerSize), byte(len(c.known))), netip.AddrPort{}), now)
	}
	if _, taken := c.look(k, now, nil); !taken {
		t.Error("an old entry took its successor along")
	}
	c.finish(k, []byte("first"))
	c.finish(k, []byte("second"))
	if answer, _ := c.look(k, now, make([]byte, 10)); string(answer) != "first" {
		t.Errorf("answered %q", answer)
	}
	if _, taken := c.look(k, now.Add(-time.Hour), nil); taken {
		t.Error("a clock that was set back keeps answers for an hour")
	}
	c.finish(c.keyOf([]byte(strings.Repeat("x", 30)), netip.AddrPort{}), []byte("nobody asked"))
	if len(c.known) != 4 {
		t.Errorf("%d entries", len(c.known))
	}
}

func TestLimiter_LetsItsNumberThroughInASecond(t *testing.T) {
	t.Parallel()
	var l limiter
	now := time.Unix(1e9, 0)
	count := func() (n int) {
		for range 1000 {
			if l.allow(now, 100) {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		what  string
		after time.Duration
		want  int
	}{
		{"at first", 0, 100}, {"at once again", 0, 0}, {"after a tenth", time.Second / 10, 10},
		{"after an hour", time.Hour, 100}, {"a clock set back", -time.Hour, 100},
	} {
		now = now.Add(c.after)
		if got := count(); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
	if !l.allow(now, 0) {
		t.Error("no limit is a limit")
	}
}

func TestNotices_AFloodIsAFewLines(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var told []Notice
	n := newNotices(slog.New(slog.NewTextHandler(&log, nil)), func(list []Notice) { told = append(told, list...) })
	now := time.Unix(1e9, 0)
	nas, amina := &NAS{Name: "tower", Secret: []byte("hidden")}, []byte("amina")
	addr := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}) }
	for i := range 1000 {
		n.add(noticeKey{UnknownNAS, addr(i), nil}, now.Add(time.Duration(i)), nil)
	}
	for i := range 7 {
		n.add(noticeKey{WrongSecret, addr(1), nas}, now.Add(time.Duration(i)), amina)
	}
	n.report(t.Context())
	if len(told) != maxStrangers+1 {
		t.Errorf("told of %d", len(told))
	}
	for _, one := range told {
		if one.NAS == nas && (one.Count != 7 || one.Names["amina"] != 7 || !one.First.Equal(now) ||
			!one.Last.Equal(now.Add(6))) {
			t.Errorf("told %+v", one)
		}
	}
	if lines := strings.Count(log.String(), "\n"); lines != maxLines+1 {
		t.Errorf("%d lines", lines)
	}
	log.Reset()
	n.add(noticeKey{WrongSecret, addr(1), nas}, now, amina)
	n.report(t.Context())
	n.report(t.Context())
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "result=wrong_secret") ||
		!strings.Contains(text, "tower") || strings.Contains(text, "hidden") ||
		strings.Contains(text, "amina") {
		t.Errorf("logged %s", text)
	}
}

func TestNotices_OneOrganizationLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	var told []Notice
	n := newNotices(slog.New(slog.DiscardHandler), func(list []Notice) { told = list })
	loud, calm := id.New[id.Organization](), &NAS{Org: id.New[id.Organization]()}
	for range 2 { // a report makes room
		for range 2 * maxNotices {
			n.add(noticeKey{result: SecretDoubtful, nas: &NAS{Org: loud}}, time.Unix(1e9, 0), nil)
		}
		n.add(noticeKey{result: WrongSecret, nas: calm}, time.Unix(1e9, 0), nil)
		n.report(t.Context())
		if !slices.ContainsFunc(told, func(one Notice) bool { return one.NAS == calm }) || len(told) != maxNotices/2+1 {
			t.Errorf("told of %d", len(told))
		}
	}
}

func TestNotices_ManyNamesAreBounded(t *testing.T) {
	t.Parallel()
	var told []Notice
	n := newNotices(slog.New(slog.DiscardHandler), func(list []Notice) { told = append(told, list...) })
	for i := range 1000 {
		n.add(noticeKey{result: UnknownNAS}, time.Unix(1e9, 0), fmt.Appendf(nil, "user %d", i))
	}
	n.report(t.Context())
	if len(told) != 1 || told[0].Count != 1000 || len(told[0].Names) != maxNames {
		t.Errorf("told %+v", told)
	}
}

func TestTable_LimitsGoOnAndLongSecretsWork(t *testing.T) {
	t.Parallel()
	nas := &NAS{
		ID: id.New[id.Device](), Secret: bytes.Repeat([]byte("s"), 100),
		Own:     []netip.Addr{netip.MustParseAddr("::ffff:192.0.2.1")},
		Claimed: []Claim{{Addr: netip.MustParseAddr("192.0.2.2")}},
	}
	first := newTable([]*NAS{nas}, &table{})
	second := newTable([]*NAS{nas}, first)
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	if first.sources[a].clients[0].state != second.sources[b].clients[0].state {
		t.Error("the state of a router was lost")
	}
	if first.sources[b].shared != second.sources[b].shared || !second.sources[a].own || second.sources[b].own {
		t.Error("the addresses are not what they were")
	}
	if got := newTable(nil, second); len(got.sources)+len(got.states) != 0 {
		t.Errorf("removed, but there: %v", got)
	}
	got := newSigner().keyed(first.sources[a].clients[0], []byte("message"))
	if want := hmacMD5(nas.Secret, []byte("message")); !bytes.Equal(got[:], want) {
		t.Errorf("signed %x, want %x", *got, want)
	}
}

func TestListen_FurtherSocketsGetTheirShare(t *testing.T) {
	t.Parallel()
	first, err := listen(t.Context(), "127.0.0.1:0", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := join(t.Context(), first, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for range 64 {
		conn, err := net.Dial("udp", first.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	for i, conn := range []*net.UDPConn{first, second} {
		if err := conn.SetReadDeadline(time.Now().Add(waittest.Limit)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := conn.ReadFromUDPAddrPort(make([]byte, 10)); err != nil {
			t.Errorf("socket %d got nothing: %v", i, err)
		}
	}
}
