package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Times of scavenging. After each transaction it rests twice as long as that has taken, so that most of the database is
// left to appends and readers.
const (
	scavengeFirst = 5 * time.Minute // from the start of the node to the first pass, and after a pass that failed
	scavengeRest  = time.Millisecond
	scavengeDial  = 10 * time.Second
)

// Scavenged counts what was removed from the log since the node was started.
type Scavenged struct {
	Streams int64 // of which events were removed, in each pass anew
	Events  int64
	Bytes   int64 // of their records, before compression
}

// add counts both together.
func (s Scavenged) add(o Scavenged) Scavenged {
	return Scavenged{s.Streams + o.Streams, s.Events + o.Events, s.Bytes + o.Bytes}
}

// scavenger removes the events that no reader of their streams can see any more. It leaves the last event of each
// stream: revisions and positions go on from there, so what the sequencer knows of streams stays true.
//
// It has a connection of its own. Each of its transactions first locks the row of the node, of which every append holds
// a share until it is committed, and then decides by the log alone, in a statement whose snapshot is taken after the
// lock. So an append is either committed before, and the statement sees its metadata, or begins after the events are
// gone: none disappears that a committed append shows. The lock fails when another node has taken the log. As one that
// takes it changes the row, it waits for the transaction under way.
type scavenger struct {
	config  *pgx.ConnConfig
	queries scavengeQueries
	holder  uuid.UUID
	epoch   *atomic.Int64 // of the session that writes
	silence time.Duration // see holderSilence
	tail    *tail
	clock   clock.Clock
	log     *slog.Logger
	every   time.Duration // 0 = never
	begins  time.Time     // the first pass

	mu   sync.Mutex
	done Scavenged
}

// newScavenger makes the scavenger of a node that has opened its log.
func newScavenger(n *Node) *scavenger {
	every := n.config.ScavengeEvery
	return &scavenger{
		config: n.config.Pool.Config().ConnConfig, queries: newScavengeQueries(n.config.Schema), holder: n.instance,
		epoch: &n.sequencer.epoch, silence: n.config.HolderSilence, tail: n.tail, clock: n.config.Clock,
		log: n.config.Logger, every: every, begins: n.config.Clock.Now().Add(min(every, scavengeFirst)),
	}
}

// run makes a pass now and then, until ctx ends. What a pass could not do the next one does.
func (s *scavenger) run(ctx context.Context) {
	if s.every == 0 {
		return
	}
	for at := s.begins; loop.WaitUntil(ctx, nil, s.clock, at); {
		at = s.clock.Now().Add(s.every)
		err := loop.Try(func() error { return s.pass(ctx, nil) })
		if err != nil && ctx.Err() == nil {
			at = s.clock.Now().Add(min(s.every, scavengeFirst))
			s.log.Warn("event store log is not scavenged", "error", err)
		}
	}
}

// total counts what was removed so far.
func (s *scavenger) total() Scavenged {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// pass looks at all streams once. between, if not nil, is called after each transaction that removed events.
func (s *scavenger) pass(ctx context.Context, between func()) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return fmt.Errorf("scavenge: %w", err)
	}
	defer (&session{conn: conn}).close()
	began := patienceClock.Now()
	p := &scavengePass{scavenger: s, conn: conn, between: between, events: scavengeBegin}
	if err = p.metastreams(ctx); err == nil {
		err = p.tombstones(ctx)
	}
	err = errors.Join(err, p.fault)
	if err != nil {
		return fmt.Errorf("scavenge, %d events are removed: %w", p.done.Events, err)
	}
	s.log.Info("event store log scavenged", "streams", p.done.Streams, "events", p.done.Events, "bytes", p.done.Bytes,
		"took", patienceClock.Now().Sub(began))
	return nil
}

// scavengeSession sets what the transactions of a pass need: each statement sees what was committed before it, whatever
// the database has for others. Their commits need not be on the disk, since what a crash brings back is removed again.
const scavengeSession = `select set_config('default_transaction_isolation', 'read committed', false),
	set_config('synchronous_commit', 'off', false)`

// connect opens the connection of a pass.
func (s *scavenger) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, scavengeDial)
	defer cancel()
	conn, err := dialWriting(ctx, s.config)
	if err != nil {
		return nil, err
	}
	if _, err = conn.Exec(ctx, scavengeSession); err == nil {
		_, err = conn.Exec(ctx, watchHolder, s.silence.Milliseconds())
	}
	if err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("prepare the session: %w", err)
	}
	return conn, nil
}

// scavengePass is one pass over the log.
type scavengePass struct {
	*scavenger
	conn    *pgx.Conn
	between func()
	events  int   // of one transaction at most
	fault   error // of the first stream that could not be cleared
	done    Scavenged
}

