// Package projectiontest checks a projection by its rows. It applies a story of events, compares all rows with a golden
// file, and demands the same rows when the events come one by one, all at once, or twice.
package projectiontest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// update is the flag -update of all tests that use this package.
var update = flag.Bool("update", false, "write the golden files")

// Story is a log of events for a test. Events are a minute apart; ids and positions are the same in every run.
type Story struct {
	meta events.Metadata
	list []events.Envelope
}

// NewStory begins an empty story of an organization. Its first event happens at the time given, caused by an operator.
func NewStory(org id.Organization, at time.Time) *Story {
	return &Story{meta: events.Metadata{OrgID: org, Actor: events.Actor{Kind: events.ActorOperator}, At: at.UTC()}}
}

// With changes the metadata of the events that are added later, for instance the time or the actor.
func (s *Story) With(change func(*events.Metadata)) *Story {
	change(&s.meta)
	return s
}

// Add appends events to a stream, each one minute after the event before it. Positions count from 1.
func (s *Story) Add(stream string, list ...events.Event) *Story {
	for _, e := range list {
		n := len(s.list) + 1
		meta := s.meta
		meta.EventID = id.Derive[id.Event]("story", fmt.Sprint(n))
		meta.CommandID = id.Derive[id.Command]("story", fmt.Sprint(n))
		s.list = append(s.list, events.Envelope{
			ID: meta.EventID, Stream: stream, Revision: s.revision(stream), Position: uint64(n), Type: e.EventType(),
			Event: e, Meta: meta,
		})
		s.meta.At = s.meta.At.Add(time.Minute)
	}
	return s
}

// revision counts the events of a stream, which is the revision of its next event.
func (s *Story) revision(stream string) (next uint64) {
	for _, e := range s.list {
		if e.Stream == stream {
			next++
		}
	}
	return next
}

// Events returns the story in the order of its positions; the caller must not change the list.
func (s *Story) Events() []events.Envelope { return s.list }

// Check compares the rows that a story gives with testdata/<name>.golden, and with the rows after other ways of
// applying it. `go test -update` writes the file. It returns the filled tables, for tests of queries.
func Check(t *testing.T, p runner.Projection, story *Story) (*postgres.DB, *runner.Scratch) {
	t.Helper()
	db := pgtest.New(t)
	handled := wanted(p, story.list)
	together := fill(t, db, p, "together", handled)
	dump := Dump(t, db, together.Schema())
	compareGolden(t, p, dump)

	singly := make([][]events.Envelope, len(handled))
	for i := range handled {
		singly[i] = handled[i : i+1]
	}
	ways := map[string][][]events.Envelope{"singly": singly, "twice": {handled, handled}}
	for _, way := range []string{"singly", "twice"} {
		other := Dump(t, db, fill(t, db, p, way, ways[way]...).Schema())
		if diff := cmp.Diff(dump, other); diff != "" {
			t.Errorf("%s applied %s differs (-together +%s):\n%s", p.Name(), way, way, diff)
		}
	}
	return db, together
}

// wanted drops events of types that the projection does not handle, as the runner does.
func wanted(p runner.Projection, list []events.Envelope) (handled []events.Envelope) {
	types := map[string]bool{}
	for _, name := range p.Handles() {
		types[name] = true
	}
	for _, e := range list {
		if p.Handles() == nil || types[e.Type] {
			handled = append(handled, e)
		}
	}
	return handled
}

// fill creates new tables under a name and applies batches to them, one transaction each.
func fill(
	t *testing.T, db *postgres.DB, p runner.Projection, name string, batches ...[]events.Envelope,
) *runner.Scratch {
	t.Helper()
	s, err := runner.NewScratch(t.Context(), db, p, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range batches {
		if err := s.Apply(t.Context(), batch); err != nil {
			t.Fatalf("apply to %s (%s): %v", p.Name(), name, err)
		}
	}
	if err := s.Unmerged(); err != nil {
		t.Errorf("apply to %s (%s): merged rows are refused: %v", p.Name(), name, err)
	}
	return s
}

// compareGolden compares the rows with the golden file; with -update it writes the file instead.
func compareGolden(t *testing.T, p runner.Projection, dump string) {
	t.Helper()
	path := filepath.Join("testdata", p.Name()+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(dump), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: go test -update", err)
	}
	if diff := cmp.Diff(string(golden), dump); diff != "" {
		t.Errorf("%s (-golden +got):\n%s", p.Name(), diff)
	}
}

// Dump is every row of every table of a schema as JSON, sorted by table and text, so that the order of writing does not
// matter.
func Dump(t testing.TB, db *postgres.DB, schema string) string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	rows, _ := db.Owner.Query(ctx, `select tablename::text from pg_tables where schemaname = $1 order by 1`, schema)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("list tables of %s: %v", schema, err)
	}
	var b strings.Builder
	for _, table := range tables {
		rows, _ := db.Owner.Query(ctx,
			`select row_to_json(t)::text as line from `+pgx.Identifier{schema, table}.Sanitize()+` t order by 1`)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("dump %s.%s: %v", schema, table, err)
		}
		fmt.Fprintf(&b, "== %s (%d)\n%s\n", table, len(lines), strings.Join(lines, "\n"))
	}
	return b.String()
}

// Prepare has PostgreSQL check every statement against the projection's tables, without running it. {schema} stands for
// their schema; arguments may have names.
func Prepare(t *testing.T, p runner.Projection, statements ...string) {
	t.Helper()
	db := pgtest.New(t)
	s, err := runner.NewScratch(t.Context(), db, p, "prepare")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Owner.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, sql := range statements {
		text, _, err := pgx.NamedArgs{}.RewriteQuery(t.Context(), conn.Conn(), s.SQL(sql), nil)
		if err != nil {
			t.Errorf("names of arguments: %v\n%s", err, sql)
		}
		if _, err := conn.Conn().Prepare(t.Context(), "", text); err != nil {
			t.Errorf("prepare: %v\n%s", err, sql)
		}
	}
}
