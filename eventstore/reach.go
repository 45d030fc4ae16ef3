package eventstore

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// ErrSettings says that the address of a store, or what it says about TLS, is wrong: waiting does not help.
var ErrSettings = errors.New("the settings do not fit the event store")

// Reach tries to connect to the nodes of an address, up to TLS, and says why none of them can be connected to; nil when
// one can. The client of the store never tells, but tries again without end. Fails: ErrSettings, and others that can
// pass.
func Reach(ctx context.Context, url string) error {
	config, err := esdb.ParseConnectionString(url)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSettings, err)
	}
	nodes := []string{config.Address}
	if config.Address == "" {
		nodes = nil
	}
	for _, seed := range config.GossipSeeds {
		nodes = append(nodes, net.JoinHostPort(seed.Host, strconv.Itoa(int(seed.Port))))
	}
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	answers := make(chan error, len(nodes)) // all at once: one that swallows packets takes no time from the others
	for _, node := range nodes {
		go func() { answers <- reachNode(ctx, config, node) }()
	}
	var passing, lasting error
	for range nodes {
		err := <-answers
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrSettings):
			lasting = errors.Join(lasting, err)
		default:
			passing = errors.Join(passing, err)
		}
	}
	return cmp.Or(passing, lasting)
}

// reachNode connects to one node. A node that wants TLS, where the address says none, is found by trying it.
func reachNode(ctx context.Context, config *esdb.Configuration, node string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", node)
	var wrong *net.AddrError
	if errors.Is(err, syscall.EAFNOSUPPORT) || errors.As(err, &wrong) {
		return fmt.Errorf("%w: %w", ErrSettings, err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // that it stood is the answer
	host, _, _ := net.SplitHostPort(node)
	client := tls.Client(conn, &tls.Config{
		ServerName: host, RootCAs: config.RootCAs, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: config.SkipCertificateVerification || config.DisableTLS, //nolint:gosec // says the address
	})
	err = client.HandshakeContext(ctx)
	var plain tls.RecordHeaderError
	switch {
	case config.DisableTLS && err == nil:
		return fmt.Errorf("%w: %s wants TLS, and the address says tls=false", ErrSettings, node)
	case config.DisableTLS:
		return nil
	case errors.As(err, &plain):
		return fmt.Errorf("%w: %s has no TLS, and the address does not say tls=false", ErrSettings, node)
	case distrusted(err):
		return fmt.Errorf("%w: %s: %w", ErrSettings, node, err)
	}
	return err
}

// distrusted reports whether a certificate was shown and is not the right one.
func distrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var host x509.HostnameError
	return errors.As(err, &certificate) || errors.As(err, &host)
}
