package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// nodeGuard has the certificate that the embedded node shows and the password that it demands. The zero value is a node
// without both, which is enough on loopback outside production (docs/rules/engine.md#node-in-production).
type nodeGuard struct {
	tls      *tls.Config
	username string
	password secrets.Text
	caFile   string // authority that our client trusts; "" = those of the machine
	// public is the certificate when it was made here; publish writes it to caFile.
	public *x509.Certificate
	// made says that the password was made here. Other programs find it in the runtime file.
	made bool
}

// User name and file of a guard that was made here.
const (
	guardUsername = "lastmile"
	guardFile     = "eventstore-ca.pem" // in DATA_DIR; no secret
)

// A certificate made here is valid at every time: its key exists only as long as the program runs, and the machine's
// clock may be set meanwhile.
var (
	guardFrom  = time.Unix(0, 0)
	guardUntil = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) // the last instant that a certificate can name
)

// guardNode takes certificate and password from the configuration. In production it makes missing ones for a node on
// loopback; they exist as long as the program runs. For other addresses the configuration must have both: see
// checkEventStore.
func guardNode(cfg Config) (nodeGuard, error) {
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
		if err := g.certify(cfg.DataDir); err != nil {
			return nodeGuard{}, fmt.Errorf("event store node: make a certificate: %w", err)
		}
	}
	return g, nil
}

// certify makes a self-signed certificate for loopback.
func (g *nodeGuard) certify(dir string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "lastmile event store node"},
		NotBefore: guardFrom, NotAfter: guardUntil, IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return err
	}
	if g.public, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	if g.caFile, err = filepath.Abs(filepath.Join(dir, guardFile)); err != nil {
		return err
	}
	g.tls = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}},
		MinVersion:   tls.VersionTLS13,
	}
	return nil
}

// trust gives what our own client trusts when the certificate was made here; nil = what the address says.
func (g nodeGuard) trust() *x509.CertPool {
	if g.public == nil {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AddCert(g.public)
	return pool
}

// publish writes the certificate that was made here to DATA_DIR, where commands beside this program find it. It is
// called when the node has the right to write: a second node that is refused must not replace the certificate of the
// running one.
func (g nodeGuard) publish() error {
	if g.public == nil {
		return nil
	}
	//nolint:gosec // the files in it are guarded one by one
	if err := os.MkdirAll(filepath.Dir(g.caFile), 0o755); err != nil {
		return fmt.Errorf("DATA_DIR: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.public.Raw})
	return writePrivate(g.caFile, string(text))
}

// note puts user name, password and certificate that were made here into the runtime file, for commands that run beside
// this program.
func (g nodeGuard) note(r *runtimeFile) {
	if g.made {
		r.Username, r.Password = g.username, g.password.Reveal()
	}
	if g.public != nil {
		r.CAFile = g.caFile
	}
}

// guardOf gives the guard of a running program's node: from its runtime file, or else from the configuration.
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
