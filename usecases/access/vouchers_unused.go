package accesscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
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
	err = loop.Each(ctx, voidedBeside, len(unused), func(i int) (err error) {
		command := commands.VoidVoucher{Reason: reason, Unused: true, Subject: events.VoucherSubject{
			VoucherID: unused[i], OrgID: asked.Org(), BatchID: batch,
		}}
		ends[i], err = u.Bus.Execute(ctx, command, asked.Step("void "+unused[i].String()))
		switch failure.CodeOf(err) {
		case "voucher_in_use", "voucher_used":
			inUse[i], err = true, nil
		}
		return err
	})
	if err != nil {
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
