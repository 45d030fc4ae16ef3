package paymentsapi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// Reconciliations serves /reconciliations, to organizations and at the root host.
type Reconciliations struct {
	Reconciliations paymentsviews.ReconciliationsQuery
	Statements      *vault.Statements
	Users           identityviews.UsersQuery
	Cases           paymentscases.Reconciliations
}

// statementLimit bounds an uploaded statement: a year of a busy shortcode. shownDifferences bounds each list of one
// reconciliation; the figures have the whole numbers.
const (
	statementLimit   = 24 << 20
	shownDifferences = 1_000
)

// Routes lists the endpoints, each for both kinds of hosts.
func (a Reconciliations) Routes() (routes []httpapi.Route) {
	for _, on := range []httpapi.Hosts{httpapi.OnOrganization, httpapi.OnRoot} {
		access := httpapi.AccessAdmin
		if on == httpapi.OnRoot {
			access = httpapi.AccessSuperAdmin
		}
		routes = append(routes,
			httpapi.Route{
				Method: "POST", Path: "/reconciliations", Hosts: on, Access: access, Status: 202, Accepts: "text/csv",
				Summary:   "Compare a statement of the provider with the receipts",
				Query:     []httpapi.Param{dateOrderParam},
				BodyLimit: statementLimit, Response: reconciliationDetail{}, Handle: a.start,
				Codes: []string{"date_order_needed"},
			},
			httpapi.Route{
				Method: "GET", Path: "/reconciliations", Hosts: on, Access: access, Summary: "List reconciliations",
				Row: reconciliationResponse{}, Handle: a.list,
			},
			httpapi.Route{
				Method: "GET", Path: "/reconciliations/:id", Hosts: on, Access: access,
				Summary:  "Read a reconciliation: what is missing or different on either side",
				Response: reconciliationDetail{}, Handle: a.get,
			},
			httpapi.Route{
				Method: "POST", Path: "/reconciliations/:id/adopt", Hosts: on, Access: access, Status: 202,
				Summary: "Take in as receipts what is missing here", Response: reconciliationDetail{}, Handle: a.adopt,
			})
	}
	return routes
}

// dateOrderParam says how the dates of a file are read.
var dateOrderParam = httpapi.Param{
	Name: "dateOrder", Type: "string", Enum: []string{string(column.DayFirst), string(column.MonthFirst)},
	Doc: "whether the day or the month comes first in dates such as 02/03/2026; when absent, the rows decide",
}

// reconciliationState is one of paymentsviews.ReconciliationStates.
type reconciliationState string

// Texts implements httpapi.Enumerated.
func (reconciliationState) Texts() []string { return paymentsviews.ReconciliationStates }

// reconciliationResponse is a statement with the figures of its comparison.
type reconciliationResponse struct {
	ID           id.Reconciliation     `json:"id"`
	State        reconciliationState   `json:"state"`
	Failure      *string               `json:"failure" doc:"a code"`
	Shortcode    string                `json:"shortcode"`
	Environment  string                `json:"environment" enum:"sandbox,production"`
	From         time.Time             `json:"from" doc:"the earliest time of the statement"`
	To           time.Time             `json:"to" doc:"the latest"`
	Lines        int64                 `json:"lines" doc:"movements in the statement"`
	Matched      int                   `json:"matched" doc:"payments that both have alike"`
	Figures      reconciliationFigures `json:"figures"`
	Adopted      int64                 `json:"adopted" doc:"receipts that were taken in from it"`
	UploadedAt   time.Time             `json:"uploadedAt"`
	UploadedBy   *httpapi.StaffRef     `json:"uploadedBy"`
	AdoptedAt    *time.Time            `json:"adoptedAt"`
	AdoptedBy    *httpapi.StaffRef     `json:"adoptedBy"`
	CurrencyCode money.Currency        `json:"currency"`
}

// reconciliationFigures count what is not alike, and the movements that are no money of customers.
type reconciliationFigures struct {
	MissingHere       int            `json:"missingHere" doc:"payments of customers that would become receipts"`
	MissingHereAmount httpapi.Number `json:"missingHereAmount" doc:"their sum"`
	MissingThere      int            `json:"missingThere"`
	Different         int            `json:"different"`
	Attention         int            `json:"attention" doc:"movements that a person has to look at"`
	Withdrawals       int            `json:"withdrawals" doc:"any other money that left"`
	Charges           int            `json:"charges"`
	Reversals         int            `json:"reversals"`
	Failed            int            `json:"failed"`
	Kinds             []statementSum `json:"kinds" doc:"all movements by their kind"`
}

// statementSum is how many movements of one kind there are, and how much they move.
type statementSum struct {
	Kind statementKind  `json:"kind"`
	Rows int            `json:"rows"`
	In   httpapi.Number `json:"in"`
	Out  httpapi.Number `json:"out"`
}

// statementKind is one of paymentsviews.StatementKinds.
type statementKind string

// Texts implements httpapi.Enumerated.
func (statementKind) Texts() []string { return paymentsviews.StatementKinds }

