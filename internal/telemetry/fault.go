package telemetry

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// ofTables marks an error of a commit that comes from what the tables have or refuse, and not from what its reports
// say: once that is mended they are stored.
type ofTables struct{ error }

// Unwrap lets errors.Is and errors.As reach the marked error.
func (o *ofTables) Unwrap() error { return o.error }

// foldPanic is a panic over a report of an organization.
type foldPanic struct {
	org id.Organization
	error
}

// Unwrap lets errors.Is and errors.As reach the panic.
func (f *foldPanic) Unwrap() error { return f.error }

// away reports whether a failed commit says nothing about its reports. A table that is missing, or that may not be
// written, is there again after a restore, or is known to another version.
func away(err error) bool {
	return errors.Is(err, postgres.ErrPassing) || postgres.Away(err) || errors.Is(err, context.DeadlineExceeded) ||
		postgres.Class(err) == "42"
}

// ofValues reports whether a failed commit may have failed by what its reports say, so that repeats would end in the
// same way. A server says the same while it takes none at all. A panic is the program's fault: the next version may
// take them.
func ofValues(err error) bool {
	var marked *ofTables
	if errors.As(err, &marked) {
		return false
	}
	if postgres.Code(err) == "" { // the driver cannot write a value
		return !away(err) && loop.StackOf(err) == ""
	}
	return postgres.OfValues(err)
}

// ofSome reports whether a commit failed in a way that can come from some of its reports alone, although others may do
// as badly: it took too long, waited for somebody's lock, or found a damaged part of a table.
func ofSome(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	switch postgres.Class(err) {
	case "55", "58", "XX": // locks, system, internal
		return true
	}
	return postgres.Code(err) == "57014" // canceled, as after statement_timeout
}
