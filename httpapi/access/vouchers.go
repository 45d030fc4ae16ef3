package accessapi

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// Vouchers serves /vouchers.
type Vouchers struct {
	Cases accesscases.Vouchers
	List  accessviews.VouchersQuery
	Names deviceNames
	Staff staffNames
	Clock clock.Clock
}

// staffNames gives the names of members of an organization. Others, and those who were forgotten, are left out.
type staffNames func(context.Context, id.Organization, []id.User) (map[id.User]string, error)

// voucherStates are the values that the filter state accepts.
var voucherStates = []string{
	accessviews.VoucherUnused, accessviews.VoucherActive, accessviews.VoucherUsed, accessviews.VoucherVoid,
}

// Routes lists the endpoints of vouchers.
func (a Vouchers) Routes() []httpapi.Route {
	routes := []httpapi.Route{
		{
			Method: "POST", Path: "/vouchers", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin, Status: 201,
			Summary: "Make vouchers for a hotspot; the codes are shown once", Request: vouchersRequest{},
			Response: batchResponse{}, Handle: a.make,
		},
		{
			Method: "GET", Path: "/vouchers", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Vouchers and what became of them, the newest batch first", Row: voucherResponse{},
			Query: []httpapi.Param{
				{Name: "state", Type: "string", Enum: voucherStates}, {Name: "batchId", Type: "uuid"},
				{Name: "planId", Type: "uuid"},
			}, Handle: a.list,
		},
		{
			Method: "POST", Path: "/vouchers/:code/void", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Make a voucher useless and end its session; code: its code or its id",
			Request: httpapi.ReasonRequest{}, Response: voucherResponse{}, Handle: a.void,
		},
	}
	return append(routes, a.batchRoutes()...)
}

// vouchersRequest is the body of POST /vouchers (docs/rules/access-vouchers.md#batches).
type vouchersRequest struct {
	PlanID id.Plan `json:"planId" doc:"a prepaid hotspot plan; its period is the time of a voucher"`
	Count  int     `json:"count" doc:"1 to 5000; an organization has a bound of all that it has"`
	Prefix string  `json:"prefix,omitempty" doc:"with which every code begins; at most 10 letters, digits or -"`
}

// batchResponse is a batch with its codes.
type batchResponse struct {
	ID        id.VoucherBatch `json:"id"`
	PlanID    id.Plan         `json:"planId"`
	PlanName  string          `json:"planName"`
	Count     int             `json:"count"`
	Prefix    *string         `json:"prefix"`
	Price     httpapi.Number  `json:"price" doc:"of one voucher"`
	Currency  money.Currency  `json:"currency"`
	Period    string          `json:"period" doc:"time from the first sign-in"`
	CreatedAt time.Time       `json:"createdAt"`
	Codes     []string        `json:"codes" doc:"username and password at the hotspot; never shown again"`
}

// voucherResponse is one voucher, without its code (docs/rules/access-vouchers.md#list).
type voucherResponse struct {
	ID         id.Voucher      `json:"id"`
	BatchID    id.VoucherBatch `json:"batchId"`
	PlanID     id.Plan         `json:"planId"`
	PlanName   string          `json:"planName"`
	Prefix     *string         `json:"prefix"`
	State      string          `json:"state" enum:"unused,active,used,void"`
	Price      httpapi.Number  `json:"price"`
	Currency   money.Currency  `json:"currency"`
	Period     string          `json:"period"`
	CreatedAt  time.Time       `json:"createdAt"`
	CreatedBy  *id.User        `json:"createdBy" doc:"null: an API key or a program"`
	RedeemedAt *time.Time      `json:"redeemedAt" doc:"of the first sign-in"`
	EndsAt     *time.Time      `json:"endsAt"`
	VoidedAt   *time.Time      `json:"voidedAt"`
	VoidedBy   *id.User        `json:"voidedBy" doc:"null: not void, an API key or a program"`
	VoidedName *string         `json:"voidedByName" doc:"null: not void, no member any more, or forgotten"`
	VoidReason *string         `json:"voidReason" doc:"null: not void, or who gave it is forgotten"`
	DeviceID   *id.Device      `json:"deviceId" doc:"the router where its device signed in"`
	DeviceName *string         `json:"deviceName" doc:"of the router; null: not known"`
	MACAddress *string         `json:"macAddress"`
	Moves      int             `json:"moves" doc:"to another device"`
}

