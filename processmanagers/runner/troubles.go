package processrunner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Trouble is an instance that has stopped, a command that has stopped, or with an empty Key a whole process.
type Trouble struct {
	Process string
	Key     string // of the instance
	Command string // name of its type; "" when it is the instance or the process that has stopped
	Error   string
	Since   *time.Time // nil for a process
	Waiting int        // events, or later commands of the instance, that wait behind it
	OrgID   string     // whose it is, as far as the state or the command tells; "" = not known, or a process
}

// troublesSQL lists what has stopped: processes, then instances, then commands.
const troublesSQL = `
select name as process, '' as key, '' as command, error, null::timestamptz as since, 0 as waiting, '' as org_id
from {schema}.processes where error <> ''
union all
select process, key, '', error, stopped_at,
	(select count(*) from {schema}.held h where h.process = i.process and h.key = i.key),
	coalesce(state->>'orgId', '')
from {schema}.instances i where error <> ''
union all
select process, key, name, error, stopped_at,
	(select count(*) from {schema}.commands w where w.process = c.process and w.key = c.key and w.seq > c.seq),
	coalesce(cause->>'orgId', '')
from {schema}.commands c where stopped_at is not null`

// orderedSQL lists those of one organization, or of all for "", the longest stopped of a process first.
const orderedSQL = `select * from (` + troublesSQL + `) t where $2 = '' or org_id = $2
order by process, since nulls first, key limit $1`

// Troubles lists up to limit parts that have stopped, in every program's processes. It works without Start.
func (r *Runner) Troubles(ctx context.Context, limit int) ([]Trouble, error) {
	return r.TroublesOf(ctx, "", limit)
}

// TroublesOf lists up to limit parts that have stopped and are of one organization as far as is known; of all for "".
func (r *Runner) TroublesOf(ctx context.Context, org string, limit int) ([]Trouble, error) {
	rows, err := r.cfg.DB.Owner.Query(ctx, r.sql(orderedSQL), limit, org)
	if err != nil {
		return nil, fmt.Errorf("list stopped instances: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Trouble])
}

// Count has the numbers of stopped instances and commands of one process, for an alarm.
type Count struct {
	Process   string
	Instances int
	Commands  int // stopped ones
	Waiting   int // commands that are not executed yet, stopped ones included
}

// countSQL counts what has stopped, for each process.
const countSQL = `
select name as process,
	(select count(*) from {schema}.instances i where i.process = p.name and i.error <> '') as instances,
	(select count(*) from {schema}.commands c where c.process = p.name and c.stopped_at is not null) as commands,
	(select count(*) from {schema}.commands c where c.process = p.name) as waiting
from {schema}.processes p order by name`

// Counts counts what has stopped, for each process that an installation has ever had.
func (r *Runner) Counts(ctx context.Context) ([]Count, error) {
	rows, err := r.cfg.DB.Owner.Query(ctx, r.sql(countSQL))
	if err != nil {
		return nil, fmt.Errorf("count stopped instances: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Count])
}

// Prepare creates the engine's own tables, for a program that only lists or retries. Start does so, too.
func (r *Runner) Prepare(ctx context.Context) error { return r.migrate(ctx) }

// Stopped reports whether an instance of a process has stopped, or with an empty key anything of the process. It fails
// for a process that is not registered, and works without Start.
func (r *Runner) Stopped(ctx context.Context, process, key string) (bool, error) {
	if err := r.registered(process); err != nil {
		return false, err
	}
	var stopped bool
	err := r.cfg.DB.Owner.QueryRow(ctx, r.sql(`select exists (select from (`+troublesSQL+`) t
		where t.process = $1 and ($2 = '' or t.key = $2))`), process, key).Scan(&stopped)
	if err != nil {
		return false, fmt.Errorf("look for what has stopped of %s: %w", process, err)
	}
	return stopped, nil
}

// Due gives the instant at which a timer of an instance comes due, nil while it is not armed. It works without Start.
func (r *Runner) Due(ctx context.Context, process, key, timer string) (*time.Time, error) {
	var due *time.Time
	err := r.cfg.DB.Owner.QueryRow(ctx, r.sql(`select max(due_at) from {schema}.timers
		where process = $1 and key = $2 and name = $3`), process, key, timer).Scan(&due)
	if err != nil {
		return nil, fmt.Errorf("look for a timer of %s: %w", process, err)
	}
	return due, nil
}

// Known reports whether this version of the program has a process of a name.
func (r *Runner) Known(process string) bool { return r.byName[process] != nil }

// registered refuses the name of a process that this version of the program does not have.
func (r *Runner) registered(process string) error {
	if r.byName[process] == nil {
		return fmt.Errorf("this version of the program has no process %q; it has %s", process,
			strings.Join(slices.Sorted(maps.Keys(r.byName)), ", "))
	}
	return nil
}

// Retry makes a stopped instance, or with an empty key everything of a process that has stopped, try its input again:
// in whichever program drives the processes, or in the next one that does. It fails for a process that is not
// registered, such as one that this version of the program does not have any more: nobody would take the request.
func (r *Runner) Retry(ctx context.Context, process, key string) error {
	if err := r.registered(process); err != nil {
		return err
	}
	_, err := r.cfg.DB.Owner.Exec(ctx,
		r.sql(`insert into {schema}.requests (process, key) values ($1, $2) on conflict do nothing`), process, key)
	if err != nil {
		return fmt.Errorf("ask for a retry of %s: %w", process, err)
	}
	loop.Wake(r.asked)
	return nil
}
