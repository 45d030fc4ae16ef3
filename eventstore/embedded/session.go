package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// lockPatience is how long Start waits for the lock. The holder may be the backend of a process that was just killed.
const lockPatience = 5 * time.Second

// errFenced means that another node has written itself into the node row. This node must never write again.
var errFenced = errors.New("event store: another node has taken over this log, and this one writes nothing more")

// session is the one connection that writes. It holds the advisory lock as long as it is open, so the right to write
// ends together with the ability to write: whoever gets the lock next can be sure that no statement of this session is
// still running.
type session struct {
	conn  *pgx.Conn
	epoch int64
}

// sessions opens the writing sessions of one node, one after another. Not safe for concurrent use.
type sessions struct {
	config  *pgx.ConnConfig
	queries *queries
	schema  string
	lock    int64
	holder  uuid.UUID // identifies this node; new at each Start
	url     string
	now     func() time.Time
	log     *slog.Logger
	silence time.Duration // see holderSilence
	// patience is lockPatience, but for tests.
	patience time.Duration
	last     backend // of the last session; it may run on after a broken connection

	production bool   // see checkDurable
	off        string // what checkDurable found last

	waits      bool                        // start stands by: see standBy
	canServe   func(context.Context) error // asked before a node that stands by takes the log
	standingBy func(holder string)         // of Config
	stands     bool                        // somebody has been told before, the address of the present holder
	before     string
}

// backend is a process of the server. Its number may be that of another one later.
type backend struct {
	pid   uint32
	began time.Time
}

// holderSilence is the time after which the server ends a writing session that sends nothing. A working node sends a
// ping at every idlePing. The lock of a node whose host has vanished or hangs is free after this time; without a limit
// PostgreSQL would keep it for as long as the kernel keeps the connection, two hours by default.
const holderSilence = 10 * time.Second

// watchHolder lets the server find out that the node has gone: while the session is idle, also within a transaction,
// while it waits for the node to acknowledge sent bytes, and below TCP. A server that lacks one of the settings keeps
// the others.
const watchHolder = `select set_config(s.name, v.value, false)
	from (values ('idle_session_timeout', $1::bigint::text), ('tcp_user_timeout', $1::bigint::text),
		('idle_in_transaction_session_timeout', $1::bigint::text),
		('tcp_keepalives_idle', '4'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '3')) v (name, value)
	join pg_settings s using (name)`

// watchClient lets the server end a statement of a node that was killed, instead of running it to its end: the copying
// of the log in a migration may take hours, and keeps the lock. PostgreSQL has it since version 14, and refuses it on
// systems that cannot look at the connection of a running statement.
const watchClient = `select set_config(name, '1s', false)
	from pg_settings where name = 'client_connection_check_interval'`

// lockKey derives the advisory lock's key from the schema, because several nodes of tests share one database.
func lockKey(schema string) int64 {
	sum := sha256.Sum256([]byte("lastmile event store node/" + schema))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// dialWriting opens a connection to a server that may write. Of several hosts it takes the first such one; names are
// resolved again at each call, so that it follows a fail-over of the database.
func dialWriting(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	config = config.Copy()
	config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	postgres.Prepare(conn)
	return conn, nil
}

// connect opens a connection on which a commit is durable, to a server that may write.
func (s *sessions) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := dialWriting(ctx, s.config)
	if err != nil {
		return nil, err
	}
	// With a weaker setting a crash could lose an acknowledged commit, or a fail-over to a synchronous standby server.
	const durable = `select set_config('synchronous_commit', 'on', false)
		where current_setting('synchronous_commit') not in ('on', 'remote_apply')`
	if _, err := conn.Exec(ctx, durable); err != nil {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("set synchronous_commit: %w", err)
	}
	if _, err := conn.Exec(ctx, watchHolder, s.silence.Milliseconds()); err != nil {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("limit the silence of the session: %w", err)
	}
	if _, err := conn.Exec(ctx, watchClient); err != nil && !definite(conn, err) {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("let the server watch the client: %w", err)
	}
	own := backend{pid: conn.PgConn().PID()}
	const began = `select backend_start from pg_stat_activity where pid = pg_backend_pid()`
	if err := conn.QueryRow(ctx, began).Scan(&own.began); err != nil {
		_ = conn.Close(ctx)
		return nil, fmt.Errorf("ask for the start of the session: %w", err)
	}
	s.last = own
	return conn, nil
}

// tryLock tries to take the node's advisory lock, which is then held until the connection ends.
func (s *sessions) tryLock(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var taken bool
	err := conn.QueryRow(ctx, `select pg_try_advisory_lock($1)`, s.lock).Scan(&taken)
	return taken, err
}

