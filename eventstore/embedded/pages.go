package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Sizes of a page: the first is small because most streams are, later ones grow up to the bounds.
const (
	firstPage  = 64
	largePage  = 1024
	pageBytes  = 4 << 20
	readOutage = 5 * time.Second // how long a read waits for the database to come back
)

// logReader reads the log in pages. It holds a connection only while a page is read, never while a client takes its
// time. Safe for concurrent use.
type logReader struct {
	pool    *pgxpool.Pool
	queries *queries
	now     func() time.Time
}

// retry runs a read again while the connection is at fault, for a bounded time.
func (l *logReader) retry(ctx context.Context, read func() error) error {
	giveUp := time.NewTimer(readOutage)
	defer giveUp.Stop()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := read()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fromContext(ctx.Err())
		case !connectionFault(err):
			return fmt.Errorf("read the log: %w", err)
		}
		select {
		case <-time.After(wait):
		case <-giveUp.C:
			return errNoDatabase
		case <-ctx.Done():
			return fromContext(ctx.Err())
		}
	}
}

// connectionFault tells a lost or refused connection from a statement that failed.
func connectionFault(err error) bool {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return true
	}
	return len(pgErr.Code) == 5 && (pgErr.Code[:2] == "08" || pgErr.Code[:2] == "53" || pgErr.Code[:3] == "57P")
}

// page is part of the log in reading order.
type page struct {
	rows []record
	more bool // something may follow
}

// fetch reads the next page of at most limit rows.
type fetch func(ctx context.Context, limit int) (page, error)

// read runs one paged statement whose last argument is the limit.
func (l *logReader) read(ctx context.Context, sql string, first any, second any, limit int) (p page, err error) {
	args := []any{first}
	if second != nil {
		args = append(args, second)
	}
	args = append(args, limit)
	err = l.retry(ctx, func() error {
		rows, err := l.pool.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		p, err = scanPage(rows, limit)
		return err
	})
	return p, err
}

// scanPage reads rows until the limit or the byte bound.
func scanPage(rows pgx.Rows, limit int) (page, error) {
	defer rows.Close()
	p := page{rows: make([]record, 0, min(limit, largePage))}
	types := map[string]string{} // event types repeat: keep one copy of each
	for bytes := 0; rows.Next(); {
		p.rows = append(p.rows, record{})
		r := &p.rows[len(p.rows)-1]
		if err := scanRecord(rows, r, types); err != nil {
			return page{}, err
		}
		if bytes += r.size(); bytes >= pageBytes {
			p.more = true
			return p, nil
		}
	}
	p.more = len(p.rows) == limit
	return p, rows.Err()
}

// scanRecord reads one row of the record columns. Binary results, which pgx asks for unless configured otherwise, are
// taken as they are.
func scanRecord(rows pgx.Rows, r *record, types map[string]string) error {
	for _, i := range []int{0, 2, 3, 5, 6, 7, 8} {
		if rows.FieldDescriptions()[i].Format != pgx.BinaryFormatCode {
			return rows.Scan(&r.position, &r.stream, &r.revision, &r.id, &r.kind, &r.isJSON, &r.created, &r.metadata,
				&r.data)
		}
	}
	v := rows.RawValues()
	r.position = int64(binary.BigEndian.Uint64(v[0]))
	r.stream = string(v[1])
	r.revision = int64(binary.BigEndian.Uint64(v[2]))
	copy(r.id[:], v[3])
	kind, ok := types[string(v[4])]
	if !ok {
		kind = string(v[4])
		types[kind] = kind
	}
	r.kind = kind
	r.isJSON = v[5][0] != 0
	r.created = int64(binary.BigEndian.Uint64(v[6]))
	bytes := make([]byte, len(v[7])+len(v[8]))
	cut := copy(bytes, v[7])
	copy(bytes[cut:], v[8])
	r.metadata, r.data = bytes[:cut:cut], bytes[cut:]
	return nil
}

// walk reads page after page and hands them on, the next one being read while the last is handled. It ends when the log
// does, when the given number of rows was read, or when handle says stop.
func walk(ctx context.Context, next fetch, count uint64, handle func([]record) (stop bool, err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	type result struct {
		page
		err error
	}
	ahead := make(chan result, 1)
	pending := false
	defer func() {
		cancel()
		if pending {
			<-ahead
		}
	}()
	limit := firstPage
	p, err := next(ctx, bounded(limit, count))
	for err == nil {
		count -= min(count, uint64(len(p.rows)))
		if p.more && count > 0 {
			limit = nextLimit(limit, p.rows)
			pending = true
			go func(limit int) {
				p, err := next(ctx, limit)
				ahead <- result{p, err}
			}(bounded(limit, count))
		}
		stop, err := handle(p.rows)
		if err != nil || stop || !pending {
			return err
		}
		r := <-ahead
		pending = false
		p, err = r.page, r.err
		if err != nil {
			return err
		}
	}
	return err
}

// bounded is a page limit that asks for no more than is wanted.
func bounded(limit int, count uint64) int {
	if count < uint64(limit) {
		return int(count)
	}
	return limit
}

// nextLimit grows the page, within what the rows seen so far say fits into the byte bound.
func nextLimit(limit int, seen []record) int {
	bytes := 1
	for i := range seen {
		bytes += seen[i].size()
	}
	fits := pageBytes * max(len(seen), 1) / bytes
	return max(1, min(4*limit, largePage, fits))
}
