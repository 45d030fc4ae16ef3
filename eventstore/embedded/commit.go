package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"google.golang.org/grpc/codes"
)

// columnBuffers hold a group as one slice for each column, for unnest. They are reused from group to group.
type columnBuffers struct {
	positions, streams, revisions []int64

	records [][]byte // parts of stored
	stored  []byte

	newIDs   []int64
	newNames []string
}

// storedKept is the largest memory for records, in bytes, that is kept for the next group.
const storedKept = 1 << 20

// clear empties the buffers, so that what a group has taken can be freed.
func (c *columnBuffers) clear() {
	c.newNames, c.newIDs = nil, c.newIDs[:0]
	c.positions, c.streams, c.revisions = c.positions[:0], c.streams[:0], c.revisions[:0]
	clear(c.records)
	c.records, c.stored = c.records[:0], c.stored[:0]
	if cap(c.stored) > storedKept {
		c.stored = nil
	}
}

// store encodes the events of a group.
func (c *columnBuffers) store(rows []record) {
	size := 0
	for i := range rows {
		size += rows[i].storedSize()
	}
	c.stored = slices.Grow(c.stored, size)
	for i := range rows {
		from := len(c.stored)
		c.stored = rows[i].appendStored(c.stored)
		c.records = append(c.records, c.stored[from:len(c.stored):len(c.stored)])
	}
}

// arguments puts the rows and the new streams of a group into the buffers, which are empty, one element of each for one
// of them.
func (c *columnBuffers) arguments(g *group) pgx.NamedArgs {
	c.newNames = g.names
	for i := range g.names {
		c.newIDs = append(c.newIDs, g.lastStream-int64(len(g.names)-1-i))
	}
	c.store(g.rows)
	for i := range g.rows {
		r := &g.rows[i]
		c.positions = append(c.positions, r.position)
		c.streams = append(c.streams, r.streamID)
		c.revisions = append(c.revisions, r.revision)
	}
	return pgx.NamedArgs{
		"positions": c.positions, "streams": c.streams, "revisions": c.revisions, "records": c.records,
	}
}

// argumentsOfOne are the columns of a group of one event.
func (c *columnBuffers) argumentsOfOne(g *group) pgx.NamedArgs {
	c.store(g.rows)
	r := &g.rows[0]
	return pgx.NamedArgs{
		"position": r.position, "stream": r.streamID, "revision": r.revision, "record": c.records[0],
	}
}

