package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// ErrBehind reports that a projection did not reach the position asked for within the patience of a reader.
var ErrBehind error = failure.NewUnavailable("read_model_behind", "The change was accepted and will be shown shortly.",
	time.Second, nil)

// ErrBuilding answers a read while there are no tables of this version: they are filled for the first time, or a
// program of a newer version has replaced them.
var ErrBuilding error = failure.NewUnavailable("read_model_building",
	"This information is being prepared. Please try again in a moment.", buildingRetry, nil)

// buildingRetry is the advice to a caller that met ErrBuilding.
const buildingRetry = 5 * time.Second

// noTables stands for the schema of tables that do not exist, so that a statement on them fails.
const noTables = "no_tables_of_this_version"

// Views serves reads of read models: it knows the active tables and the position of each projection. Safe for
// concurrent use.
type Views struct{ r *Runner }

// SQL replaces {schema} by the schema of a projection's active tables. It panics for a projection that is not
// registered.
func (v *Views) SQL(projection, sql string) string {
	return strings.ReplaceAll(sql, schemaMark, cmp.Or(v.entry(projection).progress.look().schema, noTables))
}

// read marks a read of tables that do not exist (any more) as one that may be tried again.
func read(err error) error {
	if code := postgres.Code(err); code == "42P01" || code == "3F000" { // no table, no schema
		return fmt.Errorf("%w: %w", ErrBuilding, err)
	}
	return err
}

// Tenant runs the queued reads with the rights of one organization: row-level security hides all other rows.
func (v *Views) Tenant(ctx context.Context, org id.Organization, queue func(*postgres.Reads)) error {
	return read(v.r.cfg.DB.TenantRead(ctx, org.UUID(), queue))
}

// Platform runs the queued reads over the rows of every organization: for the root host, matching and jobs.
func (v *Views) Platform(ctx context.Context, queue func(*postgres.Reads)) error {
	return read(v.r.cfg.DB.PlatformRead(ctx, queue))
}

// WaitFor waits until a projection shows everything up to a position. It fails with ErrBehind after Config.Patience,
// or at once when the projection has stopped.
func (v *Views) WaitFor(ctx context.Context, projection string, position uint64) error {
	e := v.entry(projection)
	if e.progress.look().shows(position) {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, v.r.cfg.patience())
	defer cancel()
	defer v.hurry(e)()
	err := e.progress.wait(wait, position)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return ErrBehind
	}
	return err
}

// WaitUntil calls cond at once, and again whenever the projection wrote rows, until cond returns true or 2 s
// have passed: it may never do. It reports whether cond returned true.
func (v *Views) WaitUntil(
	ctx context.Context, projection string, cond func(ctx context.Context) (bool, error),
) (bool, error) {
	e := v.entry(projection)
	defer v.hurry(e)()
	return e.waitUntil(ctx, cond)
}

// Watch is WaitUntil for one who always waits for something to do: the projection gathers events all the same.
func (v *Views) Watch(
	ctx context.Context, projection string, cond func(ctx context.Context) (bool, error),
) (bool, error) {
	defer v.hurryFollower()()
	return v.entry(projection).waitUntil(ctx, cond)
}

// waitUntil is WaitUntil without haste.
func (e *entry) waitUntil(ctx context.Context, cond func(ctx context.Context) (bool, error)) (bool, error) {
	wait, cancel := context.WithTimeout(ctx, usualPatience)
	defer cancel()
	for {
		before := e.progress.look() // taken before cond, so that no later change is missed
		if ok, err := cond(ctx); ok || err != nil {
			return ok, err
		}
		if !e.progress.written(wait, before) {
			return false, ctx.Err()
		}
	}
}

// WaitWhole is WaitUntil for an answer that shows what cond was waiting for. An append may have several events, and a
// transaction of the projection may end between two of them: so it then waits, as WaitFor does, until the projection
// shows all that the log had when cond returned true. It reports whether that came to pass.
func (v *Views) WaitWhole(
	ctx context.Context, projection string, cond func(ctx context.Context) (bool, error),
) (bool, error) {
	if ok, err := v.WaitUntil(ctx, projection, cond); !ok || err != nil {
		return false, err
	}
	end, err := v.r.cfg.Feed.End(ctx)
	if err != nil {
		return false, err
	}
	if err := v.WaitFor(ctx, projection, end); err != nil {
		if errors.Is(err, ErrBehind) {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

// Position is the position up to which a projection shows the log.
func (v *Views) Position(projection string) uint64 {
	return v.entry(projection).progress.look().position
}

// Mark names an event of the log, for those who keep a position of it beside a read model.
type Mark = eventstore.Mark

// Mark is the newest event of the log that is known up to the position of a projection. Who keeps a position of the log
// beside it asks Covers when it comes back.
func (v *Views) Mark(projection string) Mark {
	return v.entry(projection).progress.look().mark
}

// MarkAt names the event at a position that a projection shows, for those who keep an older position than its newest.
func (v *Views) MarkAt(ctx context.Context, position uint64) (Mark, error) {
	return v.r.cfg.Feed.MarkAt(ctx, position)
}

// Covers fails when the log ends before a position, or has another event where a mark is: then IsOtherLog.
func (v *Views) Covers(ctx context.Context, position uint64, mark Mark) error {
	return v.r.cfg.Feed.Covers(ctx, position, mark)
}

// entry finds a registered projection; it panics for a name that is not registered.
func (v *Views) entry(projection string) *entry {
	e := v.r.byName[projection]
	if e == nil {
		panic(fmt.Sprintf("runner: projection %q is not registered", projection))
	}
	return e
}

// hurry makes a projection that this program leads gather no events, and the follower hurry, until the returned
// function is called.
func (v *Views) hurry(e *entry) func() {
	follower := v.hurryFollower()
	e.readers.Add(1)
	loop.Wake(e.asked)
	return func() {
		e.readers.Add(-1)
		follower()
	}
}

// hurryFollower makes the follower look at once, soon again, and ever more seldom, until the returned function is
// called.
func (v *Views) hurryFollower() func() {
	v.r.came.Add(1)
	v.r.waiting.Add(1)
	loop.Wake(v.r.hurry)
	return func() { v.r.waiting.Add(-1) }
}

// Snapshot runs fn in one transaction that only reads, with the rights of one organization, and sees every read model
// as it was when it began. Its statements have the names of tables from SQL.
func (v *Views) Snapshot(ctx context.Context, org id.Organization, fn func(tx pgx.Tx) error) error {
	return read(v.r.cfg.DB.TenantSnapshot(ctx, org.UUID(), fn))
}
