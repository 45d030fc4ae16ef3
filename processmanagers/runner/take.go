package processrunner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// input is an input of an instance, with everything that its outputs need.
type input struct {
	processmanagers.Input
	key        string
	id         string // never changes; ids of the input's commands and jobs derive from it
	position   uint64 // of an event; 0 for timeouts and refusals
	cause      jobs.Cause
	suppressed bool      // commands and jobs are suppressed, timers are not
	at         time.Time // time of a suppressed event, so that timers are armed as they would have been then
	// claim deletes the row that the input comes from, in the same transaction; false when the row is gone. nil for
	// events.
	claim func(ctx context.Context, tx pgx.Tx) (bool, error)
}

// causeOf is the cause of an event's outputs: its organization and actor, and the event as the causation. An event
// without a correlation starts one.
func causeOf(e *events.Envelope) jobs.Cause {
	c := jobs.Cause{
		OrgID: e.Meta.OrgID, Actor: e.Meta.Actor, CorrelationID: e.Meta.CorrelationID, CausationID: e.ID.String(),
	}
	if c.CorrelationID == "" {
		c.CorrelationID = c.CausationID
	}
	return c
}

// passing reports whether an error may pass by itself, so that the input is tried again.
func passing(err error) bool {
	var bad *poison
	return errors.Is(err, postgres.ErrPassing) && !errors.As(err, &bad)
}

// take gives an input to its instance and writes the new state and the outputs in one transaction. An input that was
// taken before changes nothing. The caller holds the instance's turn.
func (d *round) take(ctx context.Context, in input) error {
	select {
	case d.r.slots <- struct{}{}:
		defer func() { <-d.r.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	var commandsOut, timersOut bool
	err := postgres.Transaction(ctx, d.r.cfg.DB.Owner, func(tx pgx.Tx) error {
		commandsOut, timersOut = false, false
		if in.claim != nil {
			if ok, err := in.claim(ctx, tx); err != nil || !ok {
				return err
			}
		}
		state, last, err := d.instance(ctx, tx, in.key)
		if err != nil {
			return err
		}
		if in.Event != nil && in.position <= last {
			return nil // taken before a restart
		}
		now := d.r.cfg.Clock.Now()
		if in.suppressed {
			now = in.at
		}
		next, err := d.step(state, in.Input, now)
		if err != nil {
			return fmt.Errorf("instance %s: %w", in.key, err)
		}
		commandsOut, timersOut = len(next.Output.Commands) > 0 && !in.suppressed, len(next.Output.Timers) > 0
		return d.write(ctx, tx, in, last, next)
	})
	if err != nil {
		return fmt.Errorf("process %s: %w", d.name, err)
	}
	if commandsOut {
		d.outbox.kick(ctx, in.key)
	}
	if timersOut {
		loop.Wake(d.timers)
	}
	return nil
}

// lockInstanceSQL reads the row and locks it until the transaction ends.
const lockInstanceSQL = `
select state, last_position, ended from {schema}.instances where process = $1 and key = $2 for update`

// instance loads and locks an instance's row. A missing or ended instance has no state; last is the position of its
// newest event.
func (d *round) instance(ctx context.Context, tx pgx.Tx, key string) (state []byte, last uint64, err error) {
	var ended bool
	err = tx.QueryRow(ctx, d.r.sql(lockInstanceSQL), d.name, key).Scan(&state, &last, &ended)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, nil
	}
	if ended {
		state = nil // the instance begins anew
	}
	return state, last, err
}

// Statements on instances, timers and commands.
const (
	upsertInstanceSQL = `
insert into {schema}.instances (process, key, state, last_position, ended) values ($1, $2, $3, $4, $5)
on conflict (process, key) do update set
	state = excluded.state, last_position = excluded.last_position, ended = excluded.ended`
	upsertTimerSQL = `
insert into {schema}.timers (process, key, name, due_at, cause) values ($1, $2, $3, $4, $5)
on conflict (process, key, name) do update set due_at = excluded.due_at, cause = excluded.cause`
	deleteTimerSQL   = `delete from {schema}.timers where process = $1 and key = $2 and name = $3`
	deleteTimersSQL  = `delete from {schema}.timers where process = $1 and key = $2`
	insertCommandSQL = `
insert into {schema}.commands (id, process, key, name, body, cause)
values (@id, @process, @key, @name, @body, @cause)
on conflict do nothing`
	selectCommandSQL = `
select id, name, body, cause from {schema}.commands where process = $1 and key = $2 order by seq limit 1`
	deleteCommandSQL = `delete from {schema}.commands where id = $1`
	selectKeysSQL    = `select distinct key from {schema}.commands where process = $1`
	selectDueSQL     = `
select key, name, due_at, cause from {schema}.timers
where process = $1 and due_at <= $2 order by due_at, key, name limit $3`
	selectNextDueSQL  = `select min(due_at) from {schema}.timers where process = $1`
	deleteDueTimerSQL = `delete from {schema}.timers where process = $1 and key = $2 and name = $3 and due_at = $4`
)

// write queues state, timers and commands in one batch, and enqueues the jobs. An ended instance keeps no timer.
func (d *round) write(ctx context.Context, tx pgx.Tx, in input, last uint64, next processmanagers.Stepped) error {
	cause, err := json.Marshal(in.cause)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	state := next.State
	if next.Ended {
		state = nil
	}
	//nolint:gosec // positions fit
	b.Queue(d.r.sql(upsertInstanceSQL), d.name, in.key, storable(state), int64(max(last, in.position)), next.Ended)
	if next.Ended {
		b.Queue(d.r.sql(deleteTimersSQL), d.name, in.key)
	}
	for _, t := range next.Output.Timers {
		switch {
		case next.Ended:
		case t.At.IsZero():
			b.Queue(d.r.sql(deleteTimerSQL), d.name, in.key, t.Name)
		default:
			b.Queue(d.r.sql(upsertTimerSQL), d.name, in.key, t.Name, t.At, cause)
		}
	}
	if !in.suppressed {
		if err := d.queueCommands(b, in, cause, next.Output.Commands); err != nil {
			return err
		}
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if in.suppressed {
		return nil
	}
	for i, job := range next.Output.Jobs {
		jobID := id.Derive[id.Any]("process-job", d.name, in.id, strconv.Itoa(i))
		if err := d.r.cfg.Jobs.InsertTx(ctx, tx, job, jobID, in.cause); err != nil {
			return err
		}
	}
	return nil
}

// storable replaces NUL in a JSON document by U+FFFD, because a column of type jsonb refuses NUL. A NUL in a text from
// outside must not stop the process for all customers.
func storable(document []byte) []byte {
	if !bytes.Contains(document, []byte(`\u0000`)) {
		return document
	}
	return bytes.ReplaceAll(document, []byte(`\u0000`), []byte(`\ufffd`))
}

// queueCommands stores commands for the outbox. Their ids derive from the input, so a repeated input adds none.
func (d *round) queueCommands(b *pgx.Batch, in input, cause []byte, list []commands.Command) error {
	for i, cmd := range list {
		name, body, err := d.r.cfg.Bus.EncodeStored(cmd)
		if err != nil {
			return &poison{error: err}
		}
		commandID := id.Derive[id.Command]("process-command", d.name, in.id, strconv.Itoa(i))
		b.Queue(d.r.sql(insertCommandSQL), pgx.NamedArgs{
			"id": uuid.UUID(commandID), "process": d.name, "key": in.key, "name": name,
			"body": storable(body), "cause": cause,
		})
	}
	return nil
}
