package main

import (
	"context"
	"log/slog"
	"time"
)

// housekeepingEvery is how often what has expired is removed.
const housekeepingEvery = 15 * time.Minute

// startHousekeeping removes expired rows now and then, in one program at a time.
func (a *App) startHousekeeping() {
	if !a.roles.has(roleJobs) {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(housekeepingEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				a.keepHouse(ctx)
			}
		}
	}()
	a.life.startedBeside("housekeeping", stopEngines, func(context.Context) {
		cancel()
		<-done
	})
}

// keepHouse is one round.
func (a *App) keepHouse(ctx context.Context) {
	lock, got, err := a.storage.db.TryLock(ctx, "housekeeping")
	if err == nil && got {
		defer lock.Unlock()
		err = a.storage.vault.Purge(ctx)
	}
	if err != nil && ctx.Err() == nil {
		a.logger.WarnContext(ctx, "housekeeping failed", slog.String("error", err.Error()))
	}
}
