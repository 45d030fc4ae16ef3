package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// How long tables stay that no program fills any more: replaced ones, since readers may still use them, and those of
// builds that failed and of projections that were removed or renamed, since an older program may come back.
const (
	keepRetired = 10 * time.Minute
	keepUnused  = time.Hour
)

// tidy drops the tables that nobody uses: they have plain text that forgetting a person does not reach any more. A set
// of tables is in use while a program leads its version.
func (r *Runner) tidy(ctx context.Context) error {
	all, err := r.generations(ctx, r.cfg.DB.Owner, "")
	if err != nil {
		return err
	}
	for _, g := range all {
		keep := keepUnused
		if e := r.byName[g.Name]; e != nil {
			switch {
			case g.State == genActive || g.State == genBuilding && g.Version == e.p.Version():
				continue
			case g.State == genRetired:
				keep = keepRetired
			}
		}
		err = errors.Join(err, r.dropUnused(ctx, g, keep))
	}
	return errors.Join(err, r.dropScratch(ctx))
}

// unusedSQL notes since when a set of tables is unused; $3 is null while it is in use.
const unusedSQL = `
update {schema}.projection_versions
set unused_since = case when $3::timestamptz is null then null else coalesce(unused_since, retired_at, $3) end
where name = $1 and generation = $2 returning unused_since`

// dropUnused drops a set of tables that has been unused for a while. A set that was replaced by another one of the same
// version is unused, although its version is led.
func (r *Runner) dropUnused(ctx context.Context, g *generation, keep time.Duration) error {
	now := r.cfg.Clock.Now()
	unused, err := r.unused(ctx, g)
	if err != nil {
		return err
	}
	var at, since *time.Time
	if unused {
		at = &now
	}
	err = r.cfg.DB.Owner.QueryRow(ctx, r.sql(unusedSQL), g.Name, g.Generation, at).Scan(&since)
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && since == nil:
		return nil
	case err != nil:
		return fmt.Errorf("note unused tables: %w", err)
	case now.Sub(*since) < keep:
		return nil
	}
	r.logger.InfoContext(ctx, "unused tables are dropped", "projection", g.Name, "generation", g.Generation, "version",
		g.Version)
	return r.drop(ctx, g)
}

// unused reports whether no program fills a set of tables.
func (r *Runner) unused(ctx context.Context, g *generation) (bool, error) {
	if e := r.byName[g.Name]; e != nil && g.Version == e.p.Version() {
		all, err := r.generations(ctx, r.cfg.DB.Owner, g.Name)
		own := setsOf(e, all).own
		return err == nil && own != nil && own.Generation != g.Generation, err
	}
	lock, free, err := r.cfg.DB.TryLock(ctx, leaderLock(g.Name, g.Version))
	if free {
		lock.Unlock()
	}
	return free, err
}

// scratchOf is the end of the names of schemas that verifications fill.
const scratchOf = "verify"

// dropScratch drops the tables of verifications that were killed.
func (r *Runner) dropScratch(ctx context.Context) error {
	prefix := r.cfg.DB.Namespace.Schema("p") + "_"
	rows, err := r.cfg.DB.Owner.Query(ctx, `select nspname::text from pg_namespace
		where starts_with(nspname, $1) and nspname like $2`, prefix, "%\\_"+scratchOf)
	if err != nil {
		return fmt.Errorf("search for scratch tables: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("search for scratch tables: %w", err)
	}
	for _, schema := range slices.Compact(found) {
		name := strings.TrimSuffix(strings.TrimPrefix(schema, prefix), "_"+scratchOf)
		lock, free, lockErr := r.cfg.DB.TryLock(ctx, "verify "+name)
		if !free {
			err = errors.Join(err, lockErr)
			continue // being verified just now
		}
		_, dropErr := r.cfg.DB.Owner.Exec(ctx, "drop schema if exists "+pgx.Identifier{schema}.Sanitize()+" cascade")
		lock.Unlock()
		err = errors.Join(err, dropErr)
	}
	return err
}
