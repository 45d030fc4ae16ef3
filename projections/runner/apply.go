package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// errLost reports that the stored checkpoint has another value than this program wrote last: another program fills the
// tables now.
var errLost = errors.New("checkpoint was moved by another program")

// poison is an error that stops a projection: the event that it cannot apply, and the reason.
type poison struct {
	event *events.Envelope
	cause error
}

// Error gives the event's type, position and id, and never its content, which may be personal.
func (p *poison) Error() string {
	return fmt.Sprintf("%s at position %d (%s): %v", p.event.Type, p.event.Position, p.event.ID, p.cause)
}

// Unwrap lets errors.Is see the reason.
func (p *poison) Unwrap() error { return p.cause }

// apply writes a page to a set of tables and moves the checkpoint in the same transaction. When an event cannot be
// applied, all events before it are committed and the result is a *poison.
func (r *Runner) apply(ctx context.Context, p Projection, g *generation, page feed.Page) error {
	list := page.Events
	for len(list) > 0 && list[0].Position <= g.Position {
		list = list[1:]
	}
	if len(list) == 0 {
		g.Position = max(g.Position, page.UpTo)
		return nil
	}
	bad, err := r.applyAll(ctx, p, g, list, page.UpTo, false)
	if err == nil || errors.Is(err, errLost) || ctx.Err() != nil {
		return err
	}
	if bad > 0 { // Apply refused the event at this index
		if _, err := r.applyAll(ctx, p, g, list[:bad], list[bad-1].Position, false); err == nil {
			list = list[bad:]
		}
	}
	for _, e := range list {
		if _, err := r.applyAll(ctx, p, g, []*events.Envelope{e}, e.Position, true); err != nil {
			if lasting(err) {
				return &poison{event: e, cause: err}
			}
			return err
		}
	}
	g.Position = max(g.Position, page.UpTo)
	return nil
}

// checkpointSQL moves a checkpoint, but only from the value that this program stored last.
const checkpointSQL = `
update {schema}.projection_versions set position = $4, error = ''
where name = $1 and generation = $2 and position = $3`

// unhurriedSQL lets the commit be answered before it is on the disk. A server that dies soon after has lost the rows
// together with the checkpoint, and every connection: the next term of the leadership applies the events again.
const unhurriedSQL = `select set_config('synchronous_commit', 'off', true)`

// applyAll writes events in one transaction. When Apply refuses an event, bad is its index. Statements are sent in one
// batch, or one at a time when singly is set: pgx reports an argument that cannot be encoded in a batch like a lost
// connection, and names the fault only for a single statement.
func (r *Runner) applyAll(
	ctx context.Context, p Projection, g *generation, list []*events.Envelope, upTo uint64, singly bool,
) (bad int, err error) {
	w := &Writes{schema: g.Schema, batch: &pgx.Batch{}, known: g.known}
	if g.Generation != 0 {
		//nolint:gosec // positions fit
		w.batch.Queue(r.sql(checkpointSQL), g.Name, g.Generation, int64(g.saved), int64(upTo))
	}
	w.batch.Queue(unhurriedSQL)
	for i, e := range list {
		if err := applyOne(p, w, e); err != nil {
			return i, &refused{err}
		}
	}
	if err := r.send(ctx, g, w.batch, singly); err != nil {
		return 0, err
	}
	g.Position, g.saved = upTo, upTo
	return 0, nil
}

// refused marks an error that Apply returned itself, as opposed to one of the database.
type refused struct{ error }

// Unwrap lets errors.Is see the error of Apply.
func (r *refused) Unwrap() error { return r.error }

// applyOne calls Apply. A panic in Apply and a statement that could not be queued are errors like the one it returns.
func applyOne(p Projection, w *Writes, e *events.Envelope) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	if u, ok := e.Event.(feed.Undecodable); ok {
		return u.Cause
	}
	if err := p.Apply(w, *e); err != nil {
		return err
	}
	return w.err
}

// send runs a batch in one transaction.
func (r *Runner) send(ctx context.Context, g *generation, batch *pgx.Batch, singly bool) error {
	return postgres.Transaction(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		run := sendTogether
		if singly {
			run = sendSingly
		}
		return run(ctx, tx, batch, g.Generation != 0)
	})
}

// sendTogether runs a batch in one round trip. checkpointed says that the first statement moves the checkpoint; when it
// changes no row the result is errLost, whatever the other statements returned.
func sendTogether(ctx context.Context, tx pgx.Tx, batch *pgx.Batch, checkpointed bool) error {
	results := tx.SendBatch(ctx, batch)
	for i := range batch.Len() {
		tag, err := results.Exec()
		if err == nil && i == 0 && checkpointed && tag.RowsAffected() != 1 {
			err = errLost
		}
		if err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

// sendSingly runs a batch one statement at a time, so that an error belongs to one statement. checkpointed is as in
// sendTogether.
func sendSingly(ctx context.Context, tx pgx.Tx, batch *pgx.Batch, checkpointed bool) error {
	for i, q := range batch.QueuedQueries {
		tag, err := tx.Exec(ctx, q.SQL, q.Arguments...)
		if err == nil && i == 0 && checkpointed && tag.RowsAffected() != 1 {
			err = errLost
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lasting reports whether a retry cannot help, because the statement or Apply is at fault and not the connection or the
// server.
func lasting(err error) bool { return !errors.Is(err, postgres.ErrPassing) && !errors.Is(err, errLost) }
