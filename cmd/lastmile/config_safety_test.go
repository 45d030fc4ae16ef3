package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSafety_EverySpellingByWhichTheClientLeavesTLSOutIsSeen(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"tls=false", "tls=0", "tls=f", "TLS=F", "tlsVerifyCert=false", "tlsVerifyCert=0"} {
		for host, guarded := range map[string]bool{
			"10.0.0.9:2113": false, "10.0.0.9": false, "127.0.0.1:2113": true, "localhost": true,
			"127.0.0.1:2113,10.0.0.9:2113": false, "127.0.0.1:2113,localhost:2114": true,
		} {
			if got := guardedEventStore("esdb://user:secret@" + host + "?" + query); got != guarded {
				t.Errorf("%s with %s counts as guarded: %v", host, query, got)
			}
		}
	}
	for _, query := range []string{"", "?tls=true", "?tls=1&tlsVerifyCert=T", "?nodePreference=leader"} {
		if !guardedEventStore("esdb://user:secret@es.example:2113" + query) {
			t.Errorf("%q counts as open", query)
		}
	}
}

func TestNetworks_AnIPv4AddressWrittenAsIPv6IsTheIPv4Address(t *testing.T) {
	t.Parallel()
	var list networks
	if err := list.UnmarshalText([]byte("::ffff:192.0.2.7, 10.0.0.0/8, 2001:db8::1")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range list {
		got = append(got, n.String())
	}
	if d := cmp.Diff([]string{"192.0.2.7/32", "10.0.0.0/8", "2001:db8::1/128"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for _, bad := range []string{"::ffff:10.0.0.0/104", "::ffff:0:0/96", "::ffff:192.0.2.7/128"} {
		if err := list.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
