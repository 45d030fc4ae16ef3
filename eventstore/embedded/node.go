package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
)

// Node is a running event store node. Safe for concurrent use.
type Node struct {
	config     Config
	instance   uuid.UUID
	listener   net.Listener
	port       int
	advertised string

	log       *logReader
	tail      *tail
	sequencer *sequencer
	scavenger *scavenger
	intake    *intake
	writes    *writeMemory
	calls     callCount
	server    *grpc.Server
	local     *localChannel

	stopping chan struct{} // closed when the node begins to stop
	begin    sync.Once
	served   chan struct{} // closed when the server no longer accepts
	watched  chan struct{} // closed when the watch over the sequencer has ended
	cancel   context.CancelFunc
	looking  sync.WaitGroup
	fatal    chan error // what Err returns
}

// Start opens the log in the schema (which it creates or migrates), takes the right to write and serves the protocol.
// While another node has that right it fails, with an error that names the address of that node, or waits for its turn
// where Config.Standby says so.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	host, port, err := cfg.listenHost()
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("event store: %w", err)
	}
	bound := listener.Addr().(*net.TCPAddr).Port
	n := &Node{
		config: cfg, instance: uuid.New(), listener: listener, port: bound, advertised: cfg.AdvertiseHost,
		stopping: make(chan struct{}), served: make(chan struct{}), watched: make(chan struct{}),
		fatal: make(chan error, 1), writes: newWriteMemory(), intake: newIntake(intakeBytes),
	}
	if n.advertised == "" {
		n.advertised = host
	}
	if cfg.Standby {
		_ = listener.Close() // the address is free; clients must not find a node there that does not serve
	}
	if err := n.open(ctx); err != nil {
		_ = listener.Close()
		return nil, err
	}
	if cfg.Standby {
		n.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(bound)))
		if err != nil {
			n.sequencer.session.close()
			return nil, fmt.Errorf("event store: %w", err)
		}
	}
	n.serve()
	if err := n.seed(ctx); err != nil {
		return nil, errors.Join(err, n.Stop(ctx))
	}
	cfg.Logger.Info("event store node started", "url", n.URL(), "position", n.tail.last.Load())
	return n, nil
}

// open takes the writing session, reads where the log ends and prepares the sequencer and the readers.
func (n *Node) open(ctx context.Context) error {
	q := newQueries(n.config.Schema)
	opener := &sessions{
		config: n.config.Pool.Config().ConnConfig, queries: q, schema: n.config.Schema, lock: lockKey(n.config.Schema),
		holder: n.instance, url: n.URL(), now: n.config.Clock.Now, log: n.config.Logger,
		silence: n.config.HolderSilence, patience: lockPatience, production: n.config.Production,
		waits: n.config.Standby, standingBy: n.config.StandingBy, canServe: n.canServe,
	}
	first, err := opener.start(ctx)
	if err != nil {
		return err
	}
	s := &sequencer{
		queries: q, sessions: opener, reads: n.config.Pool, log: n.config.Logger, now: n.config.Clock.Now,
		queue: make(chan *write, queueLength), quit: make(chan struct{}), ended: make(chan struct{}),
		fatal: make(chan error, 1), session: first, heads: newHeadCache(), recent: newRecentEvents(),
	}
	end, err := s.readLast(ctx)
	if err == nil {
		s.published, s.newest, s.lastStream = end.event.position, end.event.id, end.stream
		err = s.recent.warm(ctx, first.conn, q.recent)
	}
	if err != nil {
		first.close()
		return err
	}
	n.log = newLogReader(n.config.Pool, q, n.config.Clock.Now)
	n.tail = newTail(s.published)
	s.tail, s.names, s.answered = n.tail, n.log.names, patienceClock.Now()
	s.epoch.Store(first.epoch)
	n.sequencer = s
	n.scavenger = newScavenger(n)
	return nil
}

// canServe fails when the address of a node that stands by is not free any more, or as Config.CanServe.
func (n *Node) canServe(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.listener.Addr().String())
	if err != nil {
		return fmt.Errorf("event store: %w", err)
	}
	_ = l.Close()
	if n.config.CanServe == nil {
		return nil
	}
	return n.config.CanServe(ctx)
}

// serve starts the server, the sequencer and the watch over it.
func (n *Node) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	intercept := n.interceptor()
	n.server, n.local = newServer(n, intercept), newLocal(n, intercept)
	go n.sequencer.run(ctx)
	looker := &typeLooker{
		pool: n.config.Pool, queries: n.log.queries, tail: n.tail, blocks: n.log.types, failed: func(err error) {
			n.config.Logger.Warn("event store does not note types of events", "error", err)
		},
	}
	n.looking.Go(func() { looker.run(ctx) })
	n.looking.Go(func() { n.scavenger.run(ctx) })
	go func() {
		defer close(n.served)
		// Serve returns when the server stops, with no other error to report.
		_ = n.server.Serve(newLimitedListener(n.listener, connections))
	}()
	go n.watch()
}

// watch stops serving when the sequencer has failed, so that clients do not take the node for a working one.
func (n *Node) watch() {
	defer close(n.watched)
	<-n.sequencer.ended
	select {
	case err := <-n.sequencer.fatal:
		n.beginStop()
		n.local.cut()
		n.server.Stop()
		n.fatal <- err
	default:
	}
}

// beginStop lets waiting calls end with errStopping. Only the first call counts.
func (n *Node) beginStop() { n.begin.Do(func() { close(n.stopping) }) }

// seed writes the first event of a new log. Clients read the stream $users to find out that a server has finished
// starting.
func (n *Node) seed(ctx context.Context) error {
	if n.tail.last.Load() > 0 {
		return nil
	}
	_, err := n.execute(ctx, &write{
		kind: writeAppend, stream: usersStream, expected: expectNoStream,
		events: []proposal{{id: uuid.New(), kind: "$User", data: []byte("admin")}},
	})
	if err != nil {
		return fmt.Errorf("write the first event: %w", err)
	}
	return nil
}

// Addr is the listen address with the actual port, also when Config.Addr has port 0.
func (n *Node) Addr() string { return n.listener.Addr().String() }

// URL is the connection string for the stock client, without credentials.
func (n *Node) URL() string {
	host := n.advertised
	secure := n.config.TLS != nil
	return fmt.Sprintf("esdb://%s?tls=%t", net.JoinHostPort(host, strconv.Itoa(n.port)), secure)
}

// Scavenged counts what this node has removed from the log.
func (n *Node) Scavenged() Scavenged { return n.scavenger.total() }

// Err delivers at most one error: the node can or may no longer write, and has stopped serving. The caller must then
// call Stop.
func (n *Node) Err() <-chan error { return n.fatal }

// stopLimit bounds a stop whose context has no earlier deadline.
const stopLimit = 10 * time.Second

// Stop ends the node. It ends subscriptions and reads with an error, finishes the accepted writes and then gives the
// right to write back. When ctx ends, or after 10 s, it cuts the remaining calls off. A second Stop is harmless.
func (n *Node) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	n.beginStop()
	graceful := make(chan struct{})
	go func() {
		defer close(graceful)
		n.server.GracefulStop()
		n.local.stop()
	}()
	var err error
	select {
	case <-graceful:
	case <-ctx.Done():
		err = ctx.Err()
		n.cancel() // a statement that hangs must not delay the stop
		n.local.cut()
		n.server.Stop()
		<-graceful
	}
	n.sequencer.stop()
	n.cancel()
	n.looking.Wait()
	<-n.served
	<-n.watched
	return err
}
