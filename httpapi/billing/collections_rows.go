package billingapi

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// collectedPayment is money of a payment that came to an account, or left it, or a voucher that was sold.
type collectedPayment struct {
	ReceiptID     *id.Receipt            `json:"receiptId" doc:"null: a voucher"`
	ReceiptNumber *string                `json:"receiptNumber" doc:"null: none, or not told yet"`
	VoucherID     *id.Voucher            `json:"voucherId" doc:"null: no voucher"`
	BatchID       *id.VoucherBatch       `json:"batchId" doc:"of the voucher"`
	SubscriberID  *id.Subscriber         `json:"subscriberId" doc:"whose account it came to, or left"`
	Subscriber    *httpapi.SubscriberRef `json:"subscriber" doc:"null: a voucher, or not known yet"`
	Side          collectedSide          `json:"side"`
	Why           collectedWhy           `json:"why" doc:"placed: out of suspense; set_aside: for a refund"`
	Amount        httpapi.Number         `json:"amount" doc:"negative when it was taken back"`
	Currency      money.Currency         `json:"currency"`
	Channel       *collectedChannel      `json:"channel" doc:"null: none; of cash its kind"`
	ReceivedOn    *string                `json:"receivedOn" format:"date" doc:"of cash: the day on which it was given"`
	TakenBy       *httpapi.StaffRef      `json:"takenBy" doc:"who took the cash, or made the voucher"`
	PaidAt        *time.Time             `json:"paidAt" doc:"when it came; null: not known"`
	At            time.Time              `json:"at" doc:"when it was booked on the account, or taken back"`
}

// collectedChannel is one of billingviews.CollectedChannels that is known.
type collectedChannel string

// Texts implements httpapi.Enumerated.
func (collectedChannel) Texts() []string {
	return slices.DeleteFunc(slices.Clone(billingviews.CollectedChannels), func(c string) bool { return c == "none" })
}

// collectedSide is one of billingviews.CollectedSides.
type collectedSide string

// Texts implements httpapi.Enumerated.
func (collectedSide) Texts() []string { return billingviews.CollectedSides }

// collectedWhy is one of billingviews.CollectedWhys.
type collectedWhy string

// Texts implements httpapi.Enumerated.
func (collectedWhy) Texts() []string { return billingviews.CollectedWhys }

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *collectedPayment) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// receipts answers with a page of the rows behind a sum.
func (a Collections) receipts(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	in := billingcases.CollectedInput{
		CollectionsInput: billingcases.CollectionsInput{From: f.Date("from"), To: f.Date("to")},
		Channel:          f.OneOf("channel", billingviews.CollectedChannels...),
		TakenBy:          httpapi.FilterID[id.User](f, "takenBy"),
		Side:             f.OneOf("side", billingviews.CollectedSides...),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showCollected, func(
		ctx context.Context, after billingviews.CollectedKey, max int,
	) ([]billingcases.CollectedPayment, error) {
		return a.Cases.Rows(ctx, c.Org.ID, in, after, max)
	})
}

// showCollected writes the amount in major units.
func showCollected(r billingcases.CollectedPayment) collectedPayment {
	out := collectedPayment{
		ReceiptID: null.Of(r.ReceiptID), ReceiptNumber: null.Of(r.Number), VoucherID: null.Of(r.VoucherID),
		BatchID: null.Of(r.BatchID), SubscriberID: null.Of(r.SubscriberID), Side: billingviews.SideReceived,
		Why: collectedWhy(r.Why), Amount: r.Amount.Number(), Currency: r.Amount.Currency,
		Channel: null.Of(collectedChannel(r.Channel)), ReceivedOn: null.Of(r.ReceivedOn),
		TakenBy: staffRef(r.TakenBy, map[id.User]string{r.TakenBy: r.TakenByName}), At: r.At.UTC(),
	}
	if r.PaidAt != nil {
		out.PaidAt = null.Time(r.PaidAt.UTC())
	}
	if r.TakenBack {
		out.Side = billingviews.SideTakenBack
	}
	return out
}
