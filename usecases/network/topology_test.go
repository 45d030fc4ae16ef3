package networkcases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// TestChangeDevice_StandsBehindARouterOfTheSameOrganizationOnly: a circle, a stranger's router and one that is gone are
// refused before anything is written, and a router that is deleted leaves those behind it to its own upstream.
func TestChangeDevice_StandsBehindARouterOfTheSameOrganizationOnly(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	tower, hill, lodge := k.register(), k.register(), k.register()
	behind := func(device, upstream id.Device) error {
		_, err := k.devices.Change(t.Context(), k.asked(), device, networkcases.DeviceChange{UpstreamID: &upstream})
		return err
	}
	for device, upstream := range map[id.Device]id.Device{hill: tower, lodge: hill} {
		if err := behind(device, upstream); err != nil {
			t.Fatal(err)
		}
	}
	name, stranger := "another", id.New[id.Device]()
	_, err := k.devices.Change(t.Context(), k.asked(), tower, networkcases.DeviceChange{
		Name: &name, UpstreamID: &lodge,
	})
	coretest.Refused(t, "a circle", err, "upstream_cycle")
	coretest.Refused(t, "a router that nobody has", behind(lodge, stranger), "device_not_found")
	if k.device(tower).Details.Name == name {
		t.Error("a part of a refused change was written")
	}
	if _, err := k.devices.Decommission(t.Context(), k.asked(), hill); err != nil {
		t.Fatal(err)
	}
	topology, _, err := bus.LoadOwned[network.Topology](t.Context(), k.Bus, k.asked().Org(), k.asked().Org())
	if err != nil || topology.Upstreams[lodge] != tower || len(topology.Upstreams) != 1 {
		t.Errorf("got %+v, %v", topology, err)
	}
}
