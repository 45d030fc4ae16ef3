package messagingcases

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// How long a message that is held waits before it looks again: each another time, so that tens of thousands do not come
// at once. The release of the fuse wakes them (commands.WakeMessages), so looks only find what that has missed.
const (
	heldWait   = 15 * time.Minute
	heldSpread = 15 * time.Minute
)

// held is when to look again at a message that waits for a person, because its organization sends far more than usual;
// zero = none waits. That is asked before anything is read about the message. One whose moment is over waits no more.
func (d *Delivery) held(ctx context.Context, args commands.SendMessage, job id.Any) (time.Time, error) {
	now := d.Clock.Now()
	if d.Fuse == nil || !now.Before(args.Until) {
		return time.Time{}, nil
	}
	held, err := d.Fuse.Holds(ctx, args.OrgID)
	if err != nil || !held {
		return time.Time{}, err
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(job.String())) // it never fails
	spread := time.Duration(hash.Sum32()%uint32(heldSpread/time.Second)) * time.Second
	return notAfter(now.Add(heldWait+spread), args.Until), nil
}
