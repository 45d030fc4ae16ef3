// Package postgres opens the database with three pools: the owner writes, the query role reads one tenant under
// row-level security, and the platform role reads across tenants
// (docs/rules/engine.md#row-security). It also applies migrations, holds advisory locks and runs the private cluster of
// an installation without DATABASE_URL (docs/rules/setup.md#private-cluster).
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Roles that exist once in a cluster, shared by all installations in it. Neither can log in, own a table or bypass
// row-level security; the login role enters them with SET ROLE.
const (
	QueryRole    = "lastmile_query"
	PlatformRole = "lastmile_platform"
)

// defaultMaxConns bounds each pool when Config.MaxConns is zero: three pools stay within PostgreSQL's usual 100.
const defaultMaxConns = 24

// Config names the database and bounds its pools. URL and Namespace are required.
type Config struct {
	URL       string       // postgres://user:password@host:port/database; no transaction pooler in between
	Namespace Namespace    // required
	MaxConns  int32        // of each of the three pools; zero means 24
	Logger    *slog.Logger // nil discards
	Known     bool         // it was opened before and has the roles: nothing is asked before its first use
}

// DB is the open database: three pools, and one further connection that holds the advisory locks. It is safe for
// concurrent use.
type DB struct {
	Owner     *pgxpool.Pool // owns the tables; all writers
	Query     *pgxpool.Pool // as QueryRole: sees nothing until app.org_id is set; use TenantRead
	Platform  *pgxpool.Pool // as PlatformRole: reads every tenant's rows; root host, matching, jobs
	Namespace Namespace
	URL       string // holds the password: never log it

	logger *slog.Logger
	locks  *lockSession
}

// Open connects and makes the two roles if they are missing. Without the right to create them it fails with the SQL
// that a database administrator has to run.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	if err := cfg.Namespace.Validate(); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	db := &DB{Namespace: cfg.Namespace, URL: cfg.URL, logger: cfg.Logger, locks: newLockSession(cfg.URL)}
	var err error
	if db.Owner, err = openPool(ctx, cfg, ""); err != nil {
		return nil, err
	}
	if !cfg.Known {
		err = ensureRoles(ctx, db.Owner)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	if db.Query, err = openPool(ctx, cfg, QueryRole); err != nil {
		db.Close()
		return nil, err
	}
	if db.Platform, err = openPool(ctx, cfg, PlatformRole); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// Close frees all locks and closes the pools. It waits until every connection has been returned.
func (db *DB) Close() {
	db.locks.close()
	for _, pool := range []*pgxpool.Pool{db.Platform, db.Query, db.Owner} {
		if pool != nil {
			pool.Close()
		}
	}
}

// openPool makes a pool whose connections act as role, or as the login role when it is empty. The role is set in the
// start-up packet, so that no RESET leads back to the login role's rights.
func openPool(ctx context.Context, cfg Config, role string) (*pgxpool.Pool, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		// The parser's message may quote the address with its password.
		return nil, errors.New("DATABASE_URL is not a valid PostgreSQL address")
	}
	pc.MaxConns = defaultMaxConns
	if cfg.MaxConns > 0 {
		pc.MaxConns = cfg.MaxConns
	}
	params := pc.ConnConfig.RuntimeParams
	params["timezone"] = "UTC"
	params["application_name"] = "lastmile"
	if role == "" {
		plainPlans(params)
	} else {
		params["role"] = role
		params["application_name"] = role
		params["default_transaction_read_only"] = "on"
	}
	pc.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		Prepare(conn)
		return nil
	}
	followPrimary(pc.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open database pool: %w", err)
	}
	if role == "" && !cfg.Known {
		if err := pool.Ping(ctx); err != nil {
			pool.Close()
			return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
		}
	}
	return pool, nil
}

// followPrimary has connections of an address with several hosts made to the one that is no standby: reads and locks go
// to the server that takes writes. The only host of an address is taken, whatever it is, and an address that says
// itself which one it wants gets that one.
func followPrimary(config *pgx.ConnConfig) {
	several := slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return f.Host != config.Host || f.Port != config.Port // further ones of the same host differ in TLS
	})
	if several && config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
}

// plainPlans has statements find each row by its key, as all of the owner's do (ADR 0027). A plan for given values is
// no better, and costs more than it saves.
func plainPlans(params map[string]string) {
	params["plan_cache_mode"] = "force_generic_plan"
	for _, kind := range []string{"seqscan", "hashjoin", "mergejoin"} {
		params["enable_"+kind] = "off"
	}
}

// Prepare makes a connection outside of a pool read times and ids, and write arrays, as those of pools do.
func Prepare(conn *pgx.Conn) {
	readTimesInUTC(conn.TypeMap())
	readIDsAsOctets(conn.TypeMap())
	makeRoomForArrays(conn.TypeMap())
}

// readTimesInUTC makes timestamptz columns scan as UTC, whatever the machine's zone: the driver's default is local
// time.
func readTimesInUTC(types *pgtype.Map) {
	types.RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
}
