package runner

import (
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// statements keeps the parsed statements of one set of tables, keyed by text. Parsing at each event would cost more
// than the rest of a rebuild's own work. The number of keys is the number of constants in Apply. Only the goroutine
// that fills the tables uses it.
type statements map[string]postgres.Statement

// ready returns the statement for the database and its arguments in order. It fails when a name in the text has no
// argument or an argument is not in the text.
func (s statements) ready(sql, schema string, args []any) (string, []any, error) {
	var named pgx.NamedArgs
	if len(args) == 1 {
		named, _ = args[0].(pgx.NamedArgs)
	}
	known, ok := s[sql]
	if !ok {
		var err error
		known, err = postgres.ParseStatement(strings.ReplaceAll(sql, schemaMark, schema),
			slices.Collect(maps.Keys(named))...)
		if err != nil {
			return "", nil, err
		}
		s[sql] = known
	}
	if named == nil && !known.Named() {
		return known.Text, args, nil
	}
	values, err := known.Arguments(named)
	return known.Text, values, err
}
