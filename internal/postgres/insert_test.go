package postgres_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// types of up to four parameters, for the text of a merged statement.
var insertTypes = []string{"uuid", "text", "int8", "timestamptz"}

func TestInsert_OfTheFormBecomesOneOfManyRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, sql, want string
		table           string
		update          bool
		keys            []int
	}{
		{
			"plain", `insert into s.t values ($1, $2)`,
			`insert into s.t select u.p1, u.p2 from unnest($1::uuid[], $2::text[]) as u(p1, p2) `, "s.t", false, nil,
		},
		{
			"constants, a cast and a parameter in two places",
			"insert into s.t\n\t(a, b, c, d, e, f, g)\nvalues\n\t($2, 'queued', -1.5, null, true, $1::date, $2)\n" +
				"on conflict do nothing",
			"insert into s.t\n\t(a, b, c, d, e, f, g) select u.p2, 'queued', -1.5, null, true, u.p1::date, u.p2" +
				" from unnest($1::uuid[], $2::text[]) as u(p1, p2) on conflict do nothing",
			"s.t", false, nil,
		},
		{
			"a key of two", `insert into s.t (a, b, c) values ($1, '{}'::text[], $2) on conflict (c, a) do nothing`,
			`insert into s.t (a, b, c) select u.p1, '{}'::text[], u.p2` +
				` from unnest($1::uuid[], $2::text[]) as u(p1, p2) on conflict (c, a) do nothing`,
			"s.t", false, nil,
		},
		{
			"an array of a parameter", `insert into s.t (a, b) values ($1, array[$2]) on conflict (a) do nothing`,
			`insert into s.t (a, b) select u.p1, array[u.p2] from unnest($1::uuid[], $2::text[]) as u(p1, p2) ` +
				`on conflict (a) do nothing`,
			"s.t", false, nil,
		},
		{
			"update with a guard",
			`insert into s.t as i (a, b, c) values ($1, $2, $3) on conflict (c, a) do update set ` +
				`b = coalesce(nullif(excluded.b, ''), i.b || '!'), n = i.n + 1 ` +
				`where i.c < excluded.c and (i.n in (1, 2))`,
			`insert into s.t as i (a, b, c) select u.p1, u.p2, u.p3 from unnest($1::uuid[], $2::text[], $3::int8[])` +
				` as u(p1, p2, p3) on conflict (c, a) do update set ` +
				`b = coalesce(nullif(excluded.b, ''), i.b || '!'), n = i.n + 1 ` +
				`where i.c < excluded.c and (i.n in (1, 2))`,
			"s.t", true, []int{2, 0},
		},
	} {
		in, ok := postgres.ParseInsert(c.sql)
		if !ok {
			t.Errorf("%s is refused", c.name)
			continue
		}
		if diff := cmp.Diff(c.want, in.Merged(insertTypes[:in.Params])); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if in.Table != c.table || in.Update != c.update || !cmp.Equal(in.Keys, c.keys) {
			t.Errorf("%s: %+v", c.name, in)
		}
	}
}

// onA begins a statement that changes a row by its key.
const onA = `insert into s.t (a) values ($1) on conflict (a) do update set `

