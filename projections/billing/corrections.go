package billingviews

import (
	_ "embed"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CorrectionsName keys the projection's checkpoint and schemas, so it never changes.
const CorrectionsName = "billing_corrections"

// Corrections has what members of staff gave away, act by act (docs/rules/approvals.md#report-of-corrections). What
// processes do because of an act is none.
type Corrections struct{}

// correctionsDDL is compiled in from corrections.sql.
//
//go:embed corrections.sql
var correctionsDDL string

// Name keys checkpoint and schemas.
func (Corrections) Name() string { return CorrectionsName }

// Version must grow with every change to the tables or to Apply.
func (Corrections) Version() int { return 2 }

// DDL creates the tables of corrections.sql.
func (Corrections) DDL() string { return correctionsDDL }

// TenantTables are under row-level security.
func (Corrections) TenantTables() []string {
	return []string{"acts", "asked", "imports", "keys", "orders"}
}

// Handles lists the events that change the tables.
func (Corrections) Handles() []string {
	return []string{
		events.RefundRequested{}.EventType(), events.RefundApproved{}.EventType(),
		events.DebtWrittenOff{}.EventType(), events.ReceiptReversed{}.EventType(),
		events.ReceiptReattributed{}.EventType(), events.CreditNoteDrafted{}.EventType(),
		events.InvoiceVoided{}.EventType(), events.InvoiceDrafted{}.EventType(),
		events.CompensationPreviewed{}.EventType(), events.CompensationListed{}.EventType(),
		events.CompensationApplied{}.EventType(), events.ApprovalRequested{}.EventType(),
		events.ApprovalGranted{}.EventType(), events.APIKeyIssued{}.EventType(), events.APIKeyRotated{}.EventType(),
		events.ImportAsked{}.EventType(), events.BalanceCarriedOver{}.EventType(),
	}
}

// Names of the commands by which a person does what processes do, too.
const (
	byReverse    = "payments.ReverseReceipt"
	byVoid       = "billing.VoidInvoice"
	byCreditNote = "billing.DraftCreditNote"
	byReissue    = "billing.ReissueInvoice"
)

// Statements of Apply. Each may be applied twice. The actor is the user, or who answers for the key.
const (
	actorSQL  = `coalesce(@user::uuid, (select user_id from {schema}.keys where key_id = @key::uuid))`
	grantSQL  = `exists (select from {schema}.asked where approval_id = @approval::uuid and granted)`
	insertSQL = `insert into {schema}.acts as a (act_id, org_id, kind, at, user_id, gives, takes, currency, approved,
		revision) select @act, @org, @kind, @at::timestamptz, ` + actorSQL + `, @gives, @takes, @currency,
		` + grantSQL + `, @position where `
	actSQL = insertSQL + `(@direct or ` + grantSQL + `)
			and not exists (select from {schema}.orders where invoice_id = @invoice::uuid)
		on conflict (act_id) do update set gives = a.gives + excluded.gives, takes = a.takes + excluded.takes,
			revision = excluded.revision where a.revision < excluded.revision`
	laterSQL  = insertSQL + `true on conflict (act_id) do nothing`
	listedSQL = `update {schema}.acts set gives = gives + $2, currency = $3, revision = $4
		where act_id = $1 and revision < $4`
	refundedSQL = `update {schema}.acts set at = @at, approved = user_id is distinct from ` + actorSQL + `,
			revision = @position where act_id = @act and at is null and revision < @position`
	appliedSQL = `update {schema}.acts set at = @at, user_id = ` + actorSQL + `, approved = exists (
			select from {schema}.asked where compensation_id = @subject::uuid and granted), revision = @position
		where act_id = @act and at is null and revision < @position`
	askedSQL = `insert into {schema}.asked (approval_id, org_id, compensation_id, import_id) values ($1, $2, $3, $4)
		on conflict (approval_id) do nothing`
	importSQL = `insert into {schema}.imports (import_id, org_id, user_id) values (@import, @org, ` + actorSQL + `)
		on conflict (import_id) do nothing`
	// Each customer who had paid ahead adds to the act of the import, which is of the moment of the first one.
	broughtSQL = `insert into {schema}.acts as a (act_id, org_id, kind, at, user_id, gives, currency, approved,
			revision)
		select 'import ' || i.import_id, i.org_id, 'import', @at::timestamptz, i.user_id, @gives::bigint, @currency,
			exists (select from {schema}.asked where import_id = i.import_id and granted), @position::bigint
		from {schema}.imports i where import_id = @import::uuid
		on conflict (act_id) do update set gives = a.gives + excluded.gives, revision = excluded.revision
			where a.revision < excluded.revision`
	wasGrantedSQL = `update {schema}.asked set granted = true where approval_id = $1`
	keySQL        = `insert into {schema}.keys (key_id, org_id, user_id) values ($1, $2, $3)
		on conflict (key_id) do update set user_id = excluded.user_id`
	orderSQL = `insert into {schema}.orders (invoice_id, org_id) values ($1, $2) on conflict (invoice_id) do nothing`
)

// Apply queues the statements for one event. An event applied again changes nothing.
func (Corrections) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.DebtWrittenOff:
		w.Exec(actSQL, actOf(e, events.ActWriteOff, v.WriteOffID.String(), v.Amount))
	case events.ReceiptReversed:
		if e.Meta.Action == byReverse {
			w.Exec(actSQL, actOf(e, events.ActReversal, v.ReceiptID.String(), v.Amount))
		}
	case events.ReceiptReattributed:
		w.Exec(actSQL, actOf(e, events.ActReattribution, v.ReceiptID.String()+" "+strconv.Itoa(v.Move), v.Amount))
	case events.InvoiceVoided:
		if e.Meta.Action == byVoid && v.Total.Positive() {
			args := actOf(e, events.ActVoid, v.InvoiceID.String(), v.Total)
			args["invoice"] = v.InvoiceID
			w.Exec(actSQL, args)
		}
	case events.CreditNoteDrafted:
		credited(w, e, v)
	case events.InvoiceDrafted:
		switch {
		case v.Order:
			w.Exec(orderSQL, v.InvoiceID, v.OrgID)
		case !v.Replaces.IsZero():
			args := actOf(e, events.ActReissue, v.InvoiceID.String(), money.Of(0, v.Total.Currency))
			args["takes"] = v.Total.Minor
			w.Exec(actSQL, args)
		}
	case events.RefundRequested, events.RefundApproved, events.CompensationPreviewed, events.CompensationListed,
		events.CompensationApplied:
		later(w, e)
	case events.ApprovalRequested:
		w.Exec(askedSQL, v.ApprovalID, v.OrgID, v.Act.CompensationID, v.Act.ImportID)
	case events.ApprovalGranted:
		w.Exec(wasGrantedSQL, v.ApprovalID)
	case events.ImportAsked:
		args := actOf(e, events.ActImport, v.ImportID.String(), money.Amount{})
		w.Exec(importSQL, pgx.NamedArgs{
			"import": v.ImportID, "org": v.OrgID, "user": args["user"], "key": args["key"],
		})
	case events.BalanceCarriedOver:
		carriedOver(w, e, v)
	case events.APIKeyIssued:
		w.Exec(keySQL, v.KeyID, v.OrgID, v.By)
	case events.APIKeyRotated:
		w.Exec(keySQL, v.KeyID, v.OrgID, v.By)
	}
	return nil
}

