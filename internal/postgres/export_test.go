package postgres

import (
	"context"
	"time"
)

// ProbeWrites gives the attempt of a watch without making its table: for a database that is read-only already.
func ProbeWrites(db *DB) func(context.Context) error { return (&writeProbe{db: db}).write }

// LimitLocks sets after which silence the server takes the locks of a DB that has not used any, and how often it says
// something.
func LimitLocks(db *DB, silence, ping time.Duration) { db.locks.limits = lockLimits{silence, ping} }
