package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// storage holds everything that lasts: the database, the vault in it, and the log.
type storage struct {
	cluster *postgres.Cluster // the private one, started here; nil otherwise
	db      *postgres.DB
	vault   *vault.Vault
	node    *embedded.Node // nil when the log is elsewhere
	store   *eventstore.Store
	// nodeURL is the address of the node of this program, without credentials; "" when the log is elsewhere.
	nodeURL string
	guard   nodeGuard            // of our node
	writes  *postgres.WriteWatch // nil in commands beside a program
	pair    bool                 // another program takes over from this one, or has been taken over from
	// readPatience is the longest time that a reader waits for a read model; 0 = as usual.
	readPatience time.Duration
}

// sole reports whether no other program can work on this data: this one has every role, and its node admits no second
// node. Work that such a program finds begun at its start belongs to a program that died. One that was taken over from
// may have lost the log alone, and end soon.
func (s *storage) sole(r roles) bool { return s.node != nil && r.all() && !s.pair }

// storageMode says which parts of the storage a command starts, and whether it uses those of a running program.
type storageMode struct {
	// node starts the embedded node if EVENTSTORE_URL is unset.
	node bool
	// attach uses the parts that a running program of the same data directory has started, and starts only missing
	// ones.
	attach bool
	// patient waits for a private PostgreSQL that does not start, however long it takes.
	patient bool
	// awaits waits for the database of DATABASE_URL while it is away, however long that takes, and awaitsStore for the
	// event store of EVENTSTORE_URL. awaiting is told what is waited for, and nil afterwards; nil = nobody.
	awaits, awaitsStore bool
	awaiting            func(*awaited)
	steps               *startSteps   // is told what the opening does; nil = nobody is
	patience            time.Duration // for every other event store; 0 = storePatience
	// opened is called as soon as there are database and vault; nil = nobody is.
	opened    func(context.Context, *vault.Vault) error
	line      *inLine      // how the node waits while another one has the log; nil = it does not
	passwords vault.Argon2 // cost of new hashes; zero = vault.DefaultArgon2
	// readPatience is the longest time that a reader waits for a read model; 0 = as usual.
	readPatience time.Duration
}

// openStorage opens the database, the vault and the log, in this order. It notes each part in l, which stops it.
func openStorage(ctx context.Context, cfg Config, c clock.Clock, l *lifecycle, mode storageMode) (*storage, error) {
	s := &storage{readPatience: mode.readPatience}
	running := runtimeFile{}
	if mode.attach {
		running = findRunning(ctx, cfg)
	}
	if err := s.openDatabase(ctx, cfg, l, mode, running); err != nil {
		return nil, err
	}
	ring, err := openKeyring(cfg)
	if err != nil {
		return nil, err
	}
	if mode.line != nil { // before anything in the database is changed that the other program works with
		if err := s.startNode(ctx, cfg, c, l, mode.line); err != nil {
			return nil, err
		}
	}
	mode.steps.begin("postgres", "opening the vault")
	s.vault, err = vault.Open(ctx, vault.Config{
		DB: s.db, Keyring: ring, Clock: c, Logger: l.logger, Argon2: mode.passwords,
	})
	if err != nil {
		return nil, err
	}
	if err := follow(ctx, c, s.vault.ClockAhead); err != nil {
		return nil, err
	}
	if mode.opened != nil {
		if err := mode.opened(ctx, s.vault); err != nil {
			return nil, err
		}
	}
	mode.steps.begin(storePart(cfg), "opening the event store")
	storeURL, err := s.openLog(ctx, cfg, c, l, mode, running)
	if err != nil {
		return nil, err
	}
	codec := catalog.New(catalog.From(s.vault.SubjectKeys))
	log := eventstore.Config{URL: storeURL, Trust: s.guard.trust(), Codec: codec, Logger: l.logger}
	if s.node != nil {
		log.Local = s.node.Local
	}
	s.store, err = eventstore.Open(ctx, log)
	if err != nil {
		return nil, fmt.Errorf("EVENTSTORE_URL: %w", err)
	}
	l.started("event store client", stopStorage, func(context.Context) { s.store.Close() })
	mode.awaitsStore = mode.awaitsStore && cfg.EventStoreURL != ""
	if s.guard.public != nil {
		storeURL = "" // nothing in it can be wrong
	}
	return s, awaitStore(ctx, s.store, storeURL, l.logger, mode)
}

// storePart is the part that the event store needs: that of this program is in the database.
func storePart(cfg Config) string {
	if cfg.EventStoreURL == "" {
		return "postgres"
	}
	return "eventstore"
}

// findRunning reads the runtime file of a running program; the zero value when no program answers.
func findRunning(ctx context.Context, cfg Config) runtimeFile {
	r, ok := readRuntimeFile(cfg.DataDir)
	if !ok || r.Installation != installation(cfg) {
		return runtimeFile{}
	}
	target := r.Database
	if target == "" {
		target = string(cfg.DatabaseURL)
	}
	ctx, cancel := context.WithTimeout(ctx, attachPatience)
	defer cancel()
	db, err := postgres.Open(ctx, postgres.Config{
		URL: target, Namespace: postgres.Namespace(cfg.Namespace), MaxConns: 1,
	})
	if err != nil {
		return runtimeFile{} // left behind by a killed program
	}
	db.Close()
	return r
}

