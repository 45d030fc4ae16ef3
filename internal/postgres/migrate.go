package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// schemaMark stands in migration files for the schema they are applied to.
const schemaMark = "{schema}"

// Migrate brings the schema of one part up to the newest of the files in fsys: goose files (`00001_name.sql` with
// `-- +goose Up`) in its root, with {schema} where the schema's name belongs. The schema is created; its version table
// lives in it. Programs that start together wait for each other.
func (db *DB) Migrate(ctx context.Context, part string, fsys fs.FS) error {
	schema := db.Namespace.Schema(part)
	if db.current(ctx, schema, fsys) {
		return nil
	}
	store, err := database.NewStore(database.DialectPostgres, schema+".goose_version")
	if err != nil {
		return fmt.Errorf("migrate %s: %w", schema, err)
	}
	conn, err := db.lockedSession(ctx, part, schema)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", schema, err)
	}
	defer func() { _ = conn.Close() }() // ends the session and with it the lock
	provider, err := goose.NewProvider("", conn, schemaFS{fsys: fsys, schema: schema},
		goose.WithStore(store), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("migrate %s: %w", schema, err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", schema, err)
	}
	db.logger.InfoContext(ctx, "schema migrated", "schema", schema, "files", len(results))
	return nil
}

// current reports whether every file was applied to a schema before, as at nearly every start. Then there is nothing to
// wait for, and what goose asks a new connection would cost more than all else that a start asks the database. It is
// false when that cannot be found out: goose tells why.
func (db *DB) current(ctx context.Context, schema string, fsys fs.FS) bool {
	known, err := versions(fsys)
	table, there := schema+".goose_version", false
	if err == nil {
		err = db.Owner.QueryRow(ctx, "select to_regclass($1) is not null", table).Scan(&there)
	}
	if err != nil || !there {
		return false
	}
	rows, _ := db.Owner.Query(ctx, "select version_id from "+table+" where is_applied order by version_id")
	applied, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return false
	}
	for _, v := range known {
		if _, found := slices.BinarySearch(applied, v); !found {
			return false
		}
	}
	if now, newest := applied[len(applied)-1], slices.Max(known); now > newest {
		db.logger.WarnContext(ctx, "schema was migrated by a newer program", "schema", schema, "version", now,
			"known", newest)
	}
	return true
}

// versions lists the numbers of the migration files, of which there must be one at least.
func versions(fsys fs.FS) ([]int64, error) {
	names, err := fs.Glob(fsys, "*.sql")
	if err == nil && len(names) == 0 {
		err = errors.New("there are no files")
	}
	list := make([]int64, len(names))
	for i, name := range names {
		var fault error
		list[i], fault = goose.NumericComponent(name)
		err = errors.Join(err, fault)
	}
	return list, err
}

// lockedSession opens a handle with a single connection, which holds the migration lock until it is closed, and
// creates the schema under it. (goose's own session lock comes too late: it looks for its version table before.)
func (db *DB) lockedSession(ctx context.Context, part, schema string) (*sql.DB, error) {
	conn := stdlib.OpenDB(*db.Owner.Config().ConnConfig)
	conn.SetMaxOpenConns(1)
	if _, err := conn.ExecContext(ctx, "select pg_advisory_lock($1)",
		db.Namespace.LockKey("migrate "+part)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if _, err := conn.ExecContext(ctx, "create schema if not exists "+schema); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// schemaFS shows the files of fsys with {schema} replaced.
type schemaFS struct {
	fsys   fs.FS
	schema string
}

// Open reads a file whole and replaces {schema} in it. A directory is given as it is.
func (s schemaFS) Open(name string) (fs.File, error) {
	file, err := s.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || info.IsDir() {
		return file, err
	}
	defer func() { _ = file.Close() }()
	text, err := fs.ReadFile(s.fsys, name)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte(schemaMark), []byte(s.schema))
	return schemaFile{Reader: bytes.NewReader(text), info: info}, nil
}

// schemaFile is a migration in memory, after the replacement.
type schemaFile struct {
	*bytes.Reader
	info fs.FileInfo
}

// Stat describes the file before the replacement, so the size may be wrong; goose does not read it.
func (f schemaFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing, since the text lies in memory.
func (f schemaFile) Close() error { return nil }
