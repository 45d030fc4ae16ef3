package billingapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// Batches serves what changed many customers at once, and takes it back (docs/rules/billing.md#batches).
type Batches struct {
	Cases   billingcases.Batches
	Batches billingviews.BatchesQuery
	Due     billingviews.DueQuery
	Users   identityviews.UsersQuery
}

// Routes lists the endpoints of batches.
func (a Batches) Routes() []httpapi.Route {
	on, support, admin := httpapi.OnOrganization, httpapi.AccessSupport, httpapi.AccessAdmin
	return []httpapi.Route{
		{
			Method: "GET", Path: "/batches", Hosts: on, Access: support, Row: undoableBatchResponse{}, Handle: a.list,
			Summary: "List what changed many customers at once, the newest first",
			Query:   []httpapi.Param{{Name: "kind", Type: "string", Enum: billingviews.BatchKinds}},
		},
		{
			Method: "GET", Path: "/batches/:id", Hosts: on, Access: support, Response: undoableBatchResponse{},
			Summary: "Read a batch and how far it is taken back", Handle: a.get,
		},
		{
			Method: "GET", Path: "/batches/:id/items", Hosts: on, Access: support, Row: batchItemResponse{},
			Summary: "List what a batch made, and what became of it in an undo", Handle: a.items,
			Query: []httpapi.Param{{Name: "outcome", Type: "string", Enum: itemOutcomes}},
		},
		{
			Method: "POST", Path: "/batches/:id/undo/preview", Hosts: on, Access: admin,
			Response: batchPreviewResponse{}, Handle: a.preview,
			Summary: "Tell what an undo would take back, and what not; nothing is changed",
		},
		{
			Method: "POST", Path: "/batches/:id/undo", Hosts: on, Access: admin, Request: httpapi.ReasonRequest{},
			Response: undoableBatchResponse{}, Status: 202, Handle: a.undo, Summary: "Take a batch back as one",
		},
	}
}

// itemOutcomes are the values of batchItemResponse.Outcome.
var itemOutcomes = []string{events.ItemUndone, events.ItemCredited, events.ItemBlocked}

// batchKind is one of billingviews.BatchKinds.
type batchKind string

// Texts implements httpapi.Enumerated.
func (batchKind) Texts() []string { return billingviews.BatchKinds }

// batchState is one of billingviews.BatchStates.
type batchState string

// Texts implements httpapi.Enumerated.
func (batchState) Texts() []string { return billingviews.BatchStates }

// itemOutcome is one of itemOutcomes.
type itemOutcome string

// Texts implements httpapi.Enumerated.
func (itemOutcome) Texts() []string { return itemOutcomes }

// batchUndoState says how far an undo is.
type batchUndoState string

// Texts implements httpapi.Enumerated.
func (batchUndoState) Texts() []string { return []string{"running", "finished"} }

// undoableBatchResponse is a batch as it is shown. Its id is that of the run, the import or the compensation.
type undoableBatchResponse struct {
	ID         id.Batch           `json:"id"`
	Kind       batchKind          `json:"kind"`
	Title      string             `json:"title" doc:"a run's day, an import's source, a reason, a plan's name"`
	State      batchState         `json:"state"`
	AskedAt    time.Time          `json:"askedAt"`
	AskedBy    *httpapi.StaffRef  `json:"askedBy" doc:"null: the clock"`
	AgainAt    *time.Time         `json:"againAt" doc:"of a run: when it was asked for last, after the first time"`
	AgainBy    *httpapi.StaffRef  `json:"againBy" doc:"null: the clock, or never"`
	FinishedAt *time.Time         `json:"finishedAt"`
	Made       int                `json:"made" doc:"invoices, customers, or subscriptions that got something"`
	Stands     int                `json:"stands" doc:"of those made, what was not taken back"`
	Failed     int                `json:"failed"`
	Amount     httpapi.Number     `json:"amount" doc:"of what stands"`
	Currency   *money.Currency    `json:"currency" doc:"null without money"`
	Days       int                `json:"days" doc:"that a compensation gave, of what stands"`
	Waiting    int                `json:"waiting" doc:"of an undone run: subscriptions that wait to be invoiced again"`
	Undo       *batchUndoResponse `json:"undo" doc:"the newest one; null: never"`
}

