package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// nodeClient is where the tests of the Node client are, seen from this package.
var nodeClient = filepath.Join("..", "..", "eventstore", "nodeclient")

// TestEventStore_TheNodeClientIsServed runs the tests of eventstore/nodeclient, which make every call that the node
// serves with the stock client for Node.js, against two `lastmile eventstore`: one without a password, which they have
// restarted, and one with TLS and a password.
func TestEventStore_TheNodeClientIsServed(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(nodeClient, "node_modules", ".package-lock.json")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the client for Node.js is not installed, as make test does it: %v", err)
		}
		t.Skip("the client for Node.js is not installed; make node-client installs it")
	}
	files, err := filepath.Glob(filepath.Join(nodeClient, "*.mjs"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of tests, %v", len(files), err)
	}
	for _, name := range files { // so that go test runs this test again when one of them has changed
		if _, err := os.Stat(name); err != nil {
			t.Fatal(err)
		}
	}
	plain, guarded := newKit(t), newKit(t)
	certificate := guarded.certified()
	addr, safe := freePort(t), freePort(t)
	stop := plain.eventStoreAlone(addr)
	guarded.eventStoreAlone(safe)

	restarts := make(chan chan struct{}) // each is closed when the node serves again
	door := httptest.NewServer(restartDoor(restarts))
	atEnd(t, door.Close)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out logBuffer
	cmd := exec.CommandContext(ctx, "node", "all.mjs")
	cmd.Dir, cmd.Stdout, cmd.Stderr = nodeClient, &out, &out
	cmd.Env = append(os.Environ(), "PLAIN_NODE=esdb://"+addr+"?tls=false", "GUARDED_NODE="+safe,
		"GUARDED_CA="+certificate, "GUARDED_USERNAME="+guardUsername, "GUARDED_PASSWORD="+testPassword,
		"RESTART_NODE="+door.URL)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run() }()
	for {
		select {
		case again := <-restarts:
			stop()
			stop = plain.eventStoreAlone(addr)
			close(again)
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v:\n%s", err, out.String())
			}
			return
		}
	}
}

// certified gives a certificate and a password to the kit's node, and gives the certificate's file.
func (k *kit) certified() string {
	k.t.Helper()
	dir := k.t.TempDir()
	var g nodeGuard
	if err := g.certify(dir); err != nil {
		k.t.Fatal(err)
	}
	if err := g.publish(); err != nil {
		k.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(g.tls.Certificates[0].PrivateKey)
	if err != nil {
		k.t.Fatal(err)
	}
	key := filepath.Join(dir, "key.pem")
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		k.t.Fatal(err)
	}
	k.environ = append(k.environ, "EVENTSTORE_TLS_CERT_FILE="+g.caFile, "EVENTSTORE_TLS_KEY_FILE="+key,
		"EVENTSTORE_TLS_CA_FILE="+g.caFile, "EVENTSTORE_USERNAME="+guardUsername, "EVENTSTORE_PASSWORD="+testPassword)
	return g.caFile
}

// restartDoor asks for a restart at each request, and answers when the node serves again.
func restartDoor(restarts chan<- chan struct{}) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		again := make(chan struct{})
		select {
		case restarts <- again:
		case <-r.Context().Done():
		}
		select {
		case <-again:
		case <-r.Context().Done():
		}
	}
}
