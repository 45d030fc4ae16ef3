package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Names inside a private cluster. The application's login is not a superuser, so that row-level security binds it.
const (
	clusterAdmin    = "postgres"
	clusterUser     = "lastmile"
	clusterDatabase = "lastmile"
)

// Bounds of starting and stopping.
const (
	startLimit = 60 * time.Second        // without any answer; a server that says that it is recovering may take longer
	fastLimit  = 3500 * time.Millisecond // fast shutdown; after it immediate, with a recovery at the next start
	quitLimit  = time.Second             // immediate shutdown; after it SIGKILL
)

// ClusterConfig says where a private cluster lies and how its server runs. DataDir is required.
type ClusterConfig struct {
	DataDir string       // made when missing; holds the cluster, its port and its passwords
	BinDir  string       // PostgreSQL's programs; empty searches the usual places
	Logger  *slog.Logger // nil discards
	// Scratch does not wait for the disk: a commit survives a kill of the server, but not a loss of power. For tests;
	// never for an installation.
	Scratch bool
	// CreatesDatabases lets the program's user do so when the cluster is made: tests copy databases.
	CreatesDatabases bool
	// Patient goes on starting the server of a cluster that has been made before, for as long as it takes. Otherwise a
	// server that ends by itself again and again is an error.
	Patient bool
	// MaxConnections of the server; zero means 200.
	MaxConnections int
}

// Cluster is a running private PostgreSQL server. Exactly one program at a time runs the cluster of a data directory.
type Cluster struct {
	cfg   ClusterConfig
	place place
	lock  *os.File

	mu    sync.Mutex
	state clusterState
	proc  *process
}

// StartCluster starts the server of cfg.DataDir, making the cluster on the first call. A server left behind by a
// program that was killed is stopped first; after a crash of the server itself its own recovery runs.
func StartCluster(ctx context.Context, cfg ClusterConfig) (*Cluster, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = 200
	}
	dir, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	cfg.DataDir = dir
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	lock, err := lockDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, lock: lock}
	if err := c.start(ctx); err != nil {
		_ = c.Stop(context.WithoutCancel(ctx))
		return nil, err
	}
	return c, nil
}

// start prepares the files and runs the server until it answers.
func (c *Cluster) start(ctx context.Context) error {
	var err error
	if c.place, err = findPlace(c.cfg); err != nil {
		return err
	}
	if c.state, err = loadClusterState(c.cfg.DataDir); err != nil {
		return err
	}
	if err := c.place.stopOrphan(c.cfg.Logger); err != nil {
		return err
	}
	patient := c.cfg.Patient && c.place.made()
	if err := c.place.initialise(ctx, c.state, c.cfg.Scratch); err != nil {
		return err
	}
	if !c.cfg.Scratch {
		c.place.compression = c.place.compressionSetting(ctx)
	}
	err = c.run(ctx, clusterState.withFreePort)
	rest := loop.Backoff{Min: shortestRest, Max: longestRest}
	for patient && errors.Is(err, errServerExited) {
		if !c.restBefore(ctx, &rest, err) {
			break
		}
		err = c.run(ctx, clusterState.withFreePort)
	}
	if err != nil {
		return err
	}
	return c.prepareDatabase(ctx)
}

// restBefore tells why the server does not start, and waits before the next attempt. It returns false when ctx has
// ended.
func (c *Cluster) restBefore(ctx context.Context, rest *loop.Backoff, err error) bool {
	c.cfg.Logger.ErrorContext(ctx, "private database does not start, is tried again", "pause", rest.Pause(), "error",
		err)
	return rest.Wait(ctx)
}

// Attempts of run: how often a server that ends at once, by itself, is started, and the pauses in between.
const (
	startTries  = 5
	shortestTry = 100 * time.Millisecond
	longestTry  = time.Second
)

// run starts the server process and waits until it accepts connections, at the port that choose gives. It tries again
// when the children of a dead server are still ending, or when another program took the port in between. A server that
// was killed says nothing about itself, so it is started again for as long as ctx lasts.
func (c *Cluster) run(
	ctx context.Context, choose func(clusterState, context.Context, string) (clusterState, error),
) error {
	rest := loop.Backoff{Min: shortestTry, Max: longestTry}
	for failed := 0; ; {
		err := c.runOnce(ctx, choose)
		if err == nil || !errors.Is(err, errServerExited) || ctx.Err() != nil {
			return err
		}
		if !c.current().killed {
			failed++
		}
		if failed == startTries {
			return err
		}
		c.cfg.Logger.WarnContext(ctx, "private database did not start", "error", err)
		rest.Wait(ctx)
	}
}

// runOnce is one attempt of run.
func (c *Cluster) runOnce(
	ctx context.Context, choose func(clusterState, context.Context, string) (clusterState, error),
) error {
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	state, err := choose(c.remembered(), limited, c.cfg.DataDir)
	if err != nil {
		return err
	}
	proc, err := startProcess(c.place.serverCommand(c.cfg, state), c.place)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.state, c.proc = state, proc
	c.mu.Unlock()
	c.cfg.Logger.InfoContext(ctx, "private database starts", "port", state.Port, "pid", proc.pid)
	if err := c.awaitReady(ctx, proc); err != nil {
		return err
	}
	c.cfg.Logger.InfoContext(ctx, "private database started", "port", state.Port, "pid", proc.pid)
	return nil
}

// errServerExited reports a server that ended before it accepted connections; its log says why.
var errServerExited = errors.New("the database server ended at once")

// cannotConnectNow is the SQLSTATE that a server answers while it starts and recovers.
const cannotConnectNow = "57P03"

