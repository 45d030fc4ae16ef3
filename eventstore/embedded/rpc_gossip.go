package embedded

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
)

// gossipService answers clients that discover a cluster. The cluster has this one member.
type gossipService struct {
	gossip.UnimplementedGossipServer
	node *Node
}

// Read returns this node, as the leader until the node begins to stop. While it cannot reach its database another node
// may have taken the log over, so it is none: clients that know several addresses then look at the others too.
func (s *gossipService) Read(context.Context, *shared.Empty) (*gossip.ClusterInfo, error) {
	n := s.node
	member := &gossip.MemberInfo{
		InstanceId:   structured(n.instance),
		TimeStamp:    ticks(n.config.Clock.Now()),
		State:        gossip.MemberInfo_Leader,
		IsAlive:      true,
		HttpEndPoint: &gossip.EndPoint{Address: n.advertised, Port: uint32(n.port)},
	}
	select {
	case <-n.stopping:
		member.State, member.IsAlive = gossip.MemberInfo_ShuttingDown, false
	default:
		if n.sequencer.down.Load() {
			member.State, member.IsAlive = gossip.MemberInfo_Unknown, false
		}
	}
	return &gossip.ClusterInfo{Members: []*gossip.MemberInfo{member}}, nil
}
