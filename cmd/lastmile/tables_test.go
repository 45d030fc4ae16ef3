package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/projections/runner"
)

// grown is a part of the database, or a read model, and one of its tables.
type grown struct{ Part, Table string }

// TestOperations_EachTableSaysHowLongItsRowsStay: a table that grows without end, and of which nobody has thought, is
// found when the disk is full.
func TestOperations_EachTableSaysHowLongItsRowsStay(t *testing.T) {
	t.Parallel()
	documented := map[grown]bool{}
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]*) \\| ([^|]*) \\|$")
	name := regexp.MustCompile("`([a-z_]+)`")
	for _, m := range row.FindAllStringSubmatch(section(t, "What grows"), -1) {
		if strings.TrimSpace(m[3]) == "" {
			t.Errorf("%s %s: nothing is said", m[1], m[2])
		}
		for _, table := range name.FindAllStringSubmatch(m[2], -1) {
			if g := (grown{m[1], table[1]}); documented[g] {
				t.Errorf("%v stands twice in the table", g)
			} else {
				documented[g] = true
			}
		}
	}
	real := map[grown]bool{}
	for _, g := range tablesOf(t, newKit(t).start()) {
		real[g] = true
	}
	if diff := gocmp.Diff(real, documented); diff != "" {
		t.Errorf("every table has a row in docs/operations.md, What grows (-database +operations.md):\n%s", diff)
	}
}

// tablesOf lists the tables of a running program, those of read models under the names of these, without the tables in
// which the migrations note their versions.
func tablesOf(t *testing.T, k *kit) []grown {
	t.Helper()
	rows, err := k.db.Owner.Query(t.Context(), `select table_schema::text, table_name::text
		from information_schema.tables where starts_with(table_schema, $1) and table_name <> 'goose_version'`,
		string(k.db.Namespace)+"_")
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[grown])
	if err != nil {
		t.Fatal(err)
	}
	models := readModels()
	slices.SortFunc(models, func(a, b runner.Projection) int { // the longest name that fits
		return cmp.Compare(len(b.Name()), len(a.Name()))
	})
	for i := range list {
		part := strings.TrimPrefix(list[i].Part, string(k.db.Namespace)+"_")
		for _, m := range models {
			if strings.HasPrefix(part, "p_"+m.Name()+"_") {
				part = m.Name()
				break
			}
		}
		list[i].Part = part
	}
	return list
}