// carriedOver tells of a customer whom an import brings along, and who had paid ahead.
func carriedOver(w *runner.Writes, e events.Envelope, v events.BalanceCarriedOver) {
	of, err := id.Parse[id.Import](e.Meta.CorrelationID)
	if err != nil || !v.Amount.Negative() {
		return
	}
	w.Exec(broughtSQL, pgx.NamedArgs{
		"import": of, "at": e.Meta.At, "gives": -v.Amount.Minor, "currency": v.Amount.Currency,
		"position": int64(e.Position), //nolint:gosec // positions fit
	})
}

// credited tells of a credit note that a person drafted, by itself or as a part of a reissue.
func credited(w *runner.Writes, e events.Envelope, v events.CreditNoteDrafted) {
	switch {
	case e.Meta.Action == byCreditNote:
		w.Exec(actSQL, actOf(e, events.ActCreditNote, v.CreditNoteID.String(), v.Amount))
	case e.Meta.Action == byReissue:
		args := actOf(e, events.ActReissue, v.ReplacedBy.String(), v.Amount)
		args["invoice"] = v.InvoiceID
		w.Exec(actSQL, args)
	}
}

// later tells of acts that are prepared before they happen.
func later(w *runner.Writes, e events.Envelope) {
	prepare := func(kind, act string, amount money.Amount) {
		args := actOf(e, kind, act, amount)
		args["at"] = nil
		delete(args, "direct")
		delete(args, "invoice")
		w.Exec(laterSQL, args)
	}
	happened := func(kind string, subject id.Any) pgx.NamedArgs {
		all, args := actOf(e, kind, subject.String(), money.Amount{}), pgx.NamedArgs{}
		for _, name := range []string{"act", "at", "user", "key", "position"} {
			args[name] = all[name]
		}
		return args
	}
	switch v := e.Event.(type) {
	case events.RefundRequested:
		prepare(events.ActRefund, v.RefundID.String(), v.Amount)
	case events.RefundApproved:
		w.Exec(refundedSQL, happened(events.ActRefund, id.Any(v.RefundID)))
	case events.CompensationPreviewed:
		prepare(events.ActCompensation, v.CompensationID.String(), money.Amount{})
	case events.CompensationListed:
		var sum money.Amount
		for _, item := range v.Items {
			if item.Amount.Positive() {
				sum = money.Of(sum.Minor+item.Amount.Minor, item.Amount.Currency)
			}
		}
		if sum.Positive() {
			w.Exec(listedSQL, events.ActCompensation+" "+v.CompensationID.String(), sum.Minor, sum.Currency,
				int64(e.Position)) //nolint:gosec // positions fit
		}
	case events.CompensationApplied:
		args := happened(events.ActCompensation, id.Any(v.CompensationID))
		args["subject"] = v.CompensationID
		w.Exec(appliedSQL, args)
	}
}

// actOf has the arguments of an act. What a person caused directly has no event as its cause; what a second person has
// granted has the approval as its correlation.
func actOf(e events.Envelope, kind, act string, gives money.Amount) pgx.NamedArgs {
	m := e.Meta
	user, key := staffOf(m.Actor), id.APIKey{}
	if m.Actor.Kind == events.ActorAPIKey {
		key, _ = id.Parse[id.APIKey](m.Actor.ID) // recorded by the program
	}
	approval, err := id.Parse[id.Approval](m.CorrelationID)
	if err != nil {
		approval = id.Approval{}
	}
	return pgx.NamedArgs{
		"act": kind + " " + act, "org": m.OrgID, "kind": kind, "at": m.At, "user": user, "key": key,
		"gives": gives.Minor, "takes": int64(0), "currency": gives.Currency, "approval": approval,
		"direct": m.CausationID == "" && !(user.IsZero() && key.IsZero()), "invoice": nil,
		"position": int64(e.Position), //nolint:gosec // positions fit
	}
}
