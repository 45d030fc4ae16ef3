package network_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The routers of these tests: the tower is above the hill, and the hill above the lodge.
var (
	tower = id.Derive[id.Device]("test", "tower")
	hill  = id.Derive[id.Device]("test", "hill")
	lodge = id.Derive[id.Device]("test", "lodge")
)

// behind is the fact that a router stands behind another one.
func behind(d, upstream id.Device) events.UpstreamChosen {
	return events.UpstreamChosen{OrgID: org, DeviceID: d, UpstreamID: upstream, At: now}
}

func TestChooseUpstream_ACircleIsRefused(t *testing.T) {
	t.Parallel()
	choose := func(d, upstream id.Device) commands.ChooseUpstream {
		return commands.ChooseUpstream{OrgID: org, DeviceID: d, UpstreamID: upstream}
	}
	given := decidertest.For(t, network.Topologies(), now).Given(behind(hill, tower), behind(lodge, hill))
	given.When(choose(tower, lodge)).ThenFails("upstream_cycle")
	given.When(choose(tower, tower)).ThenFails("upstream_cycle")
	given.When(choose(lodge, hill)).ThenNothing()
	given.When(choose(lodge, tower)).Then(behind(lodge, tower))
	given.When(choose(lodge, id.Device{})).Then(behind(lodge, id.Device{}))
}

func TestLeaveTopology_ThoseBehindMoveToItsUpstream(t *testing.T) {
	t.Parallel()
	decidertest.For(t, network.Topologies(), now).Given(behind(hill, tower), behind(lodge, hill)).
		When(commands.LeaveTopology{OrgID: org, DeviceID: hill}).
		Then(behind(lodge, tower), behind(hill, id.Device{}))
}

func TestTopology_IsTheSameAfterAClosedPeriod(t *testing.T) {
	t.Parallel()
	topologies := network.Topologies()
	before := folded(topologies, events.TopologyEvent(behind(hill, tower)))
	after := folded(topologies, topologies.Close(before))
	if after.Upstreams[hill] != tower || after.Org != org {
		t.Errorf("got %+v", after)
	}
}
