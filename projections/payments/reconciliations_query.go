package paymentsviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ReconciliationStates are the values of ReconciliationRow.State.
var ReconciliationStates = []string{"comparing", "compared", "adopting", "failed"}

// ReconciliationRow is one statement and the figures of its comparison.
type ReconciliationRow struct {
	ID          id.Reconciliation            `db:"reconciliation_id"`
	OrgID       id.Organization              `db:"org_id"` // zero: of the platform's shortcode
	Environment string                       `db:"environment"`
	Shortcode   string                       `db:"shortcode"`
	Lines       int64                        `db:"lines"`
	BeganAt     time.Time                    `db:"began_at"`
	EndedAt     time.Time                    `db:"ended_at"`
	State       string                       `db:"state"` // see ReconciliationStates
	Failure     string                       `db:"failure"`
	Figures     events.ReconciliationFigures `db:"figures"`
	Adopted     int64                        `db:"adopted"` // receipts that were taken in
	UploadedAt  time.Time                    `db:"uploaded_at"`
	UploadedBy  id.User                      `db:"uploaded_by"`
	AdoptedAt   *time.Time                   `db:"adopted_at"`
	AdoptedBy   id.User                      `db:"adopted_by"`
	Revision    int64                        `db:"revision"`
}

// ReconciliationKey is a row's place in the list. The zero value stands before its first row.
type ReconciliationKey struct {
	UploadedAt time.Time         `json:"t"`
	ID         id.Reconciliation `json:"r"`
}

// Key makes the next page begin after this row.
func (r ReconciliationRow) Key() ReconciliationKey {
	return ReconciliationKey{UploadedAt: r.UploadedAt, ID: r.ID}
}

// StatementOutcome has the differences between a statement and the receipts, as the vault keeps them.
type StatementOutcome struct {
	MissingHere  []StatedPayment   `json:"missingHere"`
	MissingThere []BookedPayment   `json:"missingThere"`
	Different    []StatedDifferent `json:"different"`
	Attention    []StatedAttention `json:"attention,omitempty"`
	// SentBack are the numbers of the payments that the statement sends back: other statements may have them, too.
	SentBack []string `json:"sentBack,omitempty"`
	// Doubtful are those of payments that the statement may send back, which only a person can find out.
	Doubtful []string `json:"doubtful,omitempty"`
}

// StatedPayment is a payment of a statement. Its row is that of the file, from 1.
type StatedPayment struct {
	Row           int          `json:"row"`
	ReceiptNumber string       `json:"receiptNumber"`
	PaidAt        time.Time    `json:"paidAt"`
	Amount        money.Amount `json:"amount"`
	PayerPhone    string       `json:"payerPhone"`
	PayerName     string       `json:"payerName"`
	BillRef       string       `json:"billRef"`
}

// BookedPayment is a receipt that the statement should have and has not.
type BookedPayment struct {
	ReceiptID     id.Receipt   `json:"receiptId"`
	ReceiptNumber string       `json:"receiptNumber"`
	PaidAt        time.Time    `json:"paidAt"`
	Amount        money.Amount `json:"amount"`
	OrgID         id.Organization
}

// Why a statement and a receipt disagree. StatedWhys lists all.
const (
	StatedAmount       = "amount"
	StatedReversed     = "reversed"      // the statement has it sent back, and the receipt stands
	StatedReversedHere = "reversed_here" // the receipt is reversed, and the statement has nothing that sends it back
)

// StatedWhys is the list for descriptions of the API.
var StatedWhys = []string{StatedAmount, StatedReversed, StatedReversedHere}

// StatedDifferent is a payment that both have, and about which they disagree.
type StatedDifferent struct {
	StatedPayment
	ReceiptID id.Receipt   `json:"receiptId"`
	Here      money.Amount `json:"here"`
	Why       string       `json:"why"` // one of StatedWhys
}

// Why a movement of a statement needs a person. AttentionReasons lists all.
const (
	AttentionUnknown      = "unknown"      // nothing says what kind of movement it is, or its words contradict its side
	AttentionBusiness     = "business"     // another business or a bank paid, and there is no receipt
	AttentionNoPayment    = "no_payment"   // a receipt stands for what is no payment of a customer
	AttentionUnnamed      = "unnamed"      // a reversal that names no payment
	AttentionContradicted = "contradicted" // a reversal whose details and whose column name different payments
	AttentionPart         = "part"         // a reversal of another amount than that of the payment that it names
	AttentionUndone       = "undone"       // a reversal that takes another reversal back
	AttentionMaybeBack    = "maybe_back"   // a payment that one of these reversals may have sent back
	AttentionMovedBack    = "moved_back"   // a payment that left again under its own number
	AttentionTwoAmounts   = "two_amounts"  // a payment that the statement has twice, with different amounts
)

// AttentionReasons is the list for descriptions of the API.
var AttentionReasons = []string{
	AttentionUnknown, AttentionBusiness, AttentionNoPayment, AttentionUnnamed, AttentionContradicted, AttentionPart,
	AttentionUndone, AttentionMaybeBack, AttentionMovedBack, AttentionTwoAmounts,
}

// StatementKinds are the values of events.StatementSum.Kind and of StatedAttention.Kind.
var StatementKinds = []string{
	"payment", "prompt", "business", "own_transfer", "loan", "charge", "reversal", "withdrawal", "payout", "failed",
	"unknown",
}

// StatedAttention is a movement that is never taken in by itself. Its amount is positive, on either side.
type StatedAttention struct {
	StatedPayment
	Kind      string     `json:"kind"` // one of StatementKinds
	Out       bool       `json:"out"`  // the money left
	Why       string     `json:"why"`  // one of AttentionReasons
	Details   string     `json:"details"`
	Names     []string   `json:"names,omitempty"` // of a reversal: the payments that it names
	ReceiptID id.Receipt `json:"receiptId"`       // of the receipt with this number here; null = none
}

