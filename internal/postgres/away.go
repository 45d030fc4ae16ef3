package postgres

import (
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// readOnly is the code with which a server refuses to write at all: it was told to, or is the standby of another one.
const readOnly = "25006"

// diskFull is the code with which a server refuses what it has no room for.
const diskFull = "53100"

// Away reports whether an error comes from the server's condition and not from the statement: it cannot be reached,
// starts, stops, writes nothing, or has no room left.
func Away(err error) bool {
	var connect *pgconn.ConnectError
	var network *net.OpError
	if errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || len(answer.Code) < 2 {
		return false
	}
	if answer.Code == readOnly {
		return true
	}
	switch answer.Code[:2] {
	case "08", "53", "57", "58": // connection, resources, shutdown, system
		return true
	}
	return false
}
