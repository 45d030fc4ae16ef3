package paymentsviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// PromptAttention counts the open attempts of the whole platform whose end is uncertain.
type PromptAttention struct {
	InDoubt   int64 `db:"in_doubt"`   // the answer to the prompt was lost
	NoVerdict int64 `db:"no_verdict"` // still open after the time at which they should have ended
}

// Statements over open attempts; they read only the partial index of those.
const (
	promptAttentionSQL = `
select count(*) filter (where stage = 'in_doubt') as in_doubt,
	count(*) filter (where expires_at < $1) as no_verdict
from {schema}.payments where stage in ('created', 'sent', 'awaiting', 'in_doubt')`
	overdueSQL = `select ` + paymentColumns + ` from {schema}.payments
where stage in ('created', 'sent', 'awaiting', 'in_doubt') and expires_at < $1
	and ($3::uuid is null or (expires_at, payment_id) > ($2, $3)) order by expires_at, payment_id limit $4`
)

// Attention counts over all organizations, for metrics and alarms. An attempt that should have ended before the given
// time counts as one without a verdict.
func (q PaymentsQuery) Attention(ctx context.Context, before time.Time) (PromptAttention, error) {
	var a PromptAttention
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectOne(r, &a, pgx.RowToStructByName[PromptAttention], q.Views.SQL(PaymentsName,
			promptAttentionSQL), before)
	})
	return a, err
}

// OverdueKey is an attempt's place in the list of Overdue. The zero value starts at the oldest.
type OverdueKey struct {
	ExpiresAt time.Time
	ID        id.Payment
}

// Overdue lists up to max attempts of all organizations that are open although they should have ended before the given
// time, the oldest first, from the one after a key: for the sweep.
func (q PaymentsQuery) Overdue(
	ctx context.Context, before time.Time, after OverdueKey, max int,
) ([]PaymentRow, error) {
	var rows []PaymentRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[PaymentRow], q.Views.SQL(PaymentsName, overdueSQL), before,
			after.ExpiresAt, after.ID, max)
	})
	return rows, err
}
