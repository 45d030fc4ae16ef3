package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Statement is SQL in which positions have replaced the names of arguments. It is parsed once, while pgx parses a text
// with pgx.NamedArgs at every call; it serves statements that run for every event. Safe for concurrent use.
type Statement struct {
	Text  string
	names []string // in the order of the positions
}

// ParseStatement puts positions in place of the names of arguments, which are @name in the text. It fails unless
// the given names are exactly those of the text. A text without names stays as it is.
func ParseStatement(sql string, names ...string) (Statement, error) {
	own := make(pgx.StrictNamedArgs, len(names)) // each name with itself as its value: the values come back in order
	for _, name := range names {
		own[name] = name
	}
	text, order, err := own.RewriteQuery(context.Background(), nil, sql, nil)
	if err != nil {
		return Statement{}, fmt.Errorf("%w: %s", err, sql)
	}
	s := Statement{Text: text, names: make([]string, len(order))}
	for i, name := range order {
		s.names[i], _ = name.(string)
	}
	return s, nil
}

// MustStatement is ParseStatement for constants; it panics where ParseStatement fails.
func MustStatement(sql string, names ...string) Statement {
	s, err := ParseStatement(sql, names...)
	if err != nil {
		panic(err)
	}
	return s
}

// Named reports whether the arguments have names.
func (s Statement) Named() bool { return len(s.names) > 0 }

// Arguments gives the values in the order of their positions. It fails when a name of the statement is missing, and
// when a given name is not used.
func (s Statement) Arguments(named pgx.NamedArgs) ([]any, error) {
	values, found, extra := make([]any, len(s.names)), 0, ""
	for name, value := range named { // a walk over both is cheaper than a look-up of each name: they are few
		at := slices.Index(s.names, name)
		if at < 0 {
			extra = name
			continue
		}
		values[at] = value
		found++
	}
	if found < len(s.names) {
		for _, name := range s.names {
			if _, ok := named[name]; !ok {
				return nil, fmt.Errorf("argument %s is missing: %s", name, s.Text)
			}
		}
	}
	if extra != "" {
		return nil, fmt.Errorf("argument %s is not used: %s", extra, s.Text)
	}
	return values, nil
}