// batchUndoResponse is how far an undo is.
type batchUndoResponse struct {
	State      batchUndoState    `json:"state"`
	Reason     string            `json:"reason"`
	At         time.Time         `json:"at"`
	By         *httpapi.StaffRef `json:"by"`
	FinishedAt *time.Time        `json:"finishedAt"`
	Undone     int               `json:"undone" doc:"of all undos of this batch, as are the others"`
	Credited   int               `json:"credited"`
	Blocked    int               `json:"blocked"`
}

// batchDetail is a batch with the names of the staff who acted.
type batchDetail struct {
	billingviews.BatchRow
	names   map[id.User]string
	waiting int
}

// showBatch writes amounts in major units, and null for what is not known.
func showBatch(d batchDetail) undoableBatchResponse {
	r := d.BatchRow
	out := undoableBatchResponse{
		ID: r.ID, Kind: batchKind(r.Kind), Title: r.Title, State: batchState(r.State), AskedAt: r.AskedAt,
		AskedBy: staffRef(r.AskedBy, d.names), FinishedAt: r.FinishedAt, Made: r.Made, Failed: r.Failed,
		AgainAt: r.AgainAt, AgainBy: staffRef(r.AgainBy, d.names), Stands: r.Stands,
		Amount: money.Of(r.AmountMinor, r.Currency).Number(), Currency: null.Of(r.Currency), Days: r.Days,
		Waiting: d.waiting,
	}
	if r.UndoRound > 0 {
		out.Undo = &batchUndoResponse{
			State: batchUndoState(r.UndoState), Reason: r.UndoReason, At: null.Zero(r.UndoAt),
			By: staffRef(r.UndoBy, d.names), FinishedAt: r.UndoEndedAt, Undone: r.Undone, Credited: r.Credited,
			Blocked: r.Blocked,
		}
	}
	return out
}

// details adds the names of the staff, and what waits since an undo.
func (a Batches) details(
	ctx context.Context, org id.Organization, rows []billingviews.BatchRow,
) ([]batchDetail, error) {
	var users []id.User
	undone := false
	for _, r := range rows {
		undone = undone || r.UndoRound > 0 && r.Kind == events.BatchRun
		for _, user := range []id.User{r.AskedBy, r.AgainBy, r.UndoBy} {
			if !user.IsZero() {
				users = append(users, user)
			}
		}
	}
	names, err := a.Users.Names(ctx, org, users)
	if err != nil {
		return nil, err
	}
	waiting := map[id.BillingRun]int{}
	if undone {
		if waiting, err = a.Due.Waiting(ctx, org); err != nil {
			return nil, err
		}
	}
	out := make([]batchDetail, len(rows))
	for i, r := range rows {
		out[i] = batchDetail{BatchRow: r, names: names, waiting: waiting[id.As[id.BillingRun](r.ID)]}
	}
	return out, nil
}

// one describes how a batch is read and shown.
func (a Batches) one() httpapi.One[id.Batch, batchDetail, undoableBatchResponse] {
	return httpapi.One[id.Batch, batchDetail, undoableBatchResponse]{
		Model: billingviews.BatchesName, Missing: commands.ErrNoBatch, Show: showBatch,
		Read: func(ctx context.Context, org id.Organization, batch id.Batch) (*batchDetail, error) {
			row, err := a.Batches.Get(ctx, org, batch)
			if err != nil || row == nil {
				return nil, err
			}
			details, err := a.details(ctx, org, []billingviews.BatchRow{*row})
			if err != nil {
				return nil, err
			}
			return &details[0], nil
		},
	}
}

// list answers with a page of batches.
func (a Batches) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	kind := f.OneOf("kind", billingviews.BatchKinds...)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showBatch, func(
		ctx context.Context, after billingviews.BatchKey, max int,
	) ([]batchDetail, error) {
		rows, err := a.Batches.List(ctx, c.Org.ID, kind, after, max)
		if err != nil {
			return nil, err
		}
		return a.details(ctx, c.Org.ID, rows)
	})
}

