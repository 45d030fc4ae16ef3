package messagingcases

import (
	"context"
	"hash/fnv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// How long a message that is held waits before it looks again: each another time, so that tens of thousands do not come
// at once. The release of the fuse wakes them (commands.WakeMessages), so looks only find what that has missed.
const (
	heldWait   = 15 * time.Minute
	heldSpread = 15 * time.Minute
)

// fullWait is how long a message waits when the last places below the fuse are those of messages on their way.
const fullWait = 10 * time.Second

// reserve takes a place for a message below the fuse of its organization. Without one the message waits until look: for
// a person, because its organization sends far more than usual, or for the messages on their way. That is asked before
// anything is read about the message. One whose moment is over waits no more and needs no place.
func (d *Delivery) reserve(
	ctx context.Context, args commands.SendMessage, job id.Any,
) (place *usecases.FusePlace, look time.Time, err error) {
	now := d.Clock.Now()
	if d.Fuse == nil || !now.Before(args.Until) {
		return nil, time.Time{}, nil
	}
	place, held, err := d.Fuse.Reserve(ctx, args.OrgID)
	switch {
	case err != nil || place != nil:
		return place, time.Time{}, err
	case !held:
		return nil, notAfter(now.Add(fullWait), args.Until), nil
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(job.String())) // it never fails
	spread := time.Duration(hash.Sum32()%uint32(heldSpread/time.Second)) * time.Second
	return nil, notAfter(now.Add(heldWait+spread), args.Until), nil
}
