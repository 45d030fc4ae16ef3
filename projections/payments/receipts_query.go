package paymentsviews

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

// ReceiptRow is one receipt. Personal columns are nil when the provider did not send them or the person was forgotten.
type ReceiptRow struct {
	ID            id.Receipt      `db:"receipt_id"`
	OrgID         id.Organization `db:"org_id"` // zero while no organization owns the money
	Provider      string          `db:"provider"`
	Environment   string          `db:"environment"`    // "" for cash and for receipts from before it was kept
	ReceiptNumber string          `db:"receipt_number"` // "" for a provisional one that is not claimed yet
	Channel       string          `db:"channel"`
	Shortcode     string          `db:"shortcode"`
	AmountMinor   int64           `db:"amount_minor"` // minor units
	Currency      money.Currency  `db:"currency"`
	PaidAt        time.Time       `db:"paid_at"`
	PayerPhone    *string         `db:"payer_phone"`
	PayerName     *string         `db:"payer_name"`
	BillRef       *string         `db:"bill_ref"`
	// as the callback gave it; matched like BillRef, and before it
	InvoiceNumber     *string       `db:"invoice_number"`
	ThirdPartyTransID string        `db:"third_party_trans_id"`
	Contradicts       id.Receipt    `db:"contradicts"` // the receipt of this number that another organization has
	CheckoutRequestID *string       `db:"checkout_request_id"`
	PaymentID         id.Payment    `db:"payment_id"`
	Provisional       bool          `db:"provisional"`
	State             string        `db:"state"` // see ReceiptStates
	Reason            string        `db:"reason"`
	Disputed          bool          `db:"disputed"`
	Unclaimed         bool          `db:"unclaimed"`
	SubscriberID      id.Subscriber `db:"subscriber_id"`
	MatchedBy         string        `db:"matched_by"`
	// links a provisional receipt and its real one, both ways
	RelatedID     id.Receipt    `db:"related_receipt_id"`
	Sightings     []Sighting    `db:"sightings"`
	Moves         []Move        `db:"moves"` // the oldest first
	RecordedAt    time.Time     `db:"recorded_at"`
	CreditedTo    id.Subscriber `db:"credited_to"`    // whose account has the money; zero = none
	RefundedMinor int64         `db:"refunded_minor"` // what went back to the payer, in minor units
	CashKind      string        `db:"cash_kind"`      // of cash, one of commands.CashKinds; "" for other channels
	ReceivedOn    string        `db:"received_on"`    // of cash, YYYY-MM-DD; "" = that of PaidAt
	TakenBy       id.User       `db:"taken_by"`       // of cash: the member of staff who took it; zero = not known
	Revision      int64         `db:"revision"`
}

// ReceiptStates are the values of State. "suspense" waits for a person; it also covers credited money that another
// message contradicts. "absorbed" means that the provisional receipt of the same payment carries the credit.
var ReceiptStates = []string{"recorded", "matched", "allocated", "suspense", "attributed", "absorbed", "reversed",
	"refunded"}

// Amount is the whole amount received, also after parts of it were allocated.
func (r ReceiptRow) Amount() money.Amount { return money.Of(r.AmountMinor, r.Currency) }

// OnAccount reports whether the money was given to SubscriberID, and nobody disputes or took it back.
func (r ReceiptRow) OnAccount() bool {
	return r.State == "matched" || r.State == "allocated" || r.State == "attributed"
}

// Reference collects the parts that can name the payer, for matching.
func (r ReceiptRow) Reference() Reference {
	ref := Reference{OrgID: r.OrgID, Currency: r.Currency}
	if r.BillRef != nil {
		ref.BillRef = *r.BillRef
	}
	if r.InvoiceNumber != nil {
		ref.InvoiceNumber = *r.InvoiceNumber
	}
	if r.PayerPhone != nil {
		ref.Phone = *r.PayerPhone
	}
	return ref
}

// AllocationRow is the money of a receipt that pays one invoice, in minor units.
type AllocationRow struct {
	ReceiptID   id.Receipt `db:"receipt_id"`
	InvoiceID   id.Invoice `db:"invoice_id"`
	Loss        bool       `db:"loss"` // the invoice is written off: the money recovers its loss
	AmountMinor int64      `db:"amount_minor"`
}

// ReceiptChannels are the values of Channel.
var ReceiptChannels = []string{"stk", "c2b", "cash", "bill_manager"}

