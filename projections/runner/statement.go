package runner

import (
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// statements keeps the texts of one set of tables that were parsed already: parsing one at each event would cost more
// than all else that a rebuild does here. It holds as many as Apply has constants. Only the goroutine that fills the
// tables uses it.
type statements map[string]postgres.Statement

// ready gives the statement and its arguments in order. Names that the text asks for and the arguments lack, and names
// that it does not use, are an error.
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
