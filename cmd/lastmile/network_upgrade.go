package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// networkUpgrade brings what older versions recorded about addresses under the present rules. Nobody waits for it.
type networkUpgrade struct {
	upgrade networkcases.Upgrade
	logger  *slog.Logger
	loops   *loop.Group
}

// startNetworkUpgrade starts the upgrade of address plans.
func (a *App) startNetworkUpgrade(ctx context.Context) error {
	return a.life.startBeside(ctx, "upgrade of address plans", stopEngines, &networkUpgrade{
		upgrade: networkcases.Upgrade{
			Bus: a.engines.bus, Services: networkviews.ServicesQuery{Views: a.engines.views},
			Head: a.storage.store.Head, Logger: a.logger,
		},
		logger: a.logger, loops: loop.New(a.logger),
	})
}

// Start begins the upgrade and does not wait for it: the read model of services may have to be built before.
func (s *networkUpgrade) Start(ctx context.Context) error {
	return s.loops.Start(ctx, func(context.Context) error {
		s.loops.Go("upgrade of address plans", s.run)
		return nil
	})
}

// Stop ends the tries.
func (s *networkUpgrade) Stop() { s.loops.Stop() }

// run tries until it has succeeded once.
func (s *networkUpgrade) run(ctx context.Context) {
	pause := loop.Backoff{Min: time.Second, Max: time.Minute}
	for ctx.Err() == nil {
		err := s.upgrade.Run(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			s.logger.WarnContext(ctx, "address plans cannot be upgraded yet", "error", err)
		}
		pause.Wait(ctx)
	}
}
