package billingviews

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ApprovalRow has the present state of an approval, and who brought it there.
type ApprovalRow struct {
	ID             id.Approval        `db:"approval_id"`
	Kind           string             `db:"kind"`
	SubscriberID   id.Subscriber      `db:"subscriber_id"` // zero: about no customer in particular
	AmountMinor    int64              `db:"amount_minor"`
	Currency       money.Currency     `db:"currency"`
	Act            events.ApprovalAct `db:"act"`
	Reason         string             `db:"reason"`
	State          string             `db:"state"`
	RequestedAt    time.Time          `db:"requested_at"`
	RequestedBy    id.User            `db:"requested_by"`
	ExpiresAt      time.Time          `db:"expires_at"`
	DecidedAt      *time.Time         `db:"decided_at"`
	DecidedBy      id.User            `db:"decided_by"`
	DecisionReason string             `db:"decision_reason"`
	EndedAt        *time.Time         `db:"ended_at"`
	Failure        string             `db:"failure"` // a code; "" unless it failed
	Revision       int64              `db:"revision"`
}

// ApprovalStates are the values of ApprovalRow.State, those that wait first.
func ApprovalStates() []string {
	return []string{"waiting", "approved", "carried_out", "failed", "refused", "withdrawn", "expired"}
}

// ApprovalKey is a row's place in the list. The zero value stands before its first row.
type ApprovalKey struct {
	RequestedAt time.Time   `json:"t"`
	ID          id.Approval `json:"i"`
}

// Key makes the next page begin after this row.
func (r ApprovalRow) Key() ApprovalKey { return ApprovalKey{RequestedAt: r.RequestedAt, ID: r.ID} }

// ApprovalFilter narrows a list. A zero field does not restrict it.
type ApprovalFilter struct {
	State        string
	SubscriberID id.Subscriber
}

// ApprovalsQuery serves approvals to their organization.
type ApprovalsQuery struct{ Views *runner.Views }

// approvalSelect fits ApprovalRow; conditions follow.
const approvalSelect = `select approval_id, kind, subscriber_id, amount_minor, currency, act, reason, state,
	requested_at, requested_by, expires_at, decided_at, decided_by, decision_reason, ended_at, failure, revision
	from {schema}.approvals where `

// Get returns one approval of an organization, nil when it has none with this id.
func (q ApprovalsQuery) Get(
	ctx context.Context, org id.Organization, approval id.Approval,
) (row *ApprovalRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[ApprovalRow],
			q.Views.SQL(ApprovalsName, approvalSelect+`org_id = $1 and approval_id = $2`), org, approval)
	})
	return row, err
}

// List returns up to max approvals of an organization after a key, the newest first.
func (q ApprovalsQuery) List(
	ctx context.Context, org id.Organization, f ApprovalFilter, after ApprovalKey, max int,
) (rows []ApprovalRow, err error) {
	where, args := []string{`org_id = @org`}, pgx.NamedArgs{"org": org, "max": max}
	if f.State != "" {
		where, args["state"] = append(where, `state = @state`), f.State
	}
	if !f.SubscriberID.IsZero() {
		where, args["subscriber"] = append(where, `subscriber_id = @subscriber`), f.SubscriberID
	}
	if !after.ID.IsZero() {
		where = append(where, `(requested_at, approval_id) < (@at, @after)`)
		args["at"], args["after"] = after.RequestedAt, after.ID
	}
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ApprovalRow], q.Views.SQL(ApprovalsName, approvalSelect+
			strings.Join(where, " and ")+` order by requested_at desc, approval_id desc limit @max`), args)
	})
	return rows, err
}

// Waiting counts the approvals of an organization that wait for a second person.
func (q ApprovalsQuery) Waiting(ctx context.Context, org id.Organization) (n int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(ApprovalsName,
			`select count(*)::int from {schema}.approvals where org_id = $1 and state = 'waiting'`), org)
	})
	return n, err
}

// AwaitEnd waits, 2 s at most, until an approved act is done or has failed. A longer wait is no failure.
func (q ApprovalsQuery) AwaitEnd(ctx context.Context, org id.Organization, approval id.Approval) error {
	_, err := q.Views.WaitUntil(ctx, ApprovalsName, func(ctx context.Context) (bool, error) {
		row, err := q.Get(ctx, org, approval)
		return row != nil && row.EndedAt != nil, err
	})
	return err
}
