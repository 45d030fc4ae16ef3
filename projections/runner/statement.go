package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// statement is an SQL text as it is sent, with the names of its arguments in the order of their positions. A text whose
// arguments have no names has none here either.
type statement struct {
	text  string
	names []string
}

// statements keeps the texts of one set of tables that were parsed already: parsing one at each event would cost more
// than all else that a rebuild does here. It holds as many as Apply has constants. Only the goroutine that fills the
// tables uses it.
type statements map[string]statement

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
		if known, err = parse(strings.ReplaceAll(sql, schemaMark, schema), named); err != nil {
			return "", nil, fmt.Errorf("%w: %s", err, sql)
		}
		s[sql] = known
	}
	if named == nil && known.names == nil {
		return known.text, args, nil
	}
	if values, ok := known.order(named); ok {
		return known.text, values, nil
	}
	_, err := parse(sql, named) // says which name does not fit
	return "", nil, fmt.Errorf("%w: %s", err, sql)
}

// parse puts positions in place of names. The names must be those of the arguments, all and no others.
func parse(sql string, named pgx.NamedArgs) (statement, error) {
	own := make(pgx.StrictNamedArgs, len(named)) // each name with itself as its value: the values come back in order
	for name := range named {
		own[name] = name
	}
	text, order, err := own.RewriteQuery(context.Background(), nil, sql, nil)
	if err != nil || len(order) == 0 {
		return statement{text: text}, err
	}
	names := make([]string, len(order))
	for i, name := range order {
		names[i], _ = name.(string)
	}
	return statement{text: text, names: names}, nil
}

// order gives the values in the order of their positions. It fails when the names are not those of the statement.
func (s statement) order(named pgx.NamedArgs) (values []any, ok bool) {
	if len(named) != len(s.names) {
		return nil, false
	}
	values = make([]any, len(s.names))
	for i, name := range s.names {
		if values[i], ok = named[name]; !ok {
			return nil, false
		}
	}
	return values, true
}
