package paymentsapi

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Books waits for money to be in the books: a receipt's fate is decided in one stream, and booked on the account by a
// process a moment later. Whoever reads after such a write must see both (api.md, Conventions).
type Books struct{ Statement billingviews.StatementQuery }

// await waits until the statement has a line of the receipt from after a position of the log, and until every read
// model of money shows it; 2 s at most for each, then the reader sees it a little later.
func (b Books) await(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, receipt id.Receipt, after uint64,
) error {
	if subscriber.IsZero() {
		return nil
	}
	var booked uint64
	_, err := b.Statement.Views.WaitUntil(ctx, billingviews.StatementName, func(ctx context.Context) (bool, error) {
		var err error
		booked, err = b.Statement.Since(ctx, org, subscriber, id.Any(receipt), after)
		return booked > 0, err
	})
	if err != nil {
		return err
	}
	for _, name := range []string{
		subscribersviews.SubscribersName, billingviews.InvoicesName, billingviews.CollectionsName,
		paymentsviews.ReceiptsName,
	} {
		if err := b.Statement.Views.WaitFor(ctx, name, booked); err != nil && !errors.Is(err, runner.ErrBehind) {
			return err
		}
	}
	return nil
}
