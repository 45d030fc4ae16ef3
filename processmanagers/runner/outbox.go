package processrunner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// How commands are tried. An attempt that failed because a part of the installation is away is not counted.
const (
	firstRetry   = 50 * time.Millisecond
	longRetry    = 30 * time.Second
	maxAttempts  = 20               // about six minutes; then the command stops, visibly
	executeLimit = 30 * time.Second // of one attempt
	outboxRound  = 30 * time.Second // between searches for commands that an earlier program left behind
	retryRound   = 50 * time.Millisecond
	fetchBatch   = 64 // commands in one query
	commandsPer  = 8  // commands that are executed at the same time, for each input
)

// maxHanded bounds the commands of one process that wait in memory, in bytes. Those beyond it are read from their rows.
const maxHanded = 32 << 20

// outbox executes the stored commands of a process: those of an instance in order, instances in parallel, organizations
// in turn. Safe for concurrent use.
type outbox struct {
	round   *round
	ready   *fairQueue[lane]    // whose oldest commands are to be read
	fetched *fairQueue[fetched] // whose oldest commands are to be executed
	look    chan struct{}       // wakes the search for commands
	later   chan struct{}       // wakes the goroutine that waits for retries
	over    chan struct{}       // wakes the goroutine that deletes rows
	handed  atomic.Int64        // bytes of the commands that wait without having been read
	crew    crew                // workers that execute commands

	mu      sync.Mutex
	acted   pile[acted]     // their rows are to be deleted
	known   map[string]bool // instances that wait or are worked on; true: a command was added, so look again
	waiting []retry
	warned  time.Time // of the last log line about an attempt that is not counted
}

// lane is the queue of one instance's commands. Only one worker has it at a time.
type lane struct {
	key   string
	org   id.Organization // of the newest command when the lane was made
	after int64           // number of the last command that is done, behind which the next one is looked for
	pause *loop.Backoff
}

// fetched is a lane with its oldest command.
type fetched struct {
	lane
	row  storedCommand
	done func() // makes room for another command to be read
}

// steady is the clock of the pauses before commands are tried again: they are for a part of the installation that is
// away, and no rule or person waits for them.
var steady = clock.Steady(clock.System())

// retry is a lane whose first command is tried again at an instant of the steady clock.
type retry struct {
	lane lane
	at   time.Time
}

// init sets the fields; it exists because an outbox holds a mutex and must not be copied.
func (o *outbox) init(d *round) {
	o.round, o.known = d, map[string]bool{}
	o.acted.init()
	o.crew = crew{most: commandsPer * d.r.cfg.Concurrency, hired: 1, idle: 1}
	o.ready, o.fetched = newFairQueue[lane](2*fetchBatch), newFairQueue[fetched](commandsPer*d.r.cfg.Concurrency)
	o.look, o.later, o.over = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
}

// start starts the workers and the goroutines that bring them lanes. All end with the round.
func (o *outbox) start() {
	d := o.round
	d.loops.Go("commands", o.work)
	d.loops.Go("command reader", o.fetch)
	d.loops.Go("command rows", o.deleteActed)
	d.loops.Go("command retries", o.awaitRetries)
	d.loops.Go("outbox", func(ctx context.Context) {
		for ctx.Err() == nil {
			wait := outboxRound
			if err := o.sweep(ctx); err != nil {
				wait = time.Second
			}
			loop.WaitFor(ctx, o.look, wait)
		}
	})
}

// kick makes a worker look for commands of an instance. When nobody works on the instance and its oldest command is
// known, the command is executed without being read from its row first, as long as there is memory.
func (o *outbox) kick(org id.Organization, a asked) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.known[a.key]; ok {
		o.known[a.key] = true
		return
	}
	o.known[a.key] = false
	l := lane{key: a.key, org: org, pause: &loop.Backoff{Min: firstRetry, Max: longRetry}}
	if a.oldest == nil || o.handed.Load() > maxHanded {
		o.ready.push(org, a.key, l)
		return
	}
	size := a.oldest.size // of itself, so that done does not hold the command
	o.handed.Add(size)
	o.fetched.push(org, a.key, fetched{lane: l, row: *a.oldest, done: func() { o.handed.Add(-size) }})
}

