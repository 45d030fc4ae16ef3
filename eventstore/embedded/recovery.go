package embedded

import (
	"context"
	"errors"
	"time"
)

// outagePatience is how long writes wait for the database to come back before they are refused.
const outagePatience = 4 * time.Second

// errStopped: the node was stopped while its database was unreachable, which is no fault of the node.
var errStopped = errors.New("event store: stopped while its database was unreachable")

// recover replaces a lost session and reads the last position of the log, which tells what became of a commit whose
// outcome was unknown: raising the epoch waits for it. Writes wait with it up to outagePatience and are then refused;
// their outcome is still settled in the log afterwards. It ends only with a new session, with the node's end, or
// fatally when another node has taken over.
func (q *sequencer) recover(ctx context.Context, waiting []*write) (last int64, err error) {
	q.session.close()
	q.heads = newHeadCache()
	outage := time.AfterFunc(outagePatience, func() { q.down.Store(true) })
	defer func() {
		outage.Stop()
		q.down.Store(false)
	}()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		last, err := q.reopen(ctx)
		if err == nil {
			q.log.Info("event store session restored", "epoch", q.session.epoch, "position", last)
			return last, nil
		}
		if errors.Is(err, errFenced) {
			return 0, err
		}
		q.log.Warn("event store database unreachable", "error", err)
		if q.down.Load() {
			refuse(waiting, errNoDatabase)
			q.refuseQueued()
		}
		select {
		case <-time.After(wait):
		case <-q.quit:
			return 0, errStopped
		case <-ctx.Done():
			return 0, errStopped
		}
	}
}

// recoverUnchanged recovers when no commit was under way: the log must end where it did.
func (q *sequencer) recoverUnchanged(ctx context.Context, waiting []*write) error {
	last, err := q.recover(ctx, waiting)
	if err == nil && last != q.published {
		err = errForeignRows
	}
	return err
}

// reopen tries once to get a session and the last position.
func (q *sequencer) reopen(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, statementPatience)
	defer cancel()
	s, err := q.sessions.resume(ctx)
	if err != nil {
		return 0, err
	}
	q.session = s
	last, err := q.readLast(ctx)
	if err != nil {
		s.close()
		return 0, err
	}
	return last, nil
}

// refuseQueued empties the queue during an outage.
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
