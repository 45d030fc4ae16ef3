package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Reads collects the queries of one read. They are sent together, in one round trip and one implicit transaction. Not
// safe for concurrent use.
type Reads struct {
	batch pgx.Batch
}

// TenantRead runs the queries that queue adds, as the query role, seeing only org's rows
// (docs/rules/engine.md#row-security):
//
//	var open []Invoice
//	var total int
//	err := db.TenantRead(ctx, org, func(r *postgres.Reads) {
//		postgres.Collect(r, &open, pgx.RowToStructByName[Invoice], openSQL, subscriber)
//		postgres.CollectOne(r, &total, pgx.RowTo[int], countSQL, subscriber)
//	})
//
// The results are complete when it returns nil; after an error they must not be used.
func (db *DB) TenantRead(ctx context.Context, org uuid.UUID, queue func(*Reads)) error {
	if org == uuid.Nil {
		return errors.New("tenant read without an organization")
	}
	r := new(Reads)
	r.batch.Queue(`select set_config('app.org_id', $1, true)`, org.String())
	queue(r)
	return r.send(ctx, db.Query)
}

// PlatformRead runs the queries that queue adds, as the platform role, which sees the rows of all tenants.
func (db *DB) PlatformRead(ctx context.Context, queue func(*Reads)) error {
	r := new(Reads)
	queue(r)
	return r.send(ctx, db.Platform)
}

// Serial has each query that follows run by one process: what is read with every page must not take all processors.
func (r *Reads) Serial() {
	r.batch.Queue(`select set_config('max_parallel_workers_per_gather', '0', true)`)
}

// Collect queues a query whose rows go into *into. The list is emptied first, and is not nil afterwards even without a
// row.
func Collect[T any](r *Reads, into *[]T, scan pgx.RowToFunc[T], sql string, args ...any) {
	r.batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scan)
		if err != nil {
			return fmt.Errorf("collect rows: %w", err)
		}
		*into = found
		return nil
	})
}

// CollectMap queues a query of two columns whose rows go into *into, the second column by the first; of rows with the
// same key the last one stays. The map is emptied first, and is not nil afterwards even without a row.
func CollectMap[K comparable, V any](r *Reads, into *map[K]V, sql string, args ...any) {
	r.batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		var (
			key   K
			value V
		)
		found := map[K]V{}
		_, err := pgx.ForEachRow(rows, []any{&key, &value}, func() error {
			found[key] = value
			return nil
		})
		if err != nil {
			return fmt.Errorf("collect rows: %w", err)
		}
		*into = found
		return nil
	})
}

// CollectOne queues a query whose first row goes into *into. Without a row the read fails with pgx.ErrNoRows, and
// later queries of the same read are not collected.
func CollectOne[T any](r *Reads, into *T, scan pgx.RowToFunc[T], sql string, args ...any) {
	r.batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectOneRow(rows, scan)
		if err != nil {
			return fmt.Errorf("collect row: %w", err)
		}
		*into = found
		return nil
	})
}

// CollectMaybe queues a query whose first row goes into *into. Without a row *into becomes nil.
func CollectMaybe[T any](r *Reads, into **T, scan pgx.RowToFunc[T], sql string, args ...any) {
	r.batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectOneRow(rows, scan)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			*into = nil
		case err != nil:
			return fmt.Errorf("collect row: %w", err)
		default:
			*into = &found
		}
		return nil
	})
}

// send runs the batch on one connection and calls the collectors in order.
func (r *Reads) send(ctx context.Context, pool *pgxpool.Pool) error {
	if err := pool.SendBatch(ctx, &r.batch).Close(); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	return nil
}