// selectKeysSQL finds the instances that have commands to execute, also those that have stopped themselves. It leaves
// out those whose oldest command has stopped or is held, because the later ones wait behind it.
const selectKeysSQL = `
select key, org from (
	select distinct on (key) key, coalesce(cause->>'orgId', '') as org, stopped_at is null and not held as free
	from {schema}.commands where process = $1 order by key, seq) oldest
where free`

// sweep searches for instances with commands, among them those that an earlier program stored.
func (o *outbox) sweep(ctx context.Context) error {
	rows, err := o.round.r.cfg.DB.Owner.Query(ctx, o.round.r.sql(selectKeysSQL), o.round.name)
	if err != nil {
		return err
	}
	var key, owner string
	_, err = pgx.ForEachRow(rows, []any{&key, &owner}, func() error {
		org, _ := id.Parse[id.Organization](owner) // zero for a command of the platform
		o.kick(org, asked{key: key})
		return nil
	})
	return err
}

// selectCommandsSQL reads the oldest command of each of some instances, behind a number. It takes two steps in the
// index for each, however many commands wait and however many deleted ones the table still has: both searches have an
// order, since exists would be looked for from the beginning of the table.
const selectCommandsSQL = `
select n.key, c.* from unnest($2::text[], $3::bigint[]) n (key, after), lateral (
	select seq, id, name, body, cause, attempts, stopped_at is not null or held as waits, coalesce((
		select true from {schema}.commands m where m.process = c.process and m.key = c.key and m.seq > c.seq
		order by m.seq limit 1), false) as more
	from {schema}.commands c where c.process = $1 and c.key = n.key and c.seq > n.after order by c.seq limit 1) c`

// fetch reads the oldest commands of the lanes whose turn it is, as many as there are in one query, until ctx ends. A
// lane without a command to execute rests.
func (o *outbox) fetch(ctx context.Context) {
	d := o.round
	for {
		l, done, ok := o.ready.pop(ctx)
		if !ok {
			return
		}
		var keys []string
		var after []int64
		lanes := map[string]fetched{}
		for ok {
			keys, after, lanes[l.key] = append(keys, l.key), append(after, l.after), fetched{lane: l, done: done}
			if len(keys) == fetchBatch {
				break
			}
			l, done, ok = o.ready.take()
		}
		rows, err := d.r.cfg.DB.Owner.Query(ctx, d.r.sql(selectCommandsSQL), anew, d.name, keys, after)
		var list []storedCommand
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByName[storedCommand])
		}
		for _, row := range list {
			if f := lanes[row.Key]; err == nil && !row.Waits {
				f.row = row
				delete(lanes, row.Key)
				o.fetched.push(f.org, f.key, f)
			}
		}
		for _, f := range lanes {
			f.done()
			switch {
			case ctx.Err() != nil:
			case err != nil:
				o.retryLater(ctx, f.lane, passingAlways(err))
			default:
				o.rest(f.lane)
			}
		}
	}
}

// work executes one command whose turn it is, and again, until ctx ends.
func (o *outbox) work(ctx context.Context) {
	for {
		f, done, ok := o.fetched.pop(ctx)
		if !ok {
			return
		}
		if o.crew.hires() {
			o.round.loops.Go("commands", o.work)
		}
		var what outcome
		err := loop.Try(func() (err error) {
			what, err = o.run(ctx, f.key, f.row)
			return err
		})
		done()
		f.done()
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errFenced):
			o.round.fail(err)
			return
		case errors.Is(err, errHeld):
			o.rest(f.lane)
		case err != nil:
			o.retryLater(ctx, f.lane, err)
		case what == accepted:
			o.mu.Lock()
			o.acted.add(f.key, acted{lane: f.lane, id: f.row.ID, seq: f.row.Seq, more: f.row.More})
			o.mu.Unlock()
			loop.Wake(o.over)
		case what == refusedAndTold:
			o.goOn(f.lane, f.row.Seq)
		default:
			o.rest(f.lane)
		}
		o.crew.waits()
	}
}

// goOn puts a lane back whose command is done, for its next one. seq is the number of the command, 0 when it was
// executed without having been read. The transactions of an instance follow each other, so that no smaller one comes.
func (o *outbox) goOn(l lane, seq int64) {
	l.after = max(l.after, seq)
	l.pause.Reset()
	o.ready.push(l.org, l.key, l)
}