// openDatabase connects to DATABASE_URL, else to the private cluster, which is started unless another program runs it.
func (s *storage) openDatabase(
	ctx context.Context, cfg Config, l *lifecycle, mode storageMode, running runtimeFile,
) error {
	target := string(cfg.DatabaseURL)
	if target == "" {
		target = running.Database
	}
	if target == "" {
		mode.steps.begin("postgres", "starting the private PostgreSQL")
		cluster, err := postgres.StartCluster(ctx, postgres.ClusterConfig{
			DataDir: cfg.DataDir, Patient: mode.patient, Logger: l.logger,
		})
		if err != nil {
			return fmt.Errorf("private PostgreSQL: %w", err)
		}
		s.cluster = cluster
		supervisor := loop.Within(context.WithoutCancel(ctx), l.logger)
		supervisor.Go("private PostgreSQL", cluster.Supervise)
		l.startedKept("private PostgreSQL", func(ctx context.Context) {
			supervisor.Stop()
			if err := cluster.Stop(ctx); err != nil {
				l.logger.Warn("private database did not stop cleanly", slog.String("error", err.Error()))
			}
		})
		target = cluster.SocketURL()
	}
	mode.steps.begin("postgres", "connecting to the database")
	pause := retrying()
	db, err := s.connect(ctx, cfg, l, target, mode.awaits)
	for mode.awaits && err != nil && passing(err) != nil {
		mode.tell(&awaited{"postgres", "The database of DATABASE_URL does not answer. It is tried again."})
		l.logger.WarnContext(ctx, "database does not answer, is tried again", "error", err, "retry_in", pause.Pause())
		if !pause.Wait(ctx) {
			return errInterrupted
		}
		db, err = s.connect(ctx, cfg, l, target, true)
	}
	if err != nil {
		return err
	}
	mode.tell(nil)
	s.db = db
	l.started("database connections", stopStorage, func(context.Context) { db.Close() })
	return nil
}

// connect opens the database at an address. A server that takes the connection and then is silent, because it is frozen
// or its disk is, counts as away soon where the caller tries again. Fails: errSilent.
func (s *storage) connect(
	ctx context.Context, cfg Config, l *lifecycle, target string, again bool,
) (*postgres.DB, error) {
	limit := storePatience
	if again {
		limit = reachPatience
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	db, err := postgres.Open(limited, postgres.Config{
		URL: target, Namespace: postgres.Namespace(cfg.Namespace), MaxConns: cfg.DatabaseConns, Logger: l.logger,
	})
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", errSilent, err)
	}
	return db, err
}

// watchWrites starts the watch that knows whether the database takes writes.
func (a *App) watchWrites(ctx context.Context) error {
	var err error
	if a.storage.writes, err = a.storage.db.WatchWrites(ctx); err != nil {
		return err
	}
	return a.life.start(ctx, "watch of writes", stopStorage, a.storage.writes)
}

// openLog gives the address of the log: EVENTSTORE_URL, the running program's node, or a node of our own.
func (s *storage) openLog(
	ctx context.Context, cfg Config, c clock.Clock, l *lifecycle, mode storageMode, running runtimeFile,
) (string, error) {
	switch {
	case s.node != nil:
		return withCredentials(s.nodeURL, s.guard), nil
	case cfg.EventStoreURL != "":
		return string(cfg.EventStoreURL), nil
	case running.EventStore != "":
		return withCredentials(running.EventStore, guardOf(running, cfg)), nil
	case !mode.node:
		return "", errors.New("no event store: set EVENTSTORE_URL, or let this program run one (--roles with " +
			"eventstore)")
	}
	if mode.attach {
		cfg.EventStoreAddr = "127.0.0.1:0" // a short command leaves the usual port free
	}
	if err := s.startNode(ctx, cfg, c, l, nil); err != nil {
		return "", err
	}
	return withCredentials(s.nodeURL, s.guard), nil
}

// startNode starts the embedded node, or waits in line before. Its failure ends the program: without the right to write
// nothing here works.
func (s *storage) startNode(ctx context.Context, cfg Config, c clock.Clock, l *lifecycle, line *inLine) error {
	guard, err := guardNode(cfg)
	if err != nil {
		return err
	}
	s.pair = line != nil
	line.begin()
	handed := line.handsOver(ctx, s.db)
	s.node, err = embedded.Start(ctx, embedded.Config{
		Pool: s.db.Owner, Schema: s.db.Namespace.Schema("eventstore"), Addr: cfg.EventStoreAddr, Logger: l.logger,
		Clock: c, TLS: guard.tls, Username: guard.username, Password: guard.password.Reveal(),
		Production: cfg.Production(), Standby: s.pair, StandingBy: line.standsBehind,
		CanServe: line.canServe, ScavengeEvery: cfg.ScavengeInterval,
	})
	handed()
	if err != nil {
		return err
	}
	line.takesOver()
	s.nodeURL, s.guard = s.node.URL(), guard
	l.failsWith("event store node stopped", s.node.Err())
	l.started("event store node", stopStorage, func(ctx context.Context) {
		_ = s.node.Stop(ctx) // the callers report calls that were cut off
	})
	if err := guard.publish(); err != nil { // the disk is full: customers need the program, not the file
		l.logger.ErrorContext(ctx, "other commands do not reach the event store", "error", err)
	}
	return nil
}

// withCredentials adds the guard's user, password and file of certificates to a node's address, for our client. A
// certificate that was made here is trusted without the file. Never log it.
func withCredentials(nodeURL string, g nodeGuard) string {
	u, err := url.Parse(nodeURL)
	if err != nil {
		return nodeURL
	}
	if g.username != "" {
		u.User = url.UserPassword(g.username, g.password.Reveal())
	}
	if g.caFile != "" && g.public == nil {
		q := u.Query()
		q.Set("tlsCaFile", g.caFile)
		u.RawQuery = q.Encode()
	}
	return u.String()
}