// commit writes a group with one statement, which is one transaction: all rows or none. It returns errFenced when no
// row was written, because then the epoch has changed.
func (q *sequencer) commit(ctx context.Context, g *group) error {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	defer q.columns.clear()
	sql, args, err := q.insert(g)
	if err != nil {
		return err
	}
	tag, err := q.session.conn.Exec(ctx, sql, args...)
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

// insert is the statement that writes a group, with its arguments.
func (q *sequencer) insert(g *group) (sql string, args []any, err error) {
	statement, named := insertOne, pgx.NamedArgs(nil)
	switch {
	case len(g.names) > 0:
		statement, sql, named = insertNamed, q.queries.insertNamed, q.columns.arguments(g)
		named["new_ids"], named["new_names"] = q.columns.newIDs, q.columns.newNames
	case len(g.rows) > 1:
		statement, sql, named = insertGroup, q.queries.insertGroup, q.columns.arguments(g)
	default:
		sql, named = q.queries.insertOne, q.columns.argumentsOfOne(g)
	}
	named["holder"], named["epoch"] = q.sessions.holder, q.session.epoch
	args, err = statement.Arguments(named)
	return sql, args, err
}

// isolate handles a group that the database refused, whatever the code: a full disk refuses everybody, a damaged page
// the writes of one stream. When the database takes no other write either, the cause is common and the whole group is
// refused: the rest of it would meet the same. Otherwise the writes at fault are looked for by deciding and committing
// halves of the group, so that only they fail. One that is left alone is tried once more, since what was in its way can
// have passed.
func (q *sequencer) isolate(ctx context.Context, batch []*write, cause error) error {
	if batch = stillWanted(batch); len(batch) == 0 { // the refusal came late
		return nil
	}
	if ok, err := q.endsAsBefore(ctx, batch, cause); !ok {
		return err
	}
	code := sqlState(cause)
	if code == uniqueViolation { // a revision or number in memory is not that of the log
		q.heads = newHeadCache()
	}
	var another error
	if !ofRoom(code) {
		_, another = q.attend(q.begin(func() error { return q.tryAnother(ctx) }), outagePatience, batch, nil)
	}
	switch batch = stillWanted(batch); {
	case ofRoom(code) || another != nil:
		q.log.Warn("event store writes refused by the database", "writes", len(batch), "error",
			errors.Join(cause, another))
		refuse(batch, commonRefusal(cause))
		if code == readOnlyTransaction {
			return q.recoverUnchanged(ctx, nil) // the server has become a standby: find the one that may write
		}
		return nil
	case len(batch) == 0: // the answer came late
		return nil
	case len(batch) == 1 && batch[0].again:
		q.log.Warn("event store write refused by the database, which takes others", "stream", batch[0].stream,
			"error", cause)
		refuse(batch, ownRefusal(cause))
		return nil
	case len(batch) == 1:
		batch[0].again = true
		return q.process(ctx, batch)
	}
	half := len(batch) / 2
	over := q.beside(batch[half:])
	err := q.process(ctx, batch[:half:half])
	if over(); err == nil {
		err = q.process(ctx, stillWanted(batch[half:]))
	}
	if err != nil {
		refuse(batch, errStopping)
	}
	return err
}

// endsAsBefore looks at the end of the log after a refusal. When it cannot be read, or has foreign rows, ok is false
// and the writes are refused.
func (q *sequencer) endsAsBefore(ctx context.Context, batch []*write, cause error) (ok bool, err error) {
	var last logEnd
	_, err = q.attend(q.begin(func() (err error) {
		last, err = q.readLast(ctx)
		return err
	}), outagePatience, batch, nil)
	switch {
	case err != nil:
		q.log.Warn("event store writes refused, and the end of the log cannot be read", "writes", len(batch),
			"error", errors.Join(cause, err))
		answer := errNoDatabase
		if sqlState(err) != "" {
			answer = commonRefusal(err)
		}
		refuse(batch, answer)
		return false, nil // the next use of the session finds out whether it is lost
	case last.event != q.last():
		refuse(batch, errStopping)
		return false, errForeignRows
	}
	return true, nil
}

// tryAnother tries whether the database takes another write where it has refused one, so that this one is the cause. It
// reads the head of a stream and writes an event, as every write does. Nothing of the write stays.
func (q *sequencer) tryAnother(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	tx, err := q.session.conn.Begin(limited)
	if err != nil {
		return fmt.Errorf("another write: %w", err)
	}
	stream, position, event := q.lastStream+1, q.published+1, uuid.New()
	name := "another-" + event.String()
	if _, err = loadHeads(limited, tx, q.queries.heads, related(name), false); err == nil {
		err = q.commit(ctx, &group{
			names: []string{name}, lastStream: stream,
			rows: []record{{
				position: position, streamID: stream, id: event, kind: "another", created: ticks(q.now()),
				metadata: []byte{}, data: []byte{},
			}},
		})
	}
	// Without an answer to the rollback the session is closed.
	if err = errors.Join(err, tx.Rollback(limited)); err != nil {
		return fmt.Errorf("another write: %w", err)
	}
	return nil
}

// SQLSTATE codes that the sequencer treats apart from their classes.
const (
	uniqueViolation     = "23505"
	readOnlyTransaction = "25006"
)

// sqlState gives the code of an error that the database answered; "" for any other error.
func sqlState(err error) string {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) || len(pgErr.Code) != 5 {
		return ""
	}
	return pgErr.Code
}

// ofRoom reports whether an error says that the server lacks room or memory. Then a small write may be taken where a
// larger one is not, which says nothing about the larger one.
func ofRoom(code string) bool { return strings.HasPrefix(code, "53") }

// commonRefusal answers writes where the database takes no other write either. Whatever the server says may pass, so
// the answer is Unavailable. An error of our own is a fault of the node.
func commonRefusal(err error) error {
	if code := sqlState(err); code != "" {
		return unavailable("the event store's database refused the write: " + code)
	}
	return fmt.Errorf("write events: %w", err)
}

// ownRefusal answers a write that the database refuses while it takes others. What the values of the write cause does
// not pass, so the answer is InvalidArgument: data exceptions, broken constraints, exceeded limits and exceptions of
// triggers. Other causes, such as a damaged page, are mended by somebody: the answer is FailedPrecondition, which says
// that nothing is written, and is no outage of the store.
func ownRefusal(err error) error {
	code := sqlState(err)
	switch code[:min(2, len(code))] {
	case "22", "23", "54", "P0":
		if code != uniqueViolation { // the log itself contradicts what was read of it
			return invalidArgument("the event store's database cannot store the events: " + code)
		}
	}
	return &refusal{
		code:    codes.FailedPrecondition,
		message: "the event store's database refuses the write and takes others: " + cmp.Or(code, err.Error()),
	}
}

// event names an event of the log; the zero value is the end of an empty log.
type event struct {
	position int64
	id       uuid.UUID
}

// logEnd is the last event of the log and the last number of a stream.
type logEnd struct {
	event  event
	stream int64
}

// readLast reads where the log ends.
func (q *sequencer) readLast(ctx context.Context) (last logEnd, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	err = q.session.conn.QueryRow(ctx, q.queries.ends).Scan(&last.event.position, &last.event.id, &last.stream)
	if err != nil {
		return logEnd{}, fmt.Errorf("read the end of the log: %w", err)
	}
	return last, nil
}

// last is the last event that was committed.
func (q *sequencer) last() event { return event{q.published, q.newest} }

// last is the event with which the group ends.
func (g *group) last() event { return event{g.next - 1, g.rows[len(g.rows)-1].id} }
