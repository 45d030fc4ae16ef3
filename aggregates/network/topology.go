package network

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Topologies defines which router stands behind which: one stream for each organization, because only a stream that
// has all of them can refuse a circle (docs/rules/outages.md#upstream).
func Topologies() aggregates.Definition[Topology, commands.TopologyCommand, events.TopologyEvent] {
	return aggregates.Definition[Topology, commands.TopologyCommand, events.TopologyEvent]{
		Category: commands.TopologyCategory, Missing: commands.ErrNotFound, Evolve: evolveTopology,
		Decide: decideTopology, Owner: func(s Topology) id.Organization { return s.Org }, Close: closeTopology,
		Commands: []commands.TopologyCommand{commands.ChooseUpstream{}, commands.LeaveTopology{}},
	}
}

// Topology has the upstream of each router of an organization that has one. The zero value has none.
type Topology struct {
	Org       id.Organization
	Upstreams map[id.Device]id.Device `json:",omitempty"`
}

// evolveTopology applies one recorded event.
func evolveTopology(s Topology, e events.TopologyEvent) Topology {
	switch e := e.(type) {
	case events.UpstreamChosen:
		s.Org, s.Upstreams = e.OrgID, maps.Clone(s.Upstreams)
		if s.Upstreams == nil {
			s.Upstreams = map[id.Device]id.Device{}
		}
		if delete(s.Upstreams, e.DeviceID); !e.UpstreamID.IsZero() {
			s.Upstreams[e.DeviceID] = e.UpstreamID
		}
	case events.TopologyPeriodClosed:
		return aggregates.Opened[Topology](e.Opening)
	}
	return s
}

// closeTopology passes the whole state on.
func closeTopology(s Topology) events.TopologyEvent {
	return events.TopologyPeriodClosed{OrgID: s.Org, Opening: aggregates.Opening(s)}
}

// Leads reports whether one router stands behind another one, or is the same.
func (s Topology) Leads(from, to id.Device) bool {
	for range len(s.Upstreams) + 1 {
		if from == to {
			return true
		}
		next, ok := s.Upstreams[from]
		if !ok {
			return false
		}
		from = next
	}
	return false
}

// Refuses says why a router cannot stand behind another one; nil when it can.
func (s Topology) Refuses(device, upstream id.Device) error {
	if upstream.IsZero() || !s.Leads(upstream, device) {
		return nil
	}
	return failure.New(failure.Invalid, "upstream_cycle",
		"A router cannot stand behind itself, nor behind one that stands behind it.")
}

// decideTopology dispatches.
func decideTopology(s Topology, c commands.TopologyCommand, now time.Time) ([]events.TopologyEvent, error) {
	switch c := c.(type) {
	case commands.ChooseUpstream:
		if s.Upstreams[c.DeviceID] == c.UpstreamID {
			return nil, nil
		}
		if err := s.Refuses(c.DeviceID, c.UpstreamID); err != nil {
			return nil, err
		}
		return only[events.TopologyEvent](events.UpstreamChosen{
			OrgID: c.OrgID, DeviceID: c.DeviceID, UpstreamID: c.UpstreamID, At: now,
		})
	case commands.LeaveTopology:
		return decideLeave(s, c, now), nil
	}
	return nil, nil
}

// decideLeave moves the routers behind one that is gone to its upstream.
func decideLeave(s Topology, c commands.LeaveTopology, now time.Time) (made []events.TopologyEvent) {
	above := s.Upstreams[c.DeviceID]
	behind := slices.SortedFunc(maps.Keys(s.Upstreams), func(a, b id.Device) int {
		return strings.Compare(a.String(), b.String())
	})
	for _, device := range behind {
		if s.Upstreams[device] == c.DeviceID {
			made = append(made, events.UpstreamChosen{
				OrgID: c.OrgID, DeviceID: device, UpstreamID: above, At: now,
			})
		}
	}
	if !above.IsZero() {
		made = append(made, events.UpstreamChosen{OrgID: c.OrgID, DeviceID: c.DeviceID, At: now})
	}
	return made
}
