package billingviews

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ApprovalsName keys the projection's checkpoint and schemas, so it never changes.
const ApprovalsName = "billing_approvals"

// Approvals lists acts that wait for a second person, or waited (docs/rules/approvals.md#approvals).
type Approvals struct{}

// approvalsDDL is compiled in from approvals.sql.
//
//go:embed approvals.sql
var approvalsDDL string

// Name keys checkpoint and schemas.
func (Approvals) Name() string { return ApprovalsName }

// Version must grow with every change to the table or to Apply.
func (Approvals) Version() int { return 1 }

// DDL creates the table of approvals.sql.
func (Approvals) DDL() string { return approvalsDDL }

// TenantTables are under row-level security.
func (Approvals) TenantTables() []string { return []string{"approvals"} }

// Handles lists the events that change the table.
func (Approvals) Handles() []string {
	return []string{
		events.ApprovalRequested{}.EventType(), events.ApprovalGranted{}.EventType(),
		events.ApprovalRefused{}.EventType(), events.ApprovalWithdrawn{}.EventType(),
		events.ApprovalExpired{}.EventType(), events.ApprovalCarriedOut{}.EventType(),
		events.ApprovalFailed{}.EventType(), events.SubscriberForgotten{}.EventType(),
	}
}

// insertApprovalSQL inserts the row of a new approval.
const insertApprovalSQL = `
insert into {schema}.approvals (approval_id, org_id, kind, subscriber_id, amount_minor, currency, act, reason, state,
	requested_at, requested_by, expires_at, revision)
values (@approval, @org, @kind, @subscriber, @amount, @currency, @act, @reason, 'waiting', @at, @by, @expires,
	@revision)
on conflict (approval_id) do nothing`

// Apply queues the statements for one event. An event applied again changes nothing, because each change compares the
// revision of the approval's stream.
func (Approvals) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // revisions fit
	change := func(approval id.Approval, set string, values pgx.NamedArgs) {
		args := pgx.NamedArgs{"approval": approval, "revision": revision}
		maps.Copy(args, values)
		w.Exec(`update {schema}.approvals set revision = @revision, `+set+
			` where approval_id = @approval and revision < @revision`, args)
	}
	switch v := e.Event.(type) {
	case events.ApprovalRequested:
		act, err := json.Marshal(shownAct(v.Act))
		if err != nil {
			return fmt.Errorf("show approval %s: %w", v.ApprovalID, err)
		}
		w.Exec(insertApprovalSQL, pgx.NamedArgs{
			"approval": v.ApprovalID, "org": v.OrgID, "kind": v.Kind, "subscriber": v.SubscriberID,
			"amount": v.Amount.Minor, "currency": v.Amount.Currency, "act": string(act), "reason": v.Reason.Reveal(),
			"at": v.At, "by": v.By, "expires": v.ExpiresAt, "revision": revision,
		})
	case events.ApprovalGranted:
		change(v.ApprovalID, `state = 'approved', decided_at = @at, decided_by = @by`,
			pgx.NamedArgs{"at": v.At, "by": v.By})
	case events.ApprovalRefused:
		change(v.ApprovalID, `state = 'refused', decided_at = @at, decided_by = @by, decision_reason = @reason,
			ended_at = @at`, pgx.NamedArgs{"at": v.At, "by": v.By, "reason": v.Reason.Reveal()})
	case events.ApprovalWithdrawn:
		change(v.ApprovalID, `state = 'withdrawn', ended_at = @at`, pgx.NamedArgs{"at": v.At})
	case events.ApprovalExpired:
		change(v.ApprovalID, `state = 'expired', ended_at = @at`, pgx.NamedArgs{"at": v.At})
	case events.ApprovalCarriedOut:
		change(v.ApprovalID, `state = 'carried_out', ended_at = @at`, pgx.NamedArgs{"at": v.At})
	case events.ApprovalFailed:
		change(v.ApprovalID, `state = 'failed', ended_at = @at, failure = @code`,
			pgx.NamedArgs{"at": v.At, "code": v.Code})
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.approvals set reason = '', decision_reason = '' where subscriber_id = $1`,
			v.SubscriberID)
	}
	return nil
}

// shownAct leaves out what is personal: the descriptions of lines.
func shownAct(act events.ApprovalAct) events.ApprovalAct {
	lines := make([]events.ApprovalLine, len(act.Lines))
	for i, l := range act.Lines {
		lines[i] = events.ApprovalLine{Quantity: l.Quantity, UnitPrice: l.UnitPrice, Once: l.Once}
	}
	act.Lines = lines
	return act
}
