package processrunner

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Statements that write what inputs lead to: each for many instances, whose values are columns of equal length. The
// limits have each row looked up by its own key: a plan that was made while the tables were small would go over all
// rows of the process. A row that another program has changed since the look is not where it was, and is left alone.
const (
	// The rows were missing when they were read, and must be so still.
	insertInstancesSQL = `
insert into {schema}.instances (process, key, state, last_position, ended)
select $1, key, state::jsonb, position, ended
from unnest($2::text[], $3::text[], $4::bigint[], $5::bool[]) n (key, state, position, ended)
on conflict do nothing`
	// The rows must be as they were read.
	updateInstancesSQL = `
update {schema}.instances i set state = n.state::jsonb, last_position = n.position, ended = n.ended
from (
	select n.state, n.position, n.ended, i.place
	from unnest(@keys::text[], @states::text[], @positions::bigint[], @ended::bool[], @last::bigint[])
		n (key, state, position, ended, last)
	cross join lateral (
		select ctid as place from {schema}.instances
		where process = @process and key = n.key and last_position = n.last limit 1
	) i
) n where i.ctid = n.place`
	upsertTimersSQL = `
insert into {schema}.timers (process, key, name, due_at, cause)
select $1, key, name, due_at, cause::jsonb
from unnest($2::text[], $3::text[], $4::timestamptz[], $5::text[]) n (key, name, due_at, cause)
on conflict (process, key, name) do update set due_at = excluded.due_at, cause = excluded.cause`
	deleteTimersSQL = `
delete from {schema}.timers t using unnest($2::text[], $3::text[]) n (key, name)
cross join lateral (
	select ctid as place from {schema}.timers where process = $1 and key = n.key and name = n.name limit 1
) i where t.ctid = i.place`
	deleteTimersOfSQL = `
delete from {schema}.timers t using unnest($2::text[]) n (key)
cross join lateral (select ctid as place from {schema}.timers where process = $1 and key = n.key offset 0) i
where t.ctid = i.place`
	deleteDueTimersSQL = `
delete from {schema}.timers t using unnest($2::text[], $3::text[], $4::timestamptz[]) n (key, name, due_at)
cross join lateral (
	select ctid as place from {schema}.timers
	where process = $1 and key = n.key and name = n.name and due_at = n.due_at limit 1
) i where t.ctid = i.place
returning t.key`
)

// write queues states, timers and commands in one batch, and enqueues the jobs. An ended instance keeps no timer.
func (d *round) write(ctx context.Context, tx pgx.Tx, list []work) error {
	causes := make([][]byte, len(list))
	for i, w := range list {
		var err error
		if causes[i], err = json.Marshal(w.cause); err != nil {
			return &poison{error: err}
		}
	}
	b := &pgx.Batch{}
	want := d.queueStates(b, list)
	d.queueTimers(b, list, causes)
	if err := d.queueCommands(ctx, tx, b, list, causes); err != nil {
		return err
	}
	if err := sendAll(ctx, tx, b, want); err != nil {
		return err
	}
	for _, w := range list {
		if w.suppressed {
			continue
		}
		for i, job := range w.next.Output.Jobs {
			jobID := id.Derive[id.Any]("process-job", d.name, w.id, strconv.Itoa(i))
			if err := d.r.cfg.Jobs.InsertTx(ctx, tx, job, jobID, w.cause); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendAll runs a batch. The first statements write instances, and must change these numbers of rows; another number
// means that another program has written one, and is errFenced.
func sendAll(ctx context.Context, tx pgx.Tx, b *pgx.Batch, want []int) error {
	if b.Len() == 0 {
		return nil
	}
	results := tx.SendBatch(ctx, b)
	for i := range b.Len() {
		tag, err := results.Exec()
		if err == nil && i < len(want) && tag.RowsAffected() != int64(want[i]) {
			err = errFenced
		}
		if err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

// instanceRows are the columns of rows to write.
type instanceRows struct {
	keys      []string
	states    []*string
	positions []uint64
	ended     []bool
	last      []uint64 // the positions that were read
}

// add appends the row of an instance; one that has ended has no state any more.
func (r *instanceRows) add(w work) {
	var state *string
	if !w.next.Ended {
		text := string(storable(w.next.State))
		state = &text
	}
	r.keys, r.states = append(r.keys, w.key), append(r.states, state)
	r.positions = append(r.positions, max(w.inst.last, w.position))
	r.ended, r.last = append(r.ended, w.next.Ended), append(r.last, w.inst.last)
}

// queueStates queues the new states, and gives the numbers of rows that they must change. An instance that has ended
// without an event and has no row gets none, and one that is the same after a timeout or a refusal is not written.
func (d *round) queueStates(b *pgx.Batch, list []work) (want []int) {
	var missing, known instanceRows
	for _, w := range list {
		switch {
		case w.inst.missing && w.next.Ended && w.Event == nil:
		case w.inst.missing:
			missing.add(w)
		case w.next.Same && w.Event == nil && w.inst.begun && !w.next.Ended:
		default:
			known.add(w)
		}
	}
	if n := len(missing.keys); n > 0 {
		b.Queue(d.r.sql(insertInstancesSQL), d.name, missing.keys, missing.states, missing.positions, missing.ended)
		want = append(want, n)
	}
	if n := len(known.keys); n > 0 {
		b.Queue(d.r.sql(updateInstancesSQL), pgx.NamedArgs{
			"process": d.name, "keys": known.keys, "states": known.states, "positions": known.positions,
			"ended": known.ended, "last": known.last,
		})
		want = append(want, n)
	}
	return want
}

// timerRows are the columns of timers.
type timerRows struct {
	keys, names, causes []string
	dues                []time.Time
}

// add appends a timer as it was read.
func (r *timerRows) add(t *dueTimer) {
	r.keys, r.names = append(r.keys, t.Key), append(r.names, t.Name)
	r.dues, r.causes = append(r.dues, t.DueAt), append(r.causes, string(t.Cause))
}

// queueTimers queues the changes of timers. Of two changes of one timer the last one counts.
func (d *round) queueTimers(b *pgx.Batch, list []work, causes [][]byte) {
	var ended []string
	var armed, disarmed timerRows
	for i, w := range list {
		if w.next.Ended {
			ended = append(ended, w.key)
			continue
		}
		last := map[string]int{}
		for n, t := range w.next.Output.Timers {
			last[t.Name] = n
		}
		for n, t := range w.next.Output.Timers {
			rows := &armed
			if t.At.IsZero() {
				rows = &disarmed
			}
			if last[t.Name] == n {
				rows.keys, rows.names = append(rows.keys, w.key), append(rows.names, t.Name)
				rows.dues, rows.causes = append(rows.dues, t.At), append(rows.causes, string(causes[i]))
			}
		}
	}
	if len(ended) > 0 {
		b.Queue(d.r.sql(deleteTimersOfSQL), d.name, ended)
	}
	if len(disarmed.keys) > 0 {
		b.Queue(d.r.sql(deleteTimersSQL), d.name, disarmed.keys, disarmed.names)
	}
	if len(armed.keys) > 0 {
		b.Queue(d.r.sql(upsertTimersSQL), d.name, armed.keys, armed.names, armed.dues, armed.causes)
	}
}
