package paymentscases

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
)

// UsedReference is the receipt that has a reference already. The refusal of cash shows it, so that whoever took the
// cash sees whether it is the same money.
type UsedReference struct {
	ID            id.Receipt     `json:"id"`
	ReceiptNumber string         `json:"receiptNumber"`
	Amount        json.Number    `json:"amount"`
	Currency      money.Currency `json:"currency"`
	PaidAt        time.Time      `json:"paidAt"`
	Subscriber    *UsedFor       `json:"subscriber"` // null = taken back, or of a forgotten one
}

// UsedFor is the customer whose account has the money.
type UsedFor struct {
	ID            id.Subscriber `json:"id"`
	Name          *string       `json:"name"`
	AccountNumber string        `json:"accountNumber"`
}

// withUse adds to the refusal of a reference the receipt that has it, which is of the same organization. Every other
// error stays as it is.
func (r Receipts) withUse(ctx context.Context, org id.Organization, receipt id.Receipt, refused error) error {
	f, is := errors.AsType[*failure.Error](refused)
	if !is || f.Code != "reference_used" && f.Code != "reference_taken_back" {
		return refused
	}
	used, _, err := bus.LoadOwned[payments.Receipt](ctx, r.Bus, org, receipt)
	if err != nil {
		return err
	}
	shown := UsedReference{
		ID: used.ID, ReceiptNumber: used.Number, Amount: used.Amount.Number(), Currency: used.Amount.Currency,
		PaidAt: used.PaidAt.UTC(),
	}
	if !used.Subscriber.IsZero() {
		s, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, r.Bus, org, used.Subscriber)
		if err != nil && failure.KindOf(err) != failure.NotFound { // a forgotten one is not named
			return err
		}
		if err == nil {
			name := strings.TrimSpace(s.Details.FirstName.Reveal() + " " + s.Details.LastName.Reveal())
			shown.Subscriber = &UsedFor{ID: s.ID, Name: null.Of(name), AccountNumber: s.AccountNumber}
		}
	}
	return f.With("receipt", shown)
}
