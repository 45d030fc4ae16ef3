package benchtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

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

// Row is the part of an event that its writer chooses.
type Row struct {
	Kind           string
	Data, Metadata []byte
}

// bareInsert and bareInsertOne are the statements by which the node commits a group and a single event, without its
// check of holder and epoch.
var (
	bareInsert = postgres.MustStatement(bareInto+`
	select * from unnest(@positions::bigint[], @streams::bigint[], @revisions::bigint[], @records::bytea[])`,
		"positions", "streams", "revisions", "records")
	bareInsertOne = postgres.MustStatement(bareInto+`
	values (@position, @stream, @revision, @record)`, "position", "stream", "revision", "record")
)

// bareInto names the table and its columns.
const bareInto = `
	insert into {table} (position, stream_id, revision, record)`

// AppendRate is the events per second when one connection commits groups of the given size, each event in another
// stream, as fast as it can.
func (l *Bare) AppendRate(b *testing.B, group int, row Row) float64 {
	b.Helper()
	commit, release := l.Committing(b, group, row)
	defer release()
	return float64(group) * Rate(b, 1, func(ctx context.Context, _ int) error { return commit(ctx) })
}

// Committing gives a function that commits a group of the given size, each event in another stream. It has a connection
// to itself until release.
func (l *Bare) Committing(b *testing.B, group int, row Row) (commit func(ctx context.Context) error, release func()) {
	b.Helper()
	conn, err := l.pool.Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	postgres.Prepare(conn.Conn())
	statement, arguments := bareInsert, l.group
	if group == 1 {
		statement, arguments = bareInsertOne, l.one
	}
	sql := strings.ReplaceAll(statement.Text, "{table}", pgx.Identifier{l.schema, "bench_bare"}.Sanitize())
	return func(ctx context.Context) error {
		args, err := statement.Arguments(arguments(group, row))
		if err == nil {
			_, err = conn.Exec(ctx, sql, args...)
		}
		return err
	}, conn.Release
}

// storedBytes is how many bytes the record of an event has beside its type, its metadata and its data.
const storedBytes = 47

// record has the bytes of a record of the node, of which an id is never the same. Nobody reads the others.
func (r Row) record() []byte {
	b, id := make([]byte, storedBytes, storedBytes+len(r.Kind)+len(r.Metadata)+len(r.Data)), uuid.New()
	copy(b, id[:])
	return append(append(append(b, r.Kind...), r.Metadata...), r.Data...)
}

// one has the columns of the next event.
func (l *Bare) one(_ int, row Row) pgx.NamedArgs {
	l.next++
	return pgx.NamedArgs{"position": l.next, "stream": int64(0), "revision": l.next, "record": row.record()}
}

// group has the columns of the next n events, each of them in another stream.
func (l *Bare) group(n int, row Row) pgx.NamedArgs {
	var positions, streams, revisions []int64
	var records [][]byte
	for stream := range n {
		l.next++
		positions, revisions = append(positions, l.next), append(revisions, l.next)
		streams, records = append(streams, int64(stream)), append(records, row.record())
	}
	return pgx.NamedArgs{"positions": positions, "streams": streams, "revisions": revisions, "records": records}
}

// ReadRate is the events per second when one connection reads the node's table to its end, in pages of 1,000 rows.
func (l *Bare) ReadRate(b *testing.B) float64 {
	b.Helper()
	table := pgx.Identifier{l.schema, "events"}.Sanitize()
	began, count, last := time.Now(), 0, int64(0)
	for {
		rows, err := l.pool.Query(b.Context(),
			`select position, record from `+table+` where position > $1 order by position limit 1000`, last)
		if err != nil {
			b.Fatal(err)
		}
		var record []byte
		tag, err := pgx.ForEachRow(rows, []any{&last, &record}, func() error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		if tag.RowsAffected() == 0 {
			return float64(count) / time.Since(began).Seconds()
		}
		count += int(tag.RowsAffected())
	}
}
