package networkcases

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// Upgrade brings what older versions of the program recorded about addresses under the present rules. All fields are
// required.
type Upgrade struct {
	Bus      *bus.Bus
	Services networkviews.ServicesQuery
	Head     func(ctx context.Context) (uint64, error) // gives the newest position of the log
	Logger   *slog.Logger
}

// Run reserves the blocks of management addresses that plans use since before they were reserved. Of two organizations
// that use one block the one that took it first gets it; the other one is logged as an error here and at every later
// start, until it has another subnet. On a log without such plans it only looks. Run fails when it cannot know, because
// the log or a read model is away; a repeat does what is left.
func (u Upgrade) Run(ctx context.Context) error {
	head, err := u.Head(ctx)
	if err != nil {
		return err
	}
	if err := u.Services.Views.WaitFor(ctx, networkviews.ServicesName, head); err != nil {
		return err
	}
	list, err := u.Services.ManagementOrganizations(ctx)
	if err != nil {
		return err
	}
	type use struct {
		org   id.Organization
		block network.ManagementBlock
	}
	var uses []use
	for _, org := range list {
		plan, _, err := bus.LoadUnchecked[network.Addressing](ctx, u.Bus, org)
		if err != nil {
			return err
		}
		for _, block := range plan.ManagementBlocks() {
			uses = append(uses, use{org, block})
		}
	}
	slices.SortStableFunc(uses, func(a, b use) int {
		return cmp.Or(a.block.Since.Compare(b.block.Since), cmp.Compare(a.org.String(), b.org.String()))
	})
	for _, one := range uses {
		if err := u.reserve(ctx, one.org, one.block); err != nil {
			return err
		}
	}
	return nil
}

// reserve reserves one block that an organization uses, unless another one has it.
func (u Upgrade) reserve(ctx context.Context, org id.Organization, block network.ManagementBlock) error {
	claim := block.Claim()
	took, err := u.Bus.Reserve(ctx, commands.At(commands.AddressingCategory, org), claim, commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "upgrade"},
	})
	switch {
	case failure.CodeOf(err) == claim.Code:
		u.Logger.ErrorContext(ctx, "a management subnet of an older version is another organization's",
			"org_id", org, "subnet", block.Prefix)
		return nil
	case took:
		u.Logger.InfoContext(ctx, "management subnet of an older version reserved", "org_id", org,
			"subnet", block.Prefix)
	}
	return err
}
