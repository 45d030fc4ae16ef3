package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
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
	cfg   KeeperConfig
	loops *loop.Group
	pace  clock.Clock   // of the clock, so that pauses stay what they are when somebody sets the machine's
	ahead time.Duration // the clock less its pace at the last round
	mu    sync.Mutex    // guards from and held
	from  time.Time     // by pace; before it nobody is lost: no report could come while the program was off
	// held are organizations, and until when, by pace, nobody of theirs is lost: their reports waited or were refused.
	held   map[id.Organization]time.Time
	purged time.Time // by pace
}

// NewKeeper makes a keeper without starting it. The time in which routers can be heard begins now.
func NewKeeper(cfg KeeperConfig) *Keeper {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	pace := clock.Pace(cfg.Clock)
	now := pace.Now()
	return &Keeper{
		cfg: cfg, loops: loop.New(cfg.Logger), pace: pace, ahead: cfg.Clock.Now().Sub(now),
		from: now.Add(cfg.LostAfter), held: map[id.Organization]time.Time{},
	}
}

// Start begins the rounds; it never fails.
func (k *Keeper) Start(ctx context.Context) error {
	return k.loops.Start(ctx, func(context.Context) error {
		k.loops.Go("telemetry keeper", func(ctx context.Context) {
			for loop.SleepFor(ctx, k.cfg.Clock, sweepEvery) {
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

// HeardFor is for how long all reports about an organization's customers have come and are in the tables, but for those
// that wait a moment. A router that has told nothing for less may be one that could not.
func (k *Keeper) HeardFor(org id.Organization) time.Duration {
	now := k.pace.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	from := k.from
	if until := k.held[org]; until.After(from) {
		from = until
	}
	return now.Sub(from.Add(-k.cfg.LostAfter))
}

// Round does what is due. It is not safe for concurrent use.
func (k *Keeper) Round(ctx context.Context) error {
	now, paced := k.cfg.Clock.Now(), k.pace.Now()
	ahead := now.Sub(paced)
	set := (ahead - k.ahead).Abs() >= leastSet
	k.ahead = ahead
	var swept, purged error
	if k.cfg.Recorder != nil {
		silent := k.silence(now.Add(-k.cfg.LostAfter), paced)
		switch {
		case set:
			k.mu.Lock()
			k.from = paced.Add(k.cfg.LostAfter) // the database does not know when, by this clock, anybody was heard
			k.mu.Unlock()
		case !paced.Before(k.from):
			_, swept = k.cfg.Store.CloseLost(ctx, silent)
			_, early := k.cfg.Store.CloseEarly(ctx, now, silent)
			swept = errors.Join(swept, early)
		}
	}
	if paced.Sub(k.purged) >= purgeEvery {
		if purged = k.cfg.Store.Purge(ctx, now, k.cfg.Keep); purged == nil {
			k.purged = paced
		}
	}
	return errors.Join(swept, purged)
}

// Silence tells since when a session must be silent to be lost.
type Silence struct {
	Since time.Time
	// Of has the organizations of which reports wait, so that it is earlier for their sessions; zero = none is lost.
	Of map[id.Organization]time.Time
}

// arrays are the organizations of Of and their instants, as arguments of closeLostSQL; null = zero.
func (s Silence) arrays() (orgs []pgtype.UUID, since []*time.Time) {
	for org, at := range s.Of {
		orgs = append(orgs, pgtype.UUID{Bytes: org, Valid: true})
		if at.IsZero() {
			since = append(since, nil)
		} else {
			since = append(since, &at)
		}
	}
	return orgs, since
}

// behind are the organizations of which reports may be missing that came long ago.
func (s Silence) behind() (orgs []pgtype.UUID) {
	for org, at := range s.Of {
		if at.IsZero() || s.Since.Sub(at) > sweepEvery {
			orgs = append(orgs, pgtype.UUID{Bytes: org, Valid: true})
		}
	}
	return orgs
}

// silence is the usual instant, and what holds for each organization of which reports wait. Where they wait for long,
// or were refused, the database does not know who was heard, and routers have to be heard again first.
func (k *Keeper) silence(since, paced time.Time) Silence {
	k.mu.Lock()
	defer k.mu.Unlock()
	waits := k.cfg.Recorder.Waits()
	for org := range k.cfg.Recorder.TurnedAway() {
		k.held[org] = paced.Add(k.cfg.LostAfter)
	}
	s := Silence{Since: since, Of: make(map[id.Organization]time.Time, len(waits))}
	for org, behind := range waits {
		s.Of[org] = since.Add(-behind)
		if behind > sweepEvery {
			k.held[org] = paced.Add(k.cfg.LostAfter)
		}
	}
	for org, until := range k.held {
		if paced.Before(until) {
			s.Of[org] = time.Time{}
		} else {
			delete(k.held, org)
		}
	}
	return s
}