// hiding says which events of a stream nobody sees.
type hiding struct {
	stream int64
	from   int64 // the oldest revision that is there
	rules  streamMeta
	// ruler is the metastream that has the rules in its event ruling. They are void when it has a newer one. 0 = they
	// hold for ever.
	ruler, ruling int64
}

// clear removes what a stream hides, in transactions that are small enough to hold up nobody: how many events one takes
// follows the time that the last one took.
func (p *scavengePass) clear(ctx context.Context, h hiding) error {
	gone := Scavenged{Streams: 1}
	for from := h.from; ; {
		began, asked, epoch := patienceClock.Now(), p.events, p.epoch.Load()
		got, err := p.remove(ctx, h, from, epoch)
		took := patienceClock.Now().Sub(began)
		p.pace(took)
		switch {
		case err != nil && ctx.Err() == nil && (tooSlow(err) && asked > 1 || p.epoch.Load() != epoch):
			if !p.rest(ctx, took) {
				return ctx.Err()
			}
			continue // with fewer, or by the epoch under which this node has taken its log again
		case err != nil || len(got.positions) == 0:
			return err
		}
		p.tail.drop(got.positions)
		gone.Events, gone.Bytes = int64(len(got.positions)), got.bytes
		p.count(gone)
		gone.Streams = 0
		if p.between != nil {
			p.between()
		}
		if !p.rest(ctx, took) {
			return ctx.Err()
		}
		if len(got.positions) < asked && got.bytes < scavengeBytes {
			return nil
		}
		from = got.last + 1
	}
}

// pace chooses how many events the next transaction may remove.
func (p *scavengePass) pace(took time.Duration) {
	switch {
	case took > scavengeSlow:
		p.events = max(1, p.events/2)
	case took < scavengeFast:
		p.events = min(2*p.events, scavengeEvents)
	}
}

// tooSlow reports whether the database ended a transaction because it, or the wait for its lock, took too long.
func tooSlow(err error) bool {
	code := sqlState(err)
	return code == "57014" || code == "55P03"
}

// clearAll removes what some streams hide. One at which the database fails, as at a damaged page, keeps none of the
// others: its fault is kept until the end of the pass. It fails when the pass cannot go on.
func (p *scavengePass) clearAll(ctx context.Context, list []hiding) error {
	for _, h := range list {
		err := p.clear(ctx, h)
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, errFenced), p.conn.IsClosed():
			return err
		case p.fault == nil:
			p.fault = fmt.Errorf("stream number %d: %w", h.stream, err)
		}
	}
	return nil
}

// count adds to what the pass and the node have removed.
func (p *scavengePass) count(gone Scavenged) {
	p.done = p.done.add(gone)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scavenger.done = p.scavenger.done.add(gone)
}

// rest leaves the database to others, for twice as long as work has taken, but not until the server takes the silent
// session for one of a program that is gone. It returns false when ctx has ended.
func (p *scavengePass) rest(ctx context.Context, took time.Duration) bool {
	return loop.Sleep(ctx, max(scavengeRest, min(2*took, p.silence/2)))
}

// removed tells about the events that one transaction has removed.
type removed struct {
	positions []int64
	last      int64 // greatest revision
	bytes     int64
}

// remove removes the first hidden events of a stream from a revision on, as many as one transaction may. It fails with
// errFenced when the log is not this node's any more.
func (p *scavengePass) remove(ctx context.Context, h hiding, from, epoch int64) (gone removed, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	batch := &pgx.Batch{} // one transaction, each statement of which has a snapshot of its own
	batch.Queue(scavengeLimits)
	batch.Queue(p.queries.lock, p.holder, epoch)
	batch.Queue(p.queries.remove, pgx.NamedArgs{
		"holder": p.holder, "epoch": epoch, "stream": h.stream, "ruler": h.ruler, "ruling": h.ruling,
		"before": h.rules.before, "max_count": h.rules.maxCount, "born": h.rules.bornAfter(p.clock.Now()),
		"from": from, "events": p.events, "bytes": scavengeBytes,
	})
	results := p.conn.SendBatch(ctx, batch)
	defer func() {
		if end := results.Close(); err == nil && end != nil {
			err = fmt.Errorf("commit the removal of events: %w", end)
		}
	}()
	if _, err := results.Exec(); err != nil {
		return removed{}, fmt.Errorf("limit the removal of events: %w", err)
	}
	var held bool
	switch err := results.QueryRow().Scan(&held); {
	case errors.Is(err, pgx.ErrNoRows):
		return removed{}, errFenced
	case err != nil:
		return removed{}, fmt.Errorf("lock the node: %w", err)
	}
	if err := results.QueryRow().Scan(&gone.positions, &gone.last, &gone.bytes); err != nil {
		return removed{}, fmt.Errorf("remove events: %w", err)
	}
	return gone, nil
}
