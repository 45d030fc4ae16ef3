package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Times of what programs tell about their disks.
const (
	tellEvery = 10 * time.Second
	tellLimit = 5 * time.Second // of one statement, also of the last one at the stop
	// untold is the age from which what a program has told is not believed any more.
	untold = 2 * time.Minute
	// vanished is the age from which a program that has told nothing is not waited for any more. Routers have told
	// others meanwhile about each session that lasts, a dozen times, and what they tell has all that was used.
	vanished = time.Hour
	// keepTold is how long the row of a program stays that tells nothing any more, and keepMissing that of one on whose
	// disk reports wait.
	keepTold    = 24 * time.Hour
	keepMissing = 7 * 24 * time.Hour
	// nameFile has the name of the program that told last what waits on a disk.
	nameFile = "program"
)

// SQL of spools. All times are of the database's clock: those of the programs' machines need not agree.
const (
	tellSQL = `insert into {schema}.spools (program, waits_since, told_at, orgs, orgs_since, hears_for)
		select $1, now() - max(waits), now(), coalesce(array_agg(org) filter (where org is not null), '{}'),
			coalesce(array_agg(now() - waits) filter (where org is not null), '{}'), $4
		from unnest($2::uuid[], $3::interval[]) w (org, waits)
		on conflict (program) do update set waits_since = excluded.waits_since, told_at = excluded.told_at,
			orgs = excluded.orgs, orgs_since = excluded.orgs_since, hears_for = excluded.hears_for`
	leaveSQL = `delete from {schema}.spools where program = $1`
	waitsSQL = `select exists (select from {schema}.spools
		where program <> @own and told_at >= now() - @vanished::interval
			and (told_at < now() - @untold::interval or case when orgs is null then waits_since
				else orgs_since[array_position(orgs, @org)] end < now() - @longer::interval))`
	hearSQL = `select count(*), count(*) filter (where hears_for + (now() - told_at) < @within::interval)
		from {schema}.spools where program <> @own and told_at >= now() - @untold::interval`
	missingSQL     = `select min(waits_since) from {schema}.spools where told_at < now() - $1::interval`
	purgeSpoolsSQL = `delete from {schema}.spools where told_at < now() - @missing::interval
		or told_at < now() - @told::interval and waits_since is null`
)

// Tell records for how long the oldest report of each organization on the disk of a program has waited, and for how
// long it has heard routers.
func (s *Store) Tell(
	ctx context.Context, program string, waits map[id.Organization]time.Duration, hears time.Duration,
) error {
	orgs, lengths := make([]pgtype.UUID, 0, len(waits)), make([]time.Duration, 0, len(waits))
	for org, length := range waits {
		orgs, lengths = append(orgs, pgtype.UUID{Bytes: org, Valid: true}), append(lengths, length)
	}
	if _, err := s.db.Owner.Exec(ctx, s.text(tellSQL), program, orgs, lengths, hears); err != nil {
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

// OthersWait reports whether the tables may lack what routers of an organization have told other programs: a report of
// it has waited for longer than some time on the disk of one of them, or one has told nothing for two minutes. After an
// hour without a word a program is not waited for (Missing). own is the caller's name; "" = it hears no routers.
func (s *Store) OthersWait(
	ctx context.Context, org id.Organization, own string, longer time.Duration,
) (waits bool, err error) {
	err = s.db.Owner.QueryRow(ctx, s.text(waitsSQL), pgx.NamedArgs{
		"org": org.UUID(), "own": own, "longer": longer, "untold": untold, "vanished": vanished,
	}).Scan(&waits)
	if err != nil {
		return false, fmt.Errorf("ask what waits for the tables: %w", err)
	}
	return waits, nil
}

// OthersHear reports whether all other programs that hear routers have done so for some time. own is the caller's name;
// "" = it hears none itself, so there must be others.
func (s *Store) OthersHear(ctx context.Context, own string, within time.Duration) (bool, error) {
	var programs, deaf int
	err := s.db.Owner.QueryRow(ctx, s.text(hearSQL), pgx.NamedArgs{
		"own": own, "within": within, "untold": untold,
	}).Scan(&programs, &deaf)
	if err != nil {
		return false, fmt.Errorf("ask who hears routers: %w", err)
	}
	return deaf == 0 && (own != "" || programs > 0), nil
}

// Missing gives the instant from which on the tables lack reports that are on the disk of a program which has told
// nothing for an hour; zero = there is none. It is told for a week, unless a program tells what waits on that disk.
func (s *Store) Missing(ctx context.Context) (time.Time, error) {
	var since *time.Time
	if err := s.db.Owner.QueryRow(ctx, s.text(missingSQL), vanished).Scan(&since); err != nil {
		return time.Time{}, fmt.Errorf("ask what is missing in the tables: %w", err)
	}
	if since == nil {
		return time.Time{}, nil
	}
	return *since, nil
}

// purgeSpools deletes the rows of programs that are gone for good.
func (s *Store) purgeSpools(ctx context.Context) error {
	args := pgx.NamedArgs{"told": keepTold, "missing": keepMissing}
	if _, err := s.db.Owner.Exec(ctx, s.text(purgeSpoolsSQL), args); err != nil {
		return fmt.Errorf("purge the list of spools: %w", err)
	}
	return nil
}

// TellerConfig has the parts of a teller. All are required.
type TellerConfig struct {
	Store   *Store
	Program string // the same after a restart
	Dir     string // on the disk; keeps the name of the program that told last what waits there
	// Waits gives for how long the oldest report of each organization on the disk has waited; none = nothing waits.
	Waits  func() map[id.Organization]time.Duration
	Hears  func() time.Duration // for how long the program has heard routers
	Clock  clock.Clock
	Logger *slog.Logger
}

// Teller tells other programs what waits on the disk of this one, every ten seconds.
type Teller struct {
	cfg     TellerConfig
	loops   *loop.Group
	adopted bool // the disk has this program's name
}

// NewTeller makes a teller that is not started.
func NewTeller(cfg TellerConfig) *Teller { return &Teller{cfg: cfg, loops: loop.New(cfg.Logger)} }

// Start begins to tell, ten seconds later, when the disk has been read.
func (t *Teller) Start(ctx context.Context) error {
	return t.loops.Start(ctx, func(context.Context) error {
		t.loops.Go("what waits for the tables", func(ctx context.Context) {
			told := true
			for loop.SleepFor(ctx, t.cfg.Clock, tellEvery) {
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
	if len(t.cfg.Waits()) > 0 {
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
	if err := t.cfg.Store.Tell(ctx, t.cfg.Program, t.cfg.Waits(), t.cfg.Hears()); err != nil || t.adopted {
		return err
	}
	return t.adopt(ctx)
}

// adopt removes what a program has told that had this disk before, under another name: this one tells it now.
func (t *Teller) adopt(ctx context.Context) error {
	path := filepath.Join(t.cfg.Dir, nameFile)
	former, err := os.ReadFile(path) //nolint:gosec // a folder of the program's own
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read who had the disk: %w", err)
	}
	if name := string(former); name != t.cfg.Program {
		if err := t.cfg.Store.Leave(ctx, name); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(t.cfg.Program), 0o600); err != nil {
			return fmt.Errorf("write who has the disk: %w", err)
		}
	}
	t.adopted = true
	return nil
}
