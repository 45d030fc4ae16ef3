package jobrunner

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// orgSQL is the organization of a job as text, "" for work of the platform. River keeps the cause in the metadata.
const orgSQL = `coalesce(metadata #>> '{cause,orgId}', '')`

// turnsIndexSQL makes the index by which takeTurnsSQL finds the next jobs of each organization without reading those
// that wait behind them. It stands beside River's own indexes.
const turnsIndexSQL = `
create index if not exists river_job_turns on {schema}.river_job
	(queue, (` + orgSQL + `), priority, scheduled_at, id) where state = 'available'`

// takeTurnsSQL takes due jobs of a queue and gives their rows: the next ones of the organization that has the fewest
// running jobs, then of the others. An organization gets no more than its share. What is written to the row equals
// River's own statement, JobGetAvailable. River's time is that of the database as long as nobody moves the clock.
// Taking and reading are one statement: a job that is taken and not read would be running with nobody at work on it.
const takeTurnsSQL = `
with recursive owners (org) as (
	(select ` + orgSQL + ` from {schema}.river_job where state = 'available' and queue = @queue order by 1 limit 1)
	union all
	select (
		select ` + orgSQL + ` from {schema}.river_job
		where state = 'available' and queue = @queue and ` + orgSQL + ` > owners.org order by 1 limit 1
	) from owners where owners.org is not null
), due as (
	select next.id, next.scheduled_at, coalesce(seated.running, 0) + row_number() over (
		partition by owners.org order by next.priority, next.scheduled_at, next.id) as turn
	from owners left join unnest(@orgs::text[], @running::int[]) as seated (org, running) using (org)
	cross join lateral (
		select id, priority, scheduled_at from {schema}.river_job
		where state = 'available' and queue = @queue and ` + orgSQL + ` = owners.org
			and scheduled_at <= coalesce(@now::timestamptz, now()) and (@kinds::text[] is null or kind = any(@kinds))
		order by priority, scheduled_at, id limit greatest(@share::int - coalesce(seated.running, 0), 0)
	) as next
), taken as (
	select id from {schema}.river_job
	where id in (select id from due order by turn, scheduled_at, id limit @most) and state = 'available'
	for update skip locked
)
update {schema}.river_job as job set
	state = 'running', attempt = attempt + 1, attempted_at = coalesce(@now::timestamptz, now()),
	attempted_by = (array_append(attempted_by, @client::text))[greatest(1, cardinality(attempted_by) + 2 - @tries):]
from taken where job.id = taken.id
returning job.id, job.args, job.attempt, job.attempted_at, job.attempted_by, job.created_at,
	coalesce(to_jsonb(job.errors), '[]'), job.finalized_at, job.kind, job.max_attempts, job.metadata, job.priority,
	job.queue, job.scheduled_at, job.state::text, job.tags, job.unique_key`

// turnsDriver is River's driver, except that its queues take jobs by takeTurnsSQL. River itself takes the oldest jobs,
// so that everybody would wait behind the burst of one organization.
type turnsDriver struct {
	*riverpgxv5.Driver
	runner *Runner
}

// GetExecutor gives River's statements with the other way to take jobs.
func (d turnsDriver) GetExecutor() riverdriver.Executor {
	return turnsExecutor{d.Driver.GetExecutor(), d.runner}
}

// turnsExecutor has the statements of River.
type turnsExecutor struct {
	riverdriver.Executor
	runner *Runner
}

// JobGetAvailable takes up to MaxToLock jobs in turn. When the connection breaks before their rows have come, they run
// again like those of a program that was killed. River asks each queue once a second, mostly for nothing, so first it
// is found out whether there is a job: that takes a tenth of the time.
func (e turnsExecutor) JobGetAvailable(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	if some, err := e.runner.due(ctx, p.Queue); err != nil || len(some) == 0 {
		return &riverdriver.JobGetAvailableResult{}, err
	}
	queue := e.runner.places[p.Queue]
	orgs, running, share := queue.taken()
	rows, err := e.runner.cfg.DB.Owner.Query(ctx, e.runner.sql(takeTurnsSQL), pgx.NamedArgs{
		"queue": p.Queue, "orgs": orgs, "running": running, "share": share, "most": p.MaxToLock, "now": p.Now,
		"kinds": p.Kind, "client": p.ClientID, "tries": p.MaxAttemptedBy,
	})
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, takenJob)
	if err != nil {
		return nil, err
	}
	queue.took(len(list), p.MaxToLock)
	return &riverdriver.JobGetAvailableResult{Jobs: list}, nil
}

// takenJob reads a row of takeTurnsSQL. UniqueStates is left out: it is for inserting only.
func takenJob(row pgx.CollectableRow) (*rivertype.JobRow, error) {
	var j rivertype.JobRow
	var failed []byte
	if err := row.Scan(&j.ID, &j.EncodedArgs, &j.Attempt, &j.AttemptedAt, &j.AttemptedBy, &j.CreatedAt, &failed,
		&j.FinalizedAt, &j.Kind, &j.MaxAttempts, &j.Metadata, &j.Priority, &j.Queue, &j.ScheduledAt, &j.State, &j.Tags,
		&j.UniqueKey); err != nil {
		return nil, err
	}
	return &j, riverdriver.UnmarshalAttemptErrors(failed, &j.Errors)
}

// lookAgain makes River look for jobs of a queue at once, by the notification that an insert sends. Jobs beyond an
// organization's share would otherwise wait for the next poll. A notification that is lost does no harm.
func (r *Runner) lookAgain(ctx context.Context, queue string) {
	payload, err := json.Marshal(map[string]string{"queue": queue})
	if err != nil {
		return
	}
	_ = riverpgxv5.New(r.cfg.DB.Owner).GetExecutor().NotifyMany(ctx, &riverdriver.NotifyManyParams{
		Topic: "river_insert", Payload: []string{string(payload)}, Schema: r.schema(),
	})
}

// sql replaces {schema} by the schema of the queue's tables.
func (r *Runner) sql(text string) string { return strings.ReplaceAll(text, "{schema}", r.schema()) }
