package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// The states of a set of tables, as stored in projection_versions. A projection has at most one active set, and at most
// one building set of each version.
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
	Position   uint64          // all events up to here were considered; ahead of saved when none of them was wanted
	Mark       eventstore.Mark // the newest event up to Position that is known
	Error      string
	LogEnd     *uint64  // where the log was found to end before Position, or before another event; nil = never
	LogHas     id.Event // that event, at Mark; none = the log ended
	Types      []string // of the events that it was filled with, sorted; nil = all, or not known

	saved  uint64     // the checkpoint in the database
	forced bool       // a person asked for it: it may replace tables of a newer version
	known  statements // parsed statements, see Writes.Exec
	apart  error      // why rows are not merged into one statement any more; nil = they are
}

// checkpointed reports whether the tables have a checkpoint: scratch tables have none.
func (g *generation) checkpointed() bool { return g.Generation != 0 }

// mergeFrom is how many rows in a run become one statement.
func (g *generation) mergeFrom() int {
	if g.checkpointed() {
		return mergeFrom
	}
	return mergeFromScratch
}

// generationsSQL selects the sets of tables of one projection, or of all.
const generationsSQL = `
select name, generation, version, schema, state, position, mark, error, log_end, log_has, types
from {schema}.projection_versions
where $1 in (name, '') order by name, generation`

// sql replaces {schema} by the schema of the engine's own tables, not of a projection's.
func (r *Runner) sql(text string) string {
	return strings.ReplaceAll(text, schemaMark, r.cfg.DB.Namespace.Schema("runner"))
}

// lost notes that the log is not the one of which the tables are, when that is the error. Where another reader has
// found it by an event of its own, these tables may be of a time at which both logs were one: the next start finds out.
func (g *generation) lost(err error) {
	var other *eventstore.OtherLogError
	if !errors.As(err, &other) {
		return
	}
	g.Error = g.advise(other).Error()
	if other.Has.IsZero() || other.Had == g.Mark.ID {
		g.LogEnd, g.LogHas = &other.Head, other.Has
	}
}

// advise names the tables in the error of a log that is not theirs, and says what to do.
func (g *generation) advise(err error) error {
	return fmt.Errorf("read model %s, filled up to position %d: %w; restore its database to a time that is not after "+
		"the log's, or fill it anew with `lastmile projections rebuild %s`", g.Name, g.Position, err, g.Name)
}

// astray fails for tables that once were of another log, or showed more than the log had. The log may have grown again
// since, with other events in the positions in between, so only new tables can go on.
func (g *generation) astray() error {
	switch {
	case g.LogEnd == nil:
		return nil
	case g.LogHas.IsZero():
		return g.advise(&eventstore.OtherLogError{After: g.Position, Head: *g.LogEnd})
	}
	return g.advise(&eventstore.OtherLogError{
		After: *g.LogEnd + 1, Head: *g.LogEnd, Had: g.Mark.ID, Has: g.LogHas,
	})
}

// reach notes how far the tables have considered the log.
func (g *generation) reach(to place) { g.Position, g.Mark = to.position, to.mark }

// place is a position of the log with the newest event up to it that is known.
type place struct {
	position uint64
	mark     eventstore.Mark
}

// placeOf is the place at a position up to which a page was taken.
func (g *generation) placeOf(page feed.Page, upTo uint64) place {
	return place{upTo, page.MarkOf(upTo, g.Mark)}
}

// endsAt notes that the log ends before what the tables show, when it ends at a position, and reports whether that is
// new. Who fills them may not have found it yet.
func (g *generation) endsAt(end uint64) (found bool) {
	if g.LogEnd == nil && g.Position > end {
		g.lost(&eventstore.OtherLogError{After: g.Position, Head: end})
		return true
	}
	return false
}

// checkLog asks whether the log is that of tables and reaches to their position, before anything is shown of them; nil
// has no tables. While the log is away it is not known, and the next read finds out: the answer is false then.
func (r *Runner) checkLog(ctx context.Context, g *generation) (known bool) {
	if g == nil || g.LogEnd != nil {
		return true
	}
	err := r.cfg.Feed.Covers(ctx, g.Position, g.Mark)
	g.lost(err)
	return err == nil || final(err)
}

// checkMark is checkLog for the mark alone, and does not wait long.
func (r *Runner) checkMark(ctx context.Context, g *generation) (known bool) {
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	err := r.cfg.Feed.Covers(ctx, 0, g.Mark)
	g.lost(err)
	return err == nil || final(err)
}

// querier reads rows; a pool, a connection and a transaction all fit.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// generations loads the sets of tables of a projection, "" for all, ordered by name and number.
func (r *Runner) generations(ctx context.Context, q querier, of string) ([]*generation, error) {
	rows, err := q.Query(ctx, r.sql(generationsSQL), of)
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

// load returns the tables of a projection; having no active ones is an error.
func (r *Runner) load(ctx context.Context, e *entry) (sets, error) {
	all, err := r.generations(ctx, r.cfg.DB.Owner, e.name)
	if err != nil {
		return sets{}, err
	}
	s := setsOf(e, all)
	if s.active == nil {
		return sets{}, fmt.Errorf("projection %s has no tables", e.name)
	}
	return s, nil
}

// createSQL gives a new set of tables the next number of its projection.
const createSQL = `
insert into {schema}.projection_versions (name, generation, version, schema, state, types)
select $1, n, $2, $3::text || n, $4, $5
from (select coalesce(max(generation), 0) + 1 as n from {schema}.projection_versions where name = $1) next
returning generation, schema`

// create makes a new set of empty tables and its checkpoint at position 0, in one transaction.
func (r *Runner) create(ctx context.Context, e *entry, state string) (*generation, error) {
	p := e.p
	g := &generation{Name: p.Name(), Version: p.Version(), State: state, Types: e.types(), known: statements{}}
	err := pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		prefix := r.schemaPrefix(p.Name()) + "g"
		if err := tx.QueryRow(ctx, r.sql(createSQL), g.Name, g.Version, prefix, state, g.Types).Scan(
			&g.Generation, &g.Schema); err != nil {
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
	all, err := r.generations(ctx, r.cfg.DB.Owner, "")
	if err != nil {
		return err
	}
	end, answers := r.endBefore(ctx, all), true
	for _, e := range r.entries {
		s := setsOf(e, all)
		if s.active == nil {
			if s.own, err = r.create(ctx, e, genActive); err != nil {
				return err
			}
		}
		if s.own == nil {
			e.progress.none(s)
			continue
		}
		before := s.own.LogEnd
		if before == nil && !s.own.endsAt(end) && answers {
			answers = r.checkMark(ctx, s.own) // a log that is away is asked once
		}
		if s.own.LogEnd != before { // stored before it is shown: by the next start the log may have grown beyond
			if err := r.storeHalt(ctx, s.own, errors.New(s.own.Error)); err != nil {
				return err
			}
		}
		e.progress.follow(s.own, s.own.Position, r.cfg.Feed.Head())
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
