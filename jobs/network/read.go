package networkjobs

import (
	"context"
	"slices"
	"sync"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// readers is the number of menus of one router that are read at the same time; the gateway allows two connections.
const readers = 2

// read gives a snapshot with the menus. Each menu is one round trip.
func (r router) read(ctx context.Context, menus []string) (routerplan.Snapshot, error) {
	snapshot := routerplan.Snapshot{}
	return snapshot, r.refresh(ctx, snapshot, menus)
}

// survey reads what is needed to check places: InterfaceMenus and others. A menu of interfaces of one type costs no
// round trip when the list of all interfaces, read just before, has none of that type.
func (r router) survey(ctx context.Context, menus []string) (routerplan.Snapshot, error) {
	first, second := routerplan.Stages(menus)
	snapshot, err := r.read(ctx, first)
	if err != nil {
		return snapshot, err
	}
	second = slices.DeleteFunc(second, func(menu string) bool { return routerplan.Vacant(snapshot, menu) })
	return snapshot, r.refresh(ctx, snapshot, second)
}

// permitted reads menus like read, and leaves those out that the API user may not read.
func (r router) permitted(ctx context.Context, menus []string) (routerplan.Snapshot, error) {
	snapshot := routerplan.Snapshot{}
	return snapshot, r.fetch(ctx, snapshot, menus, routeros.IsDenied)
}

// refresh reads menus of a snapshot again. The first error ends the reading and names its menu.
func (r router) refresh(ctx context.Context, into routerplan.Snapshot, menus []string) error {
	return r.fetch(ctx, into, menus, func(error) bool { return false })
}

// fetch reads menus into a snapshot, and leaves those out whose error is let pass.
func (r router) fetch(ctx context.Context, into routerplan.Snapshot, menus []string, pass func(error) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	next := make(chan string)
	for range min(readers, len(menus)) {
		wait.Go(func() {
			for menu := range next {
				var rows []routerplan.Row
				err := loop.Try(func() (err error) {
					rows, err = r.rows(ctx, menu)
					return err
				})
				mu.Lock()
				switch {
				case err == nil:
					into[menu] = rows
				case !pass(err) && first == nil:
					first = &at{path: routerplan.MenuOf(menu), err: err}
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	for _, menu := range menus {
		next <- menu
	}
	close(next)
	wait.Wait()
	return first
}

// rows reads one menu, which a router without its package does not have.
func (r router) rows(ctx context.Context, menu string) ([]routerplan.Row, error) {
	items, err := r.Print(ctx, routerplan.MenuOf(menu), routeros.Query{Where: routerplan.Narrow(menu)})
	if routeros.IsUnknownMenu(err) && menu != routerplan.MenuInterface {
		return rowsOf(nil), nil
	}
	return rowsOf(items), err
}

// rowsOf converts items to the type of routerplan, which does not import the gateway.
func rowsOf(items []routeros.Item) []routerplan.Row {
	rows := make([]routerplan.Row, len(items))
	for i, item := range items {
		rows[i] = routerplan.Row(item)
	}
	return rows
}

// at adds the menu to an error of the router.
type at struct {
	path string
	err  error
}

// Error puts the menu's path before the router's error.
func (a *at) Error() string { return a.path + ": " + a.err.Error() }

// Unwrap lets errors.As find the failure of the gateway.
func (a *at) Unwrap() error { return a.err }

// union joins lists in their order and leaves out repetitions.
func union(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, name := range list {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// version gives the RouterOS version that the last poll recorded; a router without one is asked.
func (r router) version(ctx context.Context) (routerplan.Version, error) {
	if t := r.row.Transport; t != nil && t.Version != "" {
		return routerplan.ParseVersion(t.Version), nil
	}
	resource, err := r.Print(ctx, "system/resource", routeros.Query{})
	if err != nil || len(resource) == 0 {
		return routerplan.Version{}, err
	}
	return routerplan.ParseVersion(resource[0]["version"]), nil
}

// wanted gives the wanted state of a service for routerplan. A service that is leaving should have no resources.
func (w *Workers) wanted(ctx context.Context, r networkviews.ServiceRow) (routerplan.Service, error) {
	services, err := w.allWanted(ctx, r.OrgID, []networkviews.ServiceRow{r})
	if err != nil {
		return routerplan.Service{}, err
	}
	return services[0], nil
}

// allWanted is wanted for several services of one organization.
func (w *Workers) allWanted(
	ctx context.Context, org id.Organization, rows []networkviews.ServiceRow,
) ([]routerplan.Service, error) {
	allowed, err := w.always(ctx, org)
	if err != nil {
		return nil, err
	}
	services := make([]routerplan.Service, 0, len(rows))
	for _, r := range rows {
		if leaving(r) {
			services = append(services, routerplan.Service{ID: r.ID})
			continue
		}
		services = append(services, routerplan.Service{
			ID: r.ID, Binding: r.Binding, Addressing: r.Addressing, WalledGarden: r.WalledGarden, DNS: w.cfg.DNS,
			Masquerade: w.cfg.Masquerade, ACS: w.cfg.ACS, Tunnelled: w.cfg.CPE.Address.IsValid(), Shared: r.Shared,
			Allowed: allowed,
		})
	}
	return services, nil
}

// leaving reports whether the resources of a service must be removed before anything else is done with it.
func leaving(r networkviews.ServiceRow) bool {
	return r.Open == events.PhaseRemoval || r.Open == events.PhaseTeardown
}
