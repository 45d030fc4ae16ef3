package embedded

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// guard checks Basic credentials. Without any configured everything is allowed, as the real server does in insecure
// mode.
type guard struct {
	enabled bool
	want    [sha256.Size]byte
}

// newGuard asks for the configured credentials, if there are any.
func newGuard(username, password string) guard {
	return guard{enabled: username != "", want: sha256.Sum256([]byte(username + ":" + password))}
}

// openMethods are called by clients before they send credentials.
var openMethods = map[string]bool{
	"/event_store.client.gossip.Gossip/Read":                                 true,
	"/event_store.client.server_features.ServerFeatures/GetSupportedMethods": true,
}

// errUnauthenticated: credentials are missing or wrong; which of them is not said.
var errUnauthenticated = status.Error(codes.Unauthenticated, "missing or wrong credentials")

// drainedMessages bounds what is read of a request that is refused unseen.
const drainedMessages = 64

// drain reads the rest of a request that will be refused: a client that is still sending would see the end of its
// stream instead of the status. A caller without credentials gets no more than a few messages of our time.
func drain(ss grpc.ServerStream) {
	for range drainedMessages {
		if ss.RecvMsg(new(streams.AppendReq)) != nil {
			return
		}
	}
}

// check passes a call whose credentials are right.
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