// reconciliationDetail adds the differences themselves.
type reconciliationDetail struct {
	reconciliationResponse
	MissingHere  []statedPayment   `json:"missingHere" doc:"at most 1,000, like the other lists"`
	MissingThere []bookedPayment   `json:"missingThere" doc:"receipts of the statement's time that it has not"`
	Different    []statedDifferent `json:"different"`
	Attention    []statedAttention `json:"attention" doc:"movements that are never taken in by themselves"`
	Kept         bool              `json:"kept" doc:"false: not kept (any more), so the lists are empty"`
}

// statedPayment is a payment of the statement.
type statedPayment struct {
	Row           int            `json:"row" doc:"of the file, from 1"`
	ReceiptNumber string         `json:"receiptNumber"`
	PaidAt        time.Time      `json:"paidAt"`
	Amount        httpapi.Number `json:"amount"`
	Payer         receiptPayer   `json:"payer"`
	BillRef       *string        `json:"billRef"`
}

// bookedPayment is a receipt that the statement has not.
type bookedPayment struct {
	ReceiptID     id.Receipt       `json:"receiptId"`
	ReceiptNumber string           `json:"receiptNumber"`
	PaidAt        time.Time        `json:"paidAt"`
	Amount        httpapi.Number   `json:"amount"`
	OrgID         *id.Organization `json:"orgId" doc:"whose it is; null: of no organization"`
}

// statedDifferent is a payment about which both disagree.
type statedDifferent struct {
	statedPayment
	ReceiptID id.Receipt     `json:"receiptId"`
	Here      httpapi.Number `json:"here" doc:"the amount of the receipt"`
	Why       statedWhy      `json:"why" doc:"reversed: by the statement alone; reversed_here: here alone"`
}

// statedAttention is a movement that a person has to look at.
type statedAttention struct {
	statedPayment
	Kind      statementKind `json:"kind"`
	Side      statedSide    `json:"side"`
	Why       attentionWhy  `json:"why"`
	Details   *string       `json:"details" doc:"the words of the statement"`
	Names     []string      `json:"names" doc:"of a reversal: the payments that it names"`
	ReceiptID *id.Receipt   `json:"receiptId" doc:"the receipt with this number here"`
}

// statedSide says whether money came or left.
type statedSide string

// Texts implements httpapi.Enumerated.
func (statedSide) Texts() []string { return []string{"in", "out"} }

// attentionWhy is one of paymentsviews.AttentionReasons.
type attentionWhy string

// Texts implements httpapi.Enumerated.
func (attentionWhy) Texts() []string { return paymentsviews.AttentionReasons }

// statedWhy is one of paymentsviews.StatedWhys.
type statedWhy string

// Texts implements httpapi.Enumerated.
func (statedWhy) Texts() []string { return paymentsviews.StatedWhys }

// reconciliation is a row with what the vault has about it.
type reconciliation struct {
	paymentsviews.ReconciliationRow
	names   map[id.User]string
	outcome *paymentsviews.StatementOutcome
}

// show writes a row of the list.
func (r reconciliation) show() reconciliationResponse {
	return reconciliationResponse{
		ID: r.ID, State: reconciliationState(r.State), Failure: null.Of(r.Failure), Shortcode: r.Shortcode,
		Environment: r.Environment, From: r.BeganAt, To: r.EndedAt, Lines: r.Lines, Matched: r.Figures.Matched,
		Figures: showFigures(r.Figures),
		Adopted: r.Adopted, UploadedAt: r.UploadedAt, UploadedBy: showStaff(r.UploadedBy, r.names),
		AdoptedAt: r.AdoptedAt, AdoptedBy: showStaff(r.AdoptedBy, r.names), CurrencyCode: money.KES,
	}
}

// showFigures writes the figures of a comparison.
func showFigures(f events.ReconciliationFigures) reconciliationFigures {
	out := reconciliationFigures{
		MissingHere: f.MissingHere, MissingHereAmount: f.MissingHereAmount.Number(), MissingThere: f.MissingThere,
		Different: f.Different, Attention: f.Attention, Withdrawals: f.Withdrawals, Charges: f.Charges,
		Reversals: f.Reversals, Failed: f.Failed, Kinds: []statementSum{},
	}
	for _, k := range f.Kinds {
		out.Kinds = append(out.Kinds, statementSum{
			Kind: statementKind(k.Kind), Rows: k.Rows, In: k.In.Number(), Out: k.Out.Number(),
		})
	}
	return out
}

// showReconciliation writes one with its differences.
func showReconciliation(r reconciliation) reconciliationDetail {
	out := reconciliationDetail{
		reconciliationResponse: r.show(), MissingHere: []statedPayment{}, MissingThere: []bookedPayment{},
		Different: []statedDifferent{}, Attention: []statedAttention{}, Kept: r.outcome != nil,
	}
	if r.outcome == nil {
		return out
	}
	for _, p := range first(r.outcome.MissingHere) {
		out.MissingHere = append(out.MissingHere, showStated(p))
	}
	for _, p := range first(r.outcome.MissingThere) {
		out.MissingThere = append(out.MissingThere, bookedPayment{
			ReceiptID: p.ReceiptID, ReceiptNumber: p.ReceiptNumber, PaidAt: p.PaidAt, Amount: p.Amount.Number(),
			OrgID: null.Of(p.OrgID),
		})
	}
	for _, p := range first(r.outcome.Different) {
		out.Different = append(out.Different, statedDifferent{
			statedPayment: showStated(p.StatedPayment), ReceiptID: p.ReceiptID, Here: p.Here.Number(),
			Why: statedWhy(p.Why),
		})
	}
	for _, p := range first(r.outcome.Attention) {
		out.Attention = append(out.Attention, showAttention(p))
	}
	return out
}

