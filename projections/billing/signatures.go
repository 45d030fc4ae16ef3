package billingviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SignaturesName keys the projection's checkpoint and schemas, so it never changes.
const SignaturesName = "billing_signatures"

// Signatures has the documents that the tax authority signs, and each organization's settings for that
// (docs/rules/billing-tax.md#tax-gateway).
type Signatures struct{}

// signaturesDDL is compiled in from signatures.sql.
//
//go:embed signatures.sql
var signaturesDDL string

// Name keys checkpoint and schemas.
func (Signatures) Name() string { return SignaturesName }

// Version must grow with every change to the tables or to Apply.
func (Signatures) Version() int { return 2 }

// DDL creates the tables of signatures.sql.
func (Signatures) DDL() string { return signaturesDDL }

// TenantTables are under row-level security.
func (Signatures) TenantTables() []string {
	return []string{"tax_gateways", "tax_contacts", "signatures"}
}

// Handles lists the events that change the tables.
func (Signatures) Handles() []string {
	return []string{
		events.TaxGatewayConfigured{}.EventType(), events.SignatureQueued{}.EventType(),
		events.SigningBegan{}.EventType(), events.DocumentSigned{}.EventType(), events.SignatureRefused{}.EventType(),
		events.SignatureRetried{}.EventType(), events.SignatureWithdrawn{}.EventType(),
		events.TaxGatewayFailed{}.EventType(), events.TaxGatewayAnswered{}.EventType(),
		events.SubscriberForgotten{}.EventType(),
	}
}

// Statements of Apply. An event applied again changes nothing: each compares the revision of its stream.
const (
	taxGatewaySQL = `
insert into {schema}.tax_gateways as g
	(org_id, turned_on, address, serial, branch, secret_ref, messages, revision)
values (@org, @on, @address, @serial, @branch, @secret, @messages, @revision)
on conflict (org_id) do update set
	turned_on = @on, address = @address, serial = @serial, branch = @branch, secret_ref = @secret,
	messages = @messages, revision = @revision
where g.revision < @revision`
	taxContactSQL = `
insert into {schema}.tax_contacts as c (org_id, code, since, revision) values ($1, $2, $3, $4)
on conflict (org_id) do update set code = excluded.code, since = excluded.since, revision = excluded.revision
where c.revision < excluded.revision`
	signatureQueuedSQL = `
insert into {schema}.signatures (signature_id, org_id, subscriber_id, invoice_id, document, number, currency,
	total_minor, state, issued_at, queued_at, revision)
values (@signature, @org, @subscriber, @invoice, @document, @number, @currency, @total, 'queued', @issued, @at,
	@revision)
on conflict (signature_id) do nothing`
	signingBeganSQL = `
update {schema}.signatures set began = true, revision = $2 where signature_id = $1 and revision < $2`
	documentSignedSQL = `
update {schema}.signatures set state = 'signed', control_number = @control, verification = @verification,
	signed_at = @at, revision = @revision
where signature_id = @signature and revision < @revision`
	signatureRefusedSQL = `
update {schema}.signatures set state = 'refused', began = false, code = @code, message = @message, refused_at = @at,
	revision = @revision
where signature_id = @signature and revision < @revision`
	signatureRetriedSQL = `
update {schema}.signatures set state = 'queued', retries = $3, queued_at = $4, revision = $2
where signature_id = $1 and revision < $2`
	signatureWithdrawnSQL = `
update {schema}.signatures set state = 'withdrawn', revision = $2 where signature_id = $1 and revision < $2`
	signatureForgottenSQL = `update {schema}.signatures set message = '' where subscriber_id = $1`
)

// Apply queues the statements for one event.
func (Signatures) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // revisions fit
	switch v := e.Event.(type) {
	case events.TaxGatewayConfigured:
		w.Exec(taxGatewaySQL, pgx.NamedArgs{
			"org": v.OrgID, "on": v.On, "address": v.Address, "serial": v.Serial, "branch": v.Branch,
			"secret": v.SecretRef, "messages": v.Messages, "revision": revision,
		})
	case events.TaxGatewayFailed:
		w.Exec(taxContactSQL, v.OrgID, v.Code, v.At, revision)
	case events.TaxGatewayAnswered:
		w.Exec(taxContactSQL, v.OrgID, "", v.At, revision)
	case events.SignatureQueued:
		w.Exec(signatureQueuedSQL, pgx.NamedArgs{
			"signature": v.SignatureID, "org": v.OrgID, "subscriber": v.SubscriberID, "invoice": v.InvoiceID,
			"document": v.Document, "number": v.Number, "currency": v.Total.Currency, "total": v.Total.Minor,
			"issued": v.IssuedAt, "at": v.At, "revision": revision,
		})
	case events.SigningBegan:
		w.Exec(signingBeganSQL, v.SignatureID, revision)
	case events.DocumentSigned:
		w.Exec(documentSignedSQL, pgx.NamedArgs{
			"signature": v.SignatureID, "control": v.ControlNumber, "verification": v.Verification,
			"at": v.SignedAt, "revision": revision,
		})
	case events.SignatureRefused:
		w.Exec(signatureRefusedSQL, pgx.NamedArgs{
			"signature": v.SignatureID, "code": v.Code, "message": v.Message.Reveal(), "at": v.At,
			"revision": revision,
		})
	case events.SignatureRetried:
		w.Exec(signatureRetriedSQL, v.SignatureID, revision, v.Round, v.At)
	case events.SignatureWithdrawn:
		w.Exec(signatureWithdrawnSQL, v.SignatureID, revision)
	case events.SubscriberForgotten:
		w.Exec(signatureForgottenSQL, v.SubscriberID)
	}
	return nil
}
