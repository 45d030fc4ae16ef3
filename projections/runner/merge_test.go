package runner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// wrote is an event that has statements with their arguments, each by the name of its text.
type wrote struct{ list []written }

// written is one statement of such an event.
type written struct {
	text string
	args []any
}

func (wrote) EventType() string { return "test.Sold.v1" }

// texts are the statements of the projection ledger, by name.
var texts = map[string]string{
	"add":     `insert into {schema}.added (org_id, n, note, at, share) values ($1, $2, $3, $4, $5)`,
	"keep":    `insert into {schema}.kept (id, first, made, facts) values ($1, $2, 'new', $3) on conflict do nothing`,
	"keep id": `insert into {schema}.kept (id, first, made) values ($1, $2, 'it') on conflict (id) do nothing`,
	"set": `insert into {schema}.held as h (key, part, n, at, raw) values ($1, $2, $3, $4, $5)
		on conflict (part, key) do update set n = excluded.n, at = excluded.at, raw = coalesce(excluded.raw, h.raw)
		where h.n is null or h.n < excluded.n`,
	"sum": `insert into {schema}.held as h (key, part, n) values ($1, $2, $3)
		on conflict (key, part) do update set n = h.n + excluded.n`,
	"list":    `insert into {schema}.lists (id, names) values ($1, $2) on conflict (id) do nothing`,
	"raise":   `update {schema}.held set n = n + $2 where key = $1`,
	"copy":    `insert into {schema}.added (n, note) select n, 'copy' from {schema}.held where key = $1`,
	"drop":    `delete from {schema}.kept where first = $1`,
	"dated":   `insert into {schema}.dated values ($1::date, $2, true, -1, $3)`,
	"numbers": `insert into {schema}.numbered (note) values ($1)`,
}

// ledger executes what its events say.
type ledger struct{ sales }

// DDL has tables with a key of one column and of two, with none, and one whose rows are numbered.
func (ledger) DDL() string {
	return `create table {schema}.sales (org_id uuid);
		create table {schema}.added (org_id uuid, n int check (n < 1000), note text, at timestamptz,
			share double precision);
		create table {schema}.kept (id uuid primary key, first text not null, made text, facts jsonb);
		create table {schema}.held (key text, part int, n bigint, at timestamptz, raw bytea,
			primary key (key, part));
		create table {schema}.lists (id uuid primary key, names text[]);
		create table {schema}.dated (on_day date, price numeric(6, 2), yes boolean, n int, note varchar(5));
		create table {schema}.numbered (id bigint generated always as identity, note text)`
}

// Apply queues the statements.
func (ledger) Apply(w *runner.Writes, e events.Envelope) error {
	v, _ := e.Event.(wrote)
	for _, s := range v.list {
		if s.text == "refuse" {
			return errors.New("cannot be written")
		}
		w.Exec(texts[s.text], append([]any(nil), s.args...)...)
	}
	return nil
}

// ids are few, so that keys come again.
var ids = rapid.Map(rapid.IntRange(0, 5), func(i int) id.Plan { return id.Derive[id.Plan]("merge", fmt.Sprint(i)) })

// maybe is a value, or now and then nil.
func maybe[T any](of *rapid.Generator[T]) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			return nil
		}
		return of.Draw(t, "value")
	})
}

