package paymentsapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// Suspense serves /reports/suspense.
type Suspense struct{ Receipts paymentsviews.ReceiptsQuery }

// Routes lists the endpoint.
func (a Suspense) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/reports/suspense", Hosts: httpapi.OnBoth, Access: httpapi.AccessSupport,
		Summary:  "The sums of receipts in suspense; on the root host, of those that belong to no organization",
		Response: suspenseResponse{}, Handle: a.report,
	}}
}

// suspenseResponse is the sum of the list of receipts in suspense (docs/rules/money.md#receipt-endpoints).
type suspenseResponse struct {
	Count    int             `json:"count"`
	Sums     []suspenseTotal `json:"sums" doc:"by currency; empty when none waits"`
	OldestAt *time.Time      `json:"oldestAt" doc:"when the oldest was recorded; null: none waits"`
}

// suspenseTotal sums up the money of one currency, in major units.
type suspenseTotal struct {
	Currency money.Currency `json:"currency"`
	Amount   httpapi.Number `json:"amount"`
	Count    int            `json:"count"`
}

// report answers with the sums as the read model shows them now.
func (a Suspense) report(ctx context.Context, c *httpapi.Call) error {
	rows, err := a.read(ctx, c)
	if err != nil {
		return err
	}
	out := suspenseResponse{Sums: make([]suspenseTotal, len(rows))}
	for i, r := range rows {
		out.Sums[i] = suspenseTotal{
			Currency: r.Currency, Amount: money.Of(r.AmountMinor, r.Currency).Number(), Count: r.Count,
		}
		out.Count += r.Count
		if at := r.OldestAt; at != nil && (out.OldestAt == nil || at.Before(*out.OldestAt)) {
			out.OldestAt = at
		}
	}
	return c.Send(200, out)
}

// read sums up what belongs to the host.
func (a Suspense) read(ctx context.Context, c *httpapi.Call) ([]paymentsviews.CurrencySuspense, error) {
	if c.Org.ID.IsZero() {
		return a.Receipts.UnownedSuspense(ctx, time.Time{})
	}
	return a.Receipts.SuspenseByCurrency(ctx, c.Org.ID, time.Time{})
}
