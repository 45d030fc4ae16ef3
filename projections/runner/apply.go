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
		g.pass(page)
		return nil
	}
	bad, err := r.applyTogether(ctx, p, g, list, g.placeOf(page, page.UpTo))
	if err == nil || errors.Is(err, errLost) || ctx.Err() != nil {
		return err
	}
	if bad > 0 { // Apply refused the event at this index
		if _, err := r.applyTogether(ctx, p, g, list[:bad], g.placeOf(page, list[bad-1].Position)); err == nil {
			list = list[bad:]
		}
	}
	for _, e := range list {
		at := g.placeOf(page, e.Position)
		if _, err := r.applyAll(ctx, p, g, []*events.Envelope{e}, at, sendSingly); err != nil {
			if lasting(err) {
				return &poison{event: e, cause: err}
			}
			return err
		}
	}
	g.pass(page)
	return nil
}

// pass notes that there is nothing more to apply of a page.
func (g *generation) pass(page feed.Page) {
	if page.UpTo > g.Position {
		g.reach(g.placeOf(page, page.UpTo))
	}
}

// internalError is the class of errors of the server itself, of which it also makes octets that it cannot read.
const internalError = "XX"

// applyTogether writes events in one transaction and one round trip, with rows merged. Where that fails the statements
// are sent once more as they are, and when the fault was in merging, nothing is merged in these tables any more.
func (r *Runner) applyTogether(
	ctx context.Context, p Projection, g *generation, list []*events.Envelope, to place,
) (bad int, err error) {
	if g.apart == nil {
		bad, err = r.applyAll(ctx, p, g, list, to, sendMerged)
		var atMerged *mergedError
		if !errors.As(err, &atMerged) || errors.Is(err, errLost) || ctx.Err() != nil {
			return bad, err
		}
	}
	bad, again := r.applyAll(ctx, p, g, list, to, sendTogether)
	if again == nil && err != nil && (lasting(err) || postgres.Class(err) == internalError) {
		g.apart = err
		r.logger.WarnContext(ctx, "projection merges no rows any more", "projection", g.Name, "schema", g.Schema,
			"error", err)
	}
	return bad, again
}

// checkpointSQL moves a checkpoint, but only from the value that this program stored last.
const checkpointSQL = `
update {schema}.projection_versions set position = $4, mark = $5, error = ''
where name = $1 and generation = $2 and position = $3`

// unhurriedSQL lets the commit be answered before it is on the disk. A server that dies soon after has lost the rows
// together with the checkpoint, and every connection: the next term of the leadership applies the events again.
const unhurriedSQL = `select set_config('synchronous_commit', 'off', true)`

// sender runs a queue of statements in a transaction.
type sender func(ctx context.Context, tx pgx.Tx, g *generation, queue []queued) error

// applyAll writes events in one transaction. When Apply refuses an event, bad is its index.
func (r *Runner) applyAll(
	ctx context.Context, p Projection, g *generation, list []*events.Envelope, to place, send sender,
) (bad int, err error) {
	w := &Writes{schema: g.Schema, known: g.known, queue: make([]queued, 0, len(list)+2)}
	if g.checkpointed() {
		//nolint:gosec // positions fit
		w.first(r.sql(checkpointSQL), g.Name, g.Generation, int64(g.saved), int64(to.position), to.mark)
	}
	w.first(unhurriedSQL)
	for i, e := range list {
		if err := applyOne(p, w, e); err != nil {
			return i, &refused{err}
		}
	}
	err = postgres.Transaction(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error { return send(ctx, tx, g, w.queue) })
	if err != nil {
		return 0, err
	}
	g.reach(to)
	g.saved = to.position
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

// mergedError is an error of a batch with merged rows.
type mergedError struct{ error }

// Unwrap lets errors.Is see the error.
func (e *mergedError) Unwrap() error { return e.error }

// sendMerged is a sender in one round trip that merges rows.
func sendMerged(ctx context.Context, tx pgx.Tx, g *generation, queue []queued) error {
	m, err := merge(ctx, tx, queue, g.mergeFrom())
	if err == nil {
		err = sendBatch(ctx, tx, g, &m.out)
	}
	if err != nil && (m == nil || m.runs > 0) {
		return &mergedError{err}
	}
	return err
}

// sendTogether is a sender in one round trip.
func sendTogether(ctx context.Context, tx pgx.Tx, g *generation, queue []queued) error {
	var batch pgx.Batch
	for _, q := range queue {
		batch.Queue(q.text, q.args...)
	}
	return sendBatch(ctx, tx, g, &batch)
}

// sendBatch runs a batch in one round trip. The first statement moves the checkpoint of tables that have one; when it
// changes no row the result is errLost, whatever the other statements returned.
func sendBatch(ctx context.Context, tx pgx.Tx, g *generation, batch *pgx.Batch) error {
	results := tx.SendBatch(ctx, batch)
	for i := range batch.Len() {
		tag, err := results.Exec()
		if err == nil && i == 0 && g.checkpointed() && tag.RowsAffected() != 1 {
			err = errLost
		}
		if err != nil {
			_ = results.Close()
			return err
		}
	}
	return results.Close()
}

// sendSingly is a sender of one statement at a time, so that an error belongs to one statement: pgx reports an argument
// that cannot be encoded in a batch like a lost connection, and names the fault only for a single statement.
func sendSingly(ctx context.Context, tx pgx.Tx, g *generation, queue []queued) error {
	for i, q := range queue {
		tag, err := tx.Exec(ctx, q.text, q.args...)
		if err == nil && i == 0 && g.checkpointed() && tag.RowsAffected() != 1 {
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
