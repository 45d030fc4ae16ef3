package embedded

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// queueLength is the number of writes that may wait before enqueue itself blocks; their bytes are bounded by load.
const queueLength = 1024

// idlePing is the interval at which an idle sequencer checks its session. It is never more than a fifth of the silence
// after which the server ends the session. Meanwhile it glances at it every idleGlance, so that it comes back from a
// session that was ended before a node that stands by takes over (lineYield).
const (
	idlePing   = 2 * time.Second
	idleGlance = 100 * time.Millisecond
)

// sequencer is the only writer of the log. One goroutine collects the writes that wait, decides them, commits them and
// publishes them, so positions are assigned and become visible in commit order. The next group is decided and sent
// before the last one is published (ADR 0042).
type sequencer struct {
	queries  *queries
	sessions *sessions
	reads    *pgxpool.Pool // that readers of the log use
	tail     *tail
	log      *slog.Logger
	now      func() time.Time

	queue chan *write
	quit  chan struct{} // closed by stop
	once  sync.Once
	ended chan struct{} // closed when the goroutine has ended
	fatal chan error    // room for one
	down  atomic.Bool   // PostgreSQL has been unreachable for a while: refuse at once
	epoch atomic.Int64  // of the session, for the scavenger

	// Only the goroutine uses these.
	session    *session
	statements statements // of the session
	heads      *headCache
	recent     *recentEvents
	published  int64     // last committed position
	newest     uuid.UUID // the event at it
	// lastStream is the last number that a stream got. The next new stream gets the next one.
	lastStream int64
	answered   time.Time // by patienceClock: when the database has last shown that the log is this node's
	aside      []*write  // taken from the queue, and waiting beside those that are being settled
	names      *streamNames
	columns    columnBuffers
}

// enqueue hands a write over. Writes are decided in the order in which they were enqueued. When it fails, the write is
// not in the queue and its memory is free.
func (q *sequencer) enqueue(ctx context.Context, w *write) error {
	w.caller = ctx
	err := errNoDatabase
	if !q.down.Load() {
		select {
		case q.queue <- w:
			return nil
		case <-ctx.Done():
			err = fromContext(ctx.Err())
		case <-q.ended:
			err = errStopping
		}
	}
	w.load.free()
	return err
}

// await waits for the outcome of a write in the queue. When ctx ends first, the outcome is unknown.
func (q *sequencer) await(ctx context.Context, w *write) (outcome, error) {
	select {
	case r := <-w.reply:
		return r.to(ctx)
	case <-ctx.Done():
		return outcome{}, fromContext(ctx.Err())
	case <-q.ended:
		select {
		case r := <-w.reply:
			return r.to(ctx)
		default:
			return outcome{}, errStopping
		}
	}
}

// to gives a reply to a caller, which is told why its context has ended when that is the reason.
func (r reply) to(ctx context.Context) (outcome, error) {
	if errors.Is(r.err, errAbandoned) {
		return outcome{}, fromContext(ctx.Err())
	}
	return r.outcome, r.err
}

// errNoDatabase answers writes and reads when PostgreSQL has been unreachable for some seconds.
var errNoDatabase = unavailable("the event store cannot reach its database")

// run processes writes until stop or a fatal error, and closes the session at its end.
func (q *sequencer) run(ctx context.Context) {
	defer close(q.ended)
	defer func() { q.session.close() }()
	q.statements = newStatements()
	defer q.statements.close()
	idle := time.NewTicker(idleGlance)
	defer idle.Stop()
	for {
		var err error
		select {
		case first := <-q.queue:
			err = q.work(ctx, first)
		case <-idle.C:
			err = q.checkIdle(ctx)
		case <-q.quit:
			q.flush(ctx)
			return
		}
		if errors.Is(err, errStopped) {
			return
		}
		if err != nil {
			q.log.Error("event store sequencer stopped", "error", err)
			q.fatal <- err
			return
		}
	}
}

// stop lets the goroutine process the queued writes and waits for its end.
func (q *sequencer) stop() {
	q.once.Do(func() { close(q.quit) })
	<-q.ended
}

// flush processes the writes that are still queued when the node stops.
func (q *sequencer) flush(ctx context.Context) {
	for {
		select {
		case w := <-q.queue:
			if err := q.work(ctx, w); err != nil {
				return
			}
		default:
			return
		}
	}
}

// checkIdle notices a lost session while nothing is written, so that another node cannot hold the lock unnoticed.
func (q *sequencer) checkIdle(ctx context.Context) error {
	quiet := patienceClock.Now().Sub(q.answered)
	if quiet < idleGlance || quiet < min(idlePing, q.sessions.silence/5) && !q.session.glance(ctx) {
		return nil
	}
	if q.answers(ctx, nil) == nil {
		q.answered = patienceClock.Now()
		return nil
	}
	return q.recoverUnchanged(ctx, nil)
}

// answers pings the session, while writes wait for it.
func (q *sequencer) answers(ctx context.Context, waiting []*write) error {
	_, err := q.attend(q.begin(func() error { return q.session.ping(ctx) }), outagePatience, waiting, nil)
	return err
}

