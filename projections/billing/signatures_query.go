package billingviews

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SignatureStates are the states of a document, as the API names them.
var SignatureStates = []string{"queued", "signed", "refused", "withdrawn"}

// TaxFaults are the failures for which a gateway takes no documents.
var TaxFaults = []string{"tax_gateway_denied", "tax_gateway_unavailable"}

// SignatureLate is how long a document may wait for its signature before it is an alarm.
const SignatureLate = time.Hour

// TaxGatewayRow has the settings by which the documents of one organization are signed.
type TaxGatewayRow struct {
	OrgID     id.Organization `db:"org_id"`
	On        bool            `db:"turned_on"`
	Address   string          `db:"address"`
	Serial    string          `db:"serial"`
	Branch    string          `db:"branch"`
	SecretRef id.Secret       `db:"secret_ref"`
	Messages  bool            `db:"messages"`
	Revision  int64           `db:"revision"`
}

// SignatureRow is one document that the tax authority signs.
type SignatureRow struct {
	ID            id.Signature    `db:"signature_id"`
	OrgID         id.Organization `db:"org_id"`
	SubscriberID  id.Subscriber   `db:"subscriber_id"`
	InvoiceID     id.Invoice      `db:"invoice_id"` // itself, or the one that it is about
	Document      string          `db:"document"`
	Number        string          `db:"number"`
	Currency      money.Currency  `db:"currency"`
	TotalMinor    int64           `db:"total_minor"`
	State         string          `db:"state"`
	IssuedAt      time.Time       `db:"issued_at"`
	QueuedAt      time.Time       `db:"queued_at"` // again at each retry
	Retries       int             `db:"retries"`
	Began         bool            `db:"began"` // the gateway may have it
	Code          string          `db:"code"`  // of the last refusal
	Message       string          `db:"message"`
	RefusedAt     *time.Time      `db:"refused_at"`
	ControlNumber string          `db:"control_number"`
	Verification  string          `db:"verification"`
	SignedAt      *time.Time      `db:"signed_at"`
	Waits         bool            `db:"waits"` // for its invoice, which is not signed yet
	Fault         string          `db:"fault"` // of TaxFaults: why it is not taken at the moment; "" = none is known
	FaultSince    *time.Time      `db:"fault_since"`
}

// Total is the amount of the document with tax.
func (r SignatureRow) Total() money.Amount { return money.Of(r.TotalMinor, r.Currency) }

// Late reports whether the document has waited too long at an instant.
func (r SignatureRow) Late(now time.Time) bool {
	return r.State == "queued" && now.Sub(r.QueuedAt) >= SignatureLate
}

// SignatureKey is a row's place in the list, newest first. The zero value starts at the newest row.
type SignatureKey struct {
	QueuedAt time.Time    `json:"q"`
	ID       id.Signature `json:"i"`
}

// Key is the row's place in the list.
func (r SignatureRow) Key() SignatureKey { return SignatureKey{QueuedAt: r.QueuedAt, ID: r.ID} }

// SignatureFilter narrows the list. The zero value lists all.
type SignatureFilter struct {
	State        string
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice
	LateAt       time.Time // those that have waited too long at this instant; zero = all
}

// SignaturesQuery serves documents and settings to their organization.
type SignaturesQuery struct{ Views *runner.Views }

// signatureColumns fit SignatureRow.
const signatureColumns = `s.signature_id, s.org_id, s.subscriber_id, s.invoice_id, s.document, s.number, s.currency,
	s.total_minor, s.state, s.issued_at, s.queued_at, s.retries, s.began, s.code, s.message, s.refused_at,
	s.control_number, s.verification, s.signed_at, s.state = 'queued' and s.document <> 'invoice' and exists (
		select from {schema}.signatures i where i.invoice_id = s.invoice_id and i.document = 'invoice'
			and i.state in ('queued', 'refused')) as waits,
	coalesce((select c.code from {schema}.tax_contacts c where s.state = 'queued' and c.org_id = s.org_id), '')
		as fault,
	(select c.since from {schema}.tax_contacts c where s.state = 'queued' and c.org_id = s.org_id and c.code <> '')
		as fault_since`

// Settings are those of an organization; nil when it never made any.
func (q SignaturesQuery) Settings(ctx context.Context, org id.Organization) (row *TaxGatewayRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[TaxGatewayRow], q.Views.SQL(SignaturesName, `
			select org_id, turned_on, address, serial, branch, secret_ref, messages, revision
			from {schema}.tax_gateways where org_id = $1`), org)
	})
	return row, err
}

