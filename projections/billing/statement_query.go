package billingviews

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// StatementKinds lists the values of a line's kind, sorted. They are part of the API and never change their meaning.
func StatementKinds() []string { return slices.Sorted(maps.Keys(descriptions)) }

// descriptions say each kind of line in English. What is in braces comes from the line.
var descriptions = map[string]string{
	"invoice":             "Invoice{number}",
	"invoice_voided":      "Invoice{number} voided",
	"payment":             "Payment{number}{by}",
	"payment_withdrawn":   "Payment{number} withdrawn",
	"credit_note":         "Credit note{number}{for}",
	"refund":              "Refund of payment{number}",
	"refund_failed":       "Refund of payment{number} failed",
	"write_off":           "Written off",
	"opening_balance":     "Opening balance",
	"write_off_recovered": "Written-off invoice{number}{paid}",
}

// channelText names the channels for customers, in the description of a payment.
var channelText = map[string]string{
	"stk": "phone prompt", "c2b": "paybill", "cash": "cash", "bill_manager": "bill manager",
}

// Description says the line in English, with the reason that somebody gave: "Payment QGH7XXXXXX by paybill".
func (r StatementRow) Description() string {
	after := func(words, text string) string {
		if text == "" {
			return ""
		}
		return words + text
	}
	paid := " paid"
	if r.DebitMinor < 0 {
		paid = " no longer paid"
	}
	return strings.NewReplacer(
		"{number}", after(" ", r.Number), "{by}", after(" by ", channelText[r.Channel]),
		"{for}", after(" for invoice ", r.Invoice), "{paid}", paid,
	).Replace(descriptions[r.Kind]) + after(": ", r.why())
}

// why stands behind the words of a line: what became of a refund, as soon as that is known, else the reason
// that somebody gave.
func (r StatementRow) why() string {
	switch {
	case r.Outcome == "completed" && r.Reference != "":
		return "paid to the payer, number " + r.Reference
	case r.Outcome == "completed":
		return "paid to the payer"
	case r.Outcome == "failed":
		return "it was not paid"
	}
	return null.Zero(r.Remark)
}

// StatementRow is one line of a statement, amounts in minor units. Either the debit or the credit is zero.
type StatementRow struct {
	Position     int64          `db:"position"`
	At           time.Time      `db:"at"`
	Kind         string         `db:"kind"`      // one of StatementKinds
	Number       string         `db:"number"`    // of the document or receipt; "" = it has none yet
	Invoice      string         `db:"invoice"`   // number of the invoice that a credit note is for; "" = none
	Channel      string         `db:"channel"`   // of a payment; "" = none
	Remark       *string        `db:"remark"`    // the reason that somebody gave; nil = none, or erased
	Outcome      string         `db:"outcome"`   // of a refund: "completed" or "failed"; "" = it waits
	Reference    string         `db:"reference"` // of a completed refund: the number of that payment
	Currency     money.Currency `db:"currency"`
	DebitMinor   int64          `db:"debit_minor"`
	CreditMinor  int64          `db:"credit_minor"`
	BalanceMinor int64          `db:"balance_minor"` // owed after this line
	CauseType    string         `db:"cause_type"`    // "invoice", "receipt", "credit_note", "refund", "write_off"
	CauseID      id.Any         `db:"cause_id"`
}

// Debit is a charge; negative when the line takes a charge back.
func (r StatementRow) Debit() money.Amount { return money.Of(r.DebitMinor, r.Currency) }

// Credit is a payment; negative when the line takes a payment back.
func (r StatementRow) Credit() money.Amount { return money.Of(r.CreditMinor, r.Currency) }

// Balance is the amount owed after the line; negative when money lies on the account.
func (r StatementRow) Balance() money.Amount { return money.Of(r.BalanceMinor, r.Currency) }

// StatementKey is a line's place in the list, newest first. The zero value starts at the newest line.
type StatementKey struct {
	Position int64 `json:"p"`
}

// Key makes the next page begin after this line.
func (r StatementRow) Key() StatementKey { return StatementKey{Position: r.Position} }

// StatementQuery reads statements of one organization's subscribers.
type StatementQuery struct{ Views *runner.Views }

// Lines returns up to max lines of a subscriber after a key, newest first.
func (q StatementQuery) Lines(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, after StatementKey, max int,
) ([]StatementRow, error) {
	var rows []StatementRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[StatementRow], q.Views.SQL(StatementName, `
			select `+statementColumns+`
			from {schema}.statement_lines where subscriber_id = $1 and ($2::bigint = 0 or position < $2)
			order by position desc limit $3`),
			subscriber, after.Position, max)
	})
	return rows, err
}

// statementColumns fit StatementRow.
const statementColumns = `position, at, kind, number, invoice, channel, remark, outcome, reference, currency,
	debit_minor, credit_minor, balance_minor, cause_type, cause_id`

// StatementPart is the part of a statement that lies in a time.
type StatementPart struct {
	Before *StatementRow  // the line before the first one, whose balance is the opening balance; nil = none
	Rows   []StatementRow // oldest first
}

// Part returns the lines of a subscriber from an instant to another one, exclusive, but no more than max; a zero
// instant is no bound. The lines are without a gap, so the balance before the first one and their amounts sum to the
// balance after the last one, also where the clocks of two machines differ.
func (q StatementQuery) Part(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, from, to time.Time, max int,
) (StatementPart, error) {
	const first = `(select min(position) from {schema}.statement_lines
		where subscriber_id = $1 and ($2::timestamptz is null or at >= $2))`
	var part StatementPart
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &part.Before, pgx.RowToStructByName[StatementRow], q.Views.SQL(StatementName, `
			select `+statementColumns+` from {schema}.statement_lines
			where subscriber_id = $1 and position < coalesce(`+first+`, 9223372036854775807)
			order by position desc limit 1`), subscriber, null.Time(from))
		postgres.Collect(r, &part.Rows, pgx.RowToStructByName[StatementRow], q.Views.SQL(StatementName, `
			select `+statementColumns+` from {schema}.statement_lines
			where subscriber_id = $1 and position >= `+first+` and position <= (
				select max(position) from {schema}.statement_lines
				where subscriber_id = $1 and ($3::timestamptz is null or at < $3)
			) order by position limit $4`), subscriber, null.Time(from), null.Time(to), max)
	})
	return part, err
}

// BalanceAfter gives the balance right after a payment was credited to a subscriber; nil when it was not.
func (q StatementQuery) BalanceAfter(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, receipt id.Receipt,
) (*money.Amount, error) {
	var row *StatementRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[StatementRow], q.Views.SQL(StatementName, `
			select `+statementColumns+` from {schema}.statement_lines
			where subscriber_id = $1 and cause_id = $2 and kind = 'payment' order by position desc limit 1`),
			subscriber, receipt)
	})
	if err != nil || row == nil {
		return nil, err
	}
	balance := row.Balance()
	return &balance, nil
}

// Since returns the position of the newest line that a cause made on a subscriber's statement after a position; 0 when
// there is none.
func (q StatementQuery) Since(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, cause id.Any, after uint64,
) (uint64, error) {
	var position *int64
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &position, pgx.RowTo[int64], q.Views.SQL(StatementName, `
			select position from {schema}.statement_lines
			where subscriber_id = $1 and position > $2 and cause_id = $3 order by position desc limit 1`),
			subscriber, int64(after), cause) //nolint:gosec // positions fit
	})
	if err != nil || position == nil {
		return 0, err
	}
	return uint64(*position), nil //nolint:gosec // positions are not negative
}
