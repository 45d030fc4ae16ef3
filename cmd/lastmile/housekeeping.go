package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// housekeepingEvery is how often what has expired is removed; the first time is that long after the start.
const housekeepingEvery = 15 * time.Minute

// housekeeping removes expired rows now and then, in one program at a time.
type housekeeping struct {
	storage *storage
	logger  *slog.Logger
	loops   *loop.Group
}

// newHousekeeping makes one that has not begun.
func newHousekeeping(s *storage, logger *slog.Logger) *housekeeping {
	return &housekeeping{storage: s, logger: logger, loops: loop.New(logger)}
}

// Start begins.
func (h *housekeeping) Start(ctx context.Context) error {
	return h.loops.Start(ctx, func(context.Context) error {
		h.loops.Go("housekeeping", func(ctx context.Context) {
			for loop.Sleep(ctx, housekeepingEvery) {
				h.keepHouse(ctx)
			}
		})
		return nil
	})
}

// Stop ends it.
func (h *housekeeping) Stop() { h.loops.Stop() }

// keepHouse is one round.
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