// showAttention writes a movement that a person has to look at.
func showAttention(p paymentsviews.StatedAttention) statedAttention {
	side := statedSide("in")
	if p.Out {
		side = "out"
	}
	return statedAttention{
		statedPayment: showStated(p.StatedPayment), Kind: statementKind(p.Kind), Side: side, Why: attentionWhy(p.Why),
		Details: null.Of(p.Details), Names: append([]string{}, p.Names...), ReceiptID: null.Of(p.ReceiptID),
	}
}

// first gives the beginning of a list that is shown.
func first[T any](list []T) []T { return list[:min(len(list), shownDifferences)] }

// showStated writes a payment of the statement.
func showStated(p paymentsviews.StatedPayment) statedPayment {
	return statedPayment{
		Row: p.Row, ReceiptNumber: p.ReceiptNumber, PaidAt: p.PaidAt, Amount: p.Amount.Number(),
		Payer:   receiptPayer{Phone: null.Of(p.PayerPhone), Name: null.Of(p.PayerName)},
		BillRef: null.Of(p.BillRef),
	}
}

// named adds the names of the staff to rows.
func (a Reconciliations) named(
	ctx context.Context, org id.Organization, rows []paymentsviews.ReconciliationRow,
) ([]reconciliation, error) {
	var users []id.User
	for _, r := range rows {
		for _, user := range []id.User{r.UploadedBy, r.AdoptedBy} {
			if !user.IsZero() {
				users = append(users, user)
			}
		}
	}
	var names map[id.User]string
	if !org.IsZero() {
		var err error
		if names, err = a.Users.Names(ctx, org, users); err != nil {
			return nil, err
		}
	}
	out := make([]reconciliation, len(rows))
	for i, r := range rows {
		out[i] = reconciliation{ReconciliationRow: r, names: names}
	}
	return out, nil
}

// one describes how a reconciliation is read and shown.
func (a Reconciliations) one() httpapi.One[id.Reconciliation, reconciliation, reconciliationDetail] {
	return httpapi.One[id.Reconciliation, reconciliation, reconciliationDetail]{
		Model: paymentsviews.ReconciliationsName, Missing: commands.ErrNoReconciliation, Show: showReconciliation,
		Revision: func(r reconciliation) int64 { return r.ReconciliationRow.Revision },
		Read: func(ctx context.Context, org id.Organization, of id.Reconciliation) (*reconciliation, error) {
			row, err := a.Reconciliations.Get(ctx, org, of)
			if err != nil || row == nil {
				return nil, err
			}
			list, err := a.named(ctx, org, []paymentsviews.ReconciliationRow{*row})
			if err != nil {
				return nil, err
			}
			plain, err := a.Statements.Outcome(ctx, of)
			if err != nil || plain == nil {
				return &list[0], err
			}
			list[0].outcome = &paymentsviews.StatementOutcome{}
			if err := json.Unmarshal(plain, list[0].outcome); err != nil {
				return nil, fmt.Errorf("read outcome %s: %w", of, err)
			}
			return &list[0], nil
		},
	}
}

// start takes a statement.
func (a Reconciliations) start(ctx context.Context, c *httpapi.Call) error {
	filters := c.Filters()
	order := column.DateOrder(filters.OneOf(dateOrderParam.Name, dateOrderParam.Enum...))
	if err := filters.Err(); err != nil {
		return err
	}
	which, done, err := a.Cases.Start(ctx, c.Asked(), c.Body(), order)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 202, a.one(), which, done)
}

// list answers with a page of reconciliations, the newest first.
func (a Reconciliations) list(ctx context.Context, c *httpapi.Call) error {
	return httpapi.SendList(ctx, c, reconciliation.show, func(
		ctx context.Context, after paymentsviews.ReconciliationKey, max int,
	) ([]reconciliation, error) {
		rows, err := a.Reconciliations.List(ctx, c.Org.ID, after, max)
		if err != nil {
			return nil, err
		}
		return a.named(ctx, c.Org.ID, rows)
	})
}

// get answers with one reconciliation.
func (a Reconciliations) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// adopt takes in what is missing here.
func (a Reconciliations) adopt(ctx context.Context, c *httpapi.Call) error {
	which, err := httpapi.PathID[id.Reconciliation](c, "id", commands.ErrNoReconciliation)
	if err != nil {
		return err
	}
	done, err := a.Cases.Adopt(ctx, c.Asked(), which)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 202, a.one(), which, done)
}
