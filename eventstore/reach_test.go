package eventstore_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore"
)

// TestReach_TellsASettingFromANodeThatIsAway goes through what operators get wrong, and what passes.
func TestReach_TellsASettingFromANodeThatIsAway(t *testing.T) {
	t.Parallel()
	answer := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, secure := httptest.NewServer(answer), httptest.NewUnstartedServer(answer)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	authority := t.TempDir() + "/ca.pem"
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(authority, text, 0o600); err != nil {
		t.Fatal(err)
	}
	trusted := "?tlsCaFile=" + url.QueryEscape(authority)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := silent.Addr().String()
	_ = silent.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0") // connections stand, and nothing is ever answered
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mute.Close() })
	at := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	for _, c := range []struct{ name, address, wrong, passing string }{
		{name: "plain", address: "esdb://" + at(plain) + "?tls=false"},
		{name: "trusted", address: "esdb://" + at(secure) + trusted},
		{name: "unchecked", address: "esdb://" + at(secure) + "?tlsVerifyCert=false"},
		{name: "one of two", address: "esdb://" + gone + "," + at(plain) + "?tls=false"},
		{name: "one of them mute", address: "esdb://" + mute.Addr().String() + "," + at(secure) + trusted},
		{name: "gone", address: "esdb://" + gone + "?tls=false", passing: "connection refused"},
		{name: "no TLS", address: "esdb://" + at(plain), wrong: "has no TLS"},
		{name: "TLS", address: "esdb://" + at(secure) + "?tls=false", wrong: "wants TLS"},
		{name: "a stranger", address: "esdb://" + at(secure), wrong: "certificate"},
		{name: "wrong and gone", address: "esdb://" + gone + "," + at(plain), passing: "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err := eventstore.Reach(ctx, c.address)
			text := c.wrong + c.passing
			if (err == nil) != (text == "") || errors.Is(err, eventstore.ErrSettings) != (c.wrong != "") ||
				err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v", c.address, err)
			}
		})
	}
}
