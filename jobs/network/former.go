package networkjobs

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// retire removes what a router has of the former subnets of a service, as far as no device has a lease there. Nothing
// else is written: drift is repaired by a person's decision.
func (s *serviceWork) retire(ctx context.Context, u *run) error {
	version, err := u.r.version(ctx)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	menus := routerplan.ApplyMenus()
	snapshot, err := u.r.read(ctx, menus)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	err = u.converge(ctx, snapshot, comparison{menus: menus, compare: func(now routerplan.Snapshot) routerplan.Diff {
		return routerplan.CompareService(now, s.w.wanted(s.row), version).Retiring()
	}})
	s.former = formerOf(snapshot, s.row, s.run, true)
	return err
}

// formerOf gives the report about former subnets of a service, after the router was brought in line; nil when it had
// none and nobody asked.
func formerOf(s routerplan.Snapshot, row networkviews.ServiceRow, run id.Run, due bool) *commands.ReportFormerSubnets {
	if len(row.Former) == 0 && !due {
		return nil
	}
	left, longest := routerplan.Former(s, row.ID)
	return &commands.ReportFormerSubnets{ServiceID: row.ID, RunID: run, Leased: left, Longest: longest, Due: due}
}
