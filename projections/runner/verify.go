package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
)

// Report is the outcome of Verify for one projection.
type Report struct {
	Name     string
	Position uint64 // at which both sets of tables were compared
	Head     uint64 // of the log
	// Behind is set when events that the projection handles follow Position and no program fills the tables: they are
	// as they were left, for example by a restore, and the comparison says nothing about the events after Position.
	Behind bool
	// Stopped is the reason for which the projection has stopped; the events after Position are missing.
	Stopped string
	Tables  []TableReport // in the order of their names
}

// Equal reports whether all tables have the same rows as a replay, and no event is missing in them.
func (r Report) Equal() bool {
	if r.Behind || r.Stopped != "" {
		return false
	}
	for _, t := range r.Tables {
		if !t.Equal {
			return false
		}
	}
	return true
}

// TableReport compares one table's rows; their order does not count.
type TableReport struct {
	Table    string
	Active   int64 // rows in the active table
	Replayed int64 // rows after a replay of the log
	Missing  bool  // the active set lacks the table
	Equal    bool
}

// sums has one entry for each table of a schema, keyed by the table's name.
type sums map[string]tableSum

// tableSum is the number of rows and the sum of their hashes; equal sums mean equal rows, up to a hash collision.
type tableSum struct {
	Rows int64
	Hash string
}

// Verify replays a projection into scratch tables up to the position of the active ones and compares the rows. The
// projections go on working meanwhile. Call Prepare and start the feed before it. It fails when there are no
// tables of the code's version. Tables that show more than the log has are reported as stopped, and not compared.
func (r *Runner) Verify(ctx context.Context, name string) (Report, error) {
	e := r.byName[name]
	if e == nil {
		return Report{}, fmt.Errorf("there is no projection %q", name)
	}
	lock, err := r.cfg.DB.Lock(ctx, "verify "+name)
	if err != nil {
		return Report{}, err
	}
	defer lock.Unlock()
	active, want, err := r.sumActive(ctx, e)
	if err != nil {
		return Report{}, fmt.Errorf("verify %s: %w", name, err)
	}
	r.checkLog(ctx, active)
	if err := active.astray(); err != nil { // there is nothing to compare with
		return Report{Name: name, Position: active.Position, Head: r.cfg.Feed.Head(), Stopped: err.Error()}, nil
	}
	got, err := r.sumReplayed(ctx, e, active.Position)
	if err != nil {
		return Report{}, fmt.Errorf("verify %s: %w", name, err)
	}
	report := Report{
		Name: name, Position: active.Position, Head: max(r.cfg.Feed.Head(), active.Position), Stopped: active.Error,
		Tables: compare(want, got),
	}
	if report.Behind, err = r.leftBehind(ctx, e, active.Position); err != nil {
		return Report{}, fmt.Errorf("verify %s: %w", name, err)
	}
	return report, nil
}

// compare compares the tables of both sets, also those that only one of them has.
func compare(active, replayed sums) []TableReport {
	var list []TableReport
	for table, a := range active {
		g, both := replayed[table]
		list = append(list, TableReport{Table: table, Active: a.Rows, Replayed: g.Rows, Equal: both && a == g})
	}
	for table, g := range replayed {
		if _, both := active[table]; !both {
			list = append(list, TableReport{Table: table, Replayed: g.Rows, Missing: true})
		}
	}
	slices.SortFunc(list, func(a, b TableReport) int { return cmp.Compare(a.Table, b.Table) })
	return list
}

// leftBehind reports whether a wanted event follows a position and no program fills the tables.
func (r *Runner) leftBehind(ctx context.Context, e *entry, position uint64) (bool, error) {
	page, err := r.cfg.Feed.Read(ctx, position, e.want, 1)
	if err != nil || len(page.Events) == 0 {
		return false, err
	}
	lock, free, err := r.cfg.DB.TryLock(ctx, leaderLock(e.name, e.p.Version()))
	if free {
		lock.Unlock()
	}
	return free, err
}

// sumActive sums the active tables and reads their checkpoint in one snapshot of the database.
func (r *Runner) sumActive(ctx context.Context, e *entry) (active *generation, found sums, err error) {
	err = pgx.BeginTxFunc(ctx, r.cfg.DB.Owner, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			all, err := r.generations(ctx, tx, e.name)
			if err != nil {
				return err
			}
			if active = setsOf(e, all).own; active == nil {
				return errors.New("there are no tables of this version; start the program and let it build them")
			}
			found, err = sumTables(ctx, tx, active.Schema)
			return err
		})
	return active, found, err
}

// sumReplayed fills scratch tables up to a position, sums them and drops them.
func (r *Runner) sumReplayed(ctx context.Context, e *entry, upTo uint64) (sums, error) {
	scratch, err := NewScratch(ctx, r.cfg.DB, e.p, scratchOf)
	if err != nil {
		return nil, err
	}
	defer func() { _ = scratch.Drop(context.WithoutCancel(ctx)) }()
	g := scratch.g
	for g.Position < upTo {
		page, err := r.cfg.Feed.Read(ctx, g.Position, e.want, buildLimit)
		if err != nil {
			return nil, err
		}
		if page.UpTo <= g.Position {
			return nil, fmt.Errorf("the log ends at position %d, before %d", page.UpTo, upTo)
		}
		if err := r.apply(ctx, e.p, g, until(page, upTo)); err != nil {
			return nil, err
		}
	}
	return sumTables(ctx, r.cfg.DB.Owner, g.Schema)
}

// until removes the events after a position from a page.
func until(page feed.Page, upTo uint64) feed.Page {
	n := len(page.Events)
	for n > 0 && page.Events[n-1].Position > upTo {
		n--
	}
	page.Events, page.UpTo = page.Events[:n], min(page.UpTo, upTo)
	return page
}

// sumTables counts and hashes the rows of all tables of a schema, whatever their order.
func sumTables(ctx context.Context, q querier, schema string) (sums, error) {
	rows, err := q.Query(ctx, `select tablename::text from pg_tables where schemaname = $1 order by 1`, schema)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	found := sums{}
	for _, table := range tables {
		rows, err := q.Query(ctx, fmt.Sprintf(`
			select count(*) as rows, coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text as hash from %s t`,
			pgx.Identifier{schema, table}.Sanitize()))
		if err != nil {
			return nil, err
		}
		if found[table], err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[tableSum]); err != nil {
			return nil, err
		}
	}
	return found, nil
}
