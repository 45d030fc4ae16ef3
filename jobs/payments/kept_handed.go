package paymentsjobs

import (
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// HandOver gives what waits on the disk to another program, by put, and forgets what that has taken. It is for a
// program that found that it stands by: it would store nothing until it serves itself. Not after Serve. It takes over
// what programs that are gone have left on the same disk, too; their places are left by the one that serves.
func (k *Kept) HandOver(ctx context.Context, put func(ctx context.Context, sealed [][]byte) error) (n int, err error) {
	if !k.adopted {
		k.adopted = k.adopt(ctx, false)
	}
	for {
		records, places, err := k.file.Next(keptPage)
		if err != nil || len(places) == 0 {
			return n, err
		}
		if err := put(ctx, records); err != nil {
			return n, err
		}
		n += len(records)
		err = k.file.Taken(places) // fails on a full disk, but these are handed over
		k.room.gone(records)
		k.emptied()
		if err != nil {
			return n, err
		}
	}
}

// handedRound is the time between two looks for what programs that stand by have handed over.
const handedRound = 5 * time.Second

// takeHanded stores what programs that stand by hand over, until ctx ends.
func (k *Kept) takeHanded(ctx context.Context) {
	for ; ctx.Err() == nil; loop.Sleep(ctx, handedRound) {
		if k.cfg.Written() {
			k.storeHanded(ctx)
		}
	}
}

// storeHanded stores what programs that stand by have handed over. One that cannot be stored waits and holds up no
// other.
func (k *Kept) storeHanded(ctx context.Context) {
	stored := 0
	err := k.receiver.Workers.cfg.Inbox.Handed(ctx, func(ctx context.Context, sealed []byte) error {
		if err := k.storeOne(ctx, sealed); err != nil {
			return fmt.Errorf("a program that stands by: %w", err)
		}
		stored++
		return nil
	})
	if stored > 0 {
		k.logger.InfoContext(ctx, "callbacks of a program that stands by are stored", "callbacks", stored)
		k.receiver.Inbox.Wake()
	}
	if err != nil && ctx.Err() == nil {
		k.logger.WarnContext(ctx, "callbacks of a program that stands by are not stored", "error", err)
	}
}
