package processrunner

import (
	"context"
	"errors"
	"fmt"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// loadSQL reads a process for a round. A request for the whole process is a person's word to go on with another log
// than the one that was read, once the process has told of it: then nothing is compared until the checkpoint moves.
const loadSQL = `
update {schema}.processes p set error = '', log_end = case when not asked then log_end end,
	log_has = case when not asked then log_has end, mark = case when log_end is null or not asked then mark end
from (select exists (select from {schema}.requests where process = $1 and key = '') as asked) r
where name = $1 returning checkpoint, live_from, mark, log_end, log_has`

// otherSQL notes that the log is not the one that the process has read. It deletes the request, which has been tried.
const otherSQL = `
with tried as (delete from {schema}.requests where process = $1 and key = '')
update {schema}.processes set log_end = $2, log_has = $3 where name = $1`

// begun is where a round of a process begins.
type begun struct {
	checkpoint, liveFrom uint64
	mark                 eventstore.Mark // the newest event up to the checkpoint that is known
}

// load reads the positions of the process. It fails when the log is not the one that the process has read, or once was
// not: it ends before the checkpoint, or has another event there. Then no timer and no stored command may act either,
// because they follow from events that the log has lost.
func (p *process) load(ctx context.Context) (from begun, err error) {
	var logEnd *uint64
	var logHas id.Event
	db := p.r.cfg.DB.Owner
	err = db.QueryRow(ctx, p.r.sql(loadSQL), p.name).Scan(&from.checkpoint, &from.liveFrom, &from.mark, &logEnd,
		&logHas)
	if err != nil {
		return from, fmt.Errorf("load process %s: %w", p.name, err)
	}
	if logEnd != nil {
		other := &eventstore.OtherLogError{After: from.checkpoint, Head: *logEnd}
		if !logHas.IsZero() {
			other.After, other.Had, other.Has = from.mark.Position, from.mark.ID, logHas
		}
		return from, &poison{error: p.advise(other, from.checkpoint)}
	}
	err = p.r.cfg.Feed.Covers(ctx, from.checkpoint, from.mark)
	var other *eventstore.OtherLogError
	if !errors.As(err, &other) {
		return from, err
	}
	if other.Has.IsZero() || other.Had == from.mark.ID { // else the next start finds out
		//nolint:gosec // positions fit
		if _, err := db.Exec(ctx, p.r.sql(otherSQL), p.name, int64(other.Head), other.Has); err != nil {
			return from, fmt.Errorf("load process %s: %w", p.name, err)
		}
	}
	return from, &poison{error: p.advise(other, from.checkpoint)}
}

// advise names the process in the error of a log that it has not read, and says what to do.
func (p *process) advise(err error, checkpoint uint64) error {
	return fmt.Errorf("process %s, which has taken the log up to position %d: %w; restore its database to a time that "+
		"is not after the log's, or let it go on from there with `lastmile processes retry %s`: it never takes the "+
		"events before", p.name, checkpoint, err, p.name)
}

// isOther reports whether a log is not the one that was read.
func isOther(err error) bool {
	var other *eventstore.OtherLogError
	return errors.As(err, &other)
}
