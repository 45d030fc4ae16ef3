package embedded

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// columnBuffers hold a group as one slice for each column, for unnest. They are reused from group to group.
type columnBuffers struct {
	positions, revisions, created []int64
	streams, kinds                []string
	ids                           []pgtype.UUID
	json                          []bool
	metadata, data                [][]byte
}

// fill replaces the contents with the rows, one element of each slice for one row.
func (c *columnBuffers) fill(rows []record) {
	c.positions, c.revisions, c.created = c.positions[:0], c.revisions[:0], c.created[:0]
	c.streams, c.kinds, c.ids, c.json = c.streams[:0], c.kinds[:0], c.ids[:0], c.json[:0]
	clear(c.metadata) // so that the bytes of the last group can be freed
	clear(c.data)
	c.metadata, c.data = c.metadata[:0], c.data[:0]
	for i := range rows {
		r := &rows[i]
		c.positions = append(c.positions, r.position)
		c.streams = append(c.streams, r.stream)
		c.revisions = append(c.revisions, r.revision)
		c.ids = append(c.ids, pgtype.UUID{Bytes: r.id, Valid: true})
		c.kinds = append(c.kinds, r.kind)
		c.json = append(c.json, r.isJSON)
		c.created = append(c.created, r.created)
		c.metadata = append(c.metadata, r.metadata)
		c.data = append(c.data, r.data)
	}
}

// commit writes a group with one statement, which is one transaction: all rows or none. It returns errFenced when no
// row was written, because then the epoch has changed.
func (q *sequencer) commit(ctx context.Context, g *group) error {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	c := &q.columns
	c.fill(g.rows)
	args, err := insertGroup.Arguments(pgx.NamedArgs{
		"holder": q.sessions.holder, "epoch": q.session.epoch, "positions": c.positions, "streams": c.streams,
		"revisions": c.revisions, "ids": c.ids, "kinds": c.kinds, "json": c.json, "created": c.created,
		"metadata": c.metadata, "data": c.data,
	})
	if err != nil {
		return err
	}
	tag, err := q.session.conn.Exec(ctx, q.queries.insertGroup, args...)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return errFenced
	}
	if tag.RowsAffected() != int64(len(g.rows)) {
		return fmt.Errorf("%w: %d of %d rows written", errForeignRows, tag.RowsAffected(), len(g.rows))
	}
	return nil
}

// isolate handles a group that the database refused. A position or revision that is taken already means that memory and
// log disagree. So isolate forgets the heads in memory and decides and commits every write again, one by one. If one
// write has caused the refusal, only that write fails.
func (q *sequencer) isolate(ctx context.Context, batch []*write, cause error) error {
	q.log.Warn("event store group refused by the database", "writes", len(batch), "error", cause)
	q.heads = newHeadCache()
	last, err := q.readLast(ctx)
	if err != nil {
		refuse(batch, errNoDatabase)
		return nil // the next use of the session finds out whether it is lost
	}
	if last != q.published {
		refuse(batch, errStopping)
		return errForeignRows
	}
	if len(batch) == 1 {
		refuse(batch, q.refusalOf(cause))
		return nil
	}
	for _, w := range batch {
		if err := q.process(ctx, []*write{w}); err != nil {
			refuse(batch, errStopping)
			return err
		}
	}
	return nil
}

// refusalOf turns a definite database error into an answer. Resource and operator problems may pass, so the answer is
// Unavailable; any other error is a fault of the node.
func (q *sequencer) refusalOf(err error) error {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && len(pgErr.Code) == 5 {
		switch pgErr.Code[:2] {
		case "23", "25", "53", "55", "57", "58", "40", "08":
			return unavailable("the event store's database refused the write: " + pgErr.Code)
		}
	}
	return fmt.Errorf("write events: %w", err)
}

// readLast returns the last position in the log, 0 for an empty log.
func (q *sequencer) readLast(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	var last int64
	if err := q.session.conn.QueryRow(ctx, q.queries.lastPosition).Scan(&last); err != nil {
		return 0, fmt.Errorf("read the last position: %w", err)
	}
	return last, nil
}
