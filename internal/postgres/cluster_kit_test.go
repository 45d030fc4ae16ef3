package postgres_test

import (
	"net"
	"net/url"
	"strconv"
	"testing"
)

// itoa writes a number in decimal digits.
func itoa(n int) string { return strconv.Itoa(n) }

// listenOn takes the port of a database address until the end of the test.
func listenOn(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return u.Host
}
