package processrunner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
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
	// The row that the input comes from is deleted in the same transaction; the input is left out when it is gone.
	timer   *dueTimer // of a timeout
	command uuid.UUID // of a refusal
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
	if errors.As(err, &bad) || errors.Is(err, errFenced) {
		return false
	}
	if errors.Is(err, postgres.ErrPassing) {
		return true
	}
	return postgres.Code(err) != "" && !postgres.OfValues(err)
}

// taken says what a transaction of take has left for others to do.
type taken struct {
	commands []asked
	timer    time.Time // the earliest one that was armed; zero = none
	work     []work
}

// asked is an instance that has asked for commands.
type asked struct {
	key string
	// oldest is the first of them; nil when older ones of the instance may wait.
	oldest *storedCommand
}

// take gives an input to its instance and writes the new state and the outputs in one transaction. An input that was
// taken before changes nothing. A poisonous input stops its instance alone. The caller holds the instance's turn.
func (d *round) take(ctx context.Context, in input) error {
	return d.inSlot(ctx, in.cause.OrgID, func() error { return d.takeAlone(ctx, in) })
}

// inSlot runs work for an organization in one of the slots that bound how many inputs are handled at the same time.
func (d *round) inSlot(ctx context.Context, org id.Organization, work func() error) error {
	if err := d.r.slots.Enter(ctx, org); err != nil {
		return err
	}
	defer d.r.slots.Leave(org)
	return work()
}

