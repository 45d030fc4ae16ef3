package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
)

// Report is the outcome of a verification.
type Report struct {
	Name     string
	Position uint64 // at which both sets of tables were compared
	Tables   []TableReport
}

// Equal tells whether no table differs.
func (r Report) Equal() bool {
	for _, t := range r.Tables {
		if !t.Equal {
			return false
		}
	}
	return true
}

// TableReport compares one table's rows, whatever their order.
type TableReport struct {
	Table    string
	Active   int64 // rows that are read today
	Replayed int64 // rows that the log gives
	Equal    bool
}

// sums is the content of a set of tables: row counts and sums of row hashes.
type sums map[string]tableSum

// tableSum is one table's.
type tableSum struct {
	Rows int64
	Hash string
}

// Verify replays a projection into scratch tables up to the position of the active ones and compares their rows. It
// runs beside everything else. Prepare, and the feed's start, come before it.
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
	got, err := r.sumReplayed(ctx, e, active.Position)
	if err != nil {
		return Report{}, fmt.Errorf("verify %s: %w", name, err)
	}
	report := Report{Name: name, Position: active.Position}
	for table, w := range want {
		g := got[table]
		report.Tables = append(report.Tables, TableReport{
			Table: table, Active: w.Rows, Replayed: g.Rows, Equal: w == g,
		})
	}
	return report, nil
}

// sumActive looks at the active tables and their position at one instant.
func (r *Runner) sumActive(ctx context.Context, e *entry) (active *generation, found sums, err error) {
	err = pgx.BeginTxFunc(ctx, r.cfg.DB.Owner, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			all, err := r.generations(ctx, tx)
			if err != nil {
				return err
			}
			for _, g := range all {
				if g.Name == e.name && g.State == genActive {
					active = g
				}
			}
			if active == nil || active.Version != e.p.Version() {
				return errors.New("the active tables are of another version; rebuild first")
			}
			found, err = sumTables(ctx, tx, active.Schema)
			return err
		})
	return active, found, err
}

// sumReplayed fills scratch tables up to a position and looks at them.
func (r *Runner) sumReplayed(ctx context.Context, e *entry, upTo uint64) (sums, error) {
	scratch, err := NewScratch(ctx, r.cfg.DB, e.p, "verify")
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

// until cuts a page after a position.
func until(page feed.Page, upTo uint64) feed.Page {
	n := len(page.Events)
	for n > 0 && page.Events[n-1].Position > upTo {
		n--
	}
	page.Events, page.UpTo = page.Events[:n], min(page.UpTo, upTo)
	return page
}

// sumTables counts and hashes the rows of all tables of a schema.
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
