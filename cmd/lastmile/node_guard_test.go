package main

import (
	"context"
	"crypto/x509"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestEventStoreNode_GuardsItselfInProduction: without settings of its own, the node of a program in production demands
// a password and shows a certificate that it made, and commands beside the program get through both.
func TestEventStoreNode_GuardsItselfInProduction(t *testing.T) {
	t.Parallel()
	k := inProduction(t)
	cfg := k.config()
	l := newLifecycle(quiet(program{err: k.log}, cfg))
	atEnd(t, l.stop)
	s, err := openStorage(t.Context(), cfg, clock.System(), l, storageMode{node: true})
	if err != nil {
		t.Fatalf("open storage: %v", err)
	}
	for name, url := range map[string]string{
		"neither password nor certificate": s.nodeURL,
		"certificate alone":                withCredentials(s.nodeURL, nodeGuard{caFile: s.guard.caFile}),
		"password alone": withCredentials(s.nodeURL, nodeGuard{
			username: s.guard.username, password: s.guard.password,
		}),
		"another password": withCredentials(s.nodeURL, nodeGuard{
			username: s.guard.username, password: "guess", caFile: s.guard.caFile,
		}),
	} {
		if err := ping(t.Context(), url); err == nil {
			t.Errorf("the node answers with %s", name)
		}
	}
	var r runtimeFile
	s.guard.note(&r)
	if err := ping(t.Context(), withCredentials(s.nodeURL, guardOf(r, cfg))); err != nil {
		t.Errorf("the node does not answer to a command beside the program: %v", err)
	}
	if strings.Contains(k.log.String(), s.guard.password.Reveal()) ||
		strings.Contains(r.String(), s.guard.password.Reveal()) {
		t.Error("the node's password is shown")
	}
}

// TestEventStoreNode_TheMachinesClockIsSetAfterTheStart: the certificate that the node made at the start is good for
// new connections whatever the clock says then.
func TestEventStoreNode_TheMachinesClockIsSetAfterTheStart(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"2000-01-01T00:00:00Z", "2026-03-02T09:00:00Z", "2099-12-31T00:00:00Z"} {
		g, err := guardNode(Config{AppEnv: production, EventStoreAddr: "127.0.0.1:0", DataDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		shown, err := x509.ParseCertificate(g.tls.Certificates[0].Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		_, err = shown.Verify(x509.VerifyOptions{
			Roots: g.trust(), DNSName: "localhost", CurrentTime: instant(t, at),
		})
		if err != nil {
			t.Errorf("at %s: %v", at, err)
		}
	}
}

// inProduction prepares a program in production, on a database with fsync: production refuses one without.
func inProduction(t *testing.T) *kit {
	t.Helper()
	server, err := pgtest.StartScratch(t.Context(), pgtest.ScratchConfig{Durable: true})
	if err != nil {
		t.Fatalf("start a durable server: %v", err)
	}
	atEnd(t, server.Stop)
	return newKit(t, "DATABASE_URL="+server.URL(), "APP_ENV=production", "PLATFORM_ENCRYPTION_KEY="+key32,
		"JWT_SIGNING_KEY="+signing32, "PAYMENT_ENV=production",
		"GATEWAY_MODE=live", "PAYMENT_BASE_URL=https://provider.example", "PAYMENT_ALLOWED_IPS=127.0.0.1",
		"PAYMENT_CALLBACK_URL=https://isp.example/webhooks/mobile-money/stk")
}

// ping connects to a log and asks whether it answers.
func ping(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	store, err := eventstore.Open(ctx, eventstore.Config{URL: url, Codec: catalog.New(catalog.NewMemoryKeys())})
	if err != nil {
		return err
	}
	defer store.Close()
	return store.Ping(ctx)
}
