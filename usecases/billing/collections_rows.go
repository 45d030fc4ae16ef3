package billingcases

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases"
)

// CollectedInput says which of the rows behind the report are read. A zero text or id does not restrict them.
type CollectedInput struct {
	CollectionsInput
	Channel string // one of billingviews.CollectedChannels
	TakenBy id.User
	Side    string // one of billingviews.CollectedSides
}

// CollectedPayment is money of one receipt or voucher in a sum of the report.
type CollectedPayment struct {
	billingviews.CollectedRow
	Amount      money.Amount // negative when it was taken back
	Number      string       // of the receipt, as it is known now; "" for none
	TakenByName string       // "" for a user unknown to the organization
}

// Rows lists the money that sums of the report are made of, the newest first: those of a day, of a channel, of who took
// the cash or made the vouchers, and of one side. They add up to the sum. Fails: organization_not_found, invalid_input.
func (u Collections) Rows(
	ctx context.Context, org id.Organization, in CollectedInput, after billingviews.CollectedKey, max int,
) ([]CollectedPayment, error) {
	settings, err := u.Settings(ctx, org)
	if err != nil {
		return nil, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return nil, err
	}
	days, err := in.days(calendar.On(u.Clock.Now(), zone))
	if err != nil {
		return nil, err
	}
	rows, err := u.Collections.Rows(ctx, org, billingviews.CollectedFilter{
		From: days[0].Start(zone), Until: endOf(days, zone), Channel: in.Channel, TakenBy: in.TakenBy, Side: in.Side,
	}, after, max)
	if err != nil {
		return nil, err
	}
	return u.named(ctx, org, rows, settings.Currency)
}

// named adds the numbers of receipts and the names of staff, with one reading of each. A receipt that only a status
// query told of gets its number after it was credited.
func (u Collections) named(
	ctx context.Context, org id.Organization, rows []billingviews.CollectedRow, currency money.Currency,
) ([]CollectedPayment, error) {
	var receipts []id.Receipt
	var users []id.User
	for _, r := range rows {
		if !r.ReceiptID.IsZero() {
			receipts = append(receipts, r.ReceiptID)
		}
		if !r.TakenBy.IsZero() && !slices.Contains(users, r.TakenBy) {
			users = append(users, r.TakenBy)
		}
	}
	numbers, err := u.Receipts.Numbers(ctx, org, receipts)
	if err != nil {
		return nil, err
	}
	names, err := u.Users.Names(ctx, org, users)
	if err != nil {
		return nil, err
	}
	out := make([]CollectedPayment, len(rows))
	for i, r := range rows {
		out[i] = CollectedPayment{
			CollectedRow: r, Amount: money.Of(r.AmountMinor, currency), Number: numbers[r.ReceiptID],
			TakenByName: names[r.TakenBy],
		}
	}
	return out, nil
}
