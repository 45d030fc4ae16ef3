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
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return ofServer(answer.Code)
	}
	var system syscall.Errno // of a file: one of a connection is in a net.OpError
	if errors.As(err, &system) {
		return pgconn.SafeToRetry(err)
	}
	var network net.Error
	return errors.As(err, &network) || pgconn.SafeToRetry(err)
}

// ofServer reports whether a code of PostgreSQL is about the server's condition.
func ofServer(code string) bool {
	if code == readOnly || len(code) < 2 {
		return code == readOnly
	}
	switch code[:2] {
	case "08", "53", "57", "58": // connection, resources, shutdown, system
		return true
	}
	return false
}
