package paymentsviews

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// revealed returns a personal text in clear, nil when it is empty or forgotten.
func revealed(t personal.Text) *string {
	if t.Reveal() == "" {
		return nil
	}
	text := t.Reveal()
	return &text
}

// PaymentRow is one prompt attempt, or one payment in cash. Empty fields are not known yet, or do not apply to cash.
type PaymentRow struct {
	ID                id.Payment      `db:"payment_id"`
	OrgID             id.Organization `db:"org_id"`
	SubscriberID      id.Subscriber   `db:"subscriber_id"` // who was asked, or who brought the cash
	HeldBy            id.Subscriber   `db:"held_by"`       // whose account has the money, or had it last
	InvoiceID         id.Invoice      `db:"invoice_id"`
	Gateway           string          `db:"gateway"`
	AmountMinor       int64           `db:"amount_minor"` // minor units
	Currency          money.Currency  `db:"currency"`
	Phone             *string         `db:"phone"` // nil when forgotten, and for cash
	Direct            bool            `db:"direct"`
	Environment       string          `db:"environment"`
	Shortcode         string          `db:"shortcode"`
	CredentialsRef    id.Secret       `db:"credentials_ref"`
	AccountReference  string          `db:"account_reference"`
	Stage             string          `db:"stage"` // a value of stagesOf
	CheckoutRequestID *string         `db:"checkout_request_id"`
	CustomerMessage   *string         `db:"customer_message"`
	ReceiptID         id.Receipt      `db:"receipt_id"` // the receipt that carries the credit
	ReceiptNumber     *string         `db:"receipt_number"`
	Provisional       bool            `db:"provisional"`
	Code              string          `db:"code"`
	Message           string          `db:"message"` // text of the provider
	Checks            int             `db:"checks"`  // status queries without a verdict
	CheckedAt         *time.Time      `db:"checked_at"`
	InitiatedAt       time.Time       `db:"initiated_at"`
	ExpiresAt         *time.Time      `db:"expires_at"`
	SettledAt         *time.Time      `db:"settled_at"`
	// AskedBy is the member of staff who had the phone asked, or took the cash; zero for a customer and the program.
	AskedBy   id.User `db:"asked_by"`
	TakenBack bool    `db:"taken_back"` // a success whose money a person took back
	Refused   bool    `db:"refused"`    // a success whose account did not take the money
	Revision  int64   `db:"revision"`
}

// Amount is the amount that the prompt asked for, or the cash received.
func (r PaymentRow) Amount() money.Amount { return money.Of(r.AmountMinor, r.Currency) }

// Statuses of payments as the API shows them. Source: docs/rules/payments.md#outside-statuses.
const (
	StatusPending   = "PENDING"
	StatusSuccess   = "SUCCESS"
	StatusCancelled = "CANCELLED"
	StatusFailed    = "FAILED"
)

// statusSQL has the condition on a row that the API shows as each status. Source:
// docs/rules/payments.md#outside-statuses.
var statusSQL = map[string]string{
	StatusPending:   `stage in ('created', 'sent', 'awaiting', 'in_doubt')`,
	StatusSuccess:   `stage = 'succeeded' and not taken_back and not refused`,
	StatusCancelled: `stage = 'cancelled'`,
	StatusFailed:    `(stage in ('failed', 'expired') or taken_back or refused)`,
}

// Status is the stage in the words of the API; every open stage is PENDING. Money that was taken back, or
// that its account refused, is no success any more.
func (r PaymentRow) Status() string {
	switch {
	case r.TakenBack, r.Refused, r.Stage == "failed", r.Stage == "expired":
		return StatusFailed
	case r.Stage == "succeeded":
		return StatusSuccess
	case r.Stage == "cancelled":
		return StatusCancelled
	}
	return StatusPending
}

// PaymentReasons are the values of Reason, without "".
var PaymentReasons = []string{
	"cancelled_by_customer", "customer_busy", "expired", "insufficient_funds", "internal_failure", "not_credited",
	"not_delivered", "not_sent", "pin_locked", "product_not_permitted", "provider_refused", "provider_unavailable",
	"reattributed", "reversed", "wrong_pin",
}

// Reason is a machine-readable word for an attempt that ended without money, or whose money a person took back or moved
// to another account, or whose account refused it; "" for others.
func (r PaymentRow) Reason() string {
	switch {
	case r.Stage == "expired":
		return "expired"
	case r.TakenBack:
		return "reversed"
	case r.Refused:
		return "not_credited"
	case r.Stage == "succeeded" && r.HeldBy != r.SubscriberID:
		return "reattributed"
	case r.Stage == "succeeded":
		return ""
	case r.Stage != "failed" && r.Stage != "cancelled":
		return ""
	}
	return events.PaymentReason(r.Code)
}

// Pays is the invoice for which the money was asked; zero for none, and while another account has the money.
func (r PaymentRow) Pays() id.Invoice {
	if r.HeldBy != r.SubscriberID {
		return id.Invoice{}
	}
	return r.InvoiceID
}

// PaymentKey is a row's place in the list, newest first. The zero value starts at the newest row.
type PaymentKey struct {
	InitiatedAt time.Time  `json:"i"`
	ID          id.Payment `json:"p"`
}

// Key makes the next page begin after this row.
func (r PaymentRow) Key() PaymentKey { return PaymentKey{InitiatedAt: r.InitiatedAt, ID: r.ID} }

// PaymentFilter narrows a list. A zero field does not restrict it, but a list of no subscribers finds nothing unless it
// is nil.
type PaymentFilter struct {
	SubscriberIDs []id.Subscriber // whose accounts have the money, or are asked for it
	Status        string
	ReceiptNumber string    // in any case of letters
	From, To      time.Time // asked for, or taken, in this time; To is not in it
}

