package paymentsviews

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// RefundStates are the values of RefundRow.State.
var RefundStates = []string{"requested", "approved", "submitted", "in_doubt", "completed", "failed"}

// RefundRow has the present state of a refund, and who brought it there.
type RefundRow struct {
	ID            id.Refund       `db:"refund_id"`
	OrgID         id.Organization `db:"org_id"`
	ReceiptID     id.Receipt      `db:"receipt_id"`
	ReceiptNumber string          `db:"receipt_number"`
	SubscriberID  id.Subscriber   `db:"subscriber_id"` // zero: the money was in suspense
	AmountMinor   int64           `db:"amount_minor"`
	Currency      money.Currency  `db:"currency"`
	Method        string          `db:"method"` // "manual" or "reversal"
	State         string          `db:"state"`  // see RefundStates
	Secured       bool            `db:"secured"`
	Reason        string          `db:"reason"`
	RequestedAt   time.Time       `db:"requested_at"`
	RequestedBy   id.User         `db:"requested_by"`
	ApprovedAt    *time.Time      `db:"approved_at"`
	ApprovedBy    id.User         `db:"approved_by"`
	SubmittedAt   *time.Time      `db:"submitted_at"` // when the provider was asked
	SettledAt     *time.Time      `db:"settled_at"`
	SettledBy     id.User         `db:"settled_by"`
	Reference     string          `db:"reference"`
	Failure       string          `db:"failure"` // a code; "" unless it failed or is in doubt
	Message       string          `db:"message"`
	SettledReason string          `db:"settled_reason"`
	Revision      int64           `db:"revision"`
}

// RefundKey is a row's place in the list. The zero value stands before its first row.
type RefundKey struct {
	RequestedAt time.Time `json:"t"`
	ID          id.Refund `json:"r"`
}

// Key makes the next page begin after this row.
func (r RefundRow) Key() RefundKey { return RefundKey{RequestedAt: r.RequestedAt, ID: r.ID} }

// RefundFilter narrows a list. A zero field does not restrict it.
type RefundFilter struct {
	State        string
	Open         bool // neither completed nor failed
	SubscriberID id.Subscriber
	ReceiptID    id.Receipt
}

// RefundsQuery serves refunds to their organization.
type RefundsQuery struct{ Views *runner.Views }

// SQL of refunds; its columns fit RefundRow.
const (
	refundColumns = `refund_id, org_id, receipt_id, receipt_number, subscriber_id, amount_minor, currency, method,
	state, secured, reason, requested_at, requested_by, approved_at, approved_by, submitted_at, settled_at,
	settled_by, reference, failure, message, settled_reason, revision`
	refundSQL      = `select ` + refundColumns + ` from {schema}.refunds where refund_id = $1`
	openRefundsSQL = `
select count(*) filter (where state = 'requested') as requested,
	count(*) filter (where state = 'approved') as approved,
	count(*) filter (where state = 'submitted') as submitted,
	count(*) filter (where state = 'in_doubt') as in_doubt
from {schema}.refunds where state not in ('completed', 'failed') and ($1::uuid is null or org_id = $1)`
)

// Get returns one refund of an organization, nil when it has none with this id.
func (q RefundsQuery) Get(ctx context.Context, org id.Organization, refund id.Refund) (row *RefundRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[RefundRow], q.Views.SQL(RefundsName, refundSQL), refund)
	})
	return row, err
}

// List returns up to max refunds of an organization after a key, the newest first.
func (q RefundsQuery) List(
	ctx context.Context, org id.Organization, f RefundFilter, after RefundKey, max int,
) (rows []RefundRow, err error) {
	sql, args := refundListSQL(org, f, after, max)
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[RefundRow], q.Views.SQL(RefundsName, sql), args)
	})
	return rows, err
}

// refundListSQL builds the statement of a list, with the conditions that restrict it alone, so that each has its index.
func refundListSQL(org id.Organization, f RefundFilter, after RefundKey, max int) (string, pgx.NamedArgs) {
	where, args := []string{`org_id = @org`}, pgx.NamedArgs{"org": org, "max": max}
	if f.State != "" {
		where, args["state"] = append(where, `state = @state`), f.State
	}
	if f.Open {
		where = append(where, `state not in ('completed', 'failed')`)
	}
	if !f.SubscriberID.IsZero() {
		where, args["subscriber"] = append(where, `subscriber_id = @subscriber`), f.SubscriberID
	}
	if !f.ReceiptID.IsZero() {
		where, args["receipt"] = append(where, `receipt_id = @receipt`), f.ReceiptID
	}
	if !after.ID.IsZero() {
		where = append(where, `(requested_at, refund_id) < (@at, @after)`)
		args["at"], args["after"] = after.RequestedAt, after.ID
	}
	return `select ` + refundColumns + ` from {schema}.refunds where ` + strings.Join(where, " and ") +
		` order by requested_at desc, refund_id desc limit @max`, args
}

// OpenRefunds counts the refunds that wait for a person, by what they wait for.
type OpenRefunds struct {
	Requested int64 `db:"requested"` // for approval
	Approved  int64 `db:"approved"`  // for somebody who pays
	Submitted int64 `db:"submitted"` // for the provider
	InDoubt   int64 `db:"in_doubt"`  // for somebody who finds out
}

// Open counts the refunds of an organization that have not ended.
func (q RefundsQuery) Open(ctx context.Context, org id.Organization) (out OpenRefunds, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &out, pgx.RowToStructByName[OpenRefunds], q.Views.SQL(RefundsName, openRefundsSQL), org)
	})
	return out, err
}

// OpenOfAll counts over all organizations, for metrics and alarms.
func (q RefundsQuery) OpenOfAll(ctx context.Context) (out OpenRefunds, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectOne(r, &out, pgx.RowToStructByName[OpenRefunds], q.Views.SQL(RefundsName, openRefundsSQL),
			id.Organization{})
	})
	return out, err
}
