package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// When rows become one statement.
const (
	mergeFrom        = 8       // rows in a run: fewer are as fast alone
	mergeFromScratch = 2       // in tables that are compared with others, so that runs are compared too
	mergeOctets      = 1 << 20 // after so many in a run it ends: the server keeps one in memory
)

// queued is a statement that Apply has queued, with its arguments.
type queued struct {
	text   string
	args   []any
	insert *insert // nil = is sent as it is
}

// insert is a statement that may be merged, and the run of it that is being gathered
// (docs/rules/engine.md#merged-inserts).
type insert struct {
	postgres.Insert
	judged bool   // the server was asked whether the rule holds
	merged string // the text for many rows; "" = is never merged

	columns []*postgres.Column
	rows    []int // of the run, as indexes of the queue
	octets  int
	seen    map[string]struct{} // keys of the run's rows
}

// plainSQL says whether adding a row to a table does nothing else: no trigger, no foreign key, no rule and no default
// that a function gives.
const plainSQL = `
select c.relkind = 'r' and not c.relhastriggers and not c.relhasrules
	and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attidentity <> '')
	and not exists (select from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
		where d.adrelid = c.oid and a.attgenerated = '' and pg_get_expr(d.adbin, d.adrelid) like '%(%')
from pg_class c where c.oid = $1::text::regclass`

// judge finds out whether a statement can be merged, and the types of its parameters. They are those that the server
// gives the statement for one row, so that each value is encoded and read in the same way.
func (in *insert) judge(ctx context.Context, tx pgx.Tx, text string) error {
	of, err := tx.Conn().PgConn().Prepare(ctx, "", text, nil)
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	var plain bool
	if err := tx.QueryRow(ctx, plainSQL, in.Table).Scan(&plain); err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	in.judged = true
	var types []string
	for _, oid := range of.ParamOIDs {
		c, ok := postgres.NewColumn(oid)
		if !ok {
			return nil
		}
		in.columns, types = append(in.columns, c), append(types, c.Type())
	}
	if plain && len(types) == in.Params {
		in.merged = in.Merged(types)
	}
	return nil
}

// merger makes runs of a queue of statements. Rows go into different tables in any order; every other statement comes
// after all rows before it, and before all behind it.
type merger struct {
	from  int // rows that are a run
	types *pgtype.Map
	queue []queued
	out   pgx.Batch
	open  []*insert // with rows, in the order of their first rows
	row   []byte    // the values of a row, encoded
	ends  []int     // of each value in row
	runs  int       // statements that stand for several
}

// merge gives the statements of a queue for one batch.
func merge(ctx context.Context, tx pgx.Tx, queue []queued, from int) (*merger, error) {
	count := map[*insert]int{}
	for _, q := range queue {
		if q.insert == nil {
			continue
		}
		if count[q.insert]++; count[q.insert] == 1 {
			q.insert.reset()
		}
		if count[q.insert] == from && !q.insert.judged {
			if err := q.insert.judge(ctx, tx, q.text); err != nil {
				return nil, err
			}
		}
	}
	m := &merger{from: from, types: tx.Conn().TypeMap(), queue: queue}
	for i, q := range queue {
		if count[q.insert] < from || !m.gather(i) {
			m.flush()
			m.out.Queue(q.text, q.args...)
		}
	}
	m.flush()
	return m, nil
}

// gather adds a row to the run of its statement. It returns false for one that has to be sent as it is.
func (m *merger) gather(i int) bool {
	in := m.queue[i].insert
	if in.merged == "" || !m.encode(in, m.queue[i].args) {
		return false
	}
	for _, other := range m.open {
		if other != in && other.Table == in.Table {
			m.end(other)
			break
		}
	}
	key, full := m.key(in), in.octets > mergeOctets
	if _, again := in.seen[key]; full || in.Update && again {
		m.end(in)
	}
	if in.Update {
		in.seen[key] = struct{}{}
	}
	if len(in.rows) == 0 {
		m.open = append(m.open, in)
	}
	in.rows, in.octets = append(in.rows, i), in.octets+len(m.row)
	at := 0
	for n, end := range m.ends {
		in.columns[n].Add(m.row[at:end])
		at = end
	}
	return true
}

// encode encodes the values of a row.
func (m *merger) encode(in *insert, args []any) bool {
	if len(args) != len(in.columns) {
		return false
	}
	m.row, m.ends = m.row[:0], m.ends[:0]
	for i, arg := range args {
		if _, rewrites := arg.(pgx.QueryRewriter); rewrites {
			return false
		}
		row, err := in.columns[i].AppendElement(m.types, arg, m.row)
		if err != nil {
			return false
		}
		m.row, m.ends = row, append(m.ends, len(row))
	}
	return true
}

// key is the key of the encoded row, where a key counts.
func (m *merger) key(in *insert) string {
	var key []byte
	for _, n := range in.Keys {
		from := 0
		if n > 0 {
			from = m.ends[n-1]
		}
		key = append(key, m.row[from:m.ends[n]]...)
	}
	return string(key)
}

// end queues the run of a statement.
func (m *merger) end(in *insert) {
	m.open = slices.DeleteFunc(m.open, func(open *insert) bool { return open == in })
	if len(in.rows) < m.from {
		for _, i := range in.rows {
			m.out.Queue(m.queue[i].text, m.queue[i].args...)
		}
		in.reset()
		return
	}
	arrays := make([]any, len(in.columns))
	for i, c := range in.columns {
		arrays[i] = c.Array()
	}
	m.out.Queue(in.merged, arrays...)
	m.runs++
	in.reset()
}

// flush queues all runs.
func (m *merger) flush() {
	for len(m.open) > 0 {
		m.end(m.open[0])
	}
}

// reset begins a new run.
func (in *insert) reset() {
	for _, c := range in.columns {
		c.Reset()
	}
	in.rows, in.octets = in.rows[:0], 0
	if in.seen == nil {
		in.seen = map[string]struct{}{}
	}
	clear(in.seen)
}
