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
type statements map[string]statement

// statement is a parsed statement.
type statement struct {
	postgres.Statement
	insert *insert // nil = not of the form that is merged
}

// ready returns the statement for the database and its arguments in order. It fails when a name in the text has no
// argument or an argument is not in the text.
func (s statements) ready(sql, schema string, args []any) (queued, error) {
	var named pgx.NamedArgs
	if len(args) == 1 {
		named, _ = args[0].(pgx.NamedArgs)
	}
	known, ok := s[sql]
	if !ok {
		parsed, err := postgres.ParseStatement(strings.ReplaceAll(sql, schemaMark, schema),
			slices.Collect(maps.Keys(named))...)
		if err != nil {
			return queued{}, err
		}
		known.Statement = parsed
		if form, ok := postgres.ParseInsert(parsed.Text); ok {
			known.insert = &insert{Insert: form}
		}
		s[sql] = known
	}
	q := queued{known.Text, args, known.insert}
	if named == nil && !known.Named() {
		return q, nil
	}
	var err error
	q.args, err = known.Arguments(named)
	return q, err
}
