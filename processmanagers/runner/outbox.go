package processrunner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Waits between attempts of a command whose failure may pass, and between searches for commands that an earlier program
// left behind.
const (
	firstRetry  = 50 * time.Millisecond
	longRetry   = 30 * time.Second
	outboxRound = 30 * time.Second
)

// outbox executes the stored commands of a process: in order within an instance, instances in parallel. Safe for
// concurrent use.
type outbox struct {
	round *round
	mu    sync.Mutex
	busy  map[string]bool // instances with a running worker; true: a command was added, so look again before ending
}

// init sets the fields; it exists because an outbox holds a mutex and must not be copied.
func (o *outbox) init(d *round) { o.round, o.busy = d, map[string]bool{} }

// kick starts a worker for an instance, or makes the running one look again.
func (o *outbox) kick(ctx context.Context, key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.busy[key]; ok {
		o.busy[key] = true
		return
	}
	if ctx.Err() != nil {
		return
	}
	o.busy[key] = false
	o.round.loops.Go("commands", func(ctx context.Context) { o.work(ctx, key) })
}

// sweep searches every outboxRound for instances with commands, among them those that an earlier program stored.
func (o *outbox) sweep(ctx context.Context) {
	d := o.round
	for {
		wait := outboxRound
		rows, err := d.r.cfg.DB.Owner.Query(ctx, d.r.sql(selectKeysSQL), d.name)
		var keys []string
		if err == nil {
			keys, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			wait = time.Second
		}
		for _, key := range keys {
			o.kick(ctx, key)
		}
		if !loop.Sleep(ctx, wait) {
			return
		}
	}
}

// work executes an instance's commands one by one until none is left, and repeats a failed one with growing waits.
func (o *outbox) work(ctx context.Context, key string) {
	pause := loop.Backoff{Min: firstRetry, Max: longRetry}
	waiting := false
	defer func() {
		if waiting {
			o.round.retrying.Add(-1)
		}
	}()
	for ctx.Err() == nil {
		more, err := o.next(ctx, key)
		if err != nil {
			if ctx.Err() == nil {
				o.round.r.logger.WarnContext(ctx, "process command will be tried again", "process", o.round.name,
					"key", key, "error", err, "retry_in", pause.Pause())
			}
			if !waiting {
				waiting = true
				o.round.retrying.Add(1)
			}
			pause.Wait(ctx)
			continue
		}
		if waiting {
			waiting = false
			o.round.retrying.Add(-1)
		}
		pause.Reset()
		if !more && o.rest(key) {
			return
		}
	}
	o.rest(key)
}

// rest ends the worker of an instance; false when a command was added meanwhile.
func (o *outbox) rest(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy[key] {
		o.busy[key] = false
		return false
	}
	delete(o.busy, key)
	return true
}

// storedCommand is one row of the table commands. Body and Cause are JSON.
type storedCommand struct {
	ID    uuid.UUID
	Name  string
	Body  []byte
	Cause []byte
}

// next executes an instance's oldest command and deletes its row. It returns false when there is none. After an error
// the same command is executed again.
func (o *outbox) next(ctx context.Context, key string) (bool, error) {
	d := o.round
	rows, err := d.r.cfg.DB.Owner.Query(ctx, d.r.sql(selectCommandSQL), d.name, key)
	if err != nil {
		return false, err
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[storedCommand])
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var cause jobs.Cause
	if err := json.Unmarshal(row.Cause, &cause); err != nil {
		return false, fmt.Errorf("command %s: %w", row.ID, err)
	}
	cmd, err := d.r.cfg.Bus.DecodeStored(row.Name, row.Body)
	if err != nil {
		return false, fmt.Errorf("decode command %s %s: %w", row.Name, row.ID, err)
	}
	err = o.execute(ctx, cmd, row.ID, cause)
	switch {
	case err == nil:
		_, err := d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(deleteCommandSQL), row.ID)
		return true, err
	case refusal(err):
		return true, o.refused(ctx, key, cmd, row, cause, err)
	}
	return false, fmt.Errorf("execute %s: %w", row.Name, err)
}

// execute runs a command with the process as its actor, and holds one of the slots that bound concurrency.
func (o *outbox) execute(ctx context.Context, cmd commands.Command, commandID uuid.UUID, cause jobs.Cause) error {
	d := o.round
	select {
	case d.r.slots <- struct{}{}:
		defer func() { <-d.r.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err := d.r.cfg.Bus.Execute(ctx, cmd, commands.Meta{
		CommandID: id.Command(commandID), OrgID: cause.OrgID,
		Actor:         events.Actor{Kind: events.ActorProcess, ID: d.name},
		CorrelationID: cause.CorrelationID, CausationID: cause.CausationID,
	})
	return err
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

// refused gives a refusal to the instance as an input and deletes the command's row in the same transaction.
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
			Refusal: &processmanagers.Refusal{Command: row.Name, Code: failure.CodeOf(why), Target: cmd.Target()},
		},
		key: key, cause: cause, id: "refusal\x00" + row.ID.String(),
		claim: func(ctx context.Context, tx pgx.Tx) (bool, error) {
			tag, err := tx.Exec(ctx, d.r.sql(deleteCommandSQL), row.ID)
			return tag.RowsAffected() == 1, err
		},
	})
	if err != nil && !passing(err) && ctx.Err() == nil {
		d.fail(&poison{error: err})
	}
	return err
}

// passingAlways marks the error of a plain query as one to repeat: repeating a read does no harm.
func passingAlways(err error) error { return fmt.Errorf("%w: %w", postgres.ErrPassing, err) }
