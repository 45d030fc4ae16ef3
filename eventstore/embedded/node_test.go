package embedded_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// oneEvent makes an event with a new id.
func oneEvent() esdb.EventData {
	return esdb.EventData{EventID: uuid.New(), EventType: "e", ContentType: esdb.ContentTypeJson, Data: []byte(`{}`)}
}

// mustAppend fails the test when the append fails.
func mustAppend(
	t testing.TB, c *esdb.Client, stream string, expected esdb.ExpectedRevision, events ...esdb.EventData,
) *esdb.WriteResult {
	t.Helper()
	r, err := c.AppendToStream(t.Context(), stream, esdb.AppendToStreamOptions{ExpectedRevision: expected}, events...)
	if err != nil {
		t.Fatalf("append to %s: %v", stream, err)
	}
	return r
}

// wantCode compares the error code that the stock client reports.
func wantCode(t *testing.T, err error, code esdb.ErrorCode) {
	t.Helper()
	var e *esdb.Error
	if !errors.As(err, &e) || e.Code() != code {
		t.Errorf("got %v, want client code %d", err, code)
	}
}

// TestNode_SecondOneIsRefused: one log has one node; the error for a second one names the address of the first.
func TestNode_SecondOneIsRefused(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	first := start(t, cfg)
	_, err := embedded.Start(t.Context(), cfg)
	if err == nil {
		t.Fatal("a second node started on the same log")
	}
	for _, want := range []string{"EVENTSTORE_URL=" + first.URL(), cfg.Schema} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %s", err, want)
		}
	}
	mustAppend(t, contract.Connect(t, first.URL()), "still-works", esdb.NoStream{}, oneEvent())
}

// TestNode_RestartKeepsEverything: revisions, positions and the recognition of repeats go on after a restart.
func TestNode_RestartKeepsEverything(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	first, err := embedded.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	client := contract.Connect(t, first.URL())
	exact, loose := oneEvent(), oneEvent()
	r1 := mustAppend(t, client, "s", esdb.NoStream{}, exact)
	r2 := mustAppend(t, client, "l", esdb.Any{}, loose)
	mustAppend(t, client, "s", esdb.Revision(0), oneEvent())
	_ = client.Close()
	stop(t, first)
	client = contract.Connect(t, start(t, cfg).URL())
	if again := mustAppend(t, client, "s", esdb.NoStream{}, exact); *again != *r1 {
		t.Errorf("exact repeat answered %+v, the original %+v", again, r1)
	}
	if again := mustAppend(t, client, "l", esdb.Any{}, loose); *again != *r2 {
		t.Errorf("loose repeat answered %+v, the original %+v", again, r2)
	}
	r3 := mustAppend(t, client, "s", esdb.Revision(1), oneEvent())
	if r3.NextExpectedVersion != 2 || r3.CommitPosition <= r2.CommitPosition {
		t.Errorf("the log goes on at %+v after %+v", r3, r2)
	}
}