// work commits a write, those that wait with it, and those that come meanwhile: the next group is decided while one is
// committed, as if that one were in the log, and its statement is sent before that one is published. So the database
// waits for nothing. It ends when nothing has come, after the first failure, and at a group that cannot be sent as it
// is: one with a head to be read, a revival to be compared, a caller that has gone, or no rows. Whatever is not
// committed then goes the way of process, which decides it again.
func (q *sequencer) work(ctx context.Context, first *write) error {
	g, published := q.gather(nil), (*group)(nil)
	g.take(first)
	g.takeQueued(q.queue)
	for len(g.batch) > 0 {
		if g.group == nil || len(g.group.rows) == 0 || g.stale() {
			q.publish(published)
			return q.process(ctx, stillWanted(g.batch))
		}
		ended := q.send(ctx, g.group)
		q.publish(published)
		next := q.gather(g.group)
		done, again, err := q.settle(ctx, ended, g, next)
		if err != nil {
			refuse(next.batch, errStopping)
			return err
		}
		if !done {
			return q.process(ctx, stillWanted(append(again, next.batch...)))
		}
		published = g.group
		if g = next; g.group != nil {
			continue
		}
		g.takeQueued(q.queue)
	}
	q.publish(published)
	return nil
}

// process brings a batch to its end: it answers every write or returns a fatal error.
func (q *sequencer) process(ctx context.Context, batch []*write) error {
	for len(batch) > 0 {
		g, decided, left, err := q.prepare(ctx, batch)
		if batch = decided; err != nil {
			if definite(q.session.conn, err) {
				return q.isolate(ctx, batch, err) // as the head of one stream in a damaged page
			}
			if err := q.recoverUnchanged(ctx, batch); err != nil {
				refuse(batch, errStopping)
				return err
			}
			batch = stillWanted(batch)
			continue
		}
		over := q.beside(left)
		batch, err = q.finish(ctx, g, batch)
		over()
		if err != nil {
			refuse(left, errStopping)
			return err
		}
		batch = append(batch, stillWanted(left)...)
	}
	return nil
}

// finish commits and publishes what was decided on a batch, or answers it. It gives the writes that are to be decided
// again.
func (q *sequencer) finish(ctx context.Context, g *group, batch []*write) (again []*write, err error) {
	if len(g.rows) == 0 {
		return q.deliver(ctx, g, batch)
	}
	done, again, err := q.settle(ctx, q.send(ctx, g), &gathering{batch: batch, group: g}, nil)
	if err == nil && done {
		q.publish(g)
	}
	return again, err
}

// send begins to commit a group.
func (q *sequencer) send(ctx context.Context, g *group) (ended <-chan error) {
	g.stamp(ticks(q.now()))
	return q.begin(func() error { return q.commit(ctx, g) })
}

// settle waits for the commit of a decided group, and takes writes into next meanwhile. done = it is committed, to be
// published. Otherwise its writes have their answers, but for those that are to be decided again, because the commit
// has certainly not happened.
func (q *sequencer) settle(
	ctx context.Context, ended <-chan error, g *gathering, next *gathering,
) (done bool, again []*write, err error) {
	_, err = q.attend(ended, g.group.patience(), g.batch, next)
	switch {
	case err == nil:
		q.answered = patienceClock.Now()
		return true, nil, nil
	case errors.Is(err, errFenced):
		refuse(g.batch, errStopping)
		return false, nil, err
	case definite(q.session.conn, err):
		defer q.beside(next.taken())()
		return false, nil, q.isolate(ctx, g.batch, err)
	}
	q.log.Warn("event store commit with unknown outcome", "events", len(g.group.rows), "error", err)
	last, err := q.recover(ctx, slices.Concat(g.batch, next.taken()))
	if err != nil {
		refuse(g.batch, errStopping)
		return false, nil, err
	}
	switch last {
	case g.group.last(): // the group had been committed
		q.publish(g.group)
		return false, nil, nil
	case q.last(): // the group had not been committed
		return false, stillWanted(g.batch), nil
	}
	refuse(g.batch, errStopping)
	return false, nil, errForeignRows
}

// deliver answers a group that writes nothing. A node that has not heard of its database for a while asks it first: it
// may have been paused, and what it knows be of before another one took the log.
func (q *sequencer) deliver(ctx context.Context, g *group, batch []*write) (again []*write, err error) {
	if patienceClock.Now().Sub(q.answered) > q.sessions.silence/2 && q.answers(ctx, batch) != nil {
		if err := q.recoverUnchanged(ctx, batch); err != nil {
			refuse(batch, errStopping)
			return nil, err
		}
		return stillWanted(batch), nil
	}
	g.deliver()
	return nil, nil
}

// errForeignRows means that the log does not end with what this node has written although it held the lock.
var errForeignRows = errors.New("event store: another program has written to the log, or it was restored to an older " +
	"state while its node ran")

// publish makes a committed group visible, in order, and then answers its writers; nil = there is none.
func (q *sequencer) publish(g *group) {
	if g == nil {
		return
	}
	for name, h := range g.heads {
		q.heads.put(name, h)
	}
	for i := range g.rows {
		r := &g.rows[i]
		q.recent.add(identity{r.streamID, r.id}, seat{r.revision, r.position})
	}
	q.published, q.newest, q.lastStream = g.next-1, g.last().id, g.lastStream
	q.tail.publish(g.rows)
	g.deliver()
}

// deliver answers every write of a settled group that has no answer yet.
func (g *group) deliver() {
	for i := range g.answers {
		g.answers[i].to.answer(g.answers[i].outcome)
	}
}

// refuse answers writes that failed or whose outcome stays unknown. A write with an answer keeps it.
func refuse(batch []*write, err error) {
	for _, w := range batch {
		w.answer(outcome{err: err})
	}
}

// stillWanted leaves out the writes whose caller has gone or got an answer meanwhile. It reuses the given slice.
func stillWanted(batch []*write) []*write {
	kept := batch[:0]
	for _, w := range batch {
		if w.isAbandoned() {
			w.answer(outcome{err: errAbandoned})
		}
		if !w.answered.Load() {
			kept = append(kept, w)
		}
	}
	return kept
}

// errAbandoned answers a write that was dropped because the context of its caller had ended; await says why it ended.
var errAbandoned = errors.New("the caller has gone")
