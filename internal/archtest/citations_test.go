package archtest

import (
	"strings"
	"testing"
	"testing/fstest"
)

// shelf makes a repository with two documents, a decision, a test and the given files.
func shelf(files map[string]string) fstest.MapFS {
	repository := fstest.MapFS{}
	for name, body := range map[string]string{
		"README.md":             "# Top\n\nSee [docs](docs), [rules](docs/rules) and [adr](docs/adr).\n",
		"docs/operations.md":    "# Operations\n\n## Configuration\n",
		"docs/rules/money.md":   "# Money\n\n### Receipts once\n\nText.\n",
		"docs/adr/0013-plan.md": "# A plan\n",
		"money_test.go":         "package money\n\nfunc TestMoney_IsKept() {}\n",
	} {
		repository[name] = &fstest.MapFile{Data: []byte(body)}
	}
	for name, body := range files {
		repository[name] = &fstest.MapFile{Data: []byte(body)}
	}
	return repository
}

func TestCheckCitations_LeadingNowhereIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, body, place, text string }{
		{"bare sheet", "a.go", "package a\n\n// x (rules.md 9).\n", "a.go:3", "rules.md is not in the repository"},
		{"number on the next line", "a.go", "// x (rules.md\n// 9).\npackage a\n", "a.go:1", "rules.md is not"},
		{"capitals", "a.go", "package a // as STYLE.md says\n", "a.go:1", "STYLE.md is not"},
		{"possessive", "a.go", "package a\n\n// t is api.md's.\ntype t int\n", "a.go:3", "api.md is not"},
		{"folder left out", "a.go", "// facts/money.md, Token.\npackage a\n", "a.go:1", "facts/money.md is not"},
		{"no ending", "a.go", "// Source: facts/money 3.\npackage a\n", "a.go:1", "facts/money is not"},
		{"block comment", "a.go", "package a\n\n/*\nx\nsee spec.md, Limits\n*/\n", "a.go:5", "spec.md is not"},
		{"test file", "a_test.go", "package a\n\n// x: findings.md.\n", "a_test.go:3", "findings.md is not"},
		{"no such file", "a.go", "// docs/rules/mony.md#once\npackage a\n", "a.go:1", "docs/rules/mony.md#once is not"},
		{"no such anchor", "a.go", "// docs/rules/money.md#twice.\npackage a\n", "a.go:1", "has no anchor twice"},
		{"anchor cut", "a.go", "// docs/rules/money.md#receipts\npackage a\n", "a.go:1", "has no anchor receipts"},
		{"whole file of rules", "a.go", "// docs/rules/money.md\npackage a\n", "a.go:1", "name the anchor"},
		{"no such decision", "a.go", "// See ADR 0014.\npackage a\n", "a.go:1", "decision 0014 has 0 files"},
		{"decision by path", "a.go", "// See docs/adr/0014.\npackage a\n", "a.go:1", "decision 0014 has 0 files"},
		{"sql", "a.sql", "select 1;\n-- x (rules.md 29)\n", "a.sql:2", "rules.md is not"},
		{"sql behind a column", "a.sql", "x text -- spec.md's words\n", "a.sql:1", "spec.md is not"},
		{"markdown text", "docs/a.md", "# A\n\nAs rules.md 14 says.\n", "docs/a.md:3", "rules.md is not"},
		{"broken link", "docs/a.md", "# A\n\n[x](b.md)\n", "docs/a.md:3", "b.md is not"},
		{"broken link to a folder", "docs/a.md", "# A\n\n[x](adrs)\n", "docs/a.md:3", "adrs is not"},
		{"link from the root's view", "docs/a.md", "# A\n\n[x](docs/rules)\n", "docs/a.md:3", "docs/rules is not"},
		{"link to no heading", "docs/a.md", "# A\n\n[x](operations.md#conf)\n", "docs/a.md:3", "no anchor conf"},
		{"link within the file", "docs/a.md", "# A\n\n[x](#b)\n", "docs/a.md:3", "docs/a.md has no anchor b"},
		{"anchor of no document", "docs/a.md", "# A\n\n[x](../a.go#b)\n", "docs/a.md:3", "is not in the repository"},
		{"one anchor twice", "docs/a.md", "# A\n\n## B c\n\n### B, c\n", "docs/a.md", "the anchor b-c"},
		{"no such test", "docs/a.md", "# A\n\n`TestMoney_IsLost`\n", "docs/a.md:3", "TestMoney_IsLost is no test"},
		{"no such tests", "docs/a.md", "# A\n\n`TestMony_…`\n", "docs/a.md:3", "TestMony_ is no test"},
		{"linked by nothing", "docs/facts/a.md", "# A\n\n[a](#a)\n", "docs/facts/a.md", "nothing links to it"},
		{"go that cannot be read", "a.go", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, err := CheckCitations(shelf(map[string]string{c.file: c.body}))
			if c.body == "" {
				if err == nil {
					t.Fatal("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != 1 || found[0].Place != c.place || !strings.Contains(found[0].Text, c.text) {
				t.Errorf("found %v, want %s: %s", found, c.place, c.text)
			}
		})
	}
}

func TestCheckCitations_LeadingSomewherePasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, body string }{
		{"rule", "a.go", "// x (docs/rules/money.md#receipts-once).\npackage a\n"},
		{"two of them", "a.go", "// docs/rules/money.md#receipts-once, docs/operations.md#configuration.\npackage a\n"},
		{"whole document", "a.go", "// See docs/operations.md, README.md.\npackage a\n"},
		{"decision", "a.go", "// Why: ADR 0013, docs/adr/0013-plan.md and ADR 13.\npackage a\n"},
		{"decision over two lines", "a.go", "// Why: ADR\n// 0013.\npackage a\n"},
		{"a text is no comment", "a.go", "package a\n\nconst x = \"rules.md\" // x\n"},
		{"sql", "a.sql", "-- docs/rules/money.md#receipts-once\nselect 'rules.md';\n"},
		{"web address", "a.go", "// https://example.org/x/spec.md#y\npackage a\n"},
		{"test", "docs/a.md", "# A\n\nProven by `TestMoney_IsKept` and the tests `TestMoney_…`.\n"},
		{"links", "docs/a.md", "# A\n\n[x](operations.md#configuration), [a](#a), [y](https://example.org/b.md)\n"},
		{"links upwards", "docs/rules/a.md", "# A\n\n[t](../../README.md#top), [`a`](../adr), docs/operations.md\n"},
		{"named beside", "docs/a.md", "# A\n\nSee operations.md.\n"},
		{"code is no heading", "docs/a.md", "# A\n\n```\n# A\n[x](b.md)\n```\n"},
		{"test data", "testdata/a.md", "# A\n\nrules.md\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, err := CheckCitations(shelf(map[string]string{c.file: c.body}))
			if err != nil || len(found) != 0 {
				t.Error(found, err)
			}
		})
	}
}

func TestSlug_IsGitHubs(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Receipts once":                "receipts-once",
		"`PUT /files` and [b](c.md)":   "put-files-and-b",
		"0013: A router, read & wrote": "0013-a-router-read--wrote",
		"Über snake_case-words":        "über-snake_case-words",
	} {
		if got := slug(title); got != want {
			t.Errorf("%q gives %q, want %q", title, got, want)
		}
	}
}