// TestNode_StopsWithOpenSubscriptions: Stop takes a limited time, and subscribers get the end of their subscription.
func TestNode_StopsWithOpenSubscriptions(t *testing.T) {
	t.Parallel()
	n, err := embedded.Start(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	client := contract.Connect(t, n.URL())
	sub, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{From: esdb.Start{}})
	if err != nil {
		t.Fatal(err)
	}
	for sub.Recv().CaughtUp == nil {
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	if e := sub.Recv(); e.SubscriptionDropped == nil {
		t.Errorf("got %+v", e)
	}
	if err := n.Stop(ctx); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

// TestNode_MaxAgeHidesExpiredEvents moves a manual clock past the maximal age.
func TestNode_MaxAgeHidesExpiredEvents(t *testing.T) {
	t.Parallel()
	cfg, now := testConfig(t), clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	cfg.Clock = now
	client := contract.Connect(t, start(t, cfg).URL())
	mustAppend(t, client, "aging", esdb.NoStream{}, oneEvent(), oneEvent())
	m := esdb.StreamMetadata{}
	m.SetMaxAge(time.Minute)
	if _, err := client.SetStreamMetadata(t.Context(), "aging",
		esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, m); err != nil {
		t.Fatal(err)
	}
	first := func() (uint64, error) {
		r, err := client.ReadStream(t.Context(), "aging", esdb.ReadStreamOptions{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		e, err := r.Recv()
		if err != nil {
			return 0, err
		}
		return e.Event.EventNumber, nil
	}
	if got, err := first(); got != 0 || err != nil {
		t.Errorf("young: %d, %v", got, err)
	}
	now.Advance(50 * time.Second)
	mustAppend(t, client, "aging", esdb.Any{}, oneEvent())
	now.Advance(20 * time.Second)
	if got, err := first(); got != 2 || err != nil {
		t.Errorf("half expired: %d, %v", got, err)
	}
	now.Advance(time.Hour)
	if _, err := first(); err == nil || err.Error() != "EOF" {
		t.Errorf("all expired: %v, want the end of an existing stream", err)
	}
}

// TestNode_UnimplementedServicesSaySo: the stock client reports such services as unsupported features.
func TestNode_UnimplementedServicesSaySo(t *testing.T) {
	t.Parallel()
	url := start(t, testConfig(t)).URL()
	client := contract.Connect(t, url)
	unsupported := esdb.ErrorCodeUnsupportedFeature
	wantCode(t, client.CreatePersistentSubscription(t.Context(), "s", "g", esdb.PersistentStreamSubscriptionOptions{}),
		unsupported)
	wantCode(t, client.CreatePersistentSubscriptionToAll(t.Context(), "g", esdb.PersistentAllSubscriptionOptions{}),
		unsupported)
	_, err := client.ListAllPersistentSubscriptions(t.Context(), esdb.ListPersistentSubscriptionsOptions{})
	wantCode(t, err, unsupported)
	_, err = client.GetPersistentSubscriptionInfo(t.Context(), "s", "g", esdb.GetPersistentSubscriptionOptions{})
	wantCode(t, err, unsupported)
	config, err := esdb.ParseConnectionString(url)
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = esdb.NoopLogging()
	projections, err := esdb.NewProjectionClient(config)
	if err != nil {
		t.Fatal(err)
	}
	defer projections.Close()
	// The client returns this error unchanged.
	err = projections.Create(t.Context(), "p", "fromAll()", esdb.CreateProjectionOptions{})
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("projections: %v", err)
	}
}

// TestNode_ClientsDoNotTryOverHTTPWhatItDoesNotServe: the client for Node.js does so unless these features are named.
func TestNode_ClientsDoNotTryOverHTTPWhatItDoesNotServe(t *testing.T) {
	t.Parallel()
	addr := start(t, testConfig(t)).Addr()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	served, err := serverfeatures.NewServerFeaturesClient(conn).GetSupportedMethods(t.Context(), &shared.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, m := range served.GetMethods() {
		service := m.GetServiceName()[strings.LastIndex(m.GetServiceName(), ".")+1:]
		if service == "persistentsubscriptions" || service == "projections" {
			got[service+"/"+m.GetMethodName()] = m.GetFeatures()
		}
	}
	if diff := cmp.Diff(map[string][]string{
		"persistentsubscriptions/getinfo": {"stream"}, "persistentsubscriptions/list": {"stream"},
		"persistentsubscriptions/replayparked": {"stream"}, "persistentsubscriptions/restartsubsystem": {"stream"},
		"projections/create": {"track_emitted_streams"},
	}, got); diff != "" {
		t.Errorf("features (-want +got):\n%s", diff)
	}
}

// selfSigned is a TLS configuration with a new certificate for 127.0.0.1.
func selfSigned(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "event store"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12,
	}
}

// TestNode_AsksForCredentials: when TLS and credentials are configured, calls need them, but discovery does not.
func TestNode_AsksForCredentials(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.TLS, cfg.Username, cfg.Password, cfg.Production = selfSigned(t), "admin", "secret", false
	n := start(t, cfg)
	if strings.Contains(n.URL(), "secret") || !strings.HasSuffix(n.URL(), "?tls=true") {
		t.Errorf("URL %s", n.URL())
	}
	for _, c := range []struct {
		user string
		ok   bool
	}{{"admin:secret@", true}, {"admin:wrong@", false}, {"", false}} {
		for _, scheme := range []string{"esdb://", "esdb+discover://"} {
			client := contract.Connect(t, strings.Replace(n.URL(), "esdb://", scheme+c.user, 1)+"&tlsVerifyCert=false")
			_, err := client.AppendToStream(t.Context(), "guarded", esdb.AppendToStreamOptions{}, oneEvent())
			if c.ok && err != nil {
				t.Errorf("%s%s: %v", scheme, c.user, err)
			}
			if !c.ok {
				wantCode(t, err, esdb.ErrorCodeUnauthenticated)
			}
		}
	}
}

// TestConfig_UnsafeAddressesAreRefused: plain text or no password is allowed on loopback only, and not in production.
func TestConfig_UnsafeAddressesAreRefused(t *testing.T) {
	t.Parallel()
	guarded := selfSigned(t)
	for name, c := range map[string]struct {
		change func(*embedded.Config)
		want   string
	}{
		"other than loopback": {func(c *embedded.Config) { c.Addr = "192.0.2.1:0" }, "needs TLS"},
		"every interface":     {func(c *embedded.Config) { c.Addr = "0.0.0.0:0" }, "needs TLS"},
		"TLS without password": {
			func(c *embedded.Config) { c.Addr, c.TLS = "192.0.2.1:0", guarded }, "needs TLS and a username",
		},
		"production":        {func(c *embedded.Config) { c.Production = true }, "in production"},
		"half a credential": {func(c *embedded.Config) { c.Username = "admin" }, "go together"},
		"nothing to advertise": {func(c *embedded.Config) {
			c.Addr, c.TLS, c.Username, c.Password = "0.0.0.0:0", guarded, "u", "p"
		}, "advertised host"},
		"a silence that a working node cannot keep": {
			func(c *embedded.Config) { c.HolderSilence = time.Millisecond }, "at least a second",
		},
		"no port":   {func(c *embedded.Config) { c.Addr = "127.0.0.1" }, "missing port"},
		"no schema": {func(c *embedded.Config) { c.Schema = "" }, "schema name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t)
			c.change(&cfg)
			n, err := embedded.Start(t.Context(), cfg)
			if err == nil {
				stop(t, n)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