// busy reports whether a command waits for its turn or its next attempt.
func (o *outbox) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.known) > 0
}

// rest ends the work on a lane, or puts it back when a command was added meanwhile.
func (o *outbox) rest(l lane) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known[l.key] {
		o.known[l.key] = false
		o.ready.push(l.org, l.key, l)
		return
	}
	delete(o.known, l.key)
}

// retryLater puts a lane back after a pause that grows with each failure.
func (o *outbox) retryLater(ctx context.Context, l lane, why error) {
	now := steady.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !outage(why) || now.Sub(o.warned) > longRetry { // an outage would write a line for each instance
		o.warned = now
		o.round.r.logger.WarnContext(ctx, "process command will be tried again", "process", o.round.name, "key", l.key,
			"error", why, "retry_in", l.pause.Pause())
	}
	o.waiting = append(o.waiting, retry{l, now.Add(l.pause.Next())})
	o.round.retrying.Store(int64(len(o.waiting)))
	loop.Wake(o.later)
}

// awaitRetries puts lanes back when their pauses are over.
func (o *outbox) awaitRetries(ctx context.Context) {
	defer o.round.retrying.Store(0)
	for ctx.Err() == nil {
		if o.putBack(steady.Now()) == 0 {
			loop.Wait(ctx, o.later)
		} else {
			loop.Sleep(ctx, retryRound)
		}
	}
}

// putBack puts lanes back whose pauses are over, and gives how many wait yet.
func (o *outbox) putBack(now time.Time) (left int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.waiting {
		if now.Before(r.at) {
			o.waiting[left] = r
			left++
			continue
		}
		o.ready.push(r.lane.org, r.lane.key, r.lane)
	}
	clear(o.waiting[left:])
	o.waiting = o.waiting[:left]
	o.round.retrying.Store(int64(left))
	return left
}

// storedCommand is one row of the table commands. Body and Cause are JSON.
type storedCommand struct {
	Key      string
	Seq      int64 // 0 when it was not read from its row
	ID       uuid.UUID
	Name     string
	Body     []byte
	Cause    []byte
	Attempts int
	Waits    bool             // it has stopped, or is held
	More     bool             // the instance had later ones when this one was read
	asked    commands.Command // the command when it was just asked for, instead of Body and Cause
	cause    jobs.Cause       // of asked
	size     int64            // bytes in memory; 0 when it was read from its row
}

// outcome says how the execution of a command ended.
type outcome int

// The outcomes.
const (
	stopped        outcome = iota // it cannot be executed, and waits for a retry
	accepted                      // its row is to be deleted
	refusedAndTold                // the instance has taken the refusal, and the row is deleted
)

// run executes a command. After an error the same command is executed again.
func (o *outbox) run(ctx context.Context, key string, row storedCommand) (outcome, error) {
	cmd, cause, err := o.round.decode(row)
	if err != nil {
		return stopped, o.stop(ctx, key, row, err)
	}
	err = loop.Try(func() error {
		_, err := o.execute(ctx, o.round.r.executing, cmd, id.Command(row.ID), cause)
		return err
	})
	switch {
	case err == nil:
		return accepted, nil
	case ctx.Err() != nil:
		return stopped, err
	case refusal(err):
		return refusedAndTold, o.refused(ctx, key, cmd, row, cause, err)
	}
	return stopped, o.failed(ctx, key, row, err)
}

// decode reads a row. An error is about the row, or about a version of the program that does not know the command.
func (d *round) decode(row storedCommand) (cmd commands.Command, cause jobs.Cause, err error) {
	if row.asked != nil {
		return row.asked, row.cause, nil
	}
	if err = json.Unmarshal(row.Cause, &cause); err != nil {
		return nil, cause, fmt.Errorf("cause: %w", err)
	}
	if cmd, err = d.r.cfg.Bus.DecodeStored(row.Name, row.Body); err != nil {
		return nil, cause, fmt.Errorf("decode: %w", err)
	}
	return cmd, cause, nil
}

// bounds are how many commands are executed at the same time, and how long one may take.
type bounds struct {
	slots *fair.Slots
	limit time.Duration
}