// Get returns one document of an organization, nil when it needs no signature.
func (q SignaturesQuery) Get(
	ctx context.Context, org id.Organization, which id.Signature,
) (row *SignatureRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[SignatureRow], q.Views.SQL(SignaturesName,
			`select `+signatureColumns+` from {schema}.signatures s where s.signature_id = $1 and s.org_id = $2`),
			which, org)
	})
	return row, err
}

// Some returns those of some documents that need a signature.
func (q SignaturesQuery) Some(
	ctx context.Context, org id.Organization, which []id.Signature,
) (map[id.Signature]SignatureRow, error) {
	if len(which) == 0 {
		return nil, nil
	}
	var rows []SignatureRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[SignatureRow], q.Views.SQL(SignaturesName,
			`select `+signatureColumns+` from {schema}.signatures s where s.signature_id = any($1) and s.org_id = $2`),
			which, org)
	})
	found := make(map[id.Signature]SignatureRow, len(rows))
	for _, row := range rows {
		found[row.ID] = row
	}
	return found, err
}

// List returns up to max documents of an organization after a key, the newest first.
func (q SignaturesQuery) List(
	ctx context.Context, org id.Organization, f SignatureFilter, after SignatureKey, max int,
) (rows []SignatureRow, err error) {
	sql, args := signatureListSQL(org, f, after, max)
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[SignatureRow], q.Views.SQL(SignaturesName, sql), args...)
	})
	return rows, err
}

// signatureListSQL builds the statement of List. Every value is a parameter, none is part of the text.
func signatureListSQL(org id.Organization, f SignatureFilter, after SignatureKey, max int) (string, []any) {
	args := []any{org, max}
	where := []string{`s.org_id = $1`}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if !after.QueuedAt.IsZero() {
		where = append(where, fmt.Sprintf(`(s.queued_at, s.signature_id) < (%s, %s)`, arg(after.QueuedAt),
			arg(after.ID)))
	}
	if f.State != "" {
		where = append(where, `s.state = `+arg(f.State))
	}
	if !f.SubscriberID.IsZero() {
		where = append(where, `s.subscriber_id = `+arg(f.SubscriberID))
	}
	if !f.InvoiceID.IsZero() {
		where = append(where, `s.invoice_id = `+arg(f.InvoiceID))
	}
	if !f.LateAt.IsZero() {
		where = append(where, `s.state = 'queued' and s.queued_at <= `+arg(f.LateAt.Add(-SignatureLate)))
	}
	return `select ` + signatureColumns + ` from {schema}.signatures s where ` + strings.Join(where, " and ") +
		` order by s.queued_at desc, s.signature_id desc limit $2`, args
}

// SignatureAttention counts the documents of an organization for which somebody should do something.
type SignatureAttention struct {
	Refused      int        `db:"refused"`
	RefusedSince *time.Time `db:"refused_since"`
	Late         int        `db:"late"` // queued for longer than SignatureLate
	LateSince    *time.Time `db:"late_since"`
}

// Attention counts them at an instant. What waits for its invoice is late with that.
func (q SignaturesQuery) Attention(
	ctx context.Context, org id.Organization, now time.Time,
) (out SignatureAttention, err error) {
	var row *SignatureAttention
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[SignatureAttention], q.Views.SQL(SignaturesName, `
			select count(*) filter (where state = 'refused')::int as refused,
				min(refused_at) filter (where state = 'refused') as refused_since,
				count(*) filter (where state = 'queued' and queued_at <= $2)::int as late,
				min(queued_at) filter (where state = 'queued' and queued_at <= $2) as late_since
			from {schema}.signatures where org_id = $1 and state in ('queued', 'refused')`), org,
			now.Add(-SignatureLate))
	})
	if row != nil {
		out = *row
	}
	return out, err
}

// OpenSignatures counts over all organizations the documents that are not signed, and says since when the first one
// that is queued has waited; nil = none is. It is for the platform.
type OpenSignatures struct {
	Queued  int        `db:"queued"`
	Refused int        `db:"refused"`
	Oldest  *time.Time `db:"oldest"`
}

// Open counts what is not signed.
func (q SignaturesQuery) Open(ctx context.Context) (open OpenSignatures, err error) {
	var row *OpenSignatures
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[OpenSignatures], q.Views.SQL(SignaturesName, `
			select count(*) filter (where state = 'queued')::int as queued,
				count(*) filter (where state = 'refused')::int as refused,
				min(queued_at) filter (where state = 'queued') as oldest
			from {schema}.signatures where state in ('queued', 'refused')`))
	})
	if row != nil {
		open = *row
	}
	return open, err
}