// get answers with one batch.
func (a Batches) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// batchItemResponse is one thing that a batch made.
type batchItemResponse struct {
	ID             id.Any                 `json:"id" doc:"of the invoice, the customer or the subscription"`
	SubscriberID   id.Subscriber          `json:"subscriberId"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber"`
	SubscriptionID *id.Subscription       `json:"subscriptionId"`
	Amount         httpapi.Number         `json:"amount"`
	Currency       *money.Currency        `json:"currency"`
	Days           int                    `json:"days"`
	Outcome        *itemOutcome           `json:"outcome" doc:"of an undo; null: it was not taken back"`
	Code           *string                `json:"code" doc:"why it stayed as it is"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *batchItemResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// showBatchItem writes amounts in major units.
func showBatchItem(r billingviews.BatchItemRow) batchItemResponse {
	return batchItemResponse{
		ID: r.ID, SubscriberID: r.SubscriberID, SubscriptionID: null.Of(r.SubscriptionID),
		Amount: money.Of(r.AmountMinor, r.Currency).Number(), Currency: null.Of(r.Currency), Days: r.Days,
		Outcome: null.Of(itemOutcome(r.Outcome)), Code: null.Of(r.Code),
	}
}

// items answers with a page of what a batch made.
func (a Batches) items(ctx context.Context, c *httpapi.Call) error {
	batch, err := httpapi.PathID[id.Batch](c, "id", commands.ErrNoBatch)
	if err != nil {
		return err
	}
	f := c.Filters()
	outcome := f.OneOf("outcome", itemOutcomes...)
	if err := f.Err(); err != nil {
		return err
	}
	if _, err := a.one().Find(ctx, c, batch); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showBatchItem, func(
		ctx context.Context, after billingviews.BatchItemKey, max int,
	) ([]billingviews.BatchItemRow, error) {
		return a.Batches.Items(ctx, c.Org.ID, batch, outcome, after, max)
	})
}

// batchPreviewResponse tells the outcomes that an undo would have now.
type batchPreviewResponse struct {
	Items         int                `json:"items" doc:"that are left to be taken back"`
	Looked        int                `json:"looked" doc:"of them: the others were not asked, since there are too many"`
	Undone        int                `json:"undone"`
	CreditedCount int                `json:"creditedCount"`
	BlockedCount  int                `json:"blockedCount"`
	BilledAtOnce  int                `json:"billedAtOnce" doc:"of ended services, for what was used of them"`
	Credited      []undoItemResponse `json:"credited" doc:"the first ones; money was on them"`
	Blocked       []undoItemResponse `json:"blocked" doc:"the first ones; they would stay"`
}

// undoItemResponse is one item of a preview.
type undoItemResponse struct {
	ID           id.Any                 `json:"id" doc:"of the invoice, the customer or the subscription"`
	SubscriberID id.Subscriber          `json:"subscriberId"`
	Subscriber   *httpapi.SubscriberRef `json:"subscriber"`
	Code         *string                `json:"code" doc:"why it would stay as it is"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *batchPreviewResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	for _, list := range [][]undoItemResponse{r.Credited, r.Blocked} {
		for i := range list {
			list[i].Subscriber = name(list[i].SubscriberID)
		}
	}
}

// showBatchPreview lists what is credited and what stays.
func showBatchPreview(p billingcases.BatchPreview) batchPreviewResponse {
	out := batchPreviewResponse{
		Items: p.Items, Looked: p.Looked, Undone: p.Undone, CreditedCount: p.Credited, BlockedCount: p.Blocked,
		BilledAtOnce: p.Billed,
		Credited:     []undoItemResponse{}, Blocked: []undoItemResponse{},
	}
	of := func(item usecases.BatchItem, code string) undoItemResponse {
		return undoItemResponse{ID: item.ID, SubscriberID: item.SubscriberID, Code: null.Of(code)}
	}
	for _, item := range p.CreditedItems {
		out.Credited = append(out.Credited, of(item, ""))
	}
	for _, item := range p.BlockedItems {
		out.Blocked = append(out.Blocked, of(item.BatchItem, item.Code))
	}
	return out
}

// preview tells what an undo would do.
func (a Batches) preview(ctx context.Context, c *httpapi.Call) error {
	batch, err := httpapi.PathID[id.Batch](c, "id", commands.ErrNoBatch)
	if err != nil {
		return err
	}
	p, err := a.Cases.Preview(ctx, c.Org.ID, batch)
	if err != nil {
		return err
	}
	return httpapi.SendNamed(ctx, c, 200, showBatchPreview(p))
}

// undo asks for a batch to be taken back.
func (a Batches) undo(ctx context.Context, c *httpapi.Call) error {
	batch, err := httpapi.PathID[id.Batch](c, "id", commands.ErrNoBatch)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Undo(ctx, c.Asked(), batch, in.Reason)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 202, a.one(), batch, done)
}
