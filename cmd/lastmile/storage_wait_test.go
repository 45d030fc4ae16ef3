package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestStart_WaitsForAnEventStoreThatIsAway: the program says on /readyz what it waits for, and is ready as soon as the
// event store is there.
func TestStart_WaitsForAnEventStoreThatIsAway(t *testing.T) {
	t.Parallel()
	node := freePort(t)
	k := newKit(t, "EVENTSTORE_URL=esdb://"+node+"?tls=false")
	k.launch(freePort(t))
	k.eventually("what is waited for", func(ctx context.Context) (bool, error) {
		_, err := k.client("").call(ctx, http.MethodGet, "/readyz", "", nil)
		no := asAPIError(err)
		return no != nil && no.Status == http.StatusServiceUnavailable &&
			strings.Contains(no.Body, `"eventstore":{"status":"down","detail":"The event store of EVENTSTORE_URL`), err
	})
	if log := k.log.String(); !strings.Contains(log, "event store does not answer, is tried again") ||
		!strings.Contains(log, "connection refused") {
		t.Errorf("the log says %s", log)
	}
	k.eventStoreAlone(node)
	k.eventually("service to be ready", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == http.StatusOK, nil
	})
	k.signIn()
}

// TestStart_EndsWhenTheEventStoreRefuses: a wrong password, an unknown certificate and an address that denies TLS are
// no outage.
func TestStart_EndsWhenTheEventStoreRefuses(t *testing.T) {
	t.Parallel()
	cert, key := selfSigned(t)
	k := newKit(t, "EVENTSTORE_TLS_CERT_FILE="+cert, "EVENTSTORE_TLS_KEY_FILE="+key, "EVENTSTORE_TLS_CA_FILE="+cert,
		"EVENTSTORE_USERNAME=admin", "EVENTSTORE_PASSWORD=right")
	l := newLifecycle(slog.New(slog.DiscardHandler))
	t.Cleanup(l.stop)
	s, err := openStorage(t.Context(), k.config(), clock.System(), l, storageMode{node: true})
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ := strings.Cut(s.nodeURL, "?")
	stranger := withCredentials(s.nodeURL, nodeGuard{username: "admin", password: "wrong", caFile: cert})
	for address, why := range map[string]string{
		stranger:            "refuses to answer",
		s.nodeURL:           "certificate",
		host + "?tls=false": "wants TLS",
	} {
		store, err := eventstore.Open(t.Context(), eventstore.Config{
			URL: address, Codec: catalog.New(catalog.NewMemoryKeys()),
		})
		if err != nil {
			t.Fatal(err)
		}
		err = awaitStore(t.Context(), store, address, l.logger, storageMode{
			awaitsStore: true, patience: 10 * time.Millisecond,
		})
		if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "EVENTSTORE_URL") {
			t.Errorf("%s: %v", address, err)
		}
		store.Close()
	}
}