// ReceiptKey is a row's place in the list. The zero value stands before its first row.
type ReceiptKey struct {
	RecordedAt time.Time  `json:"t"`
	ID         id.Receipt `json:"r"`
}

// Key makes the next page begin after this row.
func (r ReceiptRow) Key() ReceiptKey { return ReceiptKey{RecordedAt: r.RecordedAt, ID: r.ID} }

// ReceiptFilter narrows a list. A zero field does not restrict it, but a list of no subscribers finds nothing unless it
// is nil. Absorbed receipts are listed only when State asks for them: the receipt that carries their money shows their
// sightings, so that a list has each receipt number once.
type ReceiptFilter struct {
	State         string
	SubscriberIDs []id.Subscriber
	ReceiptNumber string // in any case of letters, with any number of spaces between its words
	Unclaimed     *bool
	Channel       string
	TakenBy       id.User
	From, To      time.Time // recorded in this time; To is not in it
	Oldest        bool      // first; otherwise the newest
}

// ReceiptsQuery serves receipts to their organization, and to the platform those without an owner.
type ReceiptsQuery struct{ Views *runner.Views }

// receiptColumns fit ReceiptRow. The sightings include those of receipts that this one has absorbed.
const receiptColumns = `receipt_id, org_id, provider, environment, receipt_number, channel, shortcode, amount_minor,
	currency, paid_at, payer_phone, payer_name, bill_ref, invoice_number, third_party_trans_id, contradicts,
	checkout_request_id, payment_id, provisional, state, reason, disputed, unclaimed, subscriber_id, matched_by,
	related_receipt_id, sightings || coalesce((select jsonb_agg(seen order by other.receipt_id, at)
		from {schema}.receipts other, jsonb_array_elements(other.sightings) with ordinality s (seen, at)
		where other.related_receipt_id = receipts.receipt_id and other.state = 'absorbed'
			and receipts.state <> 'absorbed'), '[]') as sightings,
	coalesce(cash_kind, '') as cash_kind, coalesce(received_on::text, '') as received_on,
	moves, recorded_at, credited_to, taken_by, refunded_minor, revision`

// SQL of single receipts and their allocations; an allocation that was withdrawn in full is left out.
const (
	receiptSQL     = `select ` + receiptColumns + ` from {schema}.receipts where receipt_id = $1`
	allocationsSQL = `
select receipt_id, invoice_id, loss, sum(amount_minor)::bigint as amount_minor from {schema}.allocations
where receipt_id = any($1::uuid[])
group by receipt_id, invoice_id, loss having sum(amount_minor) <> 0 order by min(position)`
)

// Get returns one receipt of an organization, nil when it has none with this id.
func (q ReceiptsQuery) Get(ctx context.Context, org id.Organization, receipt id.Receipt) (*ReceiptRow, error) {
	var row *ReceiptRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[ReceiptRow], q.Views.SQL(ReceiptsName, receiptSQL),
			receipt)
	})
	return row, err
}

// Allocations returns the money of receipts that pays invoices, by receipt, the oldest first. A receipt without any has
// no key.
func (q ReceiptsQuery) Allocations(
	ctx context.Context, org id.Organization, receipts []id.Receipt,
) (map[id.Receipt][]AllocationRow, error) {
	var rows []AllocationRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[AllocationRow], q.Views.SQL(ReceiptsName, allocationsSQL),
			id.Texts(receipts))
	})
	byReceipt := make(map[id.Receipt][]AllocationRow, len(receipts))
	for _, row := range rows {
		byReceipt[row.ReceiptID] = append(byReceipt[row.ReceiptID], row)
	}
	return byReceipt, err
}

// Numbers gives the numbers of some receipts of an organization with one statement. One without a number is left out.
func (q ReceiptsQuery) Numbers(
	ctx context.Context, org id.Organization, receipts []id.Receipt,
) (map[id.Receipt]string, error) {
	if len(receipts) == 0 {
		return nil, nil
	}
	var numbers map[id.Receipt]string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &numbers, q.Views.SQL(ReceiptsName, `
			select receipt_id, receipt_number from {schema}.receipts
			where receipt_id = any($1) and org_id = $2 and receipt_number <> ''`), receipts, org)
	})
	return numbers, err
}

// Any returns one receipt, whether or not an organization owns it; nil when there is none. For jobs and the root host.
func (q ReceiptsQuery) Any(ctx context.Context, receipt id.Receipt) (*ReceiptRow, error) {
	var row *ReceiptRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[ReceiptRow], q.Views.SQL(ReceiptsName, receiptSQL),
			receipt)
	})
	return row, err
}

