package runner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// idsIn writes ids into columns of every type that can hold them.
type idsIn struct{ sales }

// DDL has a column for each type of id column, and two for zero ids.
func (idsIn) DDL() string {
	return `create table {schema}.sales
		(org_id uuid, as_uuid uuid, as_text text, many uuid[], none uuid, none_text text)`
}

// Apply writes the organization's id into each column, and a zero id into the last two.
func (idsIn) Apply(w *runner.Writes, e events.Envelope) error {
	var none id.Organization
	org := e.Meta.OrgID
	w.Exec(`insert into {schema}.sales values (@id, @uuid, @text, @many, @none, @no_text)`, pgx.NamedArgs{
		"id": org, "uuid": org.UUID(), "text": org, "many": []id.Organization{org}, "none": none, "no_text": none,
	})
	return nil
}

func TestWrites_TakeIdsForColumnsOfEveryType(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	scratch, err := runner.NewScratch(t.Context(), db, idsIn{}, "ids")
	if err != nil {
		t.Fatal(err)
	}
	if err := scratch.Apply(t.Context(),
		projectiontest.NewStory(orgA, noon).Add("sale-1", sold{}).Events()); err != nil {
		t.Fatal(err)
	}
	a := `"` + orgA.String() + `"`
	want := "== sales (1)\n{\"org_id\":" + a + ",\"as_uuid\":" + a + ",\"as_text\":" + a + ",\"many\":[" + a +
		"],\"none\":null,\"none_text\":null}\n"
	if diff := cmp.Diff(want, projectiontest.Dump(t, db, scratch.Schema())); diff != "" {
		t.Error(diff)
	}
}

// onceIn writes a row for each stream, and one more after each event of a stream that ends in "anew".
type onceIn struct{ sales }

// DDL has a row for each statement that was executed.
func (onceIn) DDL() string { return `create table {schema}.sales (org_id uuid, stream text)` }

// Apply writes the stream.
func (onceIn) Apply(w *runner.Writes, e events.Envelope) error {
	w.Once(e.Stream, `insert into {schema}.sales values ($1, $2)`, e.Meta.OrgID, e.Stream)
	if strings.HasSuffix(e.Stream, "anew") {
		w.Anew()
	}
	return nil
}

func TestWrites_OnceInATransactionUntilAnew(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	scratch, err := runner.NewScratch(t.Context(), db, onceIn{}, "once")
	if err != nil {
		t.Fatal(err)
	}
	story := projectiontest.NewStory(orgA, noon)
	for _, stream := range []string{"sale-1", "sale-2", "sale-1", "sale-1", "sale-anew", "sale-1", "sale-1"} {
		story = story.Add(stream, sold{})
	}
	if err := scratch.Apply(t.Context(), story.Events()); err != nil {
		t.Fatal(err)
	}
	want := "== sales (4)\n"
	for _, stream := range []string{"sale-1", "sale-1", "sale-2", "sale-anew"} {
		want += "{\"org_id\":\"" + orgA.String() + "\",\"stream\":\"" + stream + "\"}\n"
	}
	if diff := cmp.Diff(want, projectiontest.Dump(t, db, scratch.Schema())); diff != "" {
		t.Error(diff)
	}
}

// textsIn writes texts with NUL, as strangers may send them.
type textsIn struct{ sales }

// DDL has a column for each type of text column.
func (textsIn) DDL() string {
	return `create table {schema}.sales (org_id uuid, one text, maybe text, many text[], document jsonb)`
}

// Apply writes the same text into each column.
func (textsIn) Apply(w *runner.Writes, e events.Envelope) error {
	text := "a\x00b"
	w.Exec(`insert into {schema}.sales values ($1, $2, $3, $4, $5)`, e.Meta.OrgID, text, &text, []string{text},
		[]byte(`["a\u0000b"]`))
	return nil
}

func TestWrites_ATextWithNULStopsNothing(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	scratch, err := runner.NewScratch(t.Context(), db, textsIn{}, "texts")
	if err != nil {
		t.Fatal(err)
	}
	if err := scratch.Apply(t.Context(),
		projectiontest.NewStory(orgA, noon).Add("sale-1", sold{}).Events()); err != nil {
		t.Fatal(err)
	}
	a := `"a` + "\uFFFD" + `b"`
	want := "== sales (1)\n{\"org_id\":\"" + orgA.String() + "\",\"one\":" + a + ",\"maybe\":" + a + ",\"many\":[" + a +
		"],\"document\":[" + a + "]}\n"
	if diff := cmp.Diff(want, projectiontest.Dump(t, db, scratch.Schema())); diff != "" {
		t.Error(diff)
	}
}

// namesIn uses named arguments and leaves one out for the second organization.
type namesIn struct{ sales }

// DDL has a list and a text.
func (namesIn) DDL() string {
	return `create table {schema}.sales (org_id uuid, many text[], note text)`
}

// Apply writes a text with NUL by name, which must be converted as by position.
func (namesIn) Apply(w *runner.Writes, e events.Envelope) error {
	args := pgx.NamedArgs{"org": e.Meta.OrgID, "many": []string{"a\x00b"}, "note": "c"}
	if e.Meta.OrgID == orgB {
		delete(args, "note")
	}
	w.Exec(`insert into {schema}.sales values (@org, @many, @note)`, args)
	return nil
}

func TestWrites_TakeArgumentsByName(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	scratch, err := runner.NewScratch(t.Context(), db, namesIn{}, "names")
	if err != nil {
		t.Fatal(err)
	}
	story := projectiontest.NewStory(orgA, noon).Add("sale-1", sold{}, sold{})
	if err := scratch.Apply(t.Context(), story.Events()); err != nil {
		t.Fatal(err)
	}
	row := `{"org_id":"` + orgA.String() + `","many":["a` + "\uFFFD" + `b"],"note":"c"}` + "\n"
	if diff := cmp.Diff("== sales (2)\n"+row+row, projectiontest.Dump(t, db, scratch.Schema())); diff != "" {
		t.Error(diff)
	}
	forgotten := projectiontest.NewStory(orgB, noon).Add("sale-2", sold{})
	if err := scratch.Apply(t.Context(), forgotten.Events()); err == nil || !strings.Contains(err.Error(), "note") {
		t.Errorf("a forgotten argument: %v", err)
	}
}