// awaitReady polls until a connection succeeds. It fails when the process ends, when ctx ends, or when the server says
// nothing for startLimit. Recovery after a crash reads the whole write-ahead log and has no limit: a server that is
// ended in the middle begins again.
func (c *Cluster) awaitReady(ctx context.Context, proc *process) error {
	silent := time.NewTimer(startLimit)
	defer silent.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, startLimit)
		conn, err := pgx.Connect(attempt, c.adminURL())
		cancel()
		if err == nil {
			return conn.Close(ctx)
		}
		if Code(err) == cannotConnectNow {
			silent.Reset(startLimit)
		}
		select {
		case <-proc.done:
			return fmt.Errorf("%w: %s", errServerExited, c.place.logTail())
		case <-ctx.Done():
			return fmt.Errorf("wait for the private database: %w: %s", err, c.place.logTail())
		case <-silent.C:
			return fmt.Errorf("the private database does not answer: %w: %s", err, c.place.logTail())
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// prepareDatabase makes the application's login and database. A step that was done before is passed over.
func (c *Cluster) prepareDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.adminURL())
	if err != nil {
		return fmt.Errorf("connect to the private database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var user, database bool
	err = conn.QueryRow(ctx,
		`select exists(select from pg_roles where rolname = $1), exists(select from pg_database where datname = $2)`,
		clusterUser, clusterDatabase).Scan(&user, &database)
	if err != nil {
		return fmt.Errorf("look at the private database: %w", err)
	}
	if !user {
		rights := "nosuperuser createrole"
		if c.cfg.CreatesDatabases {
			rights += " createdb"
		}
		// A password of hexadecimal digits needs no quoting.
		sql := fmt.Sprintf("create role %s login %s password '%s'", clusterUser, rights, c.remembered().Password)
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("create database user: %w", err)
		}
	}
	if !database {
		if _, err := conn.Exec(ctx, "create database "+clusterDatabase+" owner "+clusterUser); err != nil {
			return fmt.Errorf("create database: %w", err)
		}
	}
	return nil
}

// URL gives the address for the application, with its password: never log it. The server listens on loopback only.
func (c *Cluster) URL() string {
	return c.address(clusterUser, c.remembered().Password, clusterDatabase)
}

// SocketURL gives the address through the server's Unix socket. A round trip takes about half as long as through TCP.
func (c *Cluster) SocketURL() string {
	state := c.remembered()
	u := url.URL{Scheme: "postgres", User: url.UserPassword(clusterUser, state.Password), Path: "/" + clusterDatabase}
	u.RawQuery = url.Values{"host": {c.place.sockets}, "port": {strconv.Itoa(state.Port)},
		"sslmode": {"disable"}}.Encode()
	return u.String()
}

// adminURL gives the superuser's address with its password, through TCP; used only to prepare the cluster.
func (c *Cluster) adminURL() string {
	return c.address(clusterAdmin, c.remembered().AdminPassword, "postgres")
}

// address builds a connection string through TCP to the loopback address.
func (c *Cluster) address(user, password, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(user, password),
		Host: "127.0.0.1:" + strconv.Itoa(c.remembered().Port), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// PID gives the id of the server process that was started last; 0 before the first start.
func (c *Cluster) PID() int {
	if proc := c.current(); proc != nil {
		return proc.pid
	}
	return 0
}

// Done gives a channel that is closed when the present server process has ended, for whatever reason. After Restart it
// must be asked for again.
func (c *Cluster) Done() <-chan struct{} {
	if proc := c.current(); proc != nil {
		return proc.done
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// Restart stops the server if it still runs, and starts it again at the same address, which connection pools keep. It
// waits for the port when another program uses it for the moment.
func (c *Cluster) Restart(ctx context.Context) error {
	if proc := c.current(); proc != nil {
		proc.stop(ctx)
	}
	if err := c.place.stopOrphan(c.cfg.Logger); err != nil {
		return err
	}
	return c.run(ctx, clusterState.withSamePort)
}

// Pauses between the attempts of Supervise to start a server that does not start.
const (
	shortestRest = time.Second
	longestRest  = 15 * time.Second
)

// Supervise starts the server again whenever it ends by itself, until ctx ends. It never gives up: a full disk is
// emptied, and who kills the server stops doing so. Meanwhile whoever uses the database is answered that it is away.
func (c *Cluster) Supervise(ctx context.Context) {
	for loop.Wait(ctx, c.Done()) {
		c.cfg.Logger.ErrorContext(ctx, "private database ended by itself, is started again", "log", c.place.logTail())
		rest := loop.Backoff{Min: shortestRest, Max: longestRest}
		for err := c.Restart(ctx); err != nil && ctx.Err() == nil; err = c.Restart(ctx) {
			if !c.restBefore(ctx, &rest, err) {
				return
			}
		}
	}
}

// Stop stops the server within 5 s, sooner if ctx ends, and frees the data directory. A repetition does nothing.
func (c *Cluster) Stop(ctx context.Context) error {
	if proc := c.current(); proc != nil {
		proc.stop(ctx)
		if c.place.sockets != filepath.Join(c.cfg.DataDir, "run") {
			_ = os.Remove(c.place.sockets) // in the temporary directory; empty by now
		}
	}
	if err := c.lock.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("unlock data directory: %w", err)
	}
	return nil
}

// remembered gives the state that cluster.json has now, under the lock.
func (c *Cluster) remembered() clusterState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// current gives the process that was started last; nil before the first start.
func (c *Cluster) current() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proc
}
