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

// errLost says that the checkpoint is not where this program left it: another one fills the tables.
var errLost = errors.New("checkpoint was moved by another program")

// poison is an event that a projection cannot apply.
type poison struct {
	event *events.Envelope
	cause error
}

// Error names the event, not its content.
func (p *poison) Error() string {
	return fmt.Sprintf("%s at position %d (%s): %v", p.event.Type, p.event.Position, p.event.ID, p.cause)
}

// Unwrap gives the cause.
func (p *poison) Unwrap() error { return p.cause }

// apply writes a page to a set of tables, with the checkpoint in the same transaction. Before a poisonous event
// everything is applied; then it fails with *poison.
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
	if bad > 0 { // Apply itself told which one
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

// checkpointSQL moves a checkpoint from where this program left it.
const checkpointSQL = `
update {schema}.projection_versions set position = $4, error = ''
where name = $1 and generation = $2 and position = $3 and state <> 'retired'`

// applyAll writes events in one transaction. When Apply refuses one, its index is given. Statements are sent together,
// or singly: a batch with an argument that cannot be encoded ends like one whose connection was lost, a single
// statement tells.
func (r *Runner) applyAll(
	ctx context.Context, p Projection, g *generation, list []*events.Envelope, upTo uint64, singly bool,
) (bad int, err error) {
	w := &Writes{schema: g.Schema, batch: &pgx.Batch{}, known: g.known}
	if g.Generation != 0 {
		//nolint:gosec // positions fit
		w.batch.Queue(r.sql(checkpointSQL), g.Name, g.Generation, int64(g.saved), int64(upTo))
	}
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

// refused is Apply's own error.
type refused struct{ error }

// Unwrap gives what Apply said.
func (r *refused) Unwrap() error { return r.error }

// applyOne calls Apply; a panic is its error, and so is a statement that could not be queued.
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

// send runs a batch in one transaction. Tables that nobody reads yet need not be on disk at each commit: the switch is.
func (r *Runner) send(ctx context.Context, g *generation, batch *pgx.Batch, singly bool) error {
	return postgres.Transaction(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		if g.State != genActive {
			if _, err := tx.Exec(ctx, `set local synchronous_commit = off`); err != nil {
				return err
			}
		}
		run := sendTogether
		if singly {
			run = sendSingly
		}
		return run(ctx, tx, batch, g.Generation != 0)
	})
}

// sendTogether runs a batch in one round trip. checkpointed tells that its first statement moves the checkpoint: when
// that finds no row, whatever the others gave is of no interest.
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

// sendSingly runs the statements of a batch one after the other.
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

// lasting tells whether trying again cannot help: a statement or Apply is at fault, not the connection or the server.
func lasting(err error) bool { return !errors.Is(err, postgres.ErrPassing) && !errors.Is(err, errLost) }
