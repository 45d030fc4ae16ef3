package benchtest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// rowBytes is the size of an event's body, in bytes, in the limits that write.
const rowBytes = 400

// Bare measures the database of a node without the node: no program on the log can be faster. It uses the tables of the
// node's schema and one like them.
type Bare struct {
	pool   *pgxpool.Pool
	schema string
	next   int64 // position in the bare table
}

// NewBare makes an empty table bench_bare like the node's table of events, in the same schema.
func NewBare(b *testing.B, pool *pgxpool.Pool, schema string) *Bare {
	b.Helper()
	table := pgx.Identifier{schema, "bench_bare"}.Sanitize()
	_, err := pool.Exec(b.Context(),
		`create table `+table+` (like `+pgx.Identifier{schema, "events"}.Sanitize()+` including all)`)
	if err != nil {
		b.Fatal(err)
	}
	return &Bare{pool: pool, schema: schema}
}

// AppendRate is the events per second when one connection commits groups of the given size.
func (l *Bare) AppendRate(b *testing.B, group int) float64 {
	b.Helper()
	table := pgx.Identifier{l.schema, "bench_bare"}.Sanitize()
	data := bytes.Repeat([]byte("x"), rowBytes)
	return float64(group) * Rate(b, 1, func(ctx context.Context, _ int) error {
		_, err := l.pool.Exec(ctx, `insert into `+table+
			` (position, stream_id, revision, event_id, type, is_json, created, metadata, data)
			select $1::bigint + n, n, $1::bigint + n, gen_random_uuid(), 'bench', true, 0, ''::bytea,
				$2::bytea from generate_series(1, $3::int) n`,
			l.next, data, group)
		l.next += int64(group)
		return err
	})
}

// ReadRate is the events per second when one connection reads the node's table to its end, in pages of 1,000 rows.
func (l *Bare) ReadRate(b *testing.B) float64 {
	b.Helper()
	table := pgx.Identifier{l.schema, "events"}.Sanitize()
	began, count, last := time.Now(), 0, int64(0)
	for {
		rows, err := l.pool.Query(b.Context(),
			`select position, stream_id, revision, event_id, type, is_json, created, metadata, data
			from `+table+` where position > $1 order by position limit 1000`, last)
		if err != nil {
			b.Fatal(err)
		}
		var (
			kind                      string
			stream, revision, created int64
			event                     [16]byte
			json                      bool
			metadata, data            []byte
		)
		tag, err := pgx.ForEachRow(rows,
			[]any{&last, &stream, &revision, &event, &kind, &json, &created, &metadata, &data},
			func() error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		if tag.RowsAffected() == 0 {
			return float64(count) / time.Since(began).Seconds()
		}
		count += int(tag.RowsAffected())
	}
}