// ReconciliationsQuery serves reconciliations to their organization, and those of the platform to the root host.
type ReconciliationsQuery struct{ Views *runner.Views }

// SQL of reconciliations; its columns fit ReconciliationRow.
const (
	reconciliationColumns = `reconciliation_id, org_id, environment, shortcode, lines, began_at, ended_at, state,
	failure, figures, adopted, uploaded_at, uploaded_by, adopted_at, adopted_by, revision`
	reconciliationSQL = `select ` + reconciliationColumns + ` from {schema}.reconciliations
where reconciliation_id = $1 and org_id is not distinct from $2`
	reconciliationsSQL = `select ` + reconciliationColumns + ` from {schema}.reconciliations
where (org_id = $1 or $1 is null and org_id is null)
	and ($2::uuid is null or (uploaded_at, reconciliation_id) < ($3, $2))
order by uploaded_at desc, reconciliation_id desc limit $4`
)

// laterSQL is the SQL of other statements of a shortcode that reach beyond an instant, the newest first.
const laterSQL = `select reconciliation_id from {schema}.reconciliations
where org_id is not distinct from $1 and environment = $2 and shortcode = $3 and ended_at >= $4
	and reconciliation_id <> $5
order by uploaded_at desc limit 1000`

// Later lists the other statements of a shortcode that reach beyond an instant: one of them may send a payment back.
func (q ReconciliationsQuery) Later(
	ctx context.Context, till StatedTill, from time.Time, than id.Reconciliation,
) (list []id.Reconciliation, err error) {
	err = q.read(ctx, till.OrgID, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowTo[id.Reconciliation], q.Views.SQL(ReconciliationsName, laterSQL),
			till.OrgID, till.Environment, till.Shortcode, from, than)
	})
	return list, err
}

// read reads as the organization, or as the platform for the zero id.
func (q ReconciliationsQuery) read(ctx context.Context, org id.Organization, queue func(*postgres.Reads)) error {
	if org.IsZero() {
		return q.Views.Platform(ctx, queue)
	}
	return q.Views.Tenant(ctx, org, queue)
}

// Get returns one reconciliation of an organization, or of the platform for the zero id; nil when there is none.
func (q ReconciliationsQuery) Get(
	ctx context.Context, org id.Organization, of id.Reconciliation,
) (row *ReconciliationRow, err error) {
	err = q.read(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[ReconciliationRow],
			q.Views.SQL(ReconciliationsName, reconciliationSQL), of, org)
	})
	return row, err
}

// List returns up to max reconciliations after a key, the newest first.
func (q ReconciliationsQuery) List(
	ctx context.Context, org id.Organization, after ReconciliationKey, max int,
) (rows []ReconciliationRow, err error) {
	err = q.read(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ReconciliationRow],
			q.Views.SQL(ReconciliationsName, reconciliationsSQL), org, after.ID, after.UploadedAt, max)
	})
	return rows, err
}

// TillReceipt is a receipt as a statement is compared with it.
type TillReceipt struct {
	ID          id.Receipt      `db:"receipt_id"`
	OrgID       id.Organization `db:"org_id"`
	Number      string          `db:"receipt_number"`
	Shortcode   string          `db:"shortcode"`
	AmountMinor int64           `db:"amount_minor"`
	Currency    money.Currency  `db:"currency"`
	PaidAt      time.Time       `db:"paid_at"`
	State       string          `db:"state"` // of the receipt that carries the money, when that is another one
}

// Amount is the whole amount received.
func (r TillReceipt) Amount() money.Amount { return money.Of(r.AmountMinor, r.Currency) }

// tillColumns fit TillReceipt.
const tillColumns = `receipt_id, org_id, receipt_number, shortcode, amount_minor, currency, paid_at,
	coalesce((select c.state from {schema}.receipts c
		where c.receipt_id = receipts.related_receipt_id and receipts.state = 'absorbed'), state) as state`

// SQL of the receipts of a shortcode. Receipts of before the environment was kept have none.
const (
	receiptsByIDSQL = `select ` + tillColumns + ` from {schema}.receipts where receipt_id = any($1::uuid[])`
	receiptsOfSQL   = `select ` + tillColumns + ` from {schema}.receipts
where provider = 'mobile_money' and receipt_number <> '' and shortcode = @shortcode
	and environment in (@environment, '') and paid_at between @from and @to
	and (@org::uuid is null or org_id = @org) and (@after::uuid is null or (paid_at, receipt_id) > (@at, @after))
order by paid_at, receipt_id limit @max`
)

// ByID returns some receipts of all organizations, for the comparison with a statement.
func (q ReceiptsQuery) ByID(ctx context.Context, receipts []id.Receipt) (rows []TillReceipt, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[TillReceipt], q.Views.SQL(ReceiptsName, receiptsByIDSQL),
			id.Texts(receipts))
	})
	return rows, err
}

// StatedTill names the money of a shortcode. An organization that is zero means all of them.
type StatedTill struct {
	OrgID       id.Organization
	Environment string
	Shortcode   string
}

// OfTill returns up to max receipts that were paid to a shortcode in a time, both ends included, after a given one.
func (q ReceiptsQuery) OfTill(
	ctx context.Context, till StatedTill, from, to time.Time, after TillReceipt, max int,
) (rows []TillReceipt, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[TillReceipt], q.Views.SQL(ReceiptsName, receiptsOfSQL),
			pgx.NamedArgs{
				"shortcode": till.Shortcode, "environment": till.Environment, "from": from, "to": to,
				"org": till.OrgID, "after": after.ID, "at": after.PaidAt, "max": max,
			})
	})
	return rows, err
}
