package networkjobs

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// GardenSettings say what customers in the walled garden reach (docs/rules/access-walled-garden.md#what-is-reached).
// The zero value is for routers without a walled garden.
type GardenSettings struct {
	// Host gives the host name of an organization's payment page; nil = no walled garden.
	Host func(ctx context.Context, org id.Organization) (string, error)
	// Sites lists what customers of all organizations reach besides: the payment provider, and WALLED_GARDEN_SITES.
	Sites []string
	// Redirect leads plain web pages to the payment page: the program answers at WALLED_GARDEN_ADDR.
	Redirect bool
}

// always lists what customers of an organization reach in every walled garden: the payment page and Sites. nil without
// a walled garden.
func (w *Workers) always(ctx context.Context, org id.Organization) ([]string, error) {
	if w.cfg.Garden.Host == nil {
		return nil, nil
	}
	host, err := w.cfg.Garden.Host(ctx, org)
	if err != nil {
		return nil, err
	}
	return append([]string{host}, w.cfg.Garden.Sites...), nil
}

// gardenOf gives the walled garden of a router, with the sites that its services allow; nil when there is none. A
// service that is being removed allows none, one that is made again keeps its sites.
func (w *Workers) gardenOf(ctx context.Context, row networkviews.DeviceRow) (*routerplan.Garden, error) {
	allowed, err := w.always(ctx, row.OrgID)
	if err != nil || allowed == nil {
		return nil, err
	}
	services, err := w.services.OfDevice(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	garden := routerplan.Garden{Allowed: allowed, Redirect: w.cfg.Garden.Redirect}
	for _, s := range services {
		if s.Open != events.PhaseRemoval {
			garden.Sites = slices.Concat(garden.Sites, s.WalledGarden.Domains, s.WalledGarden.Addresses)
		}
	}
	if len(w.cfg.DNS) > 0 {
		garden.DNS = w.cfg.DNS[0]
	}
	return &garden, nil
}

// firewallOf gives the inputs of the platform's firewall rules on a router: the RADIUS server, the CoA port, the walled
// garden, and the CPE server.
func (w *Workers) firewallOf(ctx context.Context, row networkviews.DeviceRow) (routerplan.Firewall, error) {
	garden, err := w.gardenOf(ctx, row)
	return routerplan.Firewall{
		RadiusHost: w.cfg.Script.RadiusHost, CoAPort: row.Details.CoAPort, Garden: garden, CPE: w.cfg.CPE,
	}, err
}

// allowing adds to a comparison of services what their walled gardens allow, which customers of all services of the
// router reach: so a change of a service's walled garden is written with the service.
func (w *Workers) allowing(
	ctx context.Context, row networkviews.DeviceRow, c comparison,
) (comparison, error) {
	garden, err := w.gardenOf(ctx, row)
	if err != nil || garden == nil {
		return c, err
	}
	compare := c.compare
	return comparison{
		menus: union(c.menus, []string{routerplan.MenuAddressList}),
		compare: func(now routerplan.Snapshot) routerplan.Diff {
			return compare(now).With(routerplan.CompareSites(now, *garden))
		},
	}, nil
}