// List returns up to max receipts of an organization after a key, in the order of the filter.
func (q ReceiptsQuery) List(
	ctx context.Context, org id.Organization, f ReceiptFilter, after ReceiptKey, max int,
) ([]ReceiptRow, error) {
	sql, args := receiptListSQL(`org_id = $2`, []any{max, org}, f, after)
	var rows []ReceiptRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ReceiptRow], q.Views.SQL(ReceiptsName, sql), args...)
	})
	return rows, err
}

// Unowned returns up to max receipts in suspense that belong to no organization, in the order of the filter: for the
// root host. A receipt number also finds those that the platform gave to an organization, to correct a mistake.
func (q ReceiptsQuery) Unowned(ctx context.Context, f ReceiptFilter, after ReceiptKey, max int) ([]ReceiptRow, error) {
	f.State = "suspense"
	owner := `org_id is null`
	if f.ReceiptNumber != "" {
		owner = `(org_id is null or assigned)`
	}
	sql, args := receiptListSQL(owner, []any{max}, f, after)
	var rows []ReceiptRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ReceiptRow], q.Views.SQL(ReceiptsName, sql), args...)
	})
	return rows, err
}

// numberKeySQL is the condition that a row has the number of a parameter, as the generated column number_key writes it:
// in capitals, with one space between its words.
func numberKeySQL(parameter string) string {
	return `number_key = upper(regexp_replace(` + parameter + `, '\s+', ' ', 'g'))`
}

// receiptListSQL builds the statement of a list. Every value is a parameter; the first one is the limit.
func receiptListSQL(owner string, args []any, f ReceiptFilter, after ReceiptKey) (string, []any) {
	where := []string{owner}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	beyond, order := "<", "recorded_at desc, receipt_id desc"
	if f.Oldest {
		beyond, order = ">", "recorded_at, receipt_id"
	}
	if !after.RecordedAt.IsZero() {
		where = append(where, fmt.Sprintf(`(recorded_at, receipt_id) %s (%s, %s)`, beyond, arg(after.RecordedAt),
			arg(after.ID)))
	}
	if f.State != "" {
		where = append(where, `state = `+arg(f.State))
	} else {
		where = append(where, `state <> 'absorbed'`)
	}
	if f.SubscriberIDs != nil {
		where = append(where, `subscriber_id = any(`+arg(id.Texts(f.SubscriberIDs))+`::uuid[])`)
	}
	if f.ReceiptNumber != "" {
		where = append(where, numberKeySQL(arg(f.ReceiptNumber)))
	}
	if f.Unclaimed != nil {
		where = append(where, map[bool]string{true: `unclaimed`, false: `not unclaimed`}[*f.Unclaimed])
	}
	if f.Channel != "" {
		where = append(where, `channel = `+arg(f.Channel))
	}
	if !f.TakenBy.IsZero() {
		where = append(where, `taken_by = `+arg(f.TakenBy))
	}
	if !f.From.IsZero() {
		where = append(where, `recorded_at >= `+arg(f.From))
	}
	if !f.To.IsZero() {
		where = append(where, `recorded_at < `+arg(f.To))
	}
	return `select ` + receiptColumns + ` from {schema}.receipts where ` + strings.Join(where, " and ") +
		` order by ` + order + ` limit $1`, args
}

// Attention counts the receipts of the whole platform that wait for a person. One receipt can count in several fields.
type Attention struct {
	Suspense int64 `db:"suspense"` // money without a known payer, or disputed
	// SuspenseOld is the part of Suspense that was recorded before the time given for it.
	SuspenseOld int64 `db:"suspense_old"`
	// SuspenseOldest is when the oldest of Suspense was recorded; nil = none waits.
	SuspenseOldest *time.Time `db:"suspense_oldest"`

	Disputed  int64 `db:"disputed"`  // two messages contradict each other
	Unclaimed int64 `db:"unclaimed"` // provisional for more than 48 hours, and no person has confirmed it
	Unplaced  int64 `db:"unplaced"`  // for some time not searched to the end, or not where the receipt says
}

// unplaced selects the receipts that were recorded or moved before $1 and whose money is not in its place: nobody has
// searched its payer to the end, its account has not credited it, or an account has it that should not.
const unplaced = `(state = 'recorded' and recorded_at < $1 or credited_to is distinct from
	case when state in ('reversed', 'absorbed') then null else subscriber_id end
	and state <> 'recorded' and moved_at < $1)`

