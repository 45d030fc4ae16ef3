package accesscases

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Bounds of one call of VoidUnused.
const (
	voidedAtOnce = 1_000 // so that a call ends soon, and its caller can show how far it is
	voidedBeside = 8     // at the same time
)

// VoidedUnused says what a call of VoidUnused did.
type VoidedUnused struct {
	Voided   int
	InUse    int    // somebody signed in with them meanwhile: they stay
	Position uint64 // of the latest event
}

// VoidUnused makes those vouchers of a batch useless with which nobody has signed in, each by an event of its own and
// at most 1,000 in a call: the caller asks again as long as some are left. One that somebody uses is left alone, also
// when its first sign-in comes at the same moment. Fails: voucher_batch_not_found, invalid_input.
func (u Vouchers) VoidUnused(
	ctx context.Context, asked usecases.Asked, batch id.VoucherBatch, reason string,
) (VoidedUnused, error) {
	if err := (commands.VoidVoucher{Reason: reason}).Validate(); err != nil {
		return VoidedUnused{}, err
	}
	if _, _, err := bus.LoadOwned[access.VoucherBatch](ctx, u.Bus, asked.Org(), batch); err != nil {
		if failure.KindOf(err) == failure.NotFound {
			err = commands.ErrNoVoucherBatch()
		}
		return VoidedUnused{}, err
	}
	unused, err := u.Unused(ctx, asked.Org(), batch, voidedAtOnce)
	if err != nil {
		return VoidedUnused{}, err
	}
	asked.Meta.Reason = reason
	ends := make([]bus.Result, len(unused))
	inUse := make([]bool, len(unused))
	group, work := errgroup.WithContext(ctx)
	group.SetLimit(voidedBeside)
	for i, voucher := range unused {
		group.Go(func() error {
			command := commands.VoidVoucher{Reason: reason, Unused: true, Subject: events.VoucherSubject{
				VoucherID: voucher, OrgID: asked.Org(), BatchID: batch,
			}}
			var err error
			ends[i], err = u.Bus.Execute(work, command, asked.Step("void "+voucher.String()))
			switch failure.CodeOf(err) {
			case "voucher_in_use", "voucher_used":
				inUse[i], err = true, nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return VoidedUnused{}, err
	}
	var out VoidedUnused
	for i, end := range ends {
		if inUse[i] {
			out.InUse++
			continue
		}
		out.Voided, out.Position = out.Voided+1, max(out.Position, end.Position)
	}
	return out, nil
}
