package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Times of what programs tell about their disks.
const (
	tellEvery = 10 * time.Second
	tellLimit = 5 * time.Second // of one statement, also of the last one at the stop
	// untold is the age from which what a program has told is not believed any more.
	untold = 2 * time.Minute
	// keepTold is how long the row of a program stays that tells nothing any more. Who never starts it again on the
	// same disk has no reports of it to wait for.
	keepTold = 24 * time.Hour
)

// SQL of spools.
const (
	tellSQL = `insert into {schema}.spools (program, waits_since, told_at) values ($1, $2, $3)
		on conflict (program) do update set waits_since = excluded.waits_since, told_at = excluded.told_at`
	leaveSQL = `delete from {schema}.spools where program = $1`
	waitsSQL = `select exists (select from {schema}.spools
		where program <> $1 and (waits_since < $2 or told_at < $3))`
	purgeSpoolsSQL = `delete from {schema}.spools where program in
		(select program from {schema}.spools where told_at < @before order by told_at limit @max)`
)

// Tell records what waits on the disk of a program. since is when the oldest report came; zero = nothing waits.
func (s *Store) Tell(ctx context.Context, program string, since, at time.Time) error {
	var waits *time.Time
	if !since.IsZero() {
		waits = &since
	}
	if _, err := s.db.Owner.Exec(ctx, s.text(tellSQL), program, waits, at); err != nil {
		return fmt.Errorf("tell what waits for the tables: %w", err)
	}
	return nil
}

// Leave removes a program on whose disk nothing waits, and which hears no routers any more.
func (s *Store) Leave(ctx context.Context, program string) error {
	if _, err := s.db.Owner.Exec(ctx, s.text(leaveSQL), program); err != nil {
		return fmt.Errorf("leave the list of spools: %w", err)
	}
	return nil
}

// OthersWait reports whether the tables may lack what routers have told other programs: reports that came before an
// instant wait on the disk of one of them, or one has told nothing for two minutes. own is the caller's name; "" = it
// hears no routers.
func (s *Store) OthersWait(ctx context.Context, own string, before, now time.Time) (waits bool, err error) {
	err = s.db.Owner.QueryRow(ctx, s.text(waitsSQL), own, before, now.Add(-untold)).Scan(&waits)
	if err != nil {
		return false, fmt.Errorf("ask what waits for the tables: %w", err)
	}
	return waits, nil
}

// TellerConfig has the parts of a teller. All are required.
type TellerConfig struct {
	Store   *Store
	Program string // the same for the same disk
	// Waits gives for how long the oldest report on the disk has waited; false = nothing waits.
	Waits  func() (time.Duration, bool)
	Clock  clock.Clock
	Logger *slog.Logger
}

// Teller tells other programs what waits on the disk of this one, every ten seconds.
type Teller struct {
	cfg   TellerConfig
	loops *loop.Group
}

// NewTeller makes a teller that is not started.
func NewTeller(cfg TellerConfig) *Teller { return &Teller{cfg: cfg, loops: loop.New(cfg.Logger)} }

// Start begins to tell, ten seconds later, when the disk has been read.
func (t *Teller) Start(ctx context.Context) error {
	return t.loops.Start(ctx, func(context.Context) error {
		t.loops.Go("what waits for the tables", func(ctx context.Context) {
			told := true
			for loop.SleepUntil(ctx, t.cfg.Clock, t.cfg.Clock.Now().Add(tellEvery)) {
				err := t.Tell(ctx)
				if err != nil && told && ctx.Err() == nil {
					t.cfg.Logger.WarnContext(ctx, "other programs do not know what waits here",
						slog.String("error", err.Error()))
				}
				told = err == nil
			}
		})
		return nil
	})
}

// Stop ends telling. A program on whose disk nothing waits leaves; the row of another one stays, and counts as one that
// nobody can rely on until the program runs again.
func (t *Teller) Stop() {
	t.loops.Stop()
	if _, some := t.cfg.Waits(); some {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellLimit)
	defer cancel()
	if err := t.cfg.Store.Leave(ctx, t.cfg.Program); err != nil {
		t.cfg.Logger.WarnContext(ctx, "a program stays in the list of spools", slog.String("error", err.Error()))
	}
}

// Tell tells once.
func (t *Teller) Tell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	now, since := t.cfg.Clock.Now(), time.Time{}
	if waits, some := t.cfg.Waits(); some {
		since = now.Add(-waits)
	}
	return t.cfg.Store.Tell(ctx, t.cfg.Program, since, now)
}
