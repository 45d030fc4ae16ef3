package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// nodeGuard is what the embedded node proves itself with and what it asks of its callers. The zero value is a node that
// does neither, which is enough on loopback outside production (docs/rules/engine.md#node-in-production).
type nodeGuard struct {
	tls      *tls.Config
	username string
	password secrets.Text
	caFile   string // what the client believes; "" = the machine's authorities
	// public is the certificate in PEM when it was made here, and known by nobody yet.
	public []byte
	// made tells that the password was made here: other programs find it in the runtime file.
	made bool
}

// Names of what is made for a node without settings of its own.
const (
	guardUsername = "lastmile"
	guardFile     = "eventstore-ca.pem" // in DATA_DIR; no secret
)

// guardLife is how long a certificate made here is good: it ends with the program.
const guardLife = 10 * 365 * 24 * time.Hour

// guardNode takes certificate and password from the configuration. In production a node on loopback makes for itself
// what is not given; its secrets live as long as the program. Other addresses must be given both: see checkEventStore.
func guardNode(cfg Config, c clock.Clock) (nodeGuard, error) {
	g := nodeGuard{username: cfg.EventStoreUsername, password: cfg.EventStorePassword, caFile: cfg.EventStoreCAFile}
	if cfg.EventStoreCertFile != "" {
		pair, err := tls.LoadX509KeyPair(cfg.EventStoreCertFile, cfg.EventStoreKeyFile)
		if err != nil {
			return nodeGuard{}, fmt.Errorf("EVENTSTORE_TLS_CERT_FILE: %w", err)
		}
		g.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if !cfg.Production() || !isLoopback(cfg.EventStoreAddr) {
		return g, nil
	}
	if g.password.IsZero() {
		g.username, g.password, g.made = guardUsername, secrets.Text(rand.Text()), true
	}
	if g.tls == nil {
		if err := g.certify(cfg.DataDir, c.Now()); err != nil {
			return nodeGuard{}, fmt.Errorf("event store node: make a certificate: %w", err)
		}
	}
	return g, nil
}

// certify makes a certificate for loopback that is its own authority.
func (g *nodeGuard) certify(dir string, now time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "lastmile event store node"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(guardLife), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
		return err
	}
	if g.caFile, err = filepath.Abs(filepath.Join(dir, guardFile)); err != nil {
		return err
	}
	g.public = text.Bytes()
	g.tls = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}},
		MinVersion:   tls.VersionTLS13,
	}
	return nil
}

// publish writes the certificate that was made here where clients find it. It is called once the node has the log to
// itself: one that is refused must not replace the certificate of the one that serves.
func (g nodeGuard) publish() error {
	if g.public == nil {
		return nil
	}
	//nolint:gosec // the files in it are guarded one by one
	if err := os.MkdirAll(filepath.Dir(g.caFile), 0o755); err != nil {
		return fmt.Errorf("DATA_DIR: %w", err)
	}
	if err := os.WriteFile(g.caFile, g.public, 0o600); err != nil {
		return fmt.Errorf("write the event store node's certificate: %w", err)
	}
	return nil
}

// note puts what was made here into the runtime file, for commands that run beside the service.
func (g nodeGuard) note(r *runtimeFile) {
	if g.made {
		r.Username, r.Password = g.username, g.password.Reveal()
	}
	if g.public != nil {
		r.CAFile = g.caFile
	}
}

// guardOf is how the client comes past a running program's guard: by what the file says, else by the configuration.
func guardOf(r runtimeFile, cfg Config) nodeGuard {
	g := nodeGuard{username: cfg.EventStoreUsername, password: cfg.EventStorePassword, caFile: cfg.EventStoreCAFile}
	if r.Password != "" {
		g.username, g.password = r.Username, secrets.Text(r.Password)
	}
	if r.CAFile != "" {
		g.caFile = r.CAFile
	}
	return g
}
