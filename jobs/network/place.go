package networkjobs

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// Placement checks that a service may use its interface. service is left out of the check, so that it does not collide
// with itself.
func (w *Workers) Placement(
	ctx context.Context, device id.Device, service id.Service, b events.ServiceBinding,
) error {
	_, err := w.placed(ctx, device, service, b, routerplan.BindingMenus(b))
	return err
}

// Occupied is Placement, and gives the subnets in use on the router, sorted, as the same reading shows them.
func (w *Workers) Occupied(
	ctx context.Context, device id.Device, service id.Service, b events.ServiceBinding,
) ([]string, error) {
	snapshot, err := w.placed(ctx, device, service, b, routerplan.CheckMenus(b))
	if err != nil {
		return nil, err
	}
	occupied := routerplan.Occupied(snapshot)
	slices.Sort(occupied)
	return slices.Compact(occupied), nil
}

// placed reads menus, among them BindingMenus, and checks the place of a service with them.
func (w *Workers) placed(
	ctx context.Context, device id.Device, service id.Service, b events.ServiceBinding, menus []string,
) (routerplan.Snapshot, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) (routerplan.Snapshot, error) {
		snapshot, err := r.survey(ctx, menus)
		if err != nil {
			return nil, err
		}
		return snapshot, routerplan.CheckBinding(snapshot, service, b)
	})
}

// Placements checks the places of all services of a router that are to stay, with one reading. Fails:
// reserved_interface, invalid_input.
func (w *Workers) Placements(ctx context.Context, device id.Device) error {
	rows, err := w.services.OfDevice(ctx, device)
	if err != nil {
		return err
	}
	_, err = ask(ctx, w, device, func(ctx context.Context, r router) (struct{}, error) {
		snapshot, err := r.survey(ctx, placeMenus(rows))
		if err == nil {
			err = checkBindings(snapshot, rows)
		}
		return struct{}{}, err
	})
	return err
}

// placeMenus lists the menus to read before checkBindings.
func placeMenus(rows []networkviews.ServiceRow) []string {
	bindings := make([]events.ServiceBinding, len(rows))
	for i, row := range rows {
		bindings[i] = row.Binding
	}
	return routerplan.BindingMenus(bindings...)
}

// checkBindings checks the places of all services that are to stay. Fails: reserved_interface, invalid_input.
func checkBindings(s routerplan.Snapshot, rows []networkviews.ServiceRow) error {
	for _, row := range rows {
		if leaving(row) {
			continue
		}
		if err := routerplan.CheckBinding(s, row.ID, row.Binding); err != nil {
			return err
		}
	}
	return nil
}
