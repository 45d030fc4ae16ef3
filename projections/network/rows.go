package networkviews

import (
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// rowWrites queues the changes of one event to rows of one table. The table has columns for the revision and the
// position of the last event of each row.
type rowWrites struct {
	w     *runner.Writes
	e     events.Envelope
	table string
	key   string // column of the primary key
}

// set changes columns to named values, guarded by the event's position: an event applied again changes nothing. The
// names row, revision and position are the event's own.
func (r rowWrites) set(row id.Any, columns string, values pgx.NamedArgs) {
	args := pgx.NamedArgs{
		"row": row, "revision": int64(r.e.Revision), "position": int64(r.e.Position), //nolint:gosec // both fit
	}
	maps.Copy(args, values)
	r.w.Exec(`update {schema}.`+r.table+` set `+columns+`, revision = @revision, position = @position
		where `+r.key+` = @row and position < @position`, args)
}
