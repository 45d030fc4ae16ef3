package postgres

import "context"

// ProbeWrites gives the attempt of a watch without making its table: for a database that is read-only already.
func ProbeWrites(db *DB) func(context.Context) error { return (&writeProbe{db: db}).write }
