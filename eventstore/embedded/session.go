package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lockPatience is how long Start waits for a lock whose holder may be the dying backend of a killed process.
const lockPatience = 5 * time.Second

// errFenced: another node wrote itself into the node row; this one must never write again.
var errFenced = errors.New("event store: another node has taken over this log")

// session is the one connection that writes. It holds the advisory lock for as long as it lives, so PostgreSQL itself
// ends the right to write together with the ability to: whoever gets the lock next knows that no statement of this
// session is still running.
type session struct {
	conn  *pgx.Conn
	epoch int64
}

// sessions opens writing sessions for one node.
type sessions struct {
	config  *pgx.ConnConfig
	queries *queries
	schema  string
	lock    int64
	holder  uuid.UUID // this node's life: made anew at each Start
	url     string
	now     func() time.Time
	lastPID uint32 // backend of the last session, which may outlive a broken connection
}

// lockKey names the advisory lock of a schema: tests share a database.
func lockKey(schema string) int64 {
	sum := sha256.Sum256([]byte("lastmile event store node/" + schema))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// connect opens a connection with the settings that make a commit mean "durable".
func (s *sessions) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, s.config.Copy())
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	// Stronger settings (remote_apply, remote_write) stay; "off" would acknowledge what a crash can lose.
	const durable = `select set_config('synchronous_commit', 'on', false)
		where current_setting('synchronous_commit') = 'off'`
	if _, err := conn.Exec(ctx, durable); err != nil {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("set synchronous_commit: %w", err)
	}
	s.lastPID = conn.PgConn().PID()
	return conn, nil
}

// tryLock takes the node's advisory lock, held until the connection ends.
func (s *sessions) tryLock(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var taken bool
	err := conn.QueryRow(ctx, `select pg_try_advisory_lock($1)`, s.lock).Scan(&taken)
	return taken, err
}

// start opens the first session of a node's life: lock, migrate, claim.
func (s *sessions) start(ctx context.Context) (*session, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	epoch, err := s.lockMigrateClaim(ctx, conn)
	if err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return &session{conn: conn, epoch: epoch}, nil
}

// lockMigrateClaim waits a little for the lock, then makes the log this node's.
func (s *sessions) lockMigrateClaim(ctx context.Context, conn *pgx.Conn) (epoch int64, err error) {
	giveUp := time.NewTimer(lockPatience)
	defer giveUp.Stop()
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		taken, err := s.tryLock(ctx, conn)
		if err != nil {
			return 0, fmt.Errorf("lock the log: %w", err)
		}
		if taken {
			break
		}
		select {
		case <-retry.C:
		case <-giveUp.C:
			return 0, s.occupied(ctx, conn)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	if err := migrate(ctx, conn, s.schema); err != nil {
		return 0, err
	}
	if err := conn.QueryRow(ctx, s.queries.claim, s.holder, s.url, s.now()).Scan(&epoch); err != nil {
		return 0, fmt.Errorf("claim the log: %w", err)
	}
	return epoch, nil
}

// occupied explains that another node serves the log, and where.
func (s *sessions) occupied(ctx context.Context, conn *pgx.Conn) error {
	url := "esdb://host:port"
	_ = conn.QueryRow(ctx, s.queries.holder).Scan(&url) // the table may not exist yet: the example stays
	return fmt.Errorf("event store: another node holds the log in schema %q; stop it, or set EVENTSTORE_URL=%s to "+
		"use it", s.schema, url)
}

// resume replaces a lost session. It returns errFenced when the log is another node's now, and any other error when it
// is worth trying again.
func (s *sessions) resume(ctx context.Context) (*session, error) {
	old := s.lastPID
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	epoch, err := s.relock(ctx, conn, old)
	if err != nil {
		s.lastPID = old
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return &session{conn: conn, epoch: epoch}, nil
}

// relock takes the lock back and raises the epoch. The update waits for any statement of the old session that still
// holds the row, so what is in the log afterwards is final.
func (s *sessions) relock(ctx context.Context, conn *pgx.Conn, old uint32) (epoch int64, err error) {
	taken, err := s.tryLock(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("lock the log: %w", err)
	}
	if !taken {
		// Our own broken session may still hold it on the server's side: end it. It is found by its lock, so a reused
		// pid is safe.
		_, err := conn.Exec(ctx, `select pg_terminate_backend(pid) from pg_locks
			where locktype = 'advisory' and objsubid = 1 and pid = $1 and (classid::bigint << 32) | objid::bigint = $2`,
			int32(old), s.lock)
		if err != nil {
			return 0, fmt.Errorf("end the lost session: %w", err)
		}
		return 0, s.heldByOther(ctx, conn)
	}
	err = conn.QueryRow(ctx, s.queries.retake, s.holder, s.now()).Scan(&epoch)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, errFenced
	}
	if err != nil {
		return 0, fmt.Errorf("raise the epoch: %w", err)
	}
	return epoch, nil
}

// heldByOther tells a lock held by our own dying session (try again) from one held by a node that has claimed the log
// (give up).
func (s *sessions) heldByOther(ctx context.Context, conn *pgx.Conn) error {
	var mine bool
	err := conn.QueryRow(ctx, `select holder = $1 from `+pgx.Identifier{s.schema}.Sanitize()+`.node`,
		s.holder).Scan(&mine)
	if err == nil && !mine {
		return errFenced
	}
	return errors.New("the log's lock is still held")
}

// ping finds out whether an idle session is still there.
func (s *session) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return s.conn.Ping(ctx)
}

// close ends the session, and with it the right to write.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// definite tells whether an error proves that the statement did nothing: the server answered with an error and the
// session lives on.
func definite(conn *pgx.Conn, err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.Severity == "ERROR" && !conn.IsClosed()
}
