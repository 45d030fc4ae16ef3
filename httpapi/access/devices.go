package accessapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
)

// deviceNames gives the names of routers of an organization, also of decommissioned ones; one that is not known is left
// out. Support may not see routers, and needs to say which one it is about.
type deviceNames func(context.Context, id.Organization, []id.Device) (map[id.Device]string, error)

// of gives the names of the routers of rows. A zero router in it has none.
func (n deviceNames) of(
	ctx context.Context, org id.Organization, count int, device func(int) id.Device,
) (namedDevices, error) {
	var ids []id.Device
	for i := range count {
		if one := device(i); !one.IsZero() {
			ids = append(ids, one)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return n(ctx, org, ids)
}

// namedDevices has the names of routers.
type namedDevices map[id.Device]string

// name is null for a router that is not known.
func (n namedDevices) name(device id.Device) *string { return null.Of(n[device]) }
