package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// housekeepingEvery is the time between two removals of expired rows; the first follows that long after the start.
const housekeepingEvery = 15 * time.Minute

// housekeeping removes expired rows of the vault. Of several programs only one does so at a time.
type housekeeping struct {
	storage *storage
	clock   clock.Clock
	logger  *slog.Logger
	loops   *loop.Group
}

// newHousekeeping makes the loop without starting it.
func newHousekeeping(s *storage, c clock.Clock, logger *slog.Logger) *housekeeping {
	return &housekeeping{storage: s, clock: c, logger: logger, loops: loop.New(logger)}
}

// Start begins the loop; it never fails.
func (h *housekeeping) Start(ctx context.Context) error {
	return h.loops.Start(ctx, func(context.Context) error {
		h.loops.Go("housekeeping", func(ctx context.Context) {
			for loop.SleepFor(ctx, h.clock, housekeepingEvery) {
				h.keepHouse(ctx)
			}
		})
		return nil
	})
}

// Stop ends the loop and waits for a round that is under way.
func (h *housekeeping) Stop() { h.loops.Stop() }

// keepHouse makes one round, unless another program is making one. A failure is logged, and the next round tries again.
func (h *housekeeping) keepHouse(ctx context.Context) {
	lock, got, err := h.storage.db.TryLock(ctx, "housekeeping")
	if err == nil && got {
		defer lock.Unlock()
		err = h.storage.vault.Purge(ctx)
	}
	if err != nil && ctx.Err() == nil {
		h.logger.WarnContext(ctx, "housekeeping failed", slog.String("error", err.Error()))
	}
}