// words are texts that need care in an array.
var words = rapid.SampledFrom([]string{"", "a", "b", "null", `"`, `\`, "{,}", "ü\n", "a\x00b"})

// numbers are small, but for one that the database refuses now and then.
func numbers(bad bool) *rapid.Generator[int] {
	return rapid.Custom(func(t *rapid.T) int {
		if bad && rapid.IntRange(0, 60).Draw(t, "bad") == 0 {
			return 5000
		}
		return rapid.IntRange(-5, 50).Draw(t, "n")
	})
}

// times are instants of one day.
var times = rapid.Map(rapid.IntRange(0, 9), func(i int) time.Time { return noon.Add(time.Duration(i) * time.Hour) })

// draw makes arguments for a text. bad lets some be refused by the database, or by the driver.
func draw(t *rapid.T, text string, bad bool) written {
	w, args := written{text: text}, func(of ...*rapid.Generator[any]) (list []any) {
		for _, g := range of {
			list = append(list, g.Draw(t, text))
		}
		return list
	}
	facts := maybe(rapid.Map(words, func(text string) []byte {
		b, _ := json.Marshal(map[string]string{"text": text}) //nolint:errchkjson // texts
		return b
	}))
	key, n := rapid.Custom(func(t *rapid.T) any { return words.Draw(t, "key") }), maybe(numbers(bad))
	switch text {
	case "add":
		w.args = args(maybe(ids), n, maybe(words), maybe(times), maybe(rapid.Float64()))
	case "keep":
		w.args = args(maybe(ids).Filter(func(v any) bool { return bad || v != nil }), key, facts)
	case "keep id":
		w.args = args(ids.AsAny(), key)
	case "set":
		w.args = args(key, numbers(false).AsAny(), n, maybe(times), maybe(rapid.SliceOf(rapid.Byte())))
	case "sum":
		w.args = args(key, numbers(false).AsAny(), n)
	case "list":
		w.args = args(ids.AsAny(), maybe(rapid.SliceOf(words)))
	case "raise":
		w.args = args(key, n)
	case "copy", "drop":
		w.args = args(key)
	case "dated":
		w.args = args(maybe(times), n, maybe(rapid.SampledFrom([]string{"a", "long  "})))
	}
	if bad && rapid.IntRange(0, 200).Draw(t, "unencodable") == 0 && len(w.args) > 0 {
		w.args[len(w.args)-1] = make(chan int)
	}
	return w
}

// story draws events, most of which have a few statements of a few texts, so that there are runs.
func story(t *rapid.T, bad bool) []events.Envelope {
	all := []string{"add", "keep", "keep id", "set", "sum", "list", "raise", "copy", "drop", "dated"}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 4, rapid.ID).Draw(t, "texts")
	s := projectiontest.NewStory(orgA, noon)
	for range rapid.IntRange(1, 60).Draw(t, "events") {
		var e wrote
		for range rapid.IntRange(0, 3).Draw(t, "statements") {
			e.list = append(e.list, draw(t, rapid.SampledFrom(some).Draw(t, "text"), bad))
		}
		if bad && rapid.IntRange(0, 200).Draw(t, "refused") == 0 {
			e.list = append(e.list, written{text: "refuse"})
		}
		s = s.Add("sale-1", e)
	}
	return s.Events()
}

// scratch makes tables of the ledger.
func scratch(t *testing.T, db *postgres.DB, name string) *runner.Scratch {
	t.Helper()
	s, err := runner.NewScratch(t.Context(), db, ledger{}, name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// empty deletes all rows.
func empty(t *testing.T, db *postgres.DB, s *runner.Scratch) {
	t.Helper()
	_, err := db.Owner.Exec(t.Context(), s.SQL(`truncate {schema}.added, {schema}.kept, {schema}.held, {schema}.lists,
		{schema}.dated, {schema}.numbered restart identity`))
	if err != nil {
		t.Fatal(err)
	}
}

// TestMerge_GivesTheRowsOfOneByOne compares tables whose rows were merged with those of the same events, each statement
// sent as it was queued. The events in one half of the cases can all be applied; in the other half some are poison.
func TestMerge_GivesTheRowsOfOneByOne(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	merged, plain := scratch(t, db, "merged"), scratch(t, db, "plain")
	plain.Apart()
	rapid.Check(t, func(rt *rapid.T) {
		empty(t, db, merged)
		empty(t, db, plain)
		bad := rapid.Bool().Draw(rt, "bad")
		list := story(rt, bad)
		for len(list) > 0 {
			n := rapid.IntRange(1, len(list)).Draw(rt, "page")
			if n < len(list) && rapid.Bool().Draw(rt, "large") {
				n = len(list)
			}
			of, with := plain.Apply(t.Context(), list[:n]), merged.Apply(t.Context(), list[:n])
			if fmt.Sprint(of) != fmt.Sprint(with) || !bad && of != nil {
				rt.Fatalf("one by one: %v\nmerged: %v", of, with)
			}
			list = list[n:]
			if of != nil {
				break
			}
		}
		want, got := projectiontest.Dump(t, db, plain.Schema()), projectiontest.Dump(t, db, merged.Schema())
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
		if why := merged.Unmerged(); why != nil {
			rt.Fatalf("rows are not merged any more: %v", why)
		}
	})
}

// commands counts the statements that have added the rows of a table, in one transaction.
func commands(t *testing.T, db *postgres.DB, s *runner.Scratch, table string) (rows, commands int) {
	t.Helper()
	err := db.Owner.QueryRow(t.Context(),
		s.SQL(`select count(*), count(distinct cmin::text) from {schema}.`+table)).Scan(&rows, &commands)
	if err != nil {
		t.Fatal(err)
	}
	return rows, commands
}

// TestMerge_RunsEndWhereOrderCounts counts statements: of tables of their own, of a table that two texts write, of keys
// that come again, and with others in between.
func TestMerge_RunsEndWhereOrderCounts(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	plan := func(i int) id.Plan { return id.Derive[id.Plan]("merge", fmt.Sprint(i)) }
	add := func(int) written { return written{"add", []any{orgA, 1, "a", noon, 0.5}} }
	set := func(i int) written { return written{"set", []any{"a", i % 5, i, noon, []byte("x")}} }
	keep := func(i int) written { return written{"keep", []any{plan(i), "a", nil}} }
	keepID := func(i int) written { return written{"keep id", []any{plan(i), "a"}} }
	list := func(i int) written { return written{"list", []any{plan(i), []string{"a"}}} }
	for _, c := range []struct {
		name, table string
		rows, runs  int
		each        func(i int) []written
	}{
		{"one text", "added", 20, 1, func(i int) []written { return []written{add(i)} }},
		{"two tables", "added", 20, 1, func(i int) []written { return []written{add(i), set(i)} }},
		{"keys that come again", "held", 5, 1, func(i int) []written { return []written{add(i), set(i)} }},
		{"a text between", "added", 20, 20, func(i int) []written {
			return []written{add(i), {"raise", []any{"a", 1}}}
		}},
		{"two texts of a table", "kept", 20, 20, func(i int) []written {
			if i%2 == 0 {
				return []written{keep(i)}
			}
			return []written{keepID(i)}
		}},
		{"two texts of a table in turn", "kept", 20, 2, func(i int) []written {
			if i < 10 {
				return []written{keep(i)}
			}
			return []written{keepID(i)}
		}},
		{"much text", "added", 20, 4, func(int) []written { // up to a mebibyte and a row
			return []written{{"add", []any{orgA, 1, strings.Repeat("a", 200_000), noon, 0.5}}}
		}},
		{"lists", "lists", 20, 20, func(i int) []written { return []written{list(i)} }},
		{"numbered rows", "numbered", 20, 20, func(int) []written { return []written{{"numbers", []any{"a"}}} }},
		{"a value in another form", "dated", 20, 20, func(int) []written {
			return []written{{"dated", []any{"2026-03-01", "1.5", "a"}}}
		}},
	} {
		s := scratch(t, db, "runs")
		story := projectiontest.NewStory(orgA, noon)
		for i := range 20 {
			story = story.Add("sale-1", wrote{c.each(i)})
		}
		if err := s.Apply(t.Context(), story.Events()); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if rows, n := commands(t, db, s, c.table); rows != c.rows || n != c.runs {
			t.Errorf("%s: %d rows were added by %d statements, want %d by %d", c.name, rows, n, c.rows, c.runs)
		}
		if err := s.Unmerged(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// beside adds what makes a table's rows depend on more than their values.
type beside struct {
	ledger
	ddl string
}

// DDL is that of the ledger and more.
func (b beside) DDL() string { return b.ledger.DDL() + ";" + b.ddl }

func TestMerge_RowsWithConsequencesAreApart(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for name, ddl := range map[string]string{
		"trigger": `create function {schema}.count() returns trigger language plpgsql as
			'begin new.n := (select count(*) from {schema}.added); return new; end';
			create trigger counts before insert on {schema}.added for each row execute function {schema}.count()`,
		"foreign key": `alter table {schema}.added add parent int unique,
			add foreign key (n) references {schema}.added (parent)`,
		"default": `alter table {schema}.added add id float default random()`,
		"rule": `create rule twice as on insert to {schema}.added
			do also insert into {schema}.dated (n) values (new.n)`,
		"identity": `alter table {schema}.added add id int generated by default as identity`,
		"view": `alter table {schema}.added rename to added_rows;
			create view {schema}.added as select * from {schema}.added_rows`,
	} {
		s, err := runner.NewScratch(t.Context(), db, beside{ddl: ddl}, "beside")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		story, table := projectiontest.NewStory(orgA, noon), "added"
		if name == "view" {
			table = "added_rows"
		}
		for range 20 {
			story = story.Add("sale-1", wrote{[]written{{"add", []any{orgA, nil, "a", noon, nil}}}})
		}
		if err := s.Apply(t.Context(), story.Events()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if rows, n := commands(t, db, s, table); rows != 20 || n != 20 {
			t.Errorf("%s: %d rows were added by %d statements", name, rows, n)
		}
	}
}

// TestMerge_IsGivenUpWhenTheDatabaseRefusesItAlone has keys that are equal although their octets differ: 0 and -0.
func TestMerge_IsGivenUpWhenTheDatabaseRefusesItAlone(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	s, err := runner.NewScratch(t.Context(), db, priced{}, "priced")
	if err != nil {
		t.Fatal(err)
	}
	story := projectiontest.NewStory(orgA, noon)
	for i := range 20 {
		story = story.Add("sale-1", sold{"zero", i})
	}
	for range 2 {
		if err := s.Apply(t.Context(), story.Events()); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := db.Owner.QueryRow(t.Context(), s.SQL(`select n from {schema}.sales`)).Scan(&n); err != nil || n != 19 {
		t.Errorf("the last price of one key is of event %d, %v", n, err)
	}
	if err := s.Unmerged(); postgres.Code(err) != "21000" {
		t.Errorf("merging was given up for %v", err)
	}
}

// priced has a key whose values have several forms.
type priced struct{ sales }

// DDL has one table.
func (priced) DDL() string {
	return `create table {schema}.sales (org_id uuid, price double precision primary key, n int)`
}

// Apply sets one row.
func (priced) Apply(w *runner.Writes, e events.Envelope) error {
	v, _ := e.Event.(sold)
	w.Exec(`insert into {schema}.sales (org_id, price, n) values (@org, @price, @n)
		on conflict (price) do update set n = excluded.n`,
		pgx.NamedArgs{"org": e.Meta.OrgID, "price": math.Copysign(0, float64(v.N%2)-1), "n": v.N})
	return nil
}

// listed adds a row for each event; the database refuses one whose number is too high.
type listed struct{ sales }

// DDL has one table.
func (listed) DDL() string {
	return `create table {schema}.sales (org_id uuid not null, item text not null, n int check (n < 1000))`
}

// Apply adds one row.
func (listed) Apply(w *runner.Writes, e events.Envelope) error {
	v, _ := e.Event.(sold)
	w.Exec(`insert into {schema}.sales values ($1, $2, $3)`, e.Meta.OrgID, v.Item, v.N)
	return nil
}

// TestMerge_StopsAtThePoisonousEventOfAPage has pages of tables with a checkpoint: one of many rows, of which one is
// refused, and one of too few for a run.
func TestMerge_StopsAtThePoisonousEventOfAPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, statements int }{{40, 1}, {7, 7}} {
		b := newBench(t)
		last := b.sell("apple", c.before)
		r := b.start(t, listed{})
		if err := reach(t, r, "sales", last); err != nil {
			t.Fatal(err)
		}
		var rows, statements int
		sql := r.Views().SQL("sales", `select count(*), count(distinct cmin::text) from {schema}.sales`)
		if err := b.db.Owner.QueryRow(t.Context(), sql).Scan(&rows, &statements); err != nil {
			t.Fatal(err)
		}
		if rows != c.before || statements != c.statements {
			t.Errorf("%d rows were added by %d statements, want %d by %d", rows, statements, c.before, c.statements)
		}
		r.Stop()
		last = b.sell("pear", 20)
		bad := b.log.Append(events.Metadata{OrgID: orgA}, sold{"pear", 5000})
		b.sell("pear", 20)
		r = b.start(t, listed{})
		s := until(t, r, "stopped", func(s runner.Status) bool { return s.State == runner.StateStopped })
		if s.Position != last || !strings.Contains(s.Error, fmt.Sprint("position ", bad)) {
			t.Errorf("stopped at %d, want %d: %s", s.Position, last, s.Error)
		}
		if err := b.db.Owner.QueryRow(t.Context(), sql).Scan(&rows, &statements); err != nil || rows != c.before+20 {
			t.Errorf("%d rows before the event that is refused, want %d, %v", rows, c.before+20, err)
		}
	}
}
