package processrunner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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
	after      uint64 // position of the log from which a reader finds the event first
	cause      jobs.Cause
	suppressed bool      // commands and jobs are suppressed, timers are not; set by takeIn
	at         time.Time // time of an event: when it is suppressed, timers are armed as they would have been then
	resumed    bool      // a retry: the instance may have stopped
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

// passing reports whether the attempt at an input shall be repeated: the database is away, or refuses everybody.
func passing(err error) bool {
	var bad *poison
	var answer *pgconn.PgError
	if errors.As(err, &bad) || errors.Is(err, errFenced) {
		return false
	}
	if errors.Is(err, postgres.ErrPassing) {
		return true
	}
	return errors.As(err, &answer) && !aboutValues(answer)
}

// aboutValues reports whether PostgreSQL refuses the values of a statement: one does not fit, breaks a constraint or is
// too large. Other errors are about the server, or about all statements.
func aboutValues(answer *pgconn.PgError) bool {
	switch answer.Code[:min(2, len(answer.Code))] {
	case "22", "23", "54":
		return true
	}
	return false
}

// taken says what a transaction of take has left for others to do.
type taken struct{ commands, timers bool }

// take gives an input to its instance and writes the new state and the outputs in one transaction. An input that was
// taken before changes nothing. A poisonous input stops its instance alone. The caller holds the instance's turn.
func (d *round) take(ctx context.Context, in input) error {
	err := d.try(ctx, in)
	if bad := poisonOf(err); bad != nil && ctx.Err() == nil {
		return d.stopInstance(ctx, in, bad)
	}
	return err
}

// poisonOf returns the poison in the error of an attempt, or nil when the fault is not the input's: a server that
// refuses all writes must not stop one instance after the other.
func poisonOf(err error) *poison {
	var bad *poison
	switch {
	case err == nil || errors.Is(err, errFenced) || errors.Is(err, errHeld) || passing(err):
		return nil
	case errors.As(err, &bad):
		return bad
	}
	return &poison{error: err}
}

// try is one attempt of take. It returns the poison of an input that cannot be taken.
func (d *round) try(ctx context.Context, in input) error {
	if err := d.r.slots.Enter(ctx, in.cause.OrgID); err != nil {
		return err
	}
	defer d.r.slots.Leave(in.cause.OrgID)
	var did taken
	err := postgres.Transaction(ctx, d.r.cfg.DB.Owner, func(tx pgx.Tx) (err error) {
		did, err = d.takeIn(ctx, tx, in)
		return err
	})
	if err != nil {
		return fmt.Errorf("process %s: instance %s: %w", d.name, in.key, err)
	}
	if did.commands {
		d.outbox.kick(in.key, in.cause.OrgID)
	}
	if did.timers {
		loop.Wake(d.timers)
	}
	return nil
}

// errHeld reports a refusal for an instance that has stopped: the command is executed again after a retry.
var errHeld = errors.New("the instance has stopped")

// takeIn is the work of try within its transaction.
func (d *round) takeIn(ctx context.Context, tx pgx.Tx, in input) (taken, error) {
	inst, err := d.instance(ctx, tx, in.key)
	switch {
	case err != nil:
		return taken{}, err
	case in.Event != nil && in.position <= inst.last:
		return taken{}, nil // taken before a restart
	case inst.stopped && !in.resumed:
		return taken{}, d.hold(ctx, tx, in, inst)
	}
	if in.claim != nil {
		if ok, err := in.claim(ctx, tx); err != nil || !ok {
			return taken{}, err
		}
	}
	in.suppressed = in.Event != nil && in.position <= max(d.liveFrom, inst.quiet)
	if inst.holds && in.Event != nil {
		if in.suppressed, err = d.release(ctx, tx, in); err != nil {
			return taken{}, err
		}
	}
	now := d.r.cfg.Clock.Now()
	if in.suppressed {
		now = in.at
	}
	next, err := d.step(inst.state, in.Input, now)
	if err != nil {
		return taken{}, err
	}
	if !inst.begun && !d.begins(in) {
		next.Ended = true
	}
	did := taken{
		commands: len(next.Output.Commands) > 0 && !in.suppressed, timers: len(next.Output.Timers) > 0 && !next.Ended,
	}
	return did, d.write(ctx, tx, in, inst, next)
}

// begins reports whether an input may begin an instance. A refusal or a timeout that comes after the end of its
// instance, and an event that only follows others, are acted on and leave nothing.
func (d *round) begins(in input) bool { return in.Event != nil && !d.def.Follows(in.Event.Type) }

// instance is the row of an instance, locked until the transaction ends. A missing one has the zero value.
type instance struct {
	begun   bool   // has a state
	state   []byte // nil for an instance that has ended or never began: it begins anew
	last    uint64 // position of its newest event
	quiet   uint64 // outputs of events up to here are suppressed
	stopped bool
	holds   bool // has held events
	missing bool // there is no row
}

// lockInstanceSQL reads the row and locks it until the transaction ends.
const lockInstanceSQL = `
select state, last_position, quiet, ended, error <> '',
	exists (select from {schema}.held h where h.process = i.process and h.key = i.key)
from {schema}.instances i where process = $1 and key = $2 for update`

