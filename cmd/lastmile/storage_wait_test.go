package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
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
	k.eventually("the log to say so", func(context.Context) (bool, error) { // which is written right after
		log := k.log.String()
		return strings.Contains(log, "event store does not answer, is tried again") &&
			strings.Contains(log, "connection refused"), nil
	})
	k.eventStoreAlone(node)
	k.eventually("service to be ready", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == http.StatusOK, nil
	})
	k.signIn()
}

// TestStart_WaitsForADatabaseThatIsAwayInEveryRole: a program that ran before waits, whatever it does, and so does the
// event store alone. A signal ends the wait.
func TestStart_WaitsForADatabaseThatIsAwayInEveryRole(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL())
	k.nodeApart()
	alone := [][]string{{roleAPI}, {roleProjections}, {roleProcesses}, {roleJobs}, {roleRadius}}
	disks := make([]string, len(alone))
	for n, r := range alone {
		disks[n] = "DATA_DIR=" + t.TempDir()
		k.startBeside(r, disks[n]).Stop()
	}
	stopCluster(t, cluster)

	waits := func(n int) (*starting, string) {
		return k.starts(alone[n], disks[n]), strings.Join(alone[n], ",")
	}
	var list []*starting
	for n := range alone {
		s, name := waits(n)
		s.await(name)
		s.interrupt()
		if err := <-s.ended; !errors.Is(err, errInterrupted) {
			t.Errorf("%s: the signal ends the wait with %v", name, err)
		}
		s, name = waits(n)
		s.await(name)
		list = append(list, s)
	}
	ctx, stop := context.WithCancel(t.Context())
	var log logBuffer
	code := make(chan int, 1)
	go func() {
		environ := append(slices.Clone(k.environ), "EVENTSTORE_URL=")
		code <- program{environ: environ, out: &log, err: &log}.run(ctx, []string{"eventstore"})
	}()
	k.eventually("the event store alone to wait", func(context.Context) (bool, error) {
		return strings.Contains(log.String(), databaseAway), fmt.Errorf("it says %s", log.String())
	})
	stop()
	if got := <-code; got != 0 {
		t.Errorf("the signal ends the event store alone with %d", got)
	}

	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n, s := range list {
		if err := <-s.ended; err != nil {
			t.Errorf("%v: %v", alone[n], err)
		}
	}
}

// TestStart_EndsWhenTheDatabaseOfItsFirstConfigurationIsAway: it is rather a fault of the configuration.
func TestStart_EndsWhenTheDatabaseOfItsFirstConfigurationIsAway(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DATABASE_URL=postgres://nobody:x@127.0.0.1:1/nowhere",
		"EVENTSTORE_URL=esdb://127.0.0.1:1?tls=false")
	s := k.starts(roles{roleJobs}, "DATA_DIR="+t.TempDir())
	if err := <-s.ended; err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("the start ends with %v", err)
	}
}

// databaseAway is the line of a program that waits for its database.
const databaseAway = "database does not answer, is tried again"

// starting is a program whose start takes its time.
type starting struct {
	k         *kit
	log       *logBuffer
	ended     chan error // of the start, not of the program
	interrupt context.CancelFunc
}

// starts begins to start a program.
func (k *kit) starts(r roles, settings ...string) *starting {
	k.t.Helper()
	cfg, err := loadConfig(append(slices.Clone(k.environ), settings...))
	if err != nil {
		k.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(k.t.Context())
	s := &starting{k: k, log: &logBuffer{}, ended: make(chan error, 1), interrupt: cancel}
	go func() {
		app, err := StartApp(ctx, cfg, r, slog.New(slog.NewJSONHandler(s.log, nil)), k.options())
		if err == nil {
			app.Stop()
		}
		s.ended <- err
	}()
	return s
}

// await waits until the program waits for its database.
func (s *starting) await(name string) {
	s.k.t.Helper()
	s.k.eventually("the start of "+name+" to wait", func(context.Context) (bool, error) {
		return strings.Contains(s.log.String(), databaseAway), fmt.Errorf("it says %s", s.log.String())
	})
}

// TestStart_EndsWhenTheEventStoreRefuses: a wrong password, an unknown certificate and an address that denies TLS are
// no outage.
func TestStart_EndsWhenTheEventStoreRefuses(t *testing.T) {
	t.Parallel()
	cert, key := selfSigned(t)
	k := newKit(t, "EVENTSTORE_TLS_CERT_FILE="+cert, "EVENTSTORE_TLS_KEY_FILE="+key, "EVENTSTORE_TLS_CA_FILE="+cert,
		"EVENTSTORE_USERNAME=admin", "EVENTSTORE_PASSWORD=right")
	l := newLifecycle(slog.New(slog.DiscardHandler))
	atEnd(t, l.stop)
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