// execute runs a command with the process as its actor, within bounds.
func (o *outbox) execute(
	ctx context.Context, within bounds, cmd commands.Command, commandID id.Command, cause jobs.Cause,
) (bus.Result, error) {
	d := o.round
	leave, err := d.r.cfg.Gate.Enter(ctx)
	if err != nil {
		return bus.Result{}, err
	}
	defer leave()
	if err := within.slots.Enter(ctx, cause.OrgID); err != nil {
		return bus.Result{}, err
	}
	defer within.slots.Leave(cause.OrgID)
	ctx, cancel := context.WithTimeout(ctx, within.limit)
	defer cancel()
	return d.r.cfg.Bus.Execute(ctx, cmd, commands.Meta{
		CommandID: commandID, OrgID: cause.OrgID,
		Actor:         events.Actor{Kind: events.ActorProcess, ID: d.name},
		CorrelationID: cause.CorrelationID, CausationID: cause.CausationID,
	})
}

// refusal reports whether a failure is final: a repeat of the command would fail again.
func refusal(err error) bool {
	switch failure.KindOf(err) {
	case failure.Internal, failure.Unavailable, failure.Limited:
		return false
	case failure.Conflict:
		return failure.CodeOf(err) != "concurrent_change"
	}
	return true
}

// outage reports whether a command failed because a part of the installation is away or busy, and not by itself.
func outage(err error) bool {
	switch failure.KindOf(err) {
	case failure.Unavailable, failure.Limited:
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, postgres.ErrPassing) || postgres.Unserved(err) ||
		errors.Is(err, eventstore.ErrUnavailable)
}

// failed counts a failed attempt, unless the command is not at fault. After the last attempt, and after a panic, the
// command stops. The error is that of the attempt when the command shall be tried again.
func (o *outbox) failed(ctx context.Context, key string, row storedCommand, why error) error {
	d := o.round
	why = fmt.Errorf("execute %s: %w", row.Name, why)
	switch {
	case outage(why):
		return why
	case loop.StackOf(why) != "", row.Attempts+1 >= maxAttempts:
		return o.stop(ctx, key, row, why)
	}
	_, err := d.r.cfg.DB.Owner.Exec(ctx,
		d.r.sql(`update {schema}.commands set attempts = attempts + 1, error = $2 where id = $1`), row.ID, shown(why))
	return errors.Join(why, err)
}

// stop stops a command, visibly, until a person asks for a retry. The later commands of the instance wait for it, since
// they may build on it. Other instances go on.
func (o *outbox) stop(ctx context.Context, key string, row storedCommand, why error) error {
	d := o.round
	_, err := d.r.cfg.DB.Owner.Exec(ctx,
		d.r.sql(`update {schema}.commands set attempts = attempts + 1, error = $2, stopped_at = $3 where id = $1`),
		row.ID, shown(why), d.r.cfg.Clock.Now())
	if err != nil {
		return passingAlways(err)
	}
	d.r.logger.ErrorContext(ctx, "process command stopped", "process", d.name, "key", key, "command", row.Name,
		"command_id", row.ID, "attempts", row.Attempts+1, "error", why, "stack", loop.StackOf(why))
	return nil
}

// refused gives a refusal to the instance as an input and deletes the command's row in the same transaction. When the
// instance has stopped, the row is marked instead, before the instance can go on.
func (o *outbox) refused(
	ctx context.Context, key string, cmd commands.Command, row storedCommand, cause jobs.Cause, why error,
) error {
	d := o.round
	d.r.logger.InfoContext(ctx, "process command refused", "process", d.name, "key", key, "command", row.Name,
		"command_id", row.ID, "code", failure.CodeOf(why))
	turn := d.lanes.enter(key)
	defer turn.leave()
	if err := turn.wait(ctx); err != nil {
		return err
	}
	err := d.take(ctx, input{
		Input: processmanagers.Input{
			Refusal: &processmanagers.Refusal{
				Command: row.Name, Code: failure.CodeOf(why), Target: cmd.Target(), Asked: cmd,
			},
		},
		key: key, cause: cause, id: "refusal\x00" + row.ID.String(),
		command: row.ID,
	})
	if !errors.Is(err, errHeld) {
		return err
	}
	if _, err := d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(`update {schema}.commands set held = true where id = $1`),
		row.ID); err != nil {
		return passingAlways(err)
	}
	return errHeld
}

// passingAlways marks the error of a plain query as one to repeat: repeating a read does no harm.
func passingAlways(err error) error { return fmt.Errorf("%w: %w", postgres.ErrPassing, err) }
