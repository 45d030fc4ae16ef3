package postgres

import (
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Unavailable reports whether an error means that the database cannot be reached now, for example during a restart. A
// repeated attempt may succeed. Whether the statement that failed has had an effect is unknown.
func Unavailable(err error) bool {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		// Connection exceptions, too many connections, and a server that is starting or stopping.
		return strings.HasPrefix(pgErr.Code, "08") || pgErr.Code == "53300" || strings.HasPrefix(pgErr.Code, "57P0")
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err)
}