// make answers with the codes, which no cache may keep.
func (a Vouchers) make(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[vouchersRequest](c)
	if err != nil {
		return err
	}
	made, err := a.Cases.Make(ctx, c.Asked(), accesscases.MakeVouchersInput{
		PlanID: in.PlanID, Count: in.Count, Prefix: in.Prefix,
	})
	if err != nil {
		return err
	}
	// Whoever has the codes may list or void them at once. The codes are there, shown or not.
	if _, err := c.WaitVisible(ctx, accessviews.VouchersName, made.Position); err != nil {
		return err
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	b := made.Batch
	out := batchResponse{
		ID: b.BatchID, PlanID: b.PlanID, PlanName: b.Terms.Name, Count: b.Count, Prefix: null.Of(b.Prefix),
		Price: b.Terms.Price.Number(), Currency: b.Terms.Price.Currency, Period: string(b.Terms.Period),
		CreatedAt: b.At, Codes: make([]string, len(made.Codes)),
	}
	for i, code := range made.Codes {
		out.Codes[i] = code.Reveal()
	}
	return c.Send(201, out)
}

// list answers with a page of vouchers.
func (a Vouchers) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := accessviews.VoucherFilter{
		Batch: httpapi.FilterID[id.VoucherBatch](f, "batchId"), Plan: httpapi.FilterID[id.Plan](f, "planId"),
		State: f.OneOf("state", voucherStates...), At: a.Clock.Now(),
	}
	if err := f.Err(); err != nil {
		return err
	}
	var names voucherNames // set when the page is read
	show := func(r accessviews.VoucherRow) voucherResponse { return showVoucher(r, filter.At, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after accessviews.VoucherKey, max int,
	) ([]accessviews.VoucherRow, error) {
		list, err := a.List.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		names, err = a.names(ctx, c.Org.ID, list)
		return list, err
	})
}

// void answers with the voucher.
func (a Vouchers) void(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	voucher, done, err := a.Cases.Void(ctx, c.Asked(), secrets.Text(c.Param("code")), in.Reason)
	if err != nil {
		return err
	}
	var names voucherNames
	at := a.Clock.Now()
	return httpapi.SendOne(ctx, c, 200, httpapi.One[id.Voucher, accessviews.VoucherRow, voucherResponse]{
		Model: accessviews.VouchersName, Missing: commands.ErrNoVoucher,
		Show: func(r accessviews.VoucherRow) voucherResponse { return showVoucher(r, at, names) },
		Read: func(ctx context.Context, org id.Organization, voucher id.Voucher) (*accessviews.VoucherRow, error) {
			r, err := a.List.Get(ctx, org, voucher)
			if err != nil || r == nil {
				return nil, err
			}
			names, err = a.names(ctx, org, []accessviews.VoucherRow{*r})
			return r, err
		},
	}, voucher, done)
}

// voucherNames are the names of what the rows of vouchers have by id.
type voucherNames struct {
	devices namedDevices
	staff   map[id.User]string
}

// names reads the names of the routers of some vouchers, and of those who voided them.
func (a Vouchers) names(
	ctx context.Context, org id.Organization, list []accessviews.VoucherRow,
) (out voucherNames, err error) {
	out.devices, err = a.Names.of(ctx, org, len(list), func(i int) id.Device { return list[i].DeviceID })
	if err != nil {
		return out, err
	}
	var by []id.User
	for _, r := range list {
		if !r.VoidedBy.IsZero() && !slices.Contains(by, r.VoidedBy) {
			by = append(by, r.VoidedBy)
		}
	}
	out.staff, err = a.Staff(ctx, org, by)
	return out, err
}

// showVoucher writes a voucher as it is at an instant, in UTC.
func showVoucher(r accessviews.VoucherRow, at time.Time, names voucherNames) voucherResponse {
	return voucherResponse{
		ID: r.ID, BatchID: r.BatchID, PlanID: r.PlanID, PlanName: r.PlanName, Prefix: null.Of(r.Prefix),
		State: r.State(at), Price: money.Of(r.PriceMinor, r.Currency).Number(), Currency: r.Currency,
		Period: r.Period, CreatedAt: r.MadeAt, CreatedBy: null.Of(r.MadeBy), RedeemedAt: r.RedeemedAt,
		EndsAt: r.EndsAt, VoidedAt: r.VoidedAt, VoidedBy: null.Of(r.VoidedBy),
		VoidedName: null.Of(names.staff[r.VoidedBy]),
		VoidReason: null.Of(r.VoidReason), DeviceID: null.Of(r.DeviceID), DeviceName: names.devices.name(r.DeviceID),
		MACAddress: null.Of(r.MAC), Moves: r.Moves,
	}
}
