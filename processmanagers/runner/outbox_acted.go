package processrunner

import (
	"context"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// acted is a lane whose oldest command has been executed. It keeps only the id of the command, whose memory is not
// counted any more.
type acted struct {
	lane
	id   uuid.UUID
	seq  int64 // 0 when it was executed without having been read
	more bool  // the instance has later commands
}

// deleteActed deletes the rows of executed commands, as many as there are in one statement, until ctx ends. Only then
// the next command of an instance is read. When the rows cannot be deleted, the commands are executed again.
func (o *outbox) deleteActed(ctx context.Context) {
	d := o.round
	for loop.Wait(ctx, o.over) {
		o.mu.Lock()
		list := o.acted.take(len(o.acted.list), func(f acted) string { return f.key })
		o.mu.Unlock()
		ids := make([]uuid.UUID, len(list))
		for i, f := range list {
			ids[i] = f.id
		}
		_, err := d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(deleteCommandsSQL), anew, ids)
		for _, f := range list {
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				o.retryLater(ctx, f.lane, err)
			case f.more:
				o.goOn(f.lane, f.seq)
			default:
				o.rest(f.lane)
			}
		}
		o.acted.rest(ctx)
	}
}
