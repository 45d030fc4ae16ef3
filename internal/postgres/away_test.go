package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// unsent is an error of a statement that never left this machine, as pgconn tells it.
type unsent struct{ error }

// SafeToRetry makes pgconn.SafeToRetry true.
func (unsent) SafeToRetry() bool { return true }

// Unwrap gives the error that kept the statement here.
func (u unsent) Unwrap() error { return u.error }

func TestAway_IsTheServersConditionAndNotTheStatements(t *testing.T) {
	t.Parallel()
	coded := func(code string) error { return &pgconn.PgError{Code: code} }
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	_, unreachable := pgx.Connect(ctx, "postgres://nobody@127.0.0.1:1/none")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":             {nil, false},
		"no connection":       {unreachable, true},
		"a broken connection": {&net.OpError{Op: "read", Err: errors.New("reset")}, true},
		"an address of this machine": {&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)},
			false},
		"a file of this machine":    {&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, false},
		"a full disk of it":         {fmt.Errorf("write: %w", syscall.ENOSPC), false},
		"cut in an answer":          {io.ErrUnexpectedEOF, true},
		"an unknown host":           {&net.DNSError{Err: "no such host"}, true},
		"a statement never sent":    {unsent{errors.New("conn closed")}, true},
		"a caller that went away":   {unsent{context.Canceled}, false},
		"a caller's own time limit": {context.DeadlineExceeded, false},
		"starting":                  {coded("57P03"), true},
		"stopping":                  {coded("57P01"), true},
		"too many connections":      {coded("53300"), true},
		"disk full":                 {coded("53100"), true},
		"read only":                 {coded("25006"), true},
		"connection lost":           {coded("08006"), true},
		"system error":              {coded("58030"), true},
		"a unique value taken":      {coded("23505"), false},
		"wrong SQL":                 {coded("42601"), false},
		"another transaction state": {coded("25001"), false},
		"no code":                   {coded(""), false},
		"an error of ours":          {errors.New("no"), false},
	} {
		for _, err := range []error{c.err, fmt.Errorf("query: %w", c.err)} {
			if c.err == nil {
				err = nil
			}
			if got := postgres.Away(err); got != c.want {
				t.Errorf("%s: away %v, %v", name, got, err)
			}
		}
	}
}

func TestUnserved_IsAllThatIsNeitherInTheValuesNorInTheText(t *testing.T) {
	t.Parallel()
	for want, codes := range map[bool][]string{
		true: {
			"53100", "25006", "57P01", "42P01", "42501", "40001", "40P01", "55P03", "XX001", "54000", "P0001", "0A000",
			"26000", "3F000", "25P02", "ZZ999",
		},
		false: {"22021", "23502", "23505", "42601", "42703", ""},
	} {
		for _, code := range codes {
			err := fmt.Errorf("query: %w", &pgconn.PgError{Code: code})
			if postgres.Unserved(err) != want {
				t.Errorf("%s: unserved %v", code, !want)
			}
			if ofValues := code != "" && (code[:2] == "22" || code[:2] == "23"); postgres.OfValues(err) != ofValues {
				t.Errorf("%s: of values %v", code, !ofValues)
			}
		}
	}
	if postgres.Unserved(nil) || postgres.Unserved(errors.New("no")) || !postgres.Unserved(io.ErrUnexpectedEOF) {
		t.Error("without a code it is as for Away")
	}
}
