package accessjobs

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Times of the platform's presence, by a clock that nobody sets (docs/rules/access-dunning.md#no-fault-grace).
const (
	beatEvery = 10 * time.Second
	beatAgain = time.Second // while callbacks are on the disk, and after a failure
	beatLimit = 5 * time.Second
	lastLimit = 400 * time.Millisecond // of the last sign of a program that stops
	// absentFor is the gap between two signs of programs that can take money which is an absence. It is as long as an
	// outage of the provider must be, and no restart takes that long.
	absentFor = awayFor
)

// PresenceConfig has what Presence needs. Every field is required.
type PresenceConfig struct {
	Program string // the same after a restart
	// Kept is how many callbacks wait on this program's disk, with those that are being written.
	Kept   func() int64
	Vault  *vault.Presence
	Clock  clock.Clock
	Logger *slog.Logger
}

// Presence tells all programs that this one is there, what is on its disk, and once it takes requests, that money can
// be taken. Safe for concurrent use.
type Presence struct {
	cfg    PresenceConfig
	steady clock.Clock
	loops  *loop.Group
	wake   chan struct{}
	away   loop.Outage // of the database
	begun  bool
	serves atomic.Bool
	stops  atomic.Bool
	served time.Time // before the last sign that money can be taken, by steady; only work uses it
}

// NewPresence makes it; Start begins.
func NewPresence(cfg PresenceConfig) *Presence {
	return &Presence{
		cfg: cfg, steady: clock.Steady(cfg.Clock), loops: loop.New(cfg.Logger), wake: make(chan struct{}, 1),
	}
}

// Start tells what is on the disk, before it returns if the database takes it. It comes as early as there is a
// database.
func (p *Presence) Start(ctx context.Context) error {
	return p.loops.Start(ctx, func(ctx context.Context) error {
		p.begun = true
		_ = p.note(ctx, p.tell(ctx, vault.Sign{})) // work tries it again at once
		p.loops.Go("presence", p.work)
		return nil
	})
}

// Serve says that the program can take money from now on. Only this ends an absence of the platform: a program that
// tries to start in vain again and again was never there.
func (p *Presence) Serve() {
	p.serves.Store(true)
	loop.Wake(p.wake)
}

// Withdraw says that the program begins to stop, and takes no money any more.
func (p *Presence) Withdraw() {
	p.stops.Store(true)
	loop.Wake(p.wake)
}

// Stop tells what is on the disk once more. It comes after the last callback was taken.
func (p *Presence) Stop() {
	p.loops.Stop()
	if !p.begun {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastLimit)
	defer cancel()
	if err := p.tell(ctx, vault.Sign{Stops: true}); err != nil {
		p.cfg.Logger.WarnContext(ctx, "other programs do not know that this one has stopped", "error", err)
	}
}

// work tells every beatEvery, and sooner when there come to be callbacks on the disk, or none any more, and when the
// program begins to serve, or to stop.
func (p *Presence) work(ctx context.Context) {
	told := vault.Sign{Kept: -1}
	for round := 0; ctx.Err() == nil; round++ {
		now := vault.Sign{Kept: p.cfg.Kept(), Stops: p.stops.Load()}
		now.Serves = p.serves.Load() && !now.Stops
		if now.Kept > 0 || now != told || round%int(beatEvery/beatAgain) == 0 {
			if told = now; p.note(ctx, p.tell(ctx, now)) != nil {
				told.Kept = -1 // the next round tells again
			}
		}
		loop.WaitFor(ctx, p.wake, beatAgain)
	}
}

// note tells the log that a sign was not given, once a minute, and that they are given again. It returns err.
func (p *Presence) note(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
	case err == nil:
		if p.away.Ended() {
			p.cfg.Logger.InfoContext(ctx, "presence is told again")
		}
	default:
		if tell, _ := p.away.Failed(); tell {
			p.cfg.Logger.WarnContext(ctx, "presence is not told", "error", err)
		}
	}
	return err
}

// tell gives one sign of life.
func (p *Presence) tell(ctx context.Context, s vault.Sign) error {
	ctx, cancel := context.WithTimeout(ctx, beatLimit)
	defer cancel()
	s.Program, s.Kept = p.cfg.Program, p.cfg.Kept()
	now := p.steady.Now()
	if s.Serves && !p.served.IsZero() {
		s.Last = now.Sub(p.served)
	}
	err := p.cfg.Vault.Beat(ctx, s, absentFor, longest)
	if err == nil && s.Serves {
		p.served = now
	}
	return err
}
