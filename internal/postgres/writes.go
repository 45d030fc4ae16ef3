package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// migrations makes the table that the watch writes.
//
//go:embed migrations
var migrations embed.FS

// Writes says whether the database takes writes, and if it does not, why.
type Writes string

// The states of Writes.
const (
	WritesTaken    Writes = "taken"
	WritesFull     Writes = "full"      // the disk has no room, or a quota is used up
	WritesReadOnly Writes = "read_only" // the server was told so, or is the standby of another one
	WritesAway     Writes = "away"      // it does not answer: reads fail, too
)

// Times of the watch. A restart of PostgreSQL usually takes less than writesPatience, and those who write wait for it
// by themselves.
const (
	writesEvery    = 3 * time.Second        // between two attempts
	writesAgain    = 500 * time.Millisecond // after a failed one
	writesLimit    = 2 * time.Second        // of one attempt
	writesPatience = 6 * time.Second        // without an answer, until the database counts as away
)

// WriteWatch writes one page to the database every few seconds, on a connection of its own, and remembers how that
// went. Many may ask it, and none of them makes it write more. Safe for concurrent use.
type WriteWatch struct {
	try    func(ctx context.Context) error // one attempt; not concurrent
	pace   clock.Clock                     // how long the database is away changes by no step of the machine's clock
	logger *slog.Logger
	loops  *loop.Group
	lost   atomic.Pointer[func()] // of Watch; nil = nobody watches

	mu       sync.Mutex
	state    Writes
	written  time.Time // the newest success, by pace
	failures int       // in a row
	all      room
	writes   room
}

// room is a context that ends when requests of a kind cannot be served any more, and is made again when they can.
type room struct {
	ctx  context.Context //nolint:containedctx // given to those who ask
	shut context.CancelFunc
}

// set ends the context, or makes a new one after the end of the last.
func (r *room) set(open bool) {
	switch {
	case !open && r.ctx != nil:
		r.shut()
	case open && (r.ctx == nil || r.ctx.Err() != nil):
		r.ctx, r.shut = context.WithCancel(context.Background())
	}
}

// WatchWrites makes the table that is written, and the watch, which has to be started.
func (db *DB) WatchWrites(ctx context.Context) (*WriteWatch, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("watch writes: %w", err)
	}
	if err := db.Migrate(ctx, "probe", files); err != nil {
		return nil, err
	}
	p := &writeProbe{db: db}
	// The machine's clock: how long the database has been away does not change when the program's clock is moved.
	w := NewWriteWatch(p.write, clock.System(), db.logger)
	return w, nil
}

// NewWriteWatch makes a watch of any attempt to write, which must end with its context. The database counts as writable
// until the first attempt.
func NewWriteWatch(try func(context.Context) error, c clock.Clock, logger *slog.Logger) *WriteWatch {
	pace := clock.Pace(c)
	w := &WriteWatch{
		try: try, pace: pace, logger: logger, loops: loop.New(logger), state: WritesTaken, written: pace.Now(),
	}
	w.all.set(true)
	w.writes.set(true)
	return w
}

// Start begins to write; it never fails.
func (w *WriteWatch) Start(ctx context.Context) error {
	return w.loops.Start(ctx, func(context.Context) error {
		w.loops.Go("writes", func(ctx context.Context) {
			for ctx.Err() == nil {
				pause := writesEvery
				if w.Look(ctx) != nil {
					pause = writesAgain
				}
				loop.Sleep(ctx, pause)
			}
			_ = w.try(ctx) // with an ended context: it closes its connection
		})
		return nil
	})
}

// Stop ends the attempts.
func (w *WriteWatch) Stop() { w.loops.Stop() }

// Watch has lost called after each attempt that has failed, whatever the state is then. There is one watcher. lost must
// return at once.
func (w *WriteWatch) Watch(lost func()) { w.lost.Store(&lost) }

// State gives the result of the newest attempts.
func (w *WriteWatch) State() Writes {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// Until gives a context that has ended while the database cannot serve a request, and ends as soon as that is known:
// for requests that write, or for those that only read.
func (w *WriteWatch) Until(writes bool) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	if writes {
		return w.writes.ctx
	}
	return w.all.ctx
}

// Look makes one attempt and remembers its result.
func (w *WriteWatch) Look(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, writesLimit)
	defer cancel()
	err := w.try(limited)
	if ctx.Err() != nil {
		return ctx.Err() // the program stops
	}
	if lost := w.lost.Load(); lost != nil && err != nil {
		(*lost)()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.state
	w.state = w.judge(err)
	w.all.set(w.state != WritesAway)
	w.writes.set(w.state == WritesTaken)
	if w.state != before {
		level, why := slog.LevelInfo, ""
		if err != nil {
			level, why = slog.LevelError, err.Error()
		}
		w.logger.LogAttrs(ctx, level, "database writes", slog.String("state", string(w.state)),
			slog.String("error", why))
	}
	return err
}

// judge gives the state after an attempt. A refusal counts at once, silence only when it lasts.
func (w *WriteWatch) judge(err error) Writes {
	if err == nil {
		w.written, w.failures = w.pace.Now(), 0
		return WritesTaken
	}
	w.failures++
	if state := Refused(err); state != WritesTaken {
		return state
	}
	if w.failures > 1 && w.pace.Now().Sub(w.written) >= writesPatience {
		return WritesAway
	}
	return w.state
}

// Refused gives the state in which a server is that has refused a write for it: WritesReadOnly or WritesFull. After any
// other error it is WritesTaken: nothing was refused.
func Refused(err error) Writes {
	switch Code(err) {
	case readOnly:
		return WritesReadOnly
	case diskFull:
		return WritesFull
	}
	return WritesTaken
}

// writeProbe writes the page on a connection of its own, so that a pool without free connections says nothing about the
// disk. Not safe for concurrent use.
type writeProbe struct {
	db   *DB
	conn *pgx.Conn // nil before the first attempt and after a failed one
}

// write replaces the page by the same one. The emptied table begins a new file, so the server has to find room for it.
// While somebody else holds the table, as a backup does until its end, the page is added to those that are there.
func (p *writeProbe) write(ctx context.Context) error {
	if ctx.Err() != nil {
		p.close()
		return ctx.Err()
	}
	var err error
	if p.conn == nil {
		if p.conn, err = pgx.ConnectConfig(ctx, p.db.Owner.Config().ConnConfig); err != nil {
			return fmt.Errorf("write to PostgreSQL: %w", err)
		}
	}
	table := p.db.Namespace.Schema("probe") + ".write_probe"
	page := `insert into ` + table + ` values (repeat('x', 8000))`
	for _, sql := range []string{`lock table ` + table + ` nowait; truncate ` + table + `; ` + page, page} {
		_, err = p.conn.PgConn().Exec(ctx, sql).ReadAll() // one round trip and one transaction
		if Code(err) != lockNotAvailable {
			break
		}
	}
	if err != nil {
		p.close()
		return fmt.Errorf("write to PostgreSQL: %w", err)
	}
	return nil
}

// close ends the connection without waiting for the server.
func (p *writeProbe) close() {
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.conn.Close(ctx)
	p.conn = nil
}
