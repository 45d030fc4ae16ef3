package paymentscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases"
)

// answerWait bounds AwaitAnswer. Source: docs/rules/payments.md#initiate.
const answerWait = 8 * time.Second

// Check asks the provider now about the result of an attempt. There is nothing to ask about money taken by hand, about
// an attempt that succeeded, and about one whose id at the provider is not known; then Check succeeds, also while the
// provider cannot be called. A repeat under the same key asks nothing more. Fails: payment_not_found, the failures of
// Ready.
func (p Prompts) Check(ctx context.Context, asked usecases.Asked, payment id.Payment) (Pending, error) {
	pending := Pending{OrgID: asked.Org(), PaymentID: payment}
	attempt, _, err := bus.LoadOwned[payments.Payment](ctx, p.Bus, asked.Org(), payment)
	if failure.KindOf(err) == failure.NotFound {
		return pending, p.byHand(ctx, asked.Org(), payment)
	}
	if err != nil {
		return Pending{}, err
	}
	pending.Amount = attempt.Amount
	if !attempt.Askable() {
		return pending, nil
	}
	if err := p.Ready(attempt.Environment); err != nil {
		return Pending{}, err
	}
	done, err := p.Bus.Execute(ctx, commands.RequestCheck{PaymentID: payment}, asked.Meta)
	if err != nil {
		return Pending{}, err
	}
	pending.Asked, pending.Revision = done.Changed, done.Revision
	return pending, nil
}

// byHand succeeds for a payment in cash, which has a receipt of the same id and no attempt. Fails: payment_not_found.
func (p Prompts) byHand(ctx context.Context, org id.Organization, payment id.Payment) error {
	receipt, _, err := bus.LoadOwned[payments.Receipt](ctx, p.Bus, org, id.As[id.Receipt](payment))
	if failure.KindOf(err) == failure.NotFound || err == nil && receipt.Channel != commands.ChannelCash {
		return commands.ErrNoPayment()
	}
	return err
}

// AwaitAnswer waits until the read model shows the provider's answer, for at most answerWait, and gives the payment as
// it is shown then; nil when it is not shown at all.
func (p Prompts) AwaitAnswer(ctx context.Context, pending Pending) (*paymentsviews.PaymentRow, error) {
	var row *paymentsviews.PaymentRow
	_, err := usecases.Await(ctx, p.Payments.Views, paymentsviews.PaymentsName, answerWait,
		func(ctx context.Context) (bool, error) {
			latest, err := p.Payments.Get(ctx, pending.OrgID, pending.PaymentID)
			if err != nil || latest == nil {
				return false, err
			}
			row = latest
			return pending.answered(*row), nil
		})
	if err != nil {
		return nil, err
	}
	return row, nil
}

// answered reports whether a row shows something that came after the provider was asked.
func (p Pending) answered(r paymentsviews.PaymentRow) bool {
	if !p.Asked {
		return true
	}
	//nolint:gosec // revisions fit
	return r.Revision > int64(p.Revision) && r.Stage != "created" && r.Stage != "sent"
}
