package eventstore

import (
	"log/slog"
	"testing"
	"time"
)

// TestLink_PingsOfAPairGiveUpSooner unless the address says when.
func TestLink_PingsOfAPairGiveUpSooner(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]time.Duration{
		"esdb://one:2113?tls=false":                                  10 * time.Second,
		"esdb://one:2113,two:2113?tls=false":                         pairPing,
		"esdb+discover://nodes:2113?tls=false":                       pairPing,
		"esdb://one:2113,two:2113?tls=false&keepAliveTimeout=10000":  10 * time.Second,
		"esdb+discover://nodes:2113?KeepaliveTimeout=7000&tls=false": 7 * time.Second,
		"esdb://one:2113,two:2113?tls=false&keepAliveInterval=-1":    pairPing,
		"esdb://one:2113?tls=false&keepAliveTimeout=7000":            7 * time.Second,
	} {
		l, err := newLink(Config{URL: address, Logger: slog.New(slog.DiscardHandler)})
		if err != nil || l.config.KeepAliveTimeout != want {
			t.Errorf("%s: %s, %v; want %s", address, l.config.KeepAliveTimeout, err, want)
		}
	}
}
