package processrunner

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// queueCommands stores commands for the outbox. Their ids derive from the input, so a repeated input adds none. What a
// timer asks for while the same still waits is not stored again: otherwise a process that repeats a step until it
// succeeds would add a command at each time-out for as long as the log is away.
func (d *round) queueCommands(
	ctx context.Context, tx pgx.Tx, b *pgx.Batch, in input, cause []byte, list []commands.Command,
) error {
	names, bodies := make([]string, len(list)), make([]string, len(list))
	for i, cmd := range list {
		name, body, err := d.r.cfg.Bus.EncodeStored(cmd)
		if err != nil {
			return &poison{error: err}
		}
		names[i], bodies[i] = name, string(storable(body))
	}
	if in.Timeout != nil && len(list) > 0 {
		if waits, err := d.waits(ctx, tx, in.key, names, bodies); waits || err != nil {
			return err
		}
	}
	for i := range list {
		commandID := id.Derive[id.Command]("process-command", d.name, in.id, strconv.Itoa(i))
		b.Queue(d.r.sql(insertCommandSQL), pgx.NamedArgs{
			"id": uuid.UUID(commandID), "process": d.name, "key": in.key, "name": names[i], "body": bodies[i],
			"cause": cause,
		})
	}
	return nil
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
	err = tx.QueryRow(ctx, d.r.sql(waitsSQL), d.name, key, names, bodies, len(names)).Scan(&same)
	if err != nil {
		return false, fmt.Errorf("look for waiting commands: %w", err)
	}
	return same, nil
}
