package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// TenantSnapshot runs fn in one transaction that only reads, as the query role, seeing only org's rows, all of them as
// they were when it began. Times are written in UTC. The transaction holds up the removal of old rows as long as it
// lasts.
func (db *DB) TenantSnapshot(ctx context.Context, org uuid.UUID, fn func(tx pgx.Tx) error) error {
	if org == uuid.Nil {
		return errors.New("tenant snapshot without an organization")
	}
	tx, err := db.Query.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return &passing{fmt.Errorf("begin snapshot: %w", err)}
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	_, err = tx.Exec(ctx, `select set_config('app.org_id', $1, true), set_config('TimeZone', 'UTC', true),
		set_config('DateStyle', 'ISO', true)`, org.String())
	if err != nil {
		return fmt.Errorf("begin snapshot: %w", err)
	}
	return fn(tx)
}
