package commands_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// TestCheckAddressing_NamesWhatWasGivenAndNothingDerived: a fault names a field of the caller, because a caller cannot
// correct a derived one.
func TestCheckAddressing_NamesWhatWasGivenAndNothingDerived(t *testing.T) {
	t.Parallel()
	const subnet = "10.61.0.0/24"
	for name, c := range map[string]struct {
		given events.ServiceAddressing
		want  failure.Faults
	}{
		"subnet alone": {events.ServiceAddressing{Subnet: subnet}, nil},
		"no gateway address": {
			events.ServiceAddressing{Subnet: subnet, Gateway: "x"}, failure.Faults{"gateway must be an IPv4 address"},
		},
		"gateway elsewhere": {
			events.ServiceAddressing{Subnet: subnet, Gateway: "10.62.0.1"}, failure.Faults{
				"gateway must be a host of the subnet 10.61.0.0/24",
			},
		},
		"gateway without subnet": {
			events.ServiceAddressing{Gateway: "10.61.0.1"}, failure.Faults{
				"subnet is required with gateway, poolStart or poolEnd",
			},
		},
		"start elsewhere": {
			events.ServiceAddressing{Subnet: subnet, PoolStart: "10.62.0.2"}, failure.Faults{
				"poolStart must be a host of the subnet 10.61.0.0/24",
			},
		},
		"both faulty": {events.ServiceAddressing{Subnet: subnet, Gateway: "x", PoolEnd: "10.62.0.2"},
			failure.Faults{"gateway must be an IPv4 address", "poolEnd must be a host of the subnet 10.61.0.0/24"}},
		"pool is everything": {events.ServiceAddressing{Subnet: subnet, PoolStart: "10.61.0.1", PoolEnd: "10.61.0.254"},
			failure.Faults{"poolStart and poolEnd leave no address for the gateway"}},
		"start behind a late gateway": {
			events.ServiceAddressing{Subnet: subnet, Gateway: "10.61.0.200", PoolStart: "10.61.0.210"}, nil,
		},
		"end before a gateway": {
			events.ServiceAddressing{Subnet: subnet, Gateway: "10.61.0.50", PoolEnd: "10.61.0.40"}, nil,
		},
		"end behind a gateway": {
			events.ServiceAddressing{Subnet: subnet, Gateway: "10.61.0.200", PoolEnd: "10.61.0.220"}, nil,
		},
		"from the first host": {events.ServiceAddressing{Subnet: subnet, PoolStart: "10.61.0.1"}, nil},
		"gateway in the pool": {events.ServiceAddressing{
			Subnet: subnet, Gateway: "10.61.0.9", PoolStart: "10.61.0.2", PoolEnd: "10.61.0.20",
		},
			failure.Faults{"gateway must not be inside the pool"}},
	} {
		var got failure.Faults
		commands.CheckAddressing(&got, commands.CompleteAddressing(c.given))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
