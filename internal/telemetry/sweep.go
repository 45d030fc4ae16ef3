package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// closeLostSQL ends open sessions of which no report came since an instant.
const closeLostSQL = `update {schema}.sessions set ended_at = updated_at, ended_by = 2, end_reason = '` + ReasonLost +
	`'
	where ended_at is null and updated_at < $1`

// CloseLost ends sessions whose routers have told nothing since an instant, and returns their number. They end with
// their last report; a newer one opens them again. Reports that wait in a spool count as not told, so the
// instant must be earlier by as long as the oldest of them waits.
func (s *Store) CloseLost(ctx context.Context, silentSince time.Time) (int64, error) {
	var closed int64
	err := postgres.Transaction(ctx, s.db.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockSQL, s.db.Namespace.LockKey(part)); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, s.text(closeLostSQL), silentSince)
		closed = done.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("close lost sessions: %w", err)
	}
	return closed, nil
}
