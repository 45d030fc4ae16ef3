package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// keepRetired is how long readers may still use tables after others have replaced them.
const keepRetired = 10 * time.Minute

// The states of a set of tables, as stored in projection_versions; there is at most one active and one building set.
const (
	genActive   = "active"
	genBuilding = "building"
	genRetired  = "retired"
)

// generation is one set of tables of a projection, numbered from 1. Each has a schema of its own.
type generation struct {
	Name       string
	Generation int // 0: scratch tables without a checkpoint
	Version    int
	Schema     string
	State      string
	Position   uint64 // all events up to here were considered; ahead of saved when none of them was wanted
	Error      string

	saved uint64     // the checkpoint in the database
	known statements // parsed statements, see Writes.Exec
}

// generationsSQL selects the active and building sets of tables of all projections.
const generationsSQL = `
select name, generation, version, schema, state, position, error from {schema}.projection_versions
where state <> 'retired' order by name, generation`

// sql replaces {schema} by the schema of the engine's own tables, not of a projection's.
func (r *Runner) sql(text string) string {
	return strings.ReplaceAll(text, schemaMark, r.cfg.DB.Namespace.Schema("runner"))
}

// querier reads rows; a pool, a connection and a transaction all fit.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// generations loads the active and building sets of tables of all projections, ordered by name and number.
func (r *Runner) generations(ctx context.Context, q querier) ([]*generation, error) {
	rows, err := q.Query(ctx, r.sql(generationsSQL))
	if err != nil {
		return nil, fmt.Errorf("load projection versions: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[generation])
	if err != nil {
		return nil, fmt.Errorf("load projection versions: %w", err)
	}
	for _, g := range found {
		g.saved, g.known = g.Position, statements{}
	}
	return found, nil
}

// load returns the active and the building tables of a projection. building is nil when no build is unfinished; having
// no active tables is an error.
func (r *Runner) load(ctx context.Context, name string) (active, building *generation, err error) {
	all, err := r.generations(ctx, r.cfg.DB.Owner)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range all {
		switch {
		case g.Name != name:
		case g.State == genActive:
			active = g
		case g.State == genBuilding:
			building = g
		}
	}
	if active == nil {
		return nil, nil, fmt.Errorf("projection %s has no tables", name)
	}
	return active, building, nil
}

// createSQL gives a new set of tables the next number of its projection.
const createSQL = `
insert into {schema}.projection_versions (name, generation, version, schema, state)
select $1, n, $2, $3::text || n, $4
from (select coalesce(max(generation), 0) + 1 as n from {schema}.projection_versions where name = $1) next
returning generation, schema`

// create makes a new set of empty tables and its checkpoint at position 0, in one transaction.
func (r *Runner) create(ctx context.Context, p Projection, state string) (*generation, error) {
	g := &generation{Name: p.Name(), Version: p.Version(), State: state, known: statements{}}
	err := pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		prefix := r.schemaPrefix(p.Name()) + "g"
		if err := tx.QueryRow(ctx, r.sql(createSQL), g.Name, g.Version, prefix, state).Scan(&g.Generation,
			&g.Schema); err != nil {
			return err
		}
		return createTables(ctx, tx, p, g.Schema)
	})
	if err != nil {
		return nil, fmt.Errorf("create tables of projection %s: %w", p.Name(), err)
	}
	return g, nil
}

// schemaPrefix begins the names of a projection's schemas; the number of the set of tables follows it.
func (r *Runner) schemaPrefix(name string) string {
	return r.cfg.DB.Namespace.Schema("p_" + name + "_")
}

// createTables creates a schema with a projection's tables and their rights (docs/rules/engine.md#row-security).
func createTables(ctx context.Context, tx pgx.Tx, p Projection, schema string) error {
	if _, err := tx.Exec(ctx, "create schema "+schema); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, strings.ReplaceAll(p.DDL(), schemaMark, schema)); err != nil {
		return err
	}
	grant := fmt.Sprintf("grant usage on schema %[1]s to %[2]s; grant select on all tables in schema %[1]s to %[2]s",
		schema, postgres.PlatformRole)
	if _, err := tx.Exec(ctx, grant); err != nil {
		return err
	}
	for _, table := range p.TenantTables() {
		if err := postgres.ProtectTable(ctx, tx, schema, table); err != nil {
			return err
		}
	}
	return nil
}

// ensureActive creates the first tables of every registered projection that has none. A lock makes programs that start
// together do this one after the other.
func (r *Runner) ensureActive(ctx context.Context) error {
	lock, err := r.cfg.DB.Lock(ctx, "projection tables")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	all, err := r.generations(ctx, r.cfg.DB.Owner)
	if err != nil {
		return err
	}
	have := map[string]*generation{}
	for _, g := range all {
		if g.State == genActive {
			have[g.Name] = g
		}
	}
	for _, e := range r.entries {
		g := have[e.name]
		if g == nil {
			if g, err = r.create(ctx, e.p, genActive); err != nil {
				return err
			}
		}
		e.progress.follow(g, g.Position)
	}
	return nil
}

// drop removes a set of tables and its checkpoint. It succeeds when they are gone already.
func (r *Runner) drop(ctx context.Context, g *generation) error {
	err := pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "drop schema if exists "+g.Schema+" cascade"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, r.sql(`delete from {schema}.projection_versions where name = $1 and generation = $2`),
			g.Name, g.Generation)
		return err
	})
	if err != nil {
		return fmt.Errorf("drop %s: %w", g.Schema, err)
	}
	return nil
}

// dropRetired removes the tables that were replaced more than keepRetired ago.
func (r *Runner) dropRetired(ctx context.Context) error {
	rows, err := r.cfg.DB.Owner.Query(ctx, r.sql(`select name, generation, version, schema, state, position, error
		from {schema}.projection_versions where state = 'retired' and retired_at <= $1`),
		r.cfg.Clock.Now().Add(-keepRetired))
	if err != nil {
		return fmt.Errorf("list retired tables: %w", err)
	}
	old, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[generation])
	if err != nil {
		return fmt.Errorf("list retired tables: %w", err)
	}
	for _, g := range old {
		err = errors.Join(err, r.drop(ctx, g))
	}
	return err
}
