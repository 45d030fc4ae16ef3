package handset

import (
	"net/netip"
	"testing"

	"layeh.com/radius"
)

func TestParseRate_ReadsTheFirstPartAndChecksTheOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]rate{
		"5M/10M": {5e6, 10e6}, "512k": {512e3, 512e3}, "1G/0": {1e9, 0}, "1M/2M 8M/16M 4M/8M 10/10 8 1M/2M": {1e6, 2e6},
		"": {}, "fast": {}, "1M/": {}, "-1": {}, "1M x": {}, "1 1 1 1 1 1 1": {}, "1M/2M/3M": {},
	} {
		if got, err := parseRate(text); got != want || (err != nil) != (want == rate{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// FuzzChange gives a NAS any octets as a request of its server, signed or not: nothing of it may panic.
func FuzzChange(f *testing.F) {
	for _, code := range []radius.Code{radius.CodeDisconnectRequest, radius.CodeCoARequest} {
		p := &radius.Packet{Code: code, Secret: []byte("s")}
		p.Add(1, radius.Attribute("jane"))
		p.Add(26, radius.Attribute{0, 0, 0x3A, 0x8C, 8, 4, '1', 'M'})
		octets, err := p.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(octets)
	}
	f.Add([]byte{40, 1, 0, 22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 80, 2})
	from := netip.MustParseAddrPort("127.0.0.1:9")
	n, err := New(Config{Server: from, Secret: []byte("s")})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		n.faults.Dynamic = Silent
		n.change(packet, from)
		genuine(packet, packet, n.cfg.Secret, true)
		p, err := radius.Parse(packet, n.cfg.Secret)
		if err != nil {
			return
		}
		n.obey(p)
		attributes(p)
		if code := p.Code; code == radius.CodeDisconnectRequest || code == radius.CodeCoARequest {
			n.verdict(packet, p, noSession)
		}
		n.turn(&session{}, p)
	})
}
