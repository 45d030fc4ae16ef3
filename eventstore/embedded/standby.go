package embedded

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// How a node stands by. It asks for the lock again and again: a statement that waits for it would keep the server from
// cleaning up old rows, for as long as it waits.
const (
	linePause    = 250 * time.Millisecond // between two tries for the lock
	lineLook     = 20                     // tries from one look at who has it to the next: 5 s
	linePatience = 5 * time.Second        // for the answer to one of them
	lineAway     = time.Second            // between two tries to reach the database
	lineGrace    = 3 * time.Second        // for the holder, to take the log again after the database was away
	lineYield    = 500 * time.Millisecond // for the holder, to take the lock again when its session alone was lost
)

// standBy opens the first session of a node that waits until no other one has the log. It goes on waiting while the
// database is away. Fails: the end of ctx, and what does not pass by itself.
func (s *sessions) standBy(ctx context.Context) (*session, error) {
	var away loop.Outage
	for {
		first, err := s.standInLine(ctx, &away)
		switch {
		case err == nil:
			return first, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !postgres.Away(err) && !errors.Is(err, context.DeadlineExceeded):
			return nil, err
		}
		if tell, _ := away.Failed(); tell {
			s.log.WarnContext(ctx, "event store database unreachable, the node stands by", "error", err)
		}
		loop.Sleep(ctx, lineAway)
	}
}

// standInLine waits for the lock on one connection and takes the log over.
func (s *sessions) standInLine(ctx context.Context, away *loop.Outage) (first *session, err error) {
	limited, cancel := context.WithTimeout(ctx, linePatience)
	defer cancel()
	conn, err := s.connect(limited)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	// Half of the silence, because the server would end this session too.
	if away.Ended() && !loop.Sleep(ctx, min(lineGrace, s.silence/2)) {
		return nil, ctx.Err()
	}
	if err := s.waitInLine(ctx, conn); err != nil {
		return nil, err
	}
	if err := s.canServe(ctx); err != nil { // while the log still has nobody, or its old holder
		return nil, err
	}
	if s.stands {
		s.log.InfoContext(ctx, "event store node takes over", "holder", s.before)
	}
	epoch, err := s.migrateClaim(ctx, conn)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, epoch: epoch}, nil
}

// waitInLine takes the lock when it is free. The holder has the first right to it, because it may have lost its session
// alone and be as well as before: so the lock is let go, and taken when it is still free a moment later and nobody has
// had the log meanwhile. Both hold it while they write, and raise the epoch before.
func (s *sessions) waitInLine(ctx context.Context, conn *pgx.Conn) error {
	free := int64(-1) // the epoch when the lock was let go; -1 = it was not free then
	for tries := 0; ; tries++ {
		taken, err := s.tryInLine(ctx, conn, tries%lineLook == 0)
		if err != nil {
			return err
		}
		pause, before := linePause, free
		if free = -1; taken {
			if free = s.epochOf(ctx, conn); free == before {
				return nil
			}
			if err := s.letGo(ctx, conn); err != nil {
				return err
			}
			pause = lineYield
		}
		if !loop.Sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

// letGo gives the lock back that was just taken.
func (s *sessions) letGo(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, linePatience)
	defer cancel()
	_, err := conn.Exec(ctx, `select pg_advisory_unlock($1)`, s.lock)
	return err
}

// tryInLine tries once to take the lock, and looks who has it.
func (s *sessions) tryInLine(ctx context.Context, conn *pgx.Conn, look bool) (taken bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, linePatience)
	defer cancel()
	taken, err = s.tryLock(ctx, conn)
	if err != nil || taken || !look {
		return taken, err
	}
	holder := s.holderOf(ctx, conn)
	if s.stands && holder == s.before {
		return false, nil
	}
	s.stands, s.before = true, holder
	s.log.InfoContext(ctx, "event store node stands by", "holder", holder)
	if s.standingBy != nil {
		s.standingBy(holder)
	}
	return false, nil
}

// holderOf gives the address of the node that has the log; "" when it cannot be read, because there is no log yet or a
// migration keeps the row.
func (s *sessions) holderOf(ctx context.Context, conn *pgx.Conn) (url string) {
	s.lookAt(ctx, conn, s.queries.holder, &url)
	return url
}

// epochOf is how often the log was taken; 0 when it cannot be read.
func (s *sessions) epochOf(ctx context.Context, conn *pgx.Conn) (epoch int64) {
	s.lookAt(ctx, conn, s.queries.epoch, &epoch)
	return epoch
}

// lookAt reads one value of the row of the node, if that is there and free.
func (s *sessions) lookAt(ctx context.Context, conn *pgx.Conn, sql string, value any) {
	ctx, cancel := context.WithTimeout(ctx, linePatience)
	defer cancel()
	_ = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { // a lost session is found by the next try for the lock
		if _, err := tx.Exec(ctx, `set local lock_timeout = '500ms'`); err != nil {
			return err
		}
		return tx.QueryRow(ctx, sql).Scan(value)
	})
}
