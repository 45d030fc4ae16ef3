package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// How long opening the storage waits.
const (
	attachPatience = 3 * time.Second  // for the parts of another program, by its runtime file
	storePatience  = 20 * time.Second // for an event store that is starting, or that refuses us
	reachPatience  = 5 * time.Second  // for one try to reach it, or the database
)

// errSilent says that a try to reach the database had no answer in its time.
var errSilent = errors.New("PostgreSQL does not answer in time")

// awaited is a part of the storage that a starting program waits for, and why, as /readyz shows them.
type awaited struct{ part, why string }

// tell says what the start waits for; nil = nothing any more.
func (m storageMode) tell(what *awaited) {
	if m.awaiting != nil {
		m.awaiting(what)
	}
}

// passing tells what a start waits for that has failed for a reason which can pass by itself; nil = it cannot.
func passing(err error) *awaited {
	const again = " The start is tried again."
	switch {
	case errors.Is(err, eventstore.ErrUnavailable):
		return &awaited{"eventstore", "The event store does not answer." + again}
	case !errors.Is(err, errSilent) && !postgres.Away(err):
		return nil
	}
	switch postgres.Refused(err) {
	case postgres.WritesReadOnly:
		return &awaited{"writes", "The database is read-only." + again}
	case postgres.WritesFull:
		return &awaited{"writes", "The database has no room left." + again}
	case postgres.WritesTaken, postgres.WritesAway:
	}
	return &awaited{"postgres", "The database does not answer." + again}
}

// retrying is the pause between two tries to reach what is away.
func retrying() loop.Backoff { return loop.Backoff{Min: time.Second, Max: 5 * time.Second} }

// awaitStore waits until the log answers: a program that serves waits for one of EVENTSTORE_URL as long as it is away,
// and everybody else for patience. Fails after patience when the address is wrong or the store refuses us. The address
// is "" when there is nothing to find out about it.
func awaitStore(
	ctx context.Context, store *eventstore.Store, address string, logger *slog.Logger, mode storageMode,
) error {
	patient, cancel := context.WithTimeout(ctx, cmp.Or(mode.patience, storePatience))
	defer cancel()
	pause := retrying()
	for {
		err, away := tryStore(ctx, store, address)
		if err == nil {
			mode.tell(nil)
			return nil
		}
		waits := mode.awaitsStore && away
		if waits {
			mode.tell(&awaited{"eventstore", "The event store of EVENTSTORE_URL does not answer. It is tried again."})
			logger.WarnContext(ctx, "event store does not answer, is tried again", "error", err,
				"retry_in", pause.Pause())
			pause.Wait(ctx)
		} else {
			loop.Sleep(patient, 200*time.Millisecond)
		}
		switch {
		case ctx.Err() != nil:
			return errInterrupted
		case !waits && patient.Err() != nil:
			return err
		}
	}
}

// tryStore asks the log whether it answers. When it does not, away reports whether that can pass by itself.
func tryStore(ctx context.Context, store *eventstore.Store, address string) (err error, away bool) {
	limited, cancel := context.WithTimeout(ctx, reachPatience)
	defer cancel()
	if err = store.Ping(limited); err == nil {
		return nil, false
	}
	if failure.KindOf(err) != failure.Unavailable && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("EVENTSTORE_URL: the event store refuses to answer: %w", err), false
	}
	if address == "" {
		return fmt.Errorf("event store does not answer: %w", err), true
	}
	limited, cancel = context.WithTimeout(ctx, reachPatience)
	defer cancel()
	reached := eventstore.Reach(limited, address)
	if errors.Is(reached, eventstore.ErrSettings) {
		return fmt.Errorf("EVENTSTORE_URL: %w", reached), false
	}
	return fmt.Errorf("event store does not answer: %w", cmp.Or(reached, err)), true
}
