package runner

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// maxWait bounds how long a reader waits for a projection.
const maxWait = 2 * time.Second

// ErrBehind says that a projection has not reached the position asked for in time.
var ErrBehind error = failure.NewUnavailable("read_model_behind", "The change was accepted and will be shown shortly.", time.Second, nil)

// Views is how read models are read: it knows which tables are the active ones and how far each projection has got. Safe
// for concurrent use.
type Views struct{}

// SQL puts the active schema of a projection in for {schema}. It panics on a projection that is not registered.
func (v *Views) SQL(projection, sql string) string { return sql }

// Tenant reads rows of one organization.
func (v *Views) Tenant(ctx context.Context, org id.Organization, queue func(*postgres.Reads)) error {
	return nil
}

// Platform reads rows of every organization: for the root host, matching and jobs.
func (v *Views) Platform(ctx context.Context, queue func(*postgres.Reads)) error { return nil }

// WaitFor waits until a projection shows everything up to a position, 2 s at most, then it fails with ErrBehind.
func (v *Views) WaitFor(ctx context.Context, projection string, position uint64) error { return nil }

// WaitUntil waits until cond holds, which is tried at once and again at each advance of the projection, 2 s at most. It
// tells whether it held.
func (v *Views) WaitUntil(ctx context.Context, projection string, cond func(ctx context.Context) (bool, error)) (bool, error) {
	return false, nil
}

// Position is how far a projection has got.
func (v *Views) Position(projection string) uint64 { return 0 }
