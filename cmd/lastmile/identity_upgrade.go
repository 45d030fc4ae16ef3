package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// identityUpgrade brings what older versions recorded about users under the present rules, and then lets people enter.
// While that is not possible, because an event cannot be read, nobody enters and the rest of the program goes on.
type identityUpgrade struct {
	upgrade identitycases.Upgrade
	access  *identityviews.Access
	logger  *slog.Logger
	loops   *loop.Group
}

// newIdentityUpgrade makes the service without starting it.
func newIdentityUpgrade(
	u identitycases.Upgrade, access *identityviews.Access, logger *slog.Logger,
) *identityUpgrade {
	return &identityUpgrade{upgrade: u, access: access, logger: logger, loops: loop.New(logger)}
}

// Start makes the first try before it returns, and repeats a failed one in the background until it succeeds. It fails
// only when ctx ends.
func (s *identityUpgrade) Start(ctx context.Context) error {
	return s.loops.Start(ctx, func(ctx context.Context) error {
		if s.run(ctx) {
			return nil
		}
		s.loops.Go("upgrade of users", func(ctx context.Context) {
			pause := loop.Backoff{Min: time.Second, Max: time.Minute}
			for pause.Wait(ctx) && !s.run(ctx) {
				continue
			}
		})
		return ctx.Err()
	})
}

// Stop ends the tries.
func (s *identityUpgrade) Stop() { s.loops.Stop() }

// run makes one try. It reports whether it succeeded.
func (s *identityUpgrade) run(ctx context.Context) bool {
	err := s.upgrade.Run(ctx)
	if err == nil {
		s.access.Open()
		return true
	}
	if ctx.Err() == nil {
		s.logger.WarnContext(ctx, "users and organizations cannot be upgraded, nobody can sign in", "error", err)
	}
	return false
}