// Statements over receipts that need somebody; they read only the partial indexes of those.
const (
	attentionSQL = `
select count(*) filter (where state = 'suspense') as suspense, count(*) filter (where disputed) as disputed,
	count(*) filter (where state = 'suspense' and recorded_at < $2) as suspense_old,
	min(recorded_at) filter (where state = 'suspense') as suspense_oldest,
	count(*) filter (where unclaimed) as unclaimed,
	(select count(*) from {schema}.receipts where ` + unplaced + `) as unplaced
from {schema}.receipts where state = 'suspense' or disputed or unclaimed`
	unplacedSQL = `
select ` + receiptColumns + ` from {schema}.receipts where ` + unplaced + ` and ($2::uuid is null or receipt_id > $2)
order by receipt_id limit $3`
)

// Attention counts over all organizations, for metrics and alarms. Money without a place counts once it is older than
// the given time, and old is the time before which money in suspense counts as old.
func (q ReceiptsQuery) Attention(ctx context.Context, before, old time.Time) (Attention, error) {
	var a Attention
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectOne(r, &a, pgx.RowToStructByName[Attention], q.Views.SQL(ReceiptsName, attentionSQL), before,
			old)
	})
	return a, err
}

// Unplaced lists up to max receipts of all organizations that were not in their place before the given time, by id from
// the one after a given one: for the sweep.
func (q ReceiptsQuery) Unplaced(
	ctx context.Context, before time.Time, after id.Receipt, max int,
) ([]ReceiptRow, error) {
	var rows []ReceiptRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ReceiptRow], q.Views.SQL(ReceiptsName, unplacedSQL), before,
			after, max)
	})
	return rows, err
}

// provisionalSQL reads the partial index of receipts that wait for their real one.
const provisionalSQL = `
select ` + receiptColumns + ` from {schema}.receipts where provisional and related_receipt_id is null
	and state <> 'reversed' and payment_id is not null and recorded_at > $1 and ($2::uuid is null or receipt_id > $2)
order by receipt_id limit $3`

// Provisional lists up to max receipts of all organizations that only a status query has told of and that were recorded
// after an instant, by id from the one after a given one: for the sweep.
func (q ReceiptsQuery) Provisional(
	ctx context.Context, since time.Time, after id.Receipt, max int,
) (rows []ReceiptRow, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ReceiptRow], q.Views.SQL(ReceiptsName, provisionalSQL), since,
			after, max)
	})
	return rows, err
}

// Suspense is the money of an organization that waits for a person.
type Suspense struct {
	AmountMinor int64      `db:"amount_minor"`
	Count       int        `db:"count"`
	OldestAt    *time.Time `db:"oldest_at"` // nil = none waits
	Late        int        `db:"late"`      // of Count: recorded before the time that was given for it
}

// CurrencySuspense is the money in one currency that waits for a person.
type CurrencySuspense struct {
	Currency money.Currency `db:"currency"`
	Suspense
}

// currencySuspenseSQL sums up what waits by currency; it has the condition on the owner.
func currencySuspenseSQL(owner string) string {
	return `select currency, coalesce(sum(amount_minor), 0)::bigint as amount_minor, count(*)::int as count,
			min(recorded_at) as oldest_at, (count(*) filter (where recorded_at < @late))::int as late
		from {schema}.receipts where state = 'suspense' and ` + owner + `
		group by currency order by currency`
}

// SuspenseByCurrency sums up the receipts of an organization in suspense; those recorded before an instant are late.
func (q ReceiptsQuery) SuspenseByCurrency(
	ctx context.Context, org id.Organization, late time.Time,
) (list []CurrencySuspense, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[CurrencySuspense],
			q.Views.SQL(ReceiptsName, currencySuspenseSQL(`org_id = @org`)), pgx.NamedArgs{"org": org, "late": late})
	})
	return list, err
}

// UnownedSuspense is SuspenseByCurrency for receipts that belong to no organization: for the root host.
func (q ReceiptsQuery) UnownedSuspense(ctx context.Context, late time.Time) (list []CurrencySuspense, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[CurrencySuspense],
			q.Views.SQL(ReceiptsName, currencySuspenseSQL(`org_id is null`)), pgx.NamedArgs{"late": late})
	})
	return list, err
}
