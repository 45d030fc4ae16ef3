package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// lockSlow is how long PostgreSQL may take to answer a statement about locks before those who watch are told. With the
// second between two pings of a leader it is less than the time after which what PostgreSQL does not take is put on the
// disk (docs/rules/access-dunning.md#cuts-wait-for-money).
const lockSlow = 2 * time.Second

// Watch opens the connection of the locks and has lost called from then on as soon as an outage of PostgreSQL may have
// begun, also one of a few milliseconds: when the connection ends, when PostgreSQL is silent for lockSlow, and once
// more when there is a new connection after one that has ended, because nobody has watched in between. Somebody must
// use locks, because only they open a new connection and find a silent one. There is one watcher, and Close tells it
// nothing. lost must return at once and use no locks.
func (db *DB) Watch(ctx context.Context, lost func()) error {
	s := db.locks
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.closed {
		return errClosed
	}
	if err := s.run(ctx, func(ctx context.Context, conn *pgx.Conn) error { return conn.Ping(ctx) }); err != nil {
		return err
	}
	s.lost = lost
	return nil
}

// lockIdle is how long nobody uses the connection of the locks until its end is waited for: a statement that interrupts
// the wait takes twice as long.
const lockIdle = 10 * time.Millisecond

// await waits, beside the caller, for the end of a connection that nobody uses for lockIdle. PostgreSQL sends nothing
// else there, so a read that ends without an interruption is the end. The caller has the turn, and gives it back.
func (s *lockSession) await(term *lockTerm) {
	idle, idles := context.WithTimeout(context.Background(), lockIdle)
	ctx, interrupt := context.WithCancel(context.Background())
	ended := make(chan struct{})
	never := context.AfterFunc(idle, func() {
		var err error
		for err == nil {
			err = term.conn.PgConn().WaitForNotification(ctx)
		}
		close(ended)
		if ctx.Err() == nil { // otherwise whoever has interrupted finds the end himself
			s.end(term)
		}
	})
	term.pause = func() {
		begun := !never()
		interrupt()
		idles()
		if begun {
			<-ended
		}
	}
}

// end notes that a connection has ended, unless somebody has noted it.
func (s *lockSession) end(term *lockTerm) {
	<-s.turn
	defer func() { s.turn <- struct{}{} }()
	if s.term == term {
		s.lose()
	}
}
