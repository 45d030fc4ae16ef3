package egress_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/egress"
)

// ownAddresses are those of the platform in these tests.
func ownAddresses() []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("41.90.1.1"), netip.MustParseAddr("10.2.0.5")}
}

// guards are the four kinds that the program uses, by what they are for.
func guards() map[string]egress.Guard {
	return map[string]egress.Guard{
		"public":      {Own: ownAddresses, Domain: "lastmile.test"},
		"private":     {Own: ownAddresses, Private: true},
		"inside":      {Own: ownAddresses, Inside: []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16")}},
		"development": {Own: ownAddresses, Development: true, Domain: "lastmile.test"},
	}
}

func TestAllows_AddressesThatAnOrganizationMayChoose(t *testing.T) {
	t.Parallel()
	never := []string{
		"0.0.0.0", "0.1.2.3", "169.254.169.254", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1",
		"198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::ffff:169.254.169.254",
		"::", "::7f00:1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1",
		"2001::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:7::1", "3fff::1", "5f00::1", "fe80::1", "fe80::1%eth0",
		"fec0::1", "ff02::1",
	}
	for name, guard := range guards() {
		for _, text := range never {
			if guard.Allows(netip.MustParseAddr(text)) {
				t.Errorf("%s allows %s", name, text)
			}
		}
		if guard.Allows(netip.Addr{}) {
			t.Errorf("%s allows no address", name)
		}
	}
	for text, by := range map[string]string{
		"196.201.214.200": "public private inside development", "2c0f:fe38::1": "public private inside development",
		"41.90.1.1": "development", "::ffff:41.90.1.1": "development", "10.2.0.5": "development",
		"127.0.0.1": "development", "::1": "development", "::ffff:127.0.0.1": "development",
		"10.2.0.7": "private inside development", "10.9.0.7": "private development", "fd00::1": "private development",
		"172.16.0.1": "private development", "192.168.1.1": "private development", "100.64.0.1": "private",
	} {
		got := ""
		for _, name := range []string{"public", "private", "inside", "development"} {
			if guards()[name].Allows(netip.MustParseAddr(text)) {
				got += " " + name
			}
		}
		if got != "" {
			got = got[1:]
		}
		if got != by {
			t.Errorf("%s is allowed by %q, want %q", text, got, by)
		}
	}
}

// The operator may name one address of this machine; a network that happens to have one does not open it.
func TestAllows_TheOperatorNamesAnAddressOfThisMachine(t *testing.T) {
	t.Parallel()
	one := egress.Guard{Own: ownAddresses, Inside: []netip.Prefix{netip.MustParsePrefix("10.2.0.5/32")}}
	if !one.Allows(netip.MustParseAddr("10.2.0.5")) || one.Allows(netip.MustParseAddr("10.2.0.7")) {
		t.Error("the address that the operator named is not the one that is allowed")
	}
}

func TestCheckURL_AnIPv4AddressHasOneSpelling(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]error{
		"127.1": egress.ErrSpelling, "2130706433": egress.ErrSpelling, "0x7f000001": egress.ErrSpelling,
		"0x7f.1": egress.ErrSpelling, "0177.0.0.1": egress.ErrSpelling, "017700000001": egress.ErrSpelling,
		"127.0.0.0x1": egress.ErrSpelling, "0X7F000001.": egress.ErrSpelling, "196.201.1": egress.ErrSpelling,
		"1.2.3.4.5": egress.ErrSpelling, "example.1": egress.ErrSpelling, "x.0x": egress.ErrSpelling,
		"１２７.0.0.1": egress.ErrRefused, "１２７.1": egress.ErrSpelling, "127。0。0。1": egress.ErrRefused,
		"127.0.0.1.": egress.ErrRefused, "[::ffff:7f00:1]": egress.ErrRefused, "[64:ff9b::7f00:1]": egress.ErrRefused,
		"localhost": egress.ErrRefused, "LOCALHOST.": egress.ErrRefused, "a.localhost": egress.ErrRefused,
		"acme.lastmile.test": egress.ErrRefused, "ＬＡＳＴＭＩＬＥ.test": egress.ErrRefused, "": egress.ErrRefused,
		"196.201.214.200": nil, "hooks.example.com": nil, "1and1.example.com": nil, "0x.example": nil,
		"3.example.com": nil, "bücher.example": nil, "a_b.example.com": nil, "notlastmile.test": nil,
	} {
		u, err := url.Parse("https://" + host + "/x")
		if err != nil {
			t.Fatal(err)
		}
		if err := guards()["public"].CheckURL(u); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", host, err, want)
		}
	}
}

// The address that was checked is the one that is dialled: the name is resolved once, and refused addresses among its
// answers are left out.
func TestDial_TheCheckedAddressIsDialled(t *testing.T) {
	t.Parallel()
	answers := map[string][]string{
		"mixed.example": {"10.0.0.7", "64:ff9b::a00:7", "93.184.216.34", "198.18.0.1"},
		"bad.example":   {"127.0.0.1", "2002:7f00:1::", "41.90.1.1"},
	}
	var asked int
	var dialled []string
	guard := guards()["public"]
	guard.Resolve = func(_ context.Context, host string) (list []netip.Addr, _ error) {
		asked++
		for _, text := range answers[host] {
			list = append(list, netip.MustParseAddr(text))
		}
		return list, nil
	}
	guard.Connect = func(_ context.Context, at netip.AddrPort) (net.Conn, error) {
		dialled = append(dialled, at.String())
		return nil, context.DeadlineExceeded
	}
	for address, want := range map[string]error{
		"mixed.example:443": context.DeadlineExceeded, "bad.example:443": egress.ErrRefused,
		"127.1:443":        egress.ErrSpelling,
		"none.example:443": egress.ErrRefused, "localhost:443": egress.ErrRefused,
		"acme.lastmile.test:1": egress.ErrRefused,
		"mixed.example":        egress.ErrRefused, "mixed.example:x": egress.ErrRefused,
		"10.0.0.7:443": egress.ErrRefused,
	} {
		if _, err := guard.Dial(t.Context(), "tcp", address); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
	}
	if asked != 3 || len(dialled) != 1 || dialled[0] != "93.184.216.34:443" {
		t.Errorf("resolved %d times, dialled %v", asked, dialled)
	}
}

// The machine's network checks again where the connection is made.
func TestDial_TheMachinesNetworkRefusesLoopback(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if _, err := (egress.Guard{}).Dial(t.Context(), "tcp", l.Addr().String()); !errors.Is(err, egress.ErrRefused) {
		t.Errorf("loopback: %v", err)
	}
	conn, err := egress.Guard{Development: true}.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("in development: %v", err)
	}
	_ = conn.Close()
}
