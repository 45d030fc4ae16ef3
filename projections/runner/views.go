package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// maxWait bounds how long a reader waits for a projection.
const maxWait = 2 * time.Second

// ErrBehind says that a projection has not reached the position asked for in time.
var ErrBehind error = failure.NewUnavailable("read_model_behind", "The change was accepted and will be shown shortly.",
	time.Second, nil)

// Views is how read models are read: it knows which tables are the active ones and how far each projection has got.
// Safe for concurrent use.
type Views struct{ r *Runner }

// SQL puts the active schema of a projection in for {schema}. It panics on a projection that is not registered.
func (v *Views) SQL(projection, sql string) string {
	return strings.ReplaceAll(sql, schemaMark, v.entry(projection).progress.look().schema)
}

// Tenant reads rows of one organization.
func (v *Views) Tenant(ctx context.Context, org id.Organization, queue func(*postgres.Reads)) error {
	return v.r.cfg.DB.TenantRead(ctx, org.UUID(), queue)
}

// Platform reads rows of every organization: for the root host, matching and jobs.
func (v *Views) Platform(ctx context.Context, queue func(*postgres.Reads)) error {
	return v.r.cfg.DB.PlatformRead(ctx, queue)
}

// WaitFor waits until a projection shows everything up to a position, 2 s at most, then it fails with ErrBehind.
func (v *Views) WaitFor(ctx context.Context, projection string, position uint64) error {
	e := v.entry(projection)
	if e.progress.look().position >= position {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	defer v.hurry()()
	err := e.progress.wait(wait, position)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return ErrBehind
	}
	return err
}

// WaitUntil waits until cond holds, which is tried at once and again whenever the projection wrote rows, 2 s at most.
// It tells whether it held.
func (v *Views) WaitUntil(
	ctx context.Context, projection string, cond func(ctx context.Context) (bool, error),
) (bool, error) {
	e := v.entry(projection)
	wait, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	defer v.hurry()()
	for {
		before := e.progress.look() // before cond, so that nothing is missed
		if ok, err := cond(ctx); ok || err != nil {
			return ok, err
		}
		if !e.progress.written(wait, before) {
			return false, ctx.Err()
		}
	}
}

// Position is how far a projection has got.
func (v *Views) Position(projection string) uint64 {
	return v.entry(projection).progress.look().position
}

// entry finds a registered projection.
func (v *Views) entry(projection string) *entry {
	e := v.r.byName[projection]
	if e == nil {
		panic(fmt.Sprintf("runner: projection %q is not registered", projection))
	}
	return e
}

// hurry makes the follower look often; the result ends that.
func (v *Views) hurry() func() {
	v.r.waiting.Add(1)
	loop.Wake(v.r.hurry)
	return func() { v.r.waiting.Add(-1) }
}