// instance checks that the term is not over, and locks the row. Both last until the transaction ends.
func (d *round) instance(ctx context.Context, tx pgx.Tx, key string) (inst instance, err error) {
	b := &pgx.Batch{}
	b.Queue(d.r.sql(fenceSQL), d.term.epoch)
	b.Queue(d.r.sql(lockInstanceSQL), d.name, key)
	results := tx.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	var epoch int64
	err = results.QueryRow().Scan(&epoch)
	if errors.Is(err, pgx.ErrNoRows) {
		return instance{}, errFenced
	}
	if err != nil {
		return instance{}, err
	}
	var ended bool
	err = results.QueryRow().Scan(&inst.state, &inst.last, &inst.quiet, &ended, &inst.stopped, &inst.holds)
	if errors.Is(err, pgx.ErrNoRows) {
		return instance{missing: true}, nil
	}
	if inst.begun = !ended; ended {
		inst.state = nil
	}
	return inst, err
}

// Statements on instances, timers and commands.
const (
	// The row must be as it was read, or missing as it was.
	upsertInstanceSQL = `
insert into {schema}.instances as i (process, key, state, last_position, ended)
values (@process, @key, @state, @position, @ended)
on conflict (process, key) do update set
	state = excluded.state, last_position = excluded.last_position, ended = excluded.ended
where i.last_position = @last and not @missing`
	upsertTimerSQL = `
insert into {schema}.timers (process, key, name, due_at, cause) values ($1, $2, $3, $4, $5)
on conflict (process, key, name) do update set due_at = excluded.due_at, cause = excluded.cause`
	deleteTimerSQL   = `delete from {schema}.timers where process = $1 and key = $2 and name = $3`
	deleteTimersSQL  = `delete from {schema}.timers where process = $1 and key = $2`
	insertCommandSQL = `
insert into {schema}.commands (id, process, key, name, body, cause)
values (@id, @process, @key, @name, @body, @cause)
on conflict do nothing`
	deleteCommandSQL = `delete from {schema}.commands where id = $1`
	// Organizations have their turns: each one's longest due timer comes before the second of any other.
	selectDueSQL = `
select coalesce(cause->>'orgId', '') as org, key, name, due_at, cause from {schema}.timers t
where process = $1 and due_at <= $2 and not exists (
	select from {schema}.instances i where i.process = t.process and i.key = t.key and i.error <> '')
order by row_number() over (partition by cause->>'orgId' order by due_at, key, name), due_at, key, name limit $3`
	selectNextDueSQL = `
select (
	select due_at from {schema}.timers t
	where process = $1 and not exists (
		select from {schema}.instances i where i.process = t.process and i.key = t.key and i.error <> '')
	order by due_at limit 1)`
	deleteDueTimerSQL = `delete from {schema}.timers where process = $1 and key = $2 and name = $3 and due_at = $4`
)

// write queues state, timers and commands in one batch, and enqueues the jobs. An ended instance keeps no timer.
func (d *round) write(
	ctx context.Context, tx pgx.Tx, in input, inst instance, next processmanagers.Stepped,
) error {
	cause, err := json.Marshal(in.cause)
	if err != nil {
		return &poison{error: err}
	}
	b := &pgx.Batch{}
	d.queueState(b, in, inst, next)
	upserts := b.Len() // the statement that must change a row
	d.queueTimers(b, in, cause, next)
	if !in.suppressed {
		if err := d.queueCommands(ctx, tx, b, in, cause, next.Output.Commands); err != nil {
			return err
		}
	}
	if err := sendAll(ctx, tx, b, upserts); err != nil || in.suppressed {
		return err
	}
	for i, job := range next.Output.Jobs {
		jobID := id.Derive[id.Any]("process-job", d.name, in.id, strconv.Itoa(i))
		if err := d.r.cfg.Jobs.InsertTx(ctx, tx, job, jobID, in.cause); err != nil {
			return err
		}
	}
	return nil
}

// sendAll runs a batch. It fails with errFenced when one of the first statements, which write the instance, changes no
// row: another program has written it.
func sendAll(ctx context.Context, tx pgx.Tx, b *pgx.Batch, upserts int) error {
	if b.Len() == 0 {
		return nil
	}
	results := tx.SendBatch(ctx, b)
	for i := range b.Len() {
		tag, err := results.Exec()
		if err == nil && i < upserts && tag.RowsAffected() != 1 {
			err = errFenced
		}
		if err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

// queueState queues the new state. An instance that has ended without an event and has no row gets none.
func (d *round) queueState(b *pgx.Batch, in input, inst instance, next processmanagers.Stepped) {
	if next.Ended && in.Event == nil && inst.missing {
		return
	}
	state := next.State
	if next.Ended {
		state = nil
	}
	b.Queue(d.r.sql(upsertInstanceSQL), pgx.NamedArgs{
		"process": d.name, "key": in.key, "state": storable(state), "position": max(inst.last, in.position),
		"ended": next.Ended, "last": inst.last, "missing": inst.missing,
	})
}

// queueTimers queues the changes of timers.
func (d *round) queueTimers(b *pgx.Batch, in input, cause []byte, next processmanagers.Stepped) {
	if next.Ended {
		b.Queue(d.r.sql(deleteTimersSQL), d.name, in.key)
		return
	}
	for _, t := range next.Output.Timers {
		if t.At.IsZero() {
			b.Queue(d.r.sql(deleteTimerSQL), d.name, in.key, t.Name)
		} else {
			b.Queue(d.r.sql(upsertTimerSQL), d.name, in.key, t.Name, t.At, cause)
		}
	}
}

// storable replaces NUL in a JSON document by U+FFFD, because a column of type jsonb refuses NUL. A NUL in a text from
// outside must not stop the process for all customers.
func storable(document []byte) []byte {
	if !bytes.Contains(document, []byte(`\u0000`)) {
		return document
	}
	return bytes.ReplaceAll(document, []byte(`\u0000`), []byte(`\ufffd`))
}
