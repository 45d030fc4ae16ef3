package outagesapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// Places names routers and services. Safe for concurrent use.
type Places struct {
	Devices  networkviews.DevicesQuery
	Services networkviews.ServicesQuery
}

// names are those of the places of some rows.
type names struct {
	devices  map[id.Device]string
	services map[id.Service]networkviews.ServicePlace
}

// placeOfService says where a service is, or was.
type placeOfService struct {
	Type            string    `json:"type"`
	ParentInterface string    `json:"parentInterface"`
	DeviceID        id.Device `json:"deviceId"`
	DeviceName      *string   `json:"deviceName"`
}

// names reads the names of some routers and services; zero ids are left out.
func (p Places) names(
	ctx context.Context, org id.Organization, devices []id.Device, services []id.Service,
) (out names, err error) {
	if services = known(services); len(services) > 0 {
		if out.services, err = p.Services.Places(ctx, org, services); err != nil {
			return out, err
		}
	}
	for _, s := range out.services {
		devices = append(devices, s.DeviceID)
	}
	out.devices, err = p.Devices.Names(ctx, org, known(devices))
	return out, err
}

// service says where a service is; nil when it is not known.
func (n names) service(of id.Service) *placeOfService {
	s, ok := n.services[of]
	if !ok {
		return nil
	}
	return &placeOfService{
		Type: s.Type, ParentInterface: s.Parent, DeviceID: s.DeviceID, DeviceName: null.Of(n.devices[s.DeviceID]),
	}
}
