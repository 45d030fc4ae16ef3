package jobrunner

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// orgSQL is the organization of a job as text, "" for work of the platform. River keeps the cause in the metadata.
const orgSQL = `coalesce(metadata #>> '{cause,orgId}', '')`

// turnsIndexSQL makes the index by which takeTurnsSQL finds the next jobs of each organization without reading those
// that wait behind them. It stands beside River's own indexes.
const turnsIndexSQL = `
create index if not exists river_job_turns on {schema}.river_job
	(queue, (` + orgSQL + `), priority, scheduled_at, id) where state = 'available'`

// takeTurnsSQL takes due jobs of a queue and gives their ids: the next ones of the organization that has the fewest
// running jobs, then of the others. An organization gets no more than its share. What is written to the row equals
// River's own statement, JobGetAvailable. River's time is that of the database as long as nobody moves the clock.
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
from taken where job.id = taken.id returning job.id`

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

// JobGetAvailable takes up to MaxToLock jobs in turn. When the connection breaks after they were taken, they run again
// like those of a program that was killed.
func (e turnsExecutor) JobGetAvailable(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	queue := e.runner.places[p.Queue]
	orgs, running, share := queue.taken()
	rows, err := e.runner.cfg.DB.Owner.Query(ctx, e.runner.sql(takeTurnsSQL), pgx.NamedArgs{
		"queue": p.Queue, "orgs": orgs, "running": running, "share": share, "most": p.MaxToLock, "now": p.Now,
		"kinds": p.Kind, "client": p.ClientID, "tries": p.MaxAttemptedBy,
	})
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return &riverdriver.JobGetAvailableResult{}, err
	}
	queue.took(len(ids), p.MaxToLock)
	list, err := e.JobGetByIDMany(ctx, &riverdriver.JobGetByIDManyParams{ID: ids, Schema: p.Schema})
	return &riverdriver.JobGetAvailableResult{Jobs: list}, err
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
