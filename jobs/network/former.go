package networkjobs

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// retire removes what a router has of the former subnets of a service, as far as no device uses them. Nothing
// else is written: drift is repaired by a person's decision.
func (s *serviceWork) retire(ctx context.Context, u *run) error {
	version, err := u.r.version(ctx)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	wanted, err := s.w.wanted(ctx, s.row)
	if err != nil {
		return err
	}
	menus := routerplan.ApplyMenus()
	snapshot, err := u.r.read(ctx, menus)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	err = u.converge(ctx, snapshot, comparison{menus: menus, compare: func(now routerplan.Snapshot) routerplan.Diff {
		return routerplan.CompareService(now, wanted, version).Retiring()
	}})
	if err != nil {
		return err
	}
	s.former, err = u.formerOf(ctx, snapshot, s.row, true)
	return err
}

// formerOf gives the report about former subnets of a service, after the router was brought in line; nil when it had
// none and nobody asked. It reads again who uses which address: a device may have got one of the former subnet after
// the first reading and before the write.
func (u *run) formerOf(
	ctx context.Context, s routerplan.Snapshot, row networkviews.ServiceRow, due bool,
) (*commands.ReportFormerSubnets, error) {
	if len(row.Former) == 0 && !due {
		return nil, nil
	}
	if err := u.r.refresh(ctx, s, routerplan.UseMenus()); err != nil {
		return nil, stop(ctx, commands.OperationRead, err)
	}
	wanted, err := u.w.wanted(ctx, row)
	if err != nil {
		return nil, err
	}
	used, again := routerplan.Former(s, wanted, row.Former)
	return &commands.ReportFormerSubnets{ServiceID: row.ID, RunID: u.id, Used: used, Again: again, Due: due}, nil
}
