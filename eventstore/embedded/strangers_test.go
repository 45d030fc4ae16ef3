package embedded_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// TestNode_ConnectionsWithoutCredentialsMakePlace: they have taken all there are, and live. Half of them say nothing.
func TestNode_ConnectionsWithoutCredentialsMakePlace(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	client := contract.Connect(t, n.URL())
	mustAppend(t, client, "known", esdb.NoStream{}, oneEvent())
	for range 150 {
		c := dialRaw(t, n.URL())
		silent, err := net.Dial("tcp", c.host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = silent.Close() })
	}
	served(t, n.URL())
	mustAppend(t, client, "known", esdb.Revision(0), oneEvent())
}

// TestNode_StopsBesideASilentConnection with TLS and without: it cuts nobody off, and waits for nothing.
func TestNode_StopsBesideASilentConnection(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]bool{"plain": false, "with TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			if secure {
				cfg.TLS = selfSigned(t)
			}
			n, err := embedded.Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := url.Parse(n.URL())
			if err != nil {
				t.Fatal(err)
			}
			silent, err := net.Dial("tcp", parsed.Host)
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
			if secure { // the next one is taken after it, and greets as little
				next, err := tls.Dial("tcp", parsed.Host, &tls.Config{InsecureSkipVerify: true})
				if err != nil {
					t.Fatal(err)
				}
				defer next.Close()
			} else {
				mustAppend(t, contract.Connect(t, n.URL()), "s", esdb.NoStream{}, oneEvent())
			}
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			defer cancel()
			if err := n.Stop(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNode_StopsWhileACallHasNoMessage: anybody may begin such calls.
func TestNode_StopsWhileACallHasNoMessage(t *testing.T) {
	t.Parallel()
	n, err := embedded.Start(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	c := connectRaw(t, n)
	err = c.call(1, callHeaders(c.host, "/event_store.client.gossip.Gossip/Read"))
	if err == nil {
		err = c.call(3, callHeaders(c.host, "/event_store.client.streams.Streams/Read"))
	}
	if err == nil {
		err = c.WritePing(false, [8]byte{})
	}
	if err != nil {
		t.Fatal(err)
	}
	<-c.ponged
	stop(t, n)
}
