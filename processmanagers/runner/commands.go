package processrunner

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Statements on commands.
const (
	// The numbers of the rows follow the order of the columns.
	insertCommandsSQL = `
insert into {schema}.commands (id, process, key, name, body, cause)
select id, @process, key, name, body::jsonb, cause::jsonb
from unnest(@ids::uuid[], @keys::text[], @names::text[], @bodies::text[], @causes::text[])
	with ordinality n (id, key, name, body, cause, n)
order by n
on conflict do nothing`
	deleteCommandsSQL = `delete from {schema}.commands where id = any($1)`
	// A search for each key: the table is small at times and large at others, so that no plan of a join fits always.
	// It begins at the newest one, because those before the oldest are deleted and may still be in the table.
	waitingKeysSQL = `
select n.key from unnest($2::text[]) n (key), lateral (
	select from {schema}.commands c where c.process = $1 and c.key = n.key order by c.seq desc limit 1) c`
)

// anew has the server plan a statement on commands each time. The table is empty at one moment and has a row of each
// customer at the next. A plan that was kept from when it was empty reads the whole of it for each key.
const anew = pgx.QueryExecModeCacheDescribe

// handedCost counts for what a command that waits in memory takes beside its content, in bytes.
const handedCost = 512

// commandRows are the columns of commands to insert.
type commandRows struct {
	ids                         []uuid.UUID
	keys, names, bodies, causes []string
}

// queueCommands stores commands for the outbox. Their ids derive from the input, so a repeated input adds none. What a
// timer asks for while the same still waits is not stored again: otherwise a process that repeats a step until it
// succeeds would add a command at each time-out for as long as the log is away.
func (d *round) queueCommands(ctx context.Context, tx pgx.Tx, b *pgx.Batch, list []work, causes [][]byte) error {
	var asking []string
	for _, w := range list {
		if !w.suppressed && len(w.next.Output.Commands) > 0 {
			asking = append(asking, w.key)
		}
	}
	waiting, err := d.waiting(ctx, tx, asking)
	if err != nil {
		return err
	}
	var rows commandRows
	for i := range list {
		w := &list[i]
		if w.suppressed {
			continue
		}
		names, bodies, err := d.encode(*w)
		if err != nil {
			return err
		}
		if waiting[w.key] && len(names) > 0 && w.Timeout != nil {
			same, err := d.waits(ctx, tx, w.key, names, bodies)
			if err != nil {
				return err
			}
			if same {
				continue
			}
		}
		for n := range names {
			commandID := d.commandID(w.id, n)
			rows.ids, rows.keys = append(rows.ids, uuid.UUID(commandID)), append(rows.keys, w.key)
			rows.names, rows.bodies = append(rows.names, names[n]), append(rows.bodies, bodies[n])
			rows.causes = append(rows.causes, string(causes[i]))
			if n == 0 && !waiting[w.key] {
				w.oldest = w.first(uuid.UUID(commandID), bodies[0], causes[i])
			}
		}
	}
	if len(rows.ids) > 0 {
		b.Queue(d.r.sql(insertCommandsSQL), pgx.NamedArgs{
			"process": d.name, "ids": rows.ids, "keys": rows.keys, "names": rows.names, "bodies": rows.bodies,
			"causes": rows.causes,
		})
	}
	return nil
}

// first is the oldest command of an input's as its row has it. The command itself stands for what the row has, so that
// it is not decoded again, unless a character may have been replaced in the row.
func (w *work) first(commandID uuid.UUID, body string, cause []byte) *storedCommand {
	cmd := w.next.Output.Commands[0]
	row := &storedCommand{
		Key: w.key, ID: commandID, Name: cmd.CommandName(), More: len(w.next.Output.Commands) > 1,
		size: int64(len(body) + len(cause) + handedCost),
	}
	if strings.Contains(body, `\ufffd`) {
		row.Body, row.Cause = []byte(body), cause
	} else {
		row.asked, row.cause = cmd, w.cause
	}
	return row
}

// encode gives names and bodies of an input's commands.
func (d *round) encode(w work) (names, bodies []string, err error) {
	for _, cmd := range w.next.Output.Commands {
		name, body, err := d.r.cfg.Bus.EncodeStored(cmd)
		if err != nil {
			return nil, nil, &poison{error: err}
		}
		names, bodies = append(names, name), append(bodies, string(storable(body)))
	}
	return names, bodies, nil
}

// commandID is the id of the nth command, from 0, that an input leads to.
func (d *round) commandID(input string, n int) id.Command {
	return id.Derive[id.Command]("process-command", d.name, input, strconv.Itoa(n))
}

// querier is the database, or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// waiting finds those of some instances that have commands which wait.
func (d *round) waiting(ctx context.Context, db querier, keys []string) (map[string]bool, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := db.Query(ctx, d.r.sql(waitingKeysSQL), anew, d.name, keys)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	var key string
	_, err = pgx.ForEachRow(rows, []any{&key}, func() error { found[key] = true; return nil })
	return found, err
}

// waitsSQL compares commands with the newest ones of an instance that wait, one by one from the last. Had something
// else been asked for meanwhile, a repeat would not be the same. The oldest does not count: it may have acted already,
// when its answer or the deletion of its row was lost, and its repeat will do nothing.
const waitsSQL = `
with newest as (
	select name, body, $5 + 1 - row_number() over (order by seq desc) as n from {schema}.commands
	where process = $1 and key = $2
		and seq > (select min(seq) from {schema}.commands where process = $1 and key = $2)
	order by seq desc limit $5)
select bool_and(coalesce(w.name = a.name and w.body = a.body::jsonb, false))
from unnest($3::text[], $4::text[]) with ordinality a (name, body, n) left join newest w using (n)`

// waits reports whether the newest waiting commands of an instance are the same as these, which are at least one.
func (d *round) waits(
	ctx context.Context, tx pgx.Tx, key string, names, bodies []string,
) (same bool, err error) {
	err = tx.QueryRow(ctx, d.r.sql(waitsSQL), anew, d.name, key, names, bodies, len(names)).Scan(&same)
	if err != nil {
		return false, fmt.Errorf("look for waiting commands: %w", err)
	}
	return same, nil
}