// PaymentsQuery serves payments to their organization, and attempts to jobs and callbacks.
type PaymentsQuery struct{ Views *runner.Views }

// paymentColumns fit PaymentRow.
const paymentColumns = `payment_id, org_id, subscriber_id, held_by, invoice_id, gateway, amount_minor, currency, phone,
	direct, environment, shortcode, credentials_ref, account_reference, stage, checkout_request_id, customer_message,
	receipt_id, receipt_number, provisional, code, message, checks, checked_at, initiated_at, expires_at,
	settled_at, asked_by, taken_back, refused, revision`

// Get returns one payment of an organization, nil when it has none with this id.
func (q PaymentsQuery) Get(ctx context.Context, org id.Organization, payment id.Payment) (*PaymentRow, error) {
	var row *PaymentRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[PaymentRow],
			q.Views.SQL(PaymentsName, `select `+paymentColumns+` from {schema}.payments where payment_id = $1`),
			payment)
	})
	return row, err
}

// Numbers gives the numbers of the receipts of some payments of an organization with one statement. One that has no
// receipt is left out.
func (q PaymentsQuery) Numbers(
	ctx context.Context, org id.Organization, payments []id.Payment,
) (map[id.Payment]string, error) {
	if len(payments) == 0 {
		return nil, nil
	}
	var numbers map[id.Payment]string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &numbers, q.Views.SQL(PaymentsName, `
			select payment_id, receipt_number from {schema}.payments
			where payment_id = any($1) and org_id = $2 and receipt_number <> ''`), payments, org)
	})
	return numbers, err
}

// List returns up to max payments of an organization after a key, newest first.
func (q PaymentsQuery) List(
	ctx context.Context, org id.Organization, f PaymentFilter, after PaymentKey, max int,
) ([]PaymentRow, error) {
	args := []any{org, max}
	where := []string{`org_id = $1`}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if !after.InitiatedAt.IsZero() {
		where = append(where, fmt.Sprintf(`(initiated_at, payment_id) < (%s, %s)`, arg(after.InitiatedAt),
			arg(after.ID)))
	}
	if f.SubscriberIDs != nil {
		where = append(where, `held_by = any(`+arg(id.Texts(f.SubscriberIDs))+`::uuid[])`)
	}
	if f.Status != "" {
		where = append(where, statusSQL[f.Status])
	}
	if f.ReceiptNumber != "" {
		where = append(where, numberKeySQL(arg(f.ReceiptNumber)))
	}
	if !f.From.IsZero() {
		where = append(where, `initiated_at >= `+arg(f.From))
	}
	if !f.To.IsZero() {
		where = append(where, `initiated_at < `+arg(f.To))
	}
	sql := `select ` + paymentColumns + ` from {schema}.payments where ` + strings.Join(where, " and ") +
		` order by initiated_at desc, payment_id desc limit $2`
	var rows []PaymentRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[PaymentRow], q.Views.SQL(PaymentsName, sql), args...)
	})
	return rows, err
}

// Attempt returns one prompt attempt of any organization, nil when there is none: for jobs and callbacks.
func (q PaymentsQuery) Attempt(ctx context.Context, payment id.Payment) (*PaymentRow, error) {
	return q.attempt(ctx, `payment_id = $1`, payment)
}

// ByCheckout finds an attempt by the provider's id of its prompt, nil when there is none.
func (q PaymentsQuery) ByCheckout(ctx context.Context, checkoutRequestID string) (*PaymentRow, error) {
	return q.attempt(ctx, `checkout_request_id = $1`, checkoutRequestID)
}

// maxSameReference bounds how many attempts with one reference are looked at, the newest first. Attempts of one
// customer share the account number as their reference over the years; only those of two days matter.
const maxSameReference = 20

// byReference selects the newest attempts with a key of references.
const byReference = `select ` + paymentColumns + ` from {schema}.payments
where reference_key = $1 and reference_key <> '' order by initiated_at desc, payment_id limit $2`

// ByReference lists the attempts whose account reference was typed, newest first, in any case of letters and with any
// separator.
func (q PaymentsQuery) ByReference(ctx context.Context, typed string) ([]PaymentRow, error) {
	key := referenceKey(typed)
	if key == "" || len(typed) > maxReference {
		return nil, nil
	}
	var rows []PaymentRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[PaymentRow], q.Views.SQL(PaymentsName, byReference), key,
			maxSameReference)
	})
	return rows, err
}

// attempt reads one prompt attempt of any organization by a condition on $1, nil when there is none.
func (q PaymentsQuery) attempt(ctx context.Context, where string, arg any) (*PaymentRow, error) {
	var row *PaymentRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[PaymentRow],
			q.Views.SQL(PaymentsName, `select `+paymentColumns+
				` from {schema}.payments where gateway = 'mobile_money_stk' and `+where+` limit 1`), arg)
	})
	return row, err
}

// FailedSince counts the payments of an organization that were asked for since an instant and that the API shows as
// failed.
func (q PaymentsQuery) FailedSince(ctx context.Context, org id.Organization, since time.Time) (n int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(PaymentsName, `select count(*)::int
			from {schema}.payments where org_id = $1 and initiated_at >= $2 and `+statusSQL[StatusFailed]), org, since)
	})
	return n, err
}

// Waiting counts the prompts of an organization whose outcome is not known.
func (q PaymentsQuery) Waiting(ctx context.Context, org id.Organization) (n int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(PaymentsName, `select count(*)::int
			from {schema}.payments where org_id = $1 and `+statusSQL[StatusPending]), org)
	})
	return n, err
}
