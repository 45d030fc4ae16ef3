package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// readOnly is the code with which a server refuses to write at all: it was told to, or is the standby of another one.
const readOnly = "25006"

// Codes of a statement that would be served if the database had what it should have.
const (
	undefinedTable = "42P01"
	noPrivilege    = "42501"
)

// lockNotAvailable is the code of a statement that was told not to wait for others.
const lockNotAvailable = "55P03"

// diskFull is the code with which a server refuses what it has no room for.
const diskFull = "53100"

// Away reports whether an error comes from the condition of the server or of the way to it, and not from the statement:
// the server cannot be reached, starts, stops, writes nothing, or has no room left. A repeated attempt may succeed;
// whether the statement that failed has had an effect is unknown. A caller that went away, or whose own time was over,
// says nothing about the server, unless it was still waiting for the connection; nor does a file of this machine, or an
// address that it cannot listen at.
func Away(err error) bool {
	var connect *pgconn.ConnectError
	var operation *net.OpError
	if errors.As(err, &connect) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	if errors.As(err, &operation) {
		return operation.Op != "listen" && operation.Op != "set"
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if Code(err) != "" {
		return ofServer(err)
	}
	var system syscall.Errno // of a file: one of a connection is in a net.OpError
	if errors.As(err, &system) {
		return pgconn.SafeToRetry(err)
	}
	var network net.Error
	return errors.As(err, &network) || pgconn.SafeToRetry(err)
}

// Unserved reports whether a statement failed for a cause that is neither in its values nor in its text, so that the
// same statement succeeds once the cause is gone: the server's condition (Away), a conflict, and what staff can mend,
// as a missing table or right, a damaged page, a trigger. Codes that nobody has thought of are among them.
func Unserved(err error) bool {
	switch code := Code(err); {
	case code == "":
		return Away(err)
	case code == undefinedTable || code == noPrivilege:
		return true
	}
	return Class(err) != "42" && !OfValues(err)
}

// OfValues reports whether the server refuses the values of a statement: one does not fit, or breaks a constraint.
// Class 54 is not among them: with 54000 a server refuses all writes before its transaction ids run out.
func OfValues(err error) bool {
	class := Class(err)
	return class == "22" || class == "23"
}

// ofServer reports whether an error that the server answered is about its condition.
func ofServer(err error) bool {
	switch Class(err) {
	case "08", "53", "57", "58": // connection, resources, shutdown, system
		return true
	}
	return Code(err) == readOnly
}

// Code gives the SQLSTATE of an error that the server answered; "" for any other error.
func Code(err error) string {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || len(answer.Code) != 5 {
		return ""
	}
	return answer.Code
}

// Class gives the class of the SQLSTATE, which is its first two characters.
func Class(err error) string {
	code := Code(err)
	return code[:min(2, len(code))]
}
