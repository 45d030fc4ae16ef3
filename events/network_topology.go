package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// TopologyEvent is an event of "topology-<organization id>": which router of an organization stands behind which.
//
//sumtype:decl
type TopologyEvent interface {
	Event
	topologyEvent()
}

// UpstreamChosen records that a router reaches the internet through another one of the organization.
type UpstreamChosen struct {
	OrgID      id.Organization `json:"orgId"`
	DeviceID   id.Device       `json:"deviceId"`
	UpstreamID id.Device       `json:"upstreamId"` // null = through none
	At         time.Time       `json:"at"`
}

// TopologyPeriodClosed is the last event of a full period. The next period begins with Opening, JSON of the aggregate's
// state.
type TopologyPeriodClosed struct {
	OrgID   id.Organization `json:"orgId"`
	Opening []byte          `json:"opening"`
}

func (UpstreamChosen) EventType() string       { return "network.UpstreamChosen.v1" }
func (TopologyPeriodClosed) EventType() string { return "network.TopologyPeriodClosed.v1" }

func (UpstreamChosen) topologyEvent()       {}
func (TopologyPeriodClosed) topologyEvent() {}
