package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// The pauses between two rounds, and between two deletions.
const (
	sweepEvery = time.Minute // how late a silent session is closed at most
	purgeEvery = time.Hour
)

// KeeperConfig has the parts and settings of a keeper.
type KeeperConfig struct {
	Store *Store
	// Recorder is this program's, started; nil = another program hears the routers, so only rows are deleted here.
	Recorder  *Recorder
	Clock     clock.Clock
	LostAfter time.Duration // without a report; about three times the interval between reports
	Keep      Retention
	Logger    *slog.Logger // nil discards
}

// Keeper ends sessions that are silent, and deletes rows whose time is over. Several programs may have one. The program
// that hears the routers ends sessions, because it knows what waits in its spool.
type Keeper struct {
	cfg    KeeperConfig
	loops  *loop.Group
	from   time.Time // before this instant nobody is lost: no report could come while the program was off
	purged time.Time
}

// NewKeeper makes a keeper without starting it. The time in which routers can be heard begins now.
func NewKeeper(cfg KeeperConfig) *Keeper {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Keeper{cfg: cfg, loops: loop.New(cfg.Logger), from: cfg.Clock.Now().Add(cfg.LostAfter)}
}

// Start begins the rounds; it never fails.
func (k *Keeper) Start(ctx context.Context) error {
	return k.loops.Start(ctx, func(context.Context) error {
		k.loops.Go("telemetry keeper", func(ctx context.Context) {
			for loop.SleepUntil(ctx, k.cfg.Clock, k.cfg.Clock.Now().Add(sweepEvery)) {
				if err := k.Round(ctx); err != nil && ctx.Err() == nil {
					k.cfg.Logger.WarnContext(ctx, "telemetry was not tidied", slog.String("error", err.Error()))
				}
			}
		})
		return nil
	})
}

// Stop ends the rounds.
func (k *Keeper) Stop() { k.loops.Stop() }

// Round does what is due. It is not safe for concurrent use.
func (k *Keeper) Round(ctx context.Context) error {
	now := k.cfg.Clock.Now()
	var swept, purged error
	behind := time.Duration(0)
	if k.cfg.Recorder != nil {
		behind = k.cfg.Recorder.Status().Behind
	}
	switch {
	case k.cfg.Recorder == nil:
	case behind > sweepEvery:
		k.from = now.Add(k.cfg.LostAfter) // the database does not know yet who was heard
	case !now.Before(k.from):
		_, swept = k.cfg.Store.CloseLost(ctx, now.Add(-k.cfg.LostAfter-behind))
	}
	if now.Sub(k.purged) >= purgeEvery {
		if purged = k.cfg.Store.Purge(ctx, now, k.cfg.Keep); purged == nil {
			k.purged = now
		}
	}
	return errors.Join(swept, purged)
}
