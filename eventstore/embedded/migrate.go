package embedded

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sort"

	"github.com/jackc/pgx/v5"
)

// migrations are the steps of the schema, run in the order of the file names. A released step is never edited.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrationName is the name that a session has in pg_stat_activity while it runs a step, so that a node which waits for
// the lock can tell why.
const migrationName = "lastmile event store migration"

// migrate brings the schema up to date. The caller's session must hold the node's advisory lock, so that no other node
// migrates at the same time.
func migrate(ctx context.Context, conn *pgx.Conn, schema string, log *slog.Logger) error {
	var exists bool
	if err := conn.QueryRow(ctx, `select exists (select from pg_namespace where nspname = $1)`,
		schema).Scan(&exists); err != nil {
		return fmt.Errorf("look for schema %s: %w", schema, err)
	}
	quoted := pgx.Identifier{schema}.Sanitize()
	if !exists {
		if _, err := conn.Exec(ctx, `create schema `+quoted); err != nil {
			return fmt.Errorf("create schema %s: %w", schema, err)
		}
	}
	table := quoted + `.schema_version`
	if _, err := conn.Exec(ctx, `create table if not exists `+table+` (step text primary key)`); err != nil {
		return fmt.Errorf("create %s: %w", table, err)
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	sort.Strings(names)
	// Before a node takes the log, so that a newer one which serves it keeps it.
	var newer string
	err = conn.QueryRow(ctx, `select step from `+table+` where step <> all($1) order by step limit 1`,
		names).Scan(&newer)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return fmt.Errorf("read %s: %w", table, err)
	default:
		return fmt.Errorf("schema was migrated by a newer program: %s has %s", table, newer)
	}
	for _, name := range names {
		if err := migrateStep(ctx, conn, quoted, name, log); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return nil
}

// migrateStep runs one file and records it, in one transaction. It skips a recorded step. It logs before and after,
// because a step may copy the whole log.
func migrateStep(ctx context.Context, conn *pgx.Conn, quotedSchema, name string, log *slog.Logger) error {
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// A limit that is meant for ordinary statements must not end a step: it may copy the whole log.
		session := `set local statement_timeout = 0; set local application_name = '` + migrationName +
			`'; set local search_path to ` + quotedSchema
		if _, err := tx.Exec(ctx, session); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `insert into schema_version (step) values ($1) on conflict do nothing`, name)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		log.InfoContext(ctx, "event store migration begins", "step", name)
		if _, err = tx.Exec(ctx, string(text)); err == nil {
			log.InfoContext(ctx, "event store migration done", "step", name)
		}
		return err
	})
}
