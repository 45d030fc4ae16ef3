package accessapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/access"
)

// batchRoutes lists the endpoints of batches.
func (a Vouchers) batchRoutes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/voucher-batches", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Batches of vouchers and what became of them, the newest first", Row: voucherBatchRow{},
			Query: []httpapi.Param{{Name: "planId", Type: "uuid"}}, Handle: a.batches,
		},
		{
			Method: "POST", Path: "/voucher-batches/:id/void-unused", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Request: httpapi.ReasonRequest{}, Response: voidUnusedResponse{},
			Summary: "Make those vouchers of a batch useless that nobody has used, 1,000 at most", Handle: a.voidUnused,
		},
	}
}

// voucherBatchRow is one batch, without its codes (docs/rules/access-vouchers.md#list).
type voucherBatchRow struct {
	ID        id.VoucherBatch `json:"id"`
	PlanID    id.Plan         `json:"planId"`
	PlanName  string          `json:"planName"`
	Prefix    *string         `json:"prefix"`
	Price     httpapi.Number  `json:"price" doc:"of one voucher"`
	Currency  money.Currency  `json:"currency"`
	Period    string          `json:"period" doc:"time from the first sign-in"`
	CreatedAt time.Time       `json:"createdAt"`
	CreatedBy *id.User        `json:"createdBy" doc:"null: an API key or a program"`
	Count     int             `json:"count" doc:"all vouchers of the batch"`
	Vouchers  voucherCounts   `json:"vouchers" doc:"how many are in each state"`
}

// voucherCounts has a number for each state of a voucher.
type voucherCounts struct {
	Unused int `json:"unused"`
	Active int `json:"active"`
	Used   int `json:"used"`
	Void   int `json:"void"`
}

// voidUnusedResponse says what a call did. A batch with more than 1,000 unused ones needs several.
type voidUnusedResponse struct {
	Voided int             `json:"voided" doc:"by this call"`
	InUse  int             `json:"inUse" doc:"somebody signed in with them meanwhile: they stay"`
	Batch  voucherBatchRow `json:"batch" doc:"as it is now; call again while vouchers.unused is not 0"`
}

// batches answers with a page of batches.
func (a Vouchers) batches(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := accessviews.BatchFilter{Plan: httpapi.FilterID[id.Plan](f, "planId"), At: a.Clock.Now()}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showBatch, func(
		ctx context.Context, after accessviews.BatchKey, max int,
	) ([]accessviews.BatchRow, error) {
		return a.List.Batches(ctx, c.Org.ID, filter, after, max)
	})
}

// voidUnused answers with the batch as the call has left it.
func (a Vouchers) voidUnused(ctx context.Context, c *httpapi.Call) error {
	batch, err := httpapi.PathID[id.VoucherBatch](c, "id", commands.ErrNoVoucherBatch)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.VoidUnused(ctx, c.Asked(), batch, in.Reason)
	if err != nil {
		return err
	}
	shown, err := c.WaitVisible(ctx, accessviews.VouchersName, done.Position)
	if err != nil {
		return err
	}
	row, err := a.List.Batch(ctx, c.Org.ID, batch, a.Clock.Now())
	switch {
	case err != nil:
		return err
	case !shown || row == nil:
		return c.Send(202, httpapi.Accepted{ID: batch.String(), Status: "accepted"})
	}
	return c.Send(200, voidUnusedResponse{Voided: done.Voided, InUse: done.InUse, Batch: showBatch(*row)})
}

// showBatch writes a batch with what became of its vouchers.
func showBatch(r accessviews.BatchRow) voucherBatchRow {
	return voucherBatchRow{
		ID: r.ID, PlanID: r.PlanID, PlanName: r.PlanName, Prefix: null.Of(r.Prefix),
		Price: money.Of(r.PriceMinor, r.Currency).Number(), Currency: r.Currency, Period: r.Period,
		CreatedAt: r.MadeAt.UTC(), CreatedBy: null.Of(r.MadeBy), Count: r.Count,
		Vouchers: voucherCounts{Unused: r.Unused, Active: r.Active, Used: r.Used, Void: r.Void},
	}
}
