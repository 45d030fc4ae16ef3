package embedded

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// guard checks Basic credentials. When no username is configured, it allows every call, as the real server does in
// insecure mode. Safe for concurrent use.
type guard struct {
	enabled bool
	want    [sha256.Size]byte
}

// newGuard keeps only a hash of the credentials. An empty username turns the guard off.
func newGuard(username, password string) guard {
	return guard{enabled: username != "", want: sha256.Sum256([]byte(username + ":" + password))}
}

// openMethods need no credentials, because clients call them before they send any.
var openMethods = map[string]bool{
	"/event_store.client.gossip.Gossip/Read":                                 true,
	"/event_store.client.server_features.ServerFeatures/GetSupportedMethods": true,
}

// errUnauthenticated does not say which of username and password is wrong.
var errUnauthenticated = status.Error(codes.Unauthenticated, "missing or wrong credentials")

// check returns nil when a call may go on. Credentials are compared in constant time.
func (g guard) check(ctx context.Context, method string) error {
	if !g.enabled || openMethods[method] {
		return nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	for _, header := range md.Get("authorization") {
		scheme, encoded, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "basic") {
			continue
		}
		plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		if err != nil {
			continue
		}
		got := sha256.Sum256(plain)
		if subtle.ConstantTimeCompare(got[:], g.want[:]) == 1 {
			return nil
		}
	}
	return errUnauthenticated
}
