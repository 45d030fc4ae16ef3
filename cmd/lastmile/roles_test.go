package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRoles_EventStoreAloneAndSeparateWorkers: `lastmile eventstore` holds the log; one program answers requests and
// another one does the work. The story is the same.
func TestRoles_EventStoreAloneAndSeparateWorkers(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ctx, stop := context.WithCancel(t.Context())
	var out, errs logBuffer
	ended := make(chan int, 1)
	go func() { ended <- program{environ: k.environ, out: &out, err: &errs}.run(ctx, []string{"eventstore"}) }()
	k.eventually("event store node",
		func(context.Context) (bool, error) { return strings.HasPrefix(out.String(), "esdb://"), nil })
	k.environ = append(k.environ, "EVENTSTORE_URL="+strings.TrimSpace(out.String()))

	start := func(r roles, settings ...string) *App {
		environ := append(k.environ, settings...)
		cfg, err := loadConfig(environ)
		if err != nil {
			t.Fatalf("configuration: %v", err)
		}
		app, err := StartApp(t.Context(), cfg, r, slog.New(withoutRequests{slog.NewJSONHandler(k.log, nil)}),
			appOptions{})
		if err != nil {
			t.Fatalf("start with roles %v: %v", r, err)
		}
		atEnd(t, app.Stop)
		return app
	}
	k.app = start(roles{roleAPI})
	k.addr = k.app.Addr()
	start(roles{roleProjections, roleProcesses, roleJobs}, "PAYMENT_CALLBACK_URL="+k.app.callbackURL())

	k.signIn()
	subscriber, account := k.subscriber("254711000401")
	subscription := k.must(k.admin, "POST", "/subscriptions",
		map[string]string{"subscriberId": subscriber, "planId": k.plan("home", 100)}).text("id")
	k.issued(subscriber, 1)
	k.paybillReady()
	k.pay("254711000401", account, 100)
	k.paidUntil(subscription, "")
	k.sameBooks(map[string]string{"254711000401": subscriber})
	// A program that hears no routers shows what others have recorded.
	k.must(k.admin, "GET", "/sessions?online=true", nil)
	k.must(k.admin, "GET", "/subscribers/"+subscriber+"/usage", nil)

	k.app.Stop()
	stop()
	if code := <-ended; code != exitOK {
		t.Errorf("eventstore ended with code %d: %s", code, errs.String())
	}
}

// TestEventStoreNode_TLSAndPassword: with a certificate and a password given, the program uses its own node through
// both (docs/rules/engine.md#node-in-production).
func TestEventStoreNode_TLSAndPassword(t *testing.T) {
	t.Parallel()
	cert, key := selfSigned(t)
	k := newKit(t, "EVENTSTORE_TLS_CERT_FILE="+cert, "EVENTSTORE_TLS_KEY_FILE="+key, "EVENTSTORE_TLS_CA_FILE="+cert,
		"EVENTSTORE_USERNAME=admin", "EVENTSTORE_PASSWORD=a secret/of: the?node").start().signIn()
	k.subscriber("254711000501")
	if text := k.log.String(); strings.Contains(text, "secret/of") || strings.Contains(text, "secret%2Fof") {
		t.Error("the log shows the node's password")
	}
}

// TestRoles_EventStoreAloneNeedsNoDisk: its DATA_DIR cannot even be made.
func TestRoles_EventStoreAloneNeedsNoDisk(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKit(t, "DATA_DIR="+filepath.Join(file, "below"))
	k.eventStoreAlone(freePort(t))
	if log := k.log.String(); !strings.Contains(log, "other commands do not find this program") {
		t.Errorf("the log says %s", log)
	}
}

// selfSigned makes a certificate for the loopback address, and gives the paths of the certificate and of its key.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("make key: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "event store of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatalf("make certificate: %v", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatalf("write key: %v", err)
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		var text bytes.Buffer
		_ = pem.Encode(&text, &pem.Block{Type: kind, Bytes: der}) // a buffer takes everything
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatalf("write %s: %v", name, err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
}
