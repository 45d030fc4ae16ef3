package postgres_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

func TestStatement_GivesValuesInTheOrderOfTheText(t *testing.T) {
	t.Parallel()
	s, err := postgres.ParseStatement(`select @b::int, @a, @b, '@c'`, "a", "b")
	if err != nil || !s.Named() || s.Text != `select $1::int, $2, $1, '@c'` {
		t.Fatalf("%q, %v", s.Text, err)
	}
	values, err := s.Arguments(pgx.NamedArgs{"a": nil, "b": 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{2, nil}, values); diff != "" {
		t.Error(diff)
	}
	if plain, err := postgres.ParseStatement(`select $1`); err != nil || plain.Named() || plain.Text != `select $1` {
		t.Errorf("%+v, %v", plain, err)
	}
}

func TestStatement_NamesThatDoNotFitAreNamed(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{"b": {"a"}, "c": {"a", "b", "c"}} {
		if _, err := postgres.ParseStatement(`select @a, @b`, names...); err == nil ||
			!strings.Contains(err.Error(), "argument "+want+" ") {
			t.Errorf("parse with %v: %v", names, err)
		}
	}
	s := postgres.MustStatement(`select @a, @b`, "a", "b")
	for want, named := range map[string]pgx.NamedArgs{"b": {"a": 1, "c": 3}, "c": {"a": 1, "b": 2, "c": 3}} {
		if _, err := s.Arguments(named); err == nil || !strings.Contains(err.Error(), "argument "+want+" ") {
			t.Errorf("arguments %v: %v", named, err)
		}
	}
}