// refusedInserts are statements that must stay as they are, each for one reason.
var refusedInserts = map[string]string{
	"another statement":          `update s.t set a = $1`,
	"no schema":                  `insert into t values ($1)`,
	"no parameter":               `insert into s.t values (1)`,
	"a parameter is not a value": `insert into s.t values ($2)`,
	"two rows":                   `insert into s.t values ($1), ($2)`,
	"default":                    `insert into s.t values ($1, default)`,
	"a function":                 `insert into s.t values ($1, now())`,
	"a function of a parameter":  `insert into s.t values (coalesce($1, 'x'))`,
	"an array of a constant":     `insert into s.t values ($1, array['x'])`,
	"an array of two":            `insert into s.t values (array[$1, $2])`,
	"an array that does not end": `insert into s.t values (array[$1)`,
	"an element of a parameter":  `insert into s.t values ($1[1])`,
	"an operator":                `insert into s.t values ($1 || 'x')`,
	"a negative parameter":       `insert into s.t values (-$1)`,
	"a keyword":                  `insert into s.t values ($1, current_user)`,
	"a sub-select":               `insert into s.t values ((select $1))`,
	"a cast with a length":       `insert into s.t values ($1::varchar(3))`,
	"an array":                   `insert into s.t values (array[$1])`,
	"select":                     `insert into s.t select $1`,
	"another number of columns":  `insert into s.t (a, b) values ($1)`,
	"overriding":                 `insert into s.t (a) overriding system value values ($1)`,
	"returning":                  `insert into s.t values ($1) returning a`,
	"returning after a conflict": onA + `b = 1 returning a`,
	"nothing, returning":         `insert into s.t (a) values ($1) on conflict (a) do nothing returning a`,
	"a second statement":         `insert into s.t values ($1); delete from s.t`,
	"with":                       `with x as (select) insert into s.t values ($1)`,
	"a comment":                  "insert into s.t values ($1) -- x",
	"a block comment":            `insert into s.t values (/* x */ $1)`,
	"a name in quotes":           `insert into s."t" values ($1)`,
	"large letters":              `INSERT into s.t values ($1)`,
	"a text with a quote":        `insert into s.t values ($1, 'it''s')`,
	"a text with an escape":      `insert into s.t values ($1, 'a\n')`,
	"a text of another kind":     `insert into s.t values ($1, e'a')`,
	"two texts":                  "insert into s.t values ($1, 'a'\n'b')",
	"a text in dollars":          `insert into s.t values ($1, $$a$$)`,
	"an open text":               `insert into s.t values ($1, 'a`,
	"an open bracket":            `insert into s.t values ($1`,
	"a parameter's odd number":   `insert into s.t values ($01)`,
	"a field of a column":        `insert into s.t (a.b) values ($1)`,
	"a partial index":            `insert into s.t (a) values ($1) on conflict (a) where a > 1 do update set a = 1`,
	"an index of an expression":  `insert into s.t (a) values ($1) on conflict (lower(a)) do nothing`,
	"a constraint":               `insert into s.t (a) values ($1) on conflict on constraint c do update set a = 1`,
	"a key that is not inserted": `insert into s.t (a) values ($1) on conflict (b) do update set a = excluded.a`,
	"a key of unknown columns":   `insert into s.t values ($1) on conflict (a) do update set a = excluded.a`,
	"a key that is constant":     `insert into s.t (a, b) values (1, $1) on conflict (a) do update set b = excluded.b`,
	"a key with a cast":          `insert into s.t (a) values ($1::date) on conflict (a) do update set a = excluded.a`,
	"an update without a key":    `insert into s.t (a) values ($1) on conflict do update set a = excluded.a`,
	"an update to a parameter":   onA + `b = $1`,
	"an update by a function":    onA + `b = random()`,
	"a function after a gap":     onA + "b = random\n()",
	"an update to a default":     onA + `b = default`,
	"an update by a sub-select":  onA + `b = (select 1)`,
	"a guard with a sub-select":  onA + `b = 1 where exists (select)`,
	"a guard with a table":       onA + `b = 1 where 1 in (table s.u)`,
	"a guard with a row":         onA + `b = 1 where t.a = any ('{}')`,
}

func TestInsert_OfAnotherFormIsRefused(t *testing.T) {
	t.Parallel()
	for name, sql := range refusedInserts {
		if in, ok := postgres.ParseInsert(sql); ok {
			t.Errorf("%s is merged: %s", name, in.Merged(insertTypes[:min(in.Params, 4)]))
		}
	}
}

// FuzzInsert looks for texts that are taken although they hold more than one row of given values.
func FuzzInsert(f *testing.F) {
	for _, sql := range refusedInserts {
		f.Add(sql)
	}
	f.Add(onA + `b = coalesce(t.b, excluded.b) where t.b < 1`)
	f.Add(`insert into s.t as i (a, b) values ($1, $2::date) on conflict do nothing`)
	f.Add(`insert into s.t values ('x', $1, -2, null) on conflict do nothing`)
	f.Fuzz(func(t *testing.T, sql string) {
		in, ok := postgres.ParseInsert(sql)
		if !ok {
			return
		}
		outside := strings.Builder{} // of texts
		for i, part := range strings.Split(sql, "'") {
			if i%2 == 0 {
				outside.WriteString(part + "''")
			}
		}
		for _, word := range []string{"select", "returning", "default", "--", "/*", ";", `"`, `\`} {
			for _, found := range strings.FieldsFunc(outside.String(), func(c rune) bool {
				return strings.ContainsRune(" \t\r\n(),.=<>+*|:[]'", c)
			}) {
				if found == word {
					t.Errorf("%q is taken from %q", word, sql)
				}
			}
		}
		types := make([]string, in.Params)
		for i := range types {
			types[i] = "text"
		}
		if merged := in.Merged(types); strings.Count(merged, "unnest(") != 1+strings.Count(sql, "unnest(") {
			t.Errorf("%q becomes %q", sql, merged)
		}
	})
}
