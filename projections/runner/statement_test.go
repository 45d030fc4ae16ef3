package runner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestStatements_NamesBecomePositionsInTheOrderOfTheText(t *testing.T) {
	t.Parallel()
	known := statements{}
	const sql = `update {schema}.plans set reason = @reason where id = @id and reason <> @reason and tags @> '{@id}'`
	for _, reason := range []string{"parsed now", "parsed before"} {
		q, err := known.ready(sql, "s1", []any{pgx.NamedArgs{"id": 7, "reason": reason}})
		if err != nil {
			t.Fatal(err)
		}
		want := `update s1.plans set reason = $1 where id = $2 and reason <> $1 and tags @> '{@id}'`
		if diff := cmp.Diff(want, q.text); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]any{reason, 7}, q.args); diff != "" {
			t.Error(diff)
		}
	}
	if len(known) != 1 {
		t.Errorf("%d texts are kept of one constant", len(known))
	}
}

func TestStatements_PositionsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	known := statements{}
	for range 2 {
		q, err := known.ready(`delete from {schema}.plans where id = $1 or id = $2`, "s1", []any{1, nil})
		if err != nil || q.text != `delete from s1.plans where id = $1 or id = $2` {
			t.Errorf("%s %v", q.text, err)
		}
		if diff := cmp.Diff([]any{1, nil}, q.args); diff != "" {
			t.Error(diff)
		}
	}
	if q, err := known.ready(`delete from {schema}.plans`, "s1", nil); err != nil || len(q.args) > 0 {
		t.Errorf("without arguments: %v %v", q.args, err)
	}
}

func TestStatements_NamesThatDoNotFitAreNamed(t *testing.T) {
	t.Parallel()
	const named, positional = `select @one, @two`, `select $1`
	right := statements{}
	for sql, args := range map[string][]any{
		named: {pgx.NamedArgs{"one": 1, "two": 2}}, positional: {1},
	} {
		if _, err := right.ready(sql, "s1", args); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, sql, want string
		args            []any
	}{
		{"missing", named, "two", []any{pgx.NamedArgs{"one": 1}}},
		{"not used", named, "three", []any{pgx.NamedArgs{"one": 1, "two": 2, "three": 3}}},
		{"misspelt", named, "tow", []any{pgx.NamedArgs{"one": 1, "two": 2, "tow": 2}}},
		{"another name", named, "two", []any{pgx.NamedArgs{"one": 1, "tow": 2}}},
		{"no name at all", named, "one", []any{pgx.NamedArgs{"two": 1}}},
		{"positions for names", `select @one`, "one", []any{1}},
		{"names for positions", positional, "one", []any{pgx.NamedArgs{"one": 1}}},
	} {
		for state, known := range map[string]statements{"parsed now": {}, "parsed before": right} {
			if _, err := known.ready(c.sql, "s1", c.args); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v", c.name, state, err)
			}
		}
	}
}
