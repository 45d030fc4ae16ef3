package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// How long the demo waits for what follows from a day. Work that needs longer, as a call to a router that does not
// answer, goes on beside the next day.
const (
	settleLook = 8 * time.Millisecond
	settleMost = 3 * time.Second
	// soon is the time to which the clock is moved for jobs that look again after a pause, as the one that has found a
	// receipt before its prompt.
	soon = 10 * time.Second
)

// settled waits until the program has done all that is due or will be within seconds: callbacks have come and are
// booked, processes and jobs have nothing to do, and the read models show it.
func (a *App) settled(ctx context.Context) error {
	if err := a.awaitQuiet(ctx); err != nil {
		return err
	}
	if idle, err := a.engines.jobs.Idle(ctx, soon); err != nil || idle {
		return err
	}
	if err := a.mover.move(ctx, a.clock.Now().Add(soon)); err != nil {
		return err
	}
	return a.awaitQuiet(ctx)
}

// awaitQuiet waits until nothing is to be done, for settleMost at most.
func (a *App) awaitQuiet(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, settleMost)
	defer cancel()
	for {
		quiet, err := a.quiet(limited)
		if quiet {
			return nil
		}
		if limited.Err() != nil {
			a.logger.WarnContext(ctx, "work of the demo's day goes on", "error", err)
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, eventstore.ErrUnavailable) { // which its end may be, a moment early
			return err
		}
		loop.Sleep(limited, settleLook)
	}
}

// quiet reports whether nothing is to be done. What has ended while it looked counts as work, because more may follow
// from it.
func (a *App) quiet(ctx context.Context) (bool, error) {
	if err := a.providerIdle(ctx); err != nil {
		return false, err
	}
	head, err := a.storage.store.Head(ctx)
	if err != nil {
		return false, err
	}
	if head > 0 {
		if err := a.engines.feed.Wait(ctx, head-1); err != nil {
			return false, err
		}
	}
	for _, ask := range []func(context.Context) (bool, error){
		a.engines.processes.Idle,
		func(ctx context.Context) (bool, error) { return a.engines.jobs.Idle(ctx, 0) },
		func(ctx context.Context) (bool, error) {
			waiting, _, err := a.storage.vault.Inbox.Count(ctx, "no cause at all")
			return waiting == 0, err
		},
	} {
		if idle, err := ask(ctx); err != nil || !idle {
			return false, err
		}
	}
	for _, s := range a.engines.shown() {
		if s.Position < head && (s.State == runner.StateLive || s.State == runner.StateBehind) {
			return false, nil
		}
	}
	now, err := a.storage.store.Head(ctx)
	return now == head, err
}

// providerIdle waits until the simulated provider has sent all callbacks.
func (a *App) providerIdle(ctx context.Context) error {
	at, err := url.Parse(a.provider)
	if err != nil {
		return fmt.Errorf("the provider's address: %w", err)
	}
	_, err = apiClient{addr: at.Host, host: at.Host}.call(ctx, http.MethodGet, "/sim/idle", "", nil)
	return err
}