// start opens the first session of a node.
func (s *sessions) start(ctx context.Context) (*session, error) {
	if s.waits {
		return s.standBy(ctx)
	}
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

// lockMigrateClaim waits for the lock and takes the log.
func (s *sessions) lockMigrateClaim(ctx context.Context, conn *pgx.Conn) (epoch int64, err error) {
	if err := s.waitForLock(ctx, conn); err != nil {
		return 0, err
	}
	return s.migrateClaim(ctx, conn)
}

// migrateClaim migrates the schema and records this node as the holder. The session must hold the lock.
func (s *sessions) migrateClaim(ctx context.Context, conn *pgx.Conn) (epoch int64, err error) {
	if err := s.checkDurable(ctx, conn); err != nil {
		return 0, err
	}
	if err := migrate(ctx, conn, s.schema, s.log); err != nil {
		return 0, err
	}
	if err := conn.QueryRow(ctx, s.queries.claim, s.holder, s.url, s.now()).Scan(&epoch); err != nil {
		return 0, fmt.Errorf("claim the log: %w", err)
	}
	return epoch, nil
}

// waitForLock takes the lock. It waits as long as the holder migrates the log, and otherwise up to the patience.
func (s *sessions) waitForLock(ctx context.Context, conn *pgx.Conn) error {
	told := false
	giveUp := time.NewTimer(s.patience)
	defer giveUp.Stop()
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		taken, err := s.tryLock(ctx, conn)
		if err != nil {
			return fmt.Errorf("lock the log: %w", err)
		}
		if taken {
			return nil
		}
		select {
		case <-retry.C:
		case <-giveUp.C:
			pid, err := s.migrating(ctx, conn)
			if err != nil {
				return err
			}
			if pid == 0 {
				return s.occupied(ctx, conn)
			}
			if !told {
				s.log.WarnContext(ctx, "a migration of the log is still running in the database, waiting for its end",
					"schema", s.schema, "pid", pid)
				told = true
			}
			giveUp.Reset(s.patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// migrating gives the backend that holds the lock and runs a step of the migration; 0 for none. Its node may have been
// killed, or it lives and will serve the log afterwards.
func (s *sessions) migrating(ctx context.Context, conn *pgx.Conn) (pid int32, err error) {
	err = conn.QueryRow(ctx, `select coalesce(max(a.pid), 0) from pg_locks l join pg_stat_activity a using (pid)
		where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
			and l.database = (select oid from pg_database where datname = current_database())
			and (l.classid::bigint << 32) | l.objid::bigint = $1 and a.application_name = $2`,
		s.lock, migrationName).Scan(&pid)
	if err != nil {
		return 0, fmt.Errorf("look for a migration of the log: %w", err)
	}
	return pid, nil
}

// occupied builds the error that another node serves the log, with the address of that node.
func (s *sessions) occupied(ctx context.Context, conn *pgx.Conn) error {
	url := "esdb://host:port"
	_ = conn.QueryRow(ctx, s.queries.holder).Scan(&url) // the table may not exist yet: the example stays
	return fmt.Errorf("event store: another node holds the log in schema %q; stop it, or set EVENTSTORE_URL=%s to "+
		"use it", s.schema, url)
}

// The limits for a connection to the database that replaces a lost one. The first is short, since a node that stands by
// waits no longer; each next one is twice as long, for a server that is slow.
const (
	dialLimit = 2 * time.Second
	dialMost  = statementPatience
)

// resume replaces a lost session; dial is the limit for its connection. It returns errFenced when another node has
// taken the log, and errUndurable when the server may lose it; after any other error the caller may try again.
func (s *sessions) resume(ctx context.Context, dial time.Duration) (*session, error) {
	old := s.last
	limited, cancel := context.WithTimeout(ctx, dial)
	defer cancel()
	conn, err := s.connect(limited)
	if err != nil {
		s.last = old
		return nil, err
	}
	epoch, err := s.relock(ctx, conn, old)
	if err != nil {
		s.last = old
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	return &session{conn: conn, epoch: epoch}, nil
}

// relock takes the lock back and raises the epoch. The update waits for statements of the old session that still lock
// the row, so the log does not change any more afterwards.
func (s *sessions) relock(ctx context.Context, conn *pgx.Conn, old backend) (epoch int64, err error) {
	taken, err := s.tryLock(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("lock the log: %w", err)
	}
	if !taken {
		// Our own broken session may still hold the lock on the server: end that session, and no other one, though it
		// has its number, and the lock.
		_, err := conn.Exec(ctx, `select pg_terminate_backend(pid) from pg_locks join pg_stat_activity a using (pid)
			where locktype = 'advisory' and objsubid = 1 and (classid::bigint << 32) | objid::bigint = $1
				and pid = $2 and a.backend_start = $3`, s.lock, int32(old.pid), old.began)
		if err != nil {
			return 0, fmt.Errorf("end the lost session: %w", err)
		}
		return 0, s.heldByOther(ctx, conn)
	}
	if err := s.checkDurable(ctx, conn); err != nil {
		return 0, err
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

// heldByOther returns errFenced when another node has claimed the log. Otherwise our own dying session holds the lock,
// and the caller may try again.
func (s *sessions) heldByOther(ctx context.Context, conn *pgx.Conn) error {
	var mine bool
	err := conn.QueryRow(ctx, `select holder = $1 from `+pgx.Identifier{s.schema}.Sanitize()+`.node`,
		s.holder).Scan(&mine)
	if err == nil && !mine {
		return errFenced
	}
	return errors.New("the log's lock is still held")
}

// glanceLimit is how long a glance waits for what the server may have sent.
const glanceLimit = time.Millisecond

// glance looks whether the server has ended an idle session, without a round trip. A network that swallows everything
// is found by a ping only.
func (s *session) glance(ctx context.Context) (ended bool) {
	ctx, cancel := context.WithTimeout(ctx, glanceLimit)
	defer cancel()
	err := s.conn.PgConn().WaitForNotification(ctx)
	return err != nil && !pgconn.Timeout(err)
}

// ping checks an idle session, for 5 s at most.
func (s *session) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return s.conn.Ping(ctx)
}

// close ends the session and releases the lock.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// definite reports whether an error proves that the statement changed nothing: the server answered with an error and
// the session is still open. The plain severity is in the language of the server's messages.
func definite(conn *pgx.Conn, err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && pgErr.SeverityUnlocalized == "ERROR" && !conn.IsClosed()
}
