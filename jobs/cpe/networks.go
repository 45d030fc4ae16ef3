package cpejobs

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Networks are the Wi-Fi networks that a CPE has told of, in the order of their numbers; none while the server does not
// know it.
func (a ACS) Networks(ctx context.Context, row cpeviews.CPERow) ([]cpeviews.Network, error) {
	device, err := a.find(ctx, events.CpeIdentity{
		SerialNumber: row.SerialNumber, OUI: row.OUI, ProductClass: row.ProductClass,
	})
	if errors.Is(err, genieacs.ErrUnknownDevice) || errors.Is(err, genieacs.ErrUnfit) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	layout, err := a.Gateway.Layout(ctx, device.ID)
	if err != nil && !errors.Is(err, genieacs.ErrUnknownDevice) {
		return nil, err
	}
	var list []cpeviews.Network
	for _, b := range layout.Bands {
		list = append(list, cpeviews.Network{
			Path: b.Path, Name: b.Name, Kind: string(b.Kind), Enabled: b.Enabled, Clients: b.Associated,
		})
	}
	return list, nil
}

// Networks fails: there is no server.
func (NoServer) Networks(context.Context, cpeviews.CPERow) ([]cpeviews.Network, error) {
	return nil, errNoServer()
}
