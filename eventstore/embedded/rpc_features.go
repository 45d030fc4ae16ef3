package embedded

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
)

// serverVersion is the protocol level of this node: stream reads have positions, and subscriptions say when they have
// caught up. Clients parse three integers.
const serverVersion = "24.6.0"

// featuresService answers which calls and features a client may use.
type featuresService struct {
	serverfeatures.UnimplementedServerFeaturesServer
}

// GetSupportedMethods returns the names in lower case, because clients compare them so.
func (featuresService) GetSupportedMethods(context.Context, *shared.Empty) (*serverfeatures.SupportedMethods, error) {
	const (
		streamsName     = "event_store.client.streams.streams"
		persistentName  = "event_store.client.persistent_subscriptions.persistentsubscriptions"
		projectionsName = "event_store.client.projections.projections"
	)
	method := func(service, name string, features ...string) *serverfeatures.SupportedMethod {
		return &serverfeatures.SupportedMethod{ServiceName: service, MethodName: name, Features: features}
	}
	return &serverfeatures.SupportedMethods{
		EventStoreServerVersion: serverVersion,
		Methods: []*serverfeatures.SupportedMethod{
			method(streamsName, "read", "position", "events"),
			method(streamsName, "append"),
			method(streamsName, "batchappend", "deadline_duration"),
			method(streamsName, "delete"),
			method(streamsName, "tombstone"),
			method("event_store.client.gossip.gossip", "read"),
			method("event_store.client.server_features.serverfeatures", "getsupportedmethods"),
			// These answer Unimplemented, which clients report as an unsupported feature. Left out, or without their
			// features, clients for Go and Node.js would try them over HTTP/1 on this port and report a broken
			// connection instead. No other one is named, and none has "all", so nothing more is promised.
			method(persistentName, "getinfo", "stream"),
			method(persistentName, "list", "stream"),
			method(persistentName, "replayparked", "stream"),
			method(persistentName, "restartsubsystem", "stream"),
			method(projectionsName, "create", "track_emitted_streams"),
		},
	}, nil
}
