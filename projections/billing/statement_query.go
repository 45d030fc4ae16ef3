package billingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// StatementKinds are the values of a line's kind.
var StatementKinds = []string{
	"invoice", "invoice_voided", "payment", "payment_withdrawn", "credit_note", "refund", "refund_failed", "write_off",
	"write_off_recovered",
}

// StatementRow is one line of a statement, amounts in minor units. Either the debit or the credit is zero.
type StatementRow struct {
	Position int64     `db:"position"`
	At       time.Time `db:"at"`
	// Kind is "invoice", "invoice_voided", "payment", "payment_withdrawn", "credit_note", "refund", "refund_failed",
	// "write_off" or "write_off_recovered".
	Kind         string         `db:"kind"`
	Description  string         `db:"description"`
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
			select position, at, kind, description || coalesce(': ' || remark, '') as description,
				currency, debit_minor, credit_minor, balance_minor, cause_type,
				cause_id
			from {schema}.statement_lines where subscriber_id = $1 and ($2::bigint = 0 or position < $2)
			order by position desc limit $3`),
			subscriber, after.Position, max)
	})
	return rows, err
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
