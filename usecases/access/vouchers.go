package accesscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vouchers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Vouchers makes and voids vouchers. Safe for concurrent use.
type Vouchers struct {
	Bus   *bus.Bus
	Codes vouchers.Codes
	// BatchOf finds the batch of a voucher; zero when the organization has no such voucher. That a voucher belongs to a
	// batch never changes, so a read model may answer.
	BatchOf func(ctx context.Context, org id.Organization, voucher id.Voucher) (id.VoucherBatch, error)
	// Unused lists up to max vouchers of a batch that nobody has used, and that are not void.
	Unused func(ctx context.Context, org id.Organization, batch id.VoucherBatch, max int) ([]id.Voucher, error)
	// PerOrganization is how many vouchers an organization may have that are unused, in use, or that ended within
	// voucherCounts: memory has all about them, before the first sign-in is answered.
	PerOrganization int
	// Since counts those that are unused, in use, or that ended after an instant, with all that the log has by now.
	Since func(ctx context.Context, org id.Organization, ended time.Time) (int, error)
	Locks *postgres.DB
	Clock clock.Clock
}

// voucherCounts is how long a voucher counts after its end, so that an organization makes a bounded number in each such
// time, however short that of a voucher is.
const voucherCounts = 7 * 24 * time.Hour

// MakeVouchersInput says what to make.
type MakeVouchersInput struct {
	PlanID id.Plan
	Count  int
	Prefix string
}

// MadeVouchers is a batch with its codes, which are told nowhere else.
type MadeVouchers struct {
	bus.Result
	Batch events.VoucherBatchMade
	Codes []secrets.Text
}

// Make makes a batch. A repeat under the same key gets the same batch and the same codes. Fails: plan_not_found,
// plan_archived, voucher_quota_reached, invalid_input.
func (u Vouchers) Make(ctx context.Context, asked usecases.Asked, in MakeVouchersInput) (MadeVouchers, error) {
	plan, _, err := bus.LoadOwned[subscribers.Plan](ctx, u.Bus, asked.Org(), in.PlanID)
	if err != nil {
		return MadeVouchers{}, err
	}
	var faults failure.Faults
	commands.CheckVouchers(&faults, in.Count, in.Prefix, plan.Terms)
	if err := faults.Err(); err != nil {
		return MadeVouchers{}, err
	}
	lock, err := u.Locks.Lock(ctx, "vouchers of "+asked.Org().String()) // together all batches keep the bound
	if err != nil {
		return MadeVouchers{}, err
	}
	defer lock.Unlock()
	batch := usecases.NewID[id.VoucherBatch](asked, "voucher_batch")
	made, _, err := bus.LoadUnchecked[access.VoucherBatch](ctx, u.Bus, batch) // its id is made of the caller's key
	if err != nil {
		return MadeVouchers{}, err
	}
	if made.Made.BatchID.IsZero() {
		if err := u.mayMake(ctx, asked.Org(), plan, in.Count); err != nil {
			return MadeVouchers{}, err
		}
	}
	codes := u.Codes.Make(batch, in.Prefix, in.Count)
	command := commands.MakeVouchers{
		BatchID: batch, OrgID: asked.Org(), PlanID: in.PlanID, PlanVersion: plan.Version, Terms: plan.Terms,
		Prefix: in.Prefix, Vouchers: make([]id.Voucher, len(codes)), MadeBy: maker(asked.Meta.Actor),
	}
	out := MadeVouchers{Codes: make([]secrets.Text, len(codes))}
	for i, code := range codes {
		command.Vouchers[i], _ = u.Codes.ID(asked.Org(), code)
		out.Codes[i] = secrets.Text(code)
	}
	// A caller who leaves does not end it: whoever has the lock next must find all that was made.
	if out.Result, err = u.Bus.Execute(context.WithoutCancel(ctx), command, asked.Meta); err != nil {
		return MadeVouchers{}, err
	}
	made, _, err = bus.LoadOwned[access.VoucherBatch](ctx, u.Bus, asked.Org(), batch)
	out.Batch = made.Made
	return out, err
}

// mayMake refuses a batch that an organization may not make. The caller holds its lock. Fails: plan_archived,
// voucher_quota_reached.
func (u Vouchers) mayMake(ctx context.Context, org id.Organization, plan subscribers.Plan, count int) error {
	if plan.Archived {
		return failure.NewConflict("plan_archived", "This plan is archived.")
	}
	has, err := u.Since(ctx, org, u.Clock.Now().Add(-voucherCounts))
	if err != nil {
		return err
	}
	if has+count > u.PerOrganization {
		return failure.NewConflict("voucher_quota_reached", "Your organization would have more vouchers than it may "+
			"have: unused ones, those in use, and those that ended within the last seven days. Make fewer, void those "+
			"that are lost, or ask the platform's operator for more.")
	}
	return nil
}

// maker is the signed-in person who acts; zero for an API key and a program.
func maker(actor events.Actor) id.User {
	if actor.Kind != events.ActorUser {
		return id.User{}
	}
	user, _ := id.Parse[id.User](actor.ID) // zero when it is none
	return user
}

// Void makes a voucher useless. It is named by its code, or by its id, which lists show. Fails: voucher_not_found,
// voucher_used, invalid_input.
func (u Vouchers) Void(
	ctx context.Context, asked usecases.Asked, code secrets.Text, reason string,
) (id.Voucher, bus.Result, error) {
	command := commands.VoidVoucher{Reason: reason}
	if err := command.Validate(); err != nil {
		return id.Voucher{}, bus.Result{}, err
	}
	voucher, err := id.Parse[id.Voucher](code.Reveal()) // which no code can look like: it is too long
	if err != nil {
		voucher, _ = u.Codes.ID(asked.Org(), code.Reveal())
	}
	if voucher.IsZero() {
		return id.Voucher{}, bus.Result{}, commands.ErrNoVoucher()
	}
	batch, err := u.BatchOf(ctx, asked.Org(), voucher)
	if err != nil {
		return id.Voucher{}, bus.Result{}, err
	}
	if batch.IsZero() {
		return id.Voucher{}, bus.Result{}, commands.ErrNoVoucher()
	}
	command.Subject = events.VoucherSubject{VoucherID: voucher, OrgID: asked.Org(), BatchID: batch}
	asked.Meta.Reason = reason
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	return voucher, done, err
}