// takeAlone is take for a caller that has a slot.
func (d *round) takeAlone(ctx context.Context, in input) error {
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

// takeTogether takes inputs of one organization, each of another instance, in one transaction. When one of them is
// poisonous, it takes one after the other, so that the input stops its instance alone. The errors are those of the
// inputs. The caller has a slot.
func (d *round) takeTogether(ctx context.Context, list []input) []error {
	errs := make([]error, len(list))
	if len(list) > 1 {
		err := guarded(func() error { return d.try(ctx, list...) })
		if poisonOf(err) == nil {
			for i := range errs {
				errs[i] = err
			}
			return errs
		}
	}
	for i, in := range list {
		errs[i] = guarded(func() error { return d.takeAlone(ctx, in) })
	}
	return errs
}

// try is one attempt of take for inputs of one organization, each of another instance, in one transaction. It returns
// the poison of an input that cannot be taken; then none of them is. The caller has a slot.
func (d *round) try(ctx context.Context, list ...input) error {
	org := list[0].cause.OrgID
	var did taken
	err := postgres.Transaction(ctx, d.r.cfg.DB.Owner, func(tx pgx.Tx) (err error) {
		did, err = d.takeIn(ctx, tx, list)
		return err
	})
	if err != nil {
		return fmt.Errorf("process %s: instance %s: %w", d.name, list[0].key, err)
	}
	for _, a := range did.commands {
		d.outbox.kick(org, a)
	}
	for _, w := range did.work {
		d.flight.set(w.key, w.next.Output.Timers)
	}
	d.armed(did.timer)
	return nil
}

// errHeld reports a refusal for an instance that has stopped: the command is executed again after a retry.
var errHeld = errors.New("the instance has stopped")

// work is an input with its instance, and what it leads to.
type work struct {
	input
	inst   instance
	next   processmanagers.Stepped
	oldest *storedCommand // as in asked
}

// takeIn is the work of try within its transaction.
func (d *round) takeIn(ctx context.Context, tx pgx.Tx, list []input) (did taken, err error) {
	instances, err := d.instances(ctx, tx, list)
	if err != nil {
		return taken{}, err
	}
	todo := make([]work, 0, len(list))
	for _, in := range list {
		inst := instances[in.key]
		switch {
		case in.Event != nil && in.position <= inst.last: // taken before a restart
		case inst.stopped && !in.resumed:
			if err := d.hold(ctx, tx, in, inst); err != nil {
				return taken{}, err
			}
		default:
			todo = append(todo, work{input: in, inst: inst})
		}
	}
	if todo, err = d.claim(ctx, tx, todo); err != nil {
		return taken{}, err
	}
	for i := range todo {
		if err := d.decide(ctx, tx, &todo[i]); err != nil {
			return taken{}, err
		}
	}
	err = d.write(ctx, tx, todo)
	did.work = todo
	for _, w := range todo {
		if len(w.next.Output.Commands) > 0 && !w.suppressed {
			did.commands = append(did.commands, asked{w.key, w.oldest})
		}
		for _, t := range w.next.Output.Timers {
			if !w.next.Ended && !t.At.IsZero() && (did.timer.IsZero() || t.At.Before(did.timer)) {
				did.timer = t.At
			}
		}
	}
	return did, err
}

// claim deletes the rows that inputs come from, and leaves out the inputs whose rows are gone.
func (d *round) claim(ctx context.Context, tx pgx.Tx, list []work) ([]work, error) {
	var keys, names []string
	var dues []time.Time
	for _, w := range list {
		if t := w.timer; t != nil {
			keys, names, dues = append(keys, t.Key), append(names, t.Name), append(dues, t.DueAt)
		}
	}
	fired := map[string]bool{}
	if len(keys) > 0 {
		rows, err := tx.Query(ctx, d.r.sql(deleteDueTimersSQL), d.name, keys, names, dues)
		if err != nil {
			return nil, err
		}
		var key string
		if _, err := pgx.ForEachRow(rows, []any{&key}, func() error { fired[key] = true; return nil }); err != nil {
			return nil, err
		}
	}
	mine := list[:0]
	for _, w := range list {
		ok := w.timer == nil || fired[w.key]
		if w.command != uuid.Nil {
			tag, err := tx.Exec(ctx, d.r.sql(deleteCommandsSQL), anew, []uuid.UUID{w.command})
			if err != nil {
				return nil, err
			}
			ok = tag.RowsAffected() == 1
		}
		if ok {
			mine = append(mine, w)
		}
	}
	return mine, nil
}

// decide runs the process for an input.
func (d *round) decide(ctx context.Context, tx pgx.Tx, w *work) (err error) {
	w.suppressed = w.Event != nil && w.position <= max(d.liveFrom, w.inst.quiet)
	if w.inst.holds && w.Event != nil {
		if w.suppressed, err = d.release(ctx, tx, w.input); err != nil {
			return err
		}
	}
	now := d.r.cfg.Clock.Now()
	if w.suppressed {
		now = w.at
	}
	if w.next, err = d.step(&w.inst.state, w.Input, now); err != nil {
		return err
	}
	if !w.inst.begun && !d.begins(w.input) {
		w.next.Ended = true
	}
	return nil
}

// begins reports whether an input may begin an instance. A refusal or a timeout that comes after the end of its
// instance, and an event that only follows others, are acted on and leave nothing.
func (d *round) begins(in input) bool { return in.Event != nil && !d.def.Follows(in.Event.Type) }

// instance is the row of an instance, locked until the transaction ends. A missing one has the zero value.
type instance struct {
	begun   bool                   // has a state
	state   processmanagers.Stored // empty for an instance that has ended or never began: it begins anew
	last    uint64                 // position of its newest event
	quiet   uint64                 // outputs of events up to here are suppressed
	stopped bool
	holds   bool // has held events
	missing bool // there is no row
}

// lockInstancesSQL reads the rows and locks them until the transaction ends. The limit has each looked up by its own
// key, also while the planner knows nothing of the table.
const lockInstancesSQL = `
select i.*, exists (select from {schema}.held h where h.process = $1 and h.key = i.key)
from unnest($2::text[]) as n (key) cross join lateral (
	select key, state, last_position, quiet, ended, error <> '' from {schema}.instances
	where process = $1 and key = n.key limit 1 for update
) i`

// instances checks that the term is not over, and locks the rows of the inputs' instances. Both last until the
// transaction ends. A row that was read just before, for a timer that acted, is not read again: when it is written, it
// must be as it was.
func (d *round) instances(ctx context.Context, tx pgx.Tx, list []input) (all map[string]instance, err error) {
	keys := make([]string, 0, len(list))
	all = make(map[string]instance, len(list))
	for _, in := range list {
		if row := d.flight.row(in.key); row != nil {
			all[in.key] = *row
			continue
		}
		keys, all[in.key] = append(keys, in.key), instance{missing: true}
	}
	b := &pgx.Batch{}
	b.Queue(d.r.sql(fenceSQL), d.term.epoch)
	b.Queue(d.r.sql(lockInstancesSQL), d.name, keys)
	results := tx.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	var epoch int64
	err = results.QueryRow().Scan(&epoch)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errFenced
	}
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var key string
		var inst instance
		var ended bool
		err := rows.Scan(&key, &inst.state.JSON, &inst.last, &inst.quiet, &ended, &inst.stopped, &inst.holds)
		if err != nil {
			return nil, err
		}
		if inst.begun = !ended; ended {
			inst.state = processmanagers.Stored{}
		}
		all[key] = inst
	}
	return all, rows.Err()
}

// storable replaces NUL in a JSON document by U+FFFD, because a column of type jsonb refuses NUL. A NUL in a text from
// outside must not stop the process for all customers.
func storable(document []byte) []byte {
	if !bytes.Contains(document, []byte(`\u0000`)) {
		return document
	}
	return bytes.ReplaceAll(document, []byte(`\u0000`), []byte(`\ufffd`))
}
