package embedded

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// outagePatience is how long writes wait for the database before they are refused: from when a statement was sent that
// has no answer, or from the loss of the session.
const outagePatience = 4 * time.Second

// slowDatabase is how many bytes a second a database writes at least that is not away: a statement with more of them
// than usual may take longer.
const slowDatabase = 2 << 20

// patience is how long the statement that writes a group may go without an answer.
func (g *group) patience() time.Duration {
	bytes := 0
	for i := range g.rows {
		bytes += g.rows[i].size()
	}
	return outagePatience + time.Duration(bytes)*time.Second/slowDatabase
}

// statements are run one after another by a goroutine of their own, whose stack has grown already.
type statements struct {
	next  chan func() error
	ended chan error // has room for one
}

// newStatements waits for statements until close.
func newStatements() statements {
	s := statements{next: make(chan func() error), ended: make(chan error, 1)}
	go func() {
		for statement := range s.next {
			s.ended <- statement()
		}
	}()
	return s
}

// close ends the goroutine. No statement may run.
func (s statements) close() { close(s.next) }

// begin runs a statement of the session. Until attend has seen its end, nobody else may use the session.
func (q *sequencer) begin(statement func() error) (ended <-chan error) {
	q.statements.next <- statement
	return q.statements.ended
}

// attend waits for the end of a statement. Meanwhile the writes that come are taken into next, if that is not nil. When
// the statement has no answer after so long, those that wait for it are refused, and all that come, until the database
// has answered: the outcome of writes that are being committed is unknown to their callers, and settled by the
// statement or by recover. A statement that begins while all is refused has no more patience. Live subscriptions end as
// in recover. It reports whether all is refused.
func (q *sequencer) attend(
	ended <-chan error, most time.Duration, waiting []*write, next *gathering,
) (stalled bool, err error) {
	settled := func() {}
	defer func() { settled() }()
	doubt := sync.OnceFunc(func() { settled = q.doubt() })
	if most > q.sessions.silence { // another node may have the log before the statement is taken for stalled
		doubt()
	}
	stall := func() {
		q.down.Store(true)
		stalled = true
		doubt()
		q.refuseAll(waiting)
		refuse(next.taken(), errNoDatabase)
	}
	if q.down.Load() {
		stall()
	}
	patience := time.NewTimer(most)
	defer patience.Stop()
	for {
		arriving := q.queue
		if !stalled && !next.takesMore() {
			arriving = nil
		}
		select {
		case err := <-ended:
			if err == nil || definite(q.session.conn, err) {
				q.down.Store(false)
				stalled = false
			}
			return stalled, err
		case w := <-arriving:
			if stalled {
				refuse([]*write{w}, errNoDatabase)
				continue
			}
			next.take(w)
		case <-patience.C:
			if !stalled {
				q.log.Warn("event store database does not answer")
				stall()
			}
		}
	}
}

// errStopped ends the sequencer when the node is stopped while its database is unreachable. It is not a fault.
var errStopped = errors.New("event store: stopped while its database was unreachable")

// recover replaces a lost session and returns the last event of the log. Raising the epoch waits for the old
// session, so the last position settles a commit whose outcome was unknown. Writes wait up to outagePatience and are
// then refused; the log may contain them nevertheless. It returns only with a new session, when the node stops, with
// errFenced when another node has taken over, or with errUndurable. Once the session has been silent for so long that
// another node may have taken the log, live subscriptions end.
func (q *sequencer) recover(ctx context.Context, waiting []*write) (last event, err error) {
	q.session.close()
	q.heads = newHeadCache()
	q.names.forget()
	defer func() { q.down.Store(false) }()
	began := patienceClock.Now()
	defer q.doubt()()
	patience := func() time.Duration { return outagePatience - patienceClock.Now().Sub(began) }
	var away loop.Outage
	dial := dialLimit
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		stalled, err := q.attend(q.begin(func() (err error) {
			last, err = q.reopen(ctx, dial)
			return err
		}), patience(), waiting, nil)
		if err == nil {
			q.names.forget()
			q.reads.Reset() // they go to the server that takes writes now
			q.answered = patienceClock.Now()
			q.log.Info("event store session restored", "epoch", q.session.epoch, "position", last.position)
			return last, nil
		}
		if errors.Is(err, errFenced) || errors.Is(err, errUndurable) {
			return event{}, err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			dial = min(2*dial, dialMost)
		}
		if tell, _ := away.Failed(); tell { // every further try is one more line in a long outage
			q.log.Warn("event store database unreachable", "error", err)
		}
		if stalled || patience() <= 0 {
			q.down.Store(true)
			q.refuseAll(waiting)
			q.refuseQueued()
		}
		select {
		case <-time.After(wait):
		case <-q.quit:
			return event{}, errStopped
		case <-ctx.Done():
			return event{}, errStopped
		}
	}
}

// doubt lets live subscribers go, unless it is settled before, when the session has been silent for so long that
// another node may have taken the log.
func (q *sequencer) doubt() (settled func()) {
	return q.tail.doubt(q.sessions.silence - patienceClock.Now().Sub(q.answered))
}

// recoverUnchanged is recover when no commit was running: the log must still end with the same event.
func (q *sequencer) recoverUnchanged(ctx context.Context, waiting []*write) error {
	last, err := q.recover(ctx, waiting)
	if err == nil && last != q.last() {
		err = errForeignRows
	}
	return err
}

// reopen tries once to open a session and to read the last event.
func (q *sequencer) reopen(ctx context.Context, dial time.Duration) (event, error) {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	s, err := q.sessions.resume(ctx, dial)
	if err != nil {
		return event{}, err
	}
	q.session = s
	q.epoch.Store(s.epoch)
	last, err := q.readLast(ctx)
	if err != nil {
		s.close()
		return event{}, err
	}
	return last.event, nil
}

// beside adds writes to those that wait aside, until over is called.
func (q *sequencer) beside(batch []*write) (over func()) {
	before := q.aside
	q.aside = slices.Concat(before, batch)
	return func() { q.aside = before }
}

// refuseAll answers during an outage what waits for a statement, and what waits aside.
func (q *sequencer) refuseAll(waiting []*write) {
	refuse(waiting, errNoDatabase)
	refuse(q.aside, errNoDatabase)
}

// refuseQueued empties the queue during an outage; each write in it gets errNoDatabase.
func (q *sequencer) refuseQueued() {
	for {
		select {
		case w := <-q.queue:
			refuse([]*write{w}, errNoDatabase)
		default:
			return
		}
	}
}
