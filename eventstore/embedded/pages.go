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

// Sizes of a page, in rows. The first page is small because most streams are short; later pages grow.
const (
	firstPage = 64
	largePage = 1024
)

// readOutage is how long a read waits for the database to come back.
const readOutage = 5 * time.Second

// logReader reads the log in pages. It holds a connection only while it reads a page, never while a client processes
// one. Safe for concurrent use.
type logReader struct {
	pool    *pgxpool.Pool
	queries *queries
	now     func() time.Time
	memory  *readMemory
	ends    *ends
	names   *streamNames
	types   *typeBlocks
}

// newLogReader makes a reader whose memory for large pages is free.
func newLogReader(pool *pgxpool.Pool, q *queries, now func() time.Time) *logReader {
	return &logReader{
		pool: pool, queries: q, now: now, memory: newReadMemory(), ends: newEnds(),
		names: newStreamNames(q), types: newTypeBlocks(),
	}
}

// retry repeats a read while the connection is at fault, for readOutage at most.
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

// connectionFault reports whether an error is a lost or refused connection, not a failed statement or what it found.
func connectionFault(err error) bool {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return !errors.Is(err, errMalformedRecord)
	}
	return len(pgErr.Code) == 5 && (pgErr.Code[:2] == "08" || pgErr.Code[:2] == "53" || pgErr.Code[:3] == "57P")
}

// page is a part of the log, in the order of reading.
type page struct {
	rows  []record
	more  bool // rows may follow
	cut   bool // the next event does not fit
	large int  // bytes of that event if there are no rows and its size is known
}

// fetch reads the next page of at most limit rows that fit into so many bytes. It keeps its place between the calls.
type fetch func(ctx context.Context, limit, bytes int) (page, error)

// extent bounds a page in rows and in bytes.
type extent struct{ rows, bytes int }

// read runs one paged statement; its arguments are first, second (unless nil) and the limits.
func (l *logReader) read(ctx context.Context, sql string, first any, second any, size extent) (p page, err error) {
	args := []any{first}
	if second != nil {
		args = append(args, second)
	}
	args = append(args, size.rows, size.bytes)
	err = l.retry(ctx, func() error {
		rows, err := l.pool.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		if p, err = scanPage(rows, size); errors.Is(err, errMalformedRecord) {
			return fmt.Errorf("%w, from %v", err, args[:len(args)-2])
		}
		return err
	})
	return p, err
}

// ofStream gives the events of a page, which were read by their stream, its name.
func (p *page) ofStream(name string) {
	for i := range p.rows {
		p.rows[i].stream = name
	}
}

// leadsOn fails when the last event of a page is not where the page began or beyond: the places in a record are not
// those of its row, and the same page would be read for ever.
func leadsOn(begin, last int64, backwards bool) error {
	if backwards && last > begin || !backwards && last < begin {
		return fmt.Errorf("read the log: %w, a page from %d ends at %d", errMalformedRecord, begin, last)
	}
	return nil
}

// evenRows is from how many rows on a page is asked for as if its events were of one size.
const evenRows = 256

// pages reads pages of one statement. A page of many rows is asked for in the fast way, by an equal part of the bytes
// for each event, until an event is larger.
type pages struct {
	log    *logReader
	query  pageQuery
	uneven bool
}

// read reads the next page.
func (p *pages) read(ctx context.Context, first any, second any, size extent) (page, error) {
	sql := p.query.sized
	if !p.uneven && size.rows >= evenRows {
		sql = p.query.even
		size.bytes = size.bytes/size.rows - rowOverhead
	}
	got, err := p.log.read(ctx, sql, first, second, size)
	p.uneven = p.uneven || got.cut
	return got, err
}

// pageRow is one row of a page as the database gives it: the record, if it fits, and where the statement asks for them
// its size and the name of its stream.
type pageRow struct {
	record []byte // valid until the next row is asked for
	size   int64
	stream string
}

// scan takes the present row. Binary results it takes as they came, which is the fast way; text results, which a pool
// may be configured for, go through pgx.
func (r *pageRow) scan(rows pgx.Rows) error {
	v := rows.RawValues()
	if rows.FieldDescriptions()[0].Format != pgx.BinaryFormatCode {
		return rows.Scan([]any{&r.record, &r.size, &r.stream}[:len(v)]...)
	}
	r.record = v[0]
	if len(v) > 1 {
		r.size = int64(binary.BigEndian.Uint64(v[1]))
	}
	if len(v) > 2 {
		r.stream = string(v[2])
	}
	return nil
}

// scanPage reads the rows of a page, and closes rows. PostgreSQL sends no more than fits, and of the first event that
// does not fit the size, if the page was asked for by size.
func scanPage(rows pgx.Rows, size extent) (page, error) {
	defer rows.Close()
	var p page // grows with what there is: most reads of a stream find a few events
	if size.rows >= evenRows {
		p.rows = make([]record, 0, size.rows)
	}
	s := scanner{types: map[string]string{}}
	var row pageRow
	for rows.Next() {
		if err := row.scan(rows); err != nil {
			return page{}, err
		}
		if row.record == nil {
			p.more, p.cut = true, true
			if len(p.rows) == 0 {
				p.large = int(row.size)
			}
			return p, nil
		}
		p.rows = append(p.rows, record{stream: row.stream})
		if err := s.record(row.record, &p.rows[len(p.rows)-1]); err != nil {
			return page{}, fmt.Errorf("row %d of a page: %w", len(p.rows), err)
		}
	}
	p.more = len(p.rows) == size.rows
	return p, rows.Err()
}

// slabBytes is the largest part of memory that events of a page share, so that each of them needs none of its own.
const slabBytes = 1 << 16

// scanner reads the rows of a page.
type scanner struct {
	types map[string]string // event types repeat: there is one copy of each
	slab  []byte            // has room for the next events
	next  int               // bytes of the next slab
}

// body is room for the metadata and data of one event. Slabs grow with what there is.
func (s *scanner) body(bytes int) []byte {
	if bytes > len(s.slab) {
		if bytes >= slabBytes/8 {
			return make([]byte, bytes)
		}
		s.next = min(max(4*s.next, bytes), slabBytes)
		s.slab = make([]byte, s.next)
	}
	b := s.slab[:bytes:bytes]
	s.slab = s.slab[bytes:]
	return b
}

// record takes one record out of memory that is used again.
func (s *scanner) record(stored []byte, r *record) error {
	kind, metadata, data, err := r.parseStored(stored)
	if err != nil {
		return err
	}
	known, ok := s.types[string(kind)]
	if !ok {
		known = string(kind)
		s.types[known] = known
	}
	r.kind = known
	bytes := s.body(len(metadata) + len(data))
	cut := copy(bytes, metadata)
	copy(bytes[cut:], data)
	r.metadata, r.data = bytes[:cut:cut], bytes[cut:]
	return nil
}
