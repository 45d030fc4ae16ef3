package paymentscases

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Booked is a receipt about which its own stream has decided; a process books it on accounts a moment later.
type Booked struct {
	OrgID     id.Organization
	ReceiptID id.Receipt
	Accounts  []id.Subscriber // their statements get a line of it; none when nothing changed
	Named     bool            // it was tied to an attempt, whose credit an account keeps
	Done      bus.Result
}

// booked is the outcome of a correction that changes the statements of some accounts; zero ids are left out.
func booked(asked usecases.Asked, receipt id.Receipt, done bus.Result, accounts ...id.Subscriber) Booked {
	out := Booked{OrgID: asked.Org(), ReceiptID: receipt, Done: done}
	if !done.Changed {
		return out
	}
	for _, s := range accounts {
		if !s.IsZero() {
			out.Accounts = append(out.Accounts, s)
		}
	}
	return out
}

// Books waits until the read models of money show a receipt, so that a client that reads after its write sees receipt
// and accounts alike. Callers that read nothing afterwards need not wait.
type Books struct{ Statement billingviews.StatementQuery }

// Await waits until the statements have their line of the receipt and every read model of money shows it, 2 s at most
// for each; of a receipt that was tied to its attempt, that it has left suspense. A longer delay is no failure: the
// books are shown a little later.
func (b Books) Await(ctx context.Context, money Booked) error {
	if money.Named {
		return b.awaitAbsorbed(ctx, money)
	}
	for _, s := range money.Accounts {
		if err := b.await(ctx, money, s); err != nil {
			return err
		}
	}
	return nil
}

// awaitAbsorbed waits until a receipt that was tied to its attempt has left suspense.
func (b Books) awaitAbsorbed(ctx context.Context, money Booked) error {
	q := paymentsviews.ReceiptsQuery{Views: b.Statement.Views}
	_, err := q.Views.WaitWhole(ctx, paymentsviews.ReceiptsName, func(ctx context.Context) (bool, error) {
		row, err := q.Get(ctx, money.OrgID, money.ReceiptID)
		return row != nil && row.State != "suspense" && row.State != "recorded", err
	})
	return err
}

// await waits for the read models of one account.
func (b Books) await(ctx context.Context, money Booked, account id.Subscriber) error {
	var position uint64
	_, err := b.Statement.Views.WaitWhole(ctx, billingviews.StatementName, func(ctx context.Context) (bool, error) {
		var err error
		position, err = b.Statement.Since(ctx, money.OrgID, account, id.Any(money.ReceiptID), money.Done.Position)
		return position > 0, err
	})
	if err != nil {
		return err
	}
	position = max(position, b.Statement.Views.Position(billingviews.StatementName)) // the line's whole append
	for _, name := range []string{
		subscribersviews.SubscribersName, billingviews.InvoicesName, billingviews.CollectionsName,
		paymentsviews.ReceiptsName,
	} {
		err := b.Statement.Views.WaitFor(ctx, name, position)
		if err != nil && !errors.Is(err, runner.ErrBehind) {
			return err
		}
	}
	return nil
}
