package pgtest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// argument matches the name of an argument in a statement.
var argument = regexp.MustCompile(`@(\w+)`)

// MergedInserts fails the test for each statement of a projection, under its name, of which many would not become one.
func MergedInserts(t *testing.T, statements map[string]string) {
	t.Helper()
	for name, sql := range statements {
		sql = strings.ReplaceAll(sql, "{schema}", "s")
		var names []string
		for _, match := range argument.FindAllStringSubmatch(sql, -1) {
			names = append(names, match[1])
		}
		parsed, err := postgres.ParseStatement(sql, names...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, ok := postgres.ParseInsert(parsed.Text); !ok {
			t.Errorf("%s is sent once for each row:\n%s", name, parsed.Text)
		}
	}
}
