package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/jobs/webhooks"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// installed has all tables of the program, in which nothing has happened yet. A program that starts on a copy finds
// nothing to migrate, as at its second start. Those with a PostgreSQL of their own, as in TestDemo_, start on nothing.
var installed = pgtest.NewTemplate(func(ctx context.Context, db *postgres.DB) (err error) {
	dir, err := os.MkdirTemp("", "lastmile-installed-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg, err := loadConfig([]string{
		"DATABASE_URL=" + db.URL, "DATABASE_NAMESPACE=" + string(db.Namespace), "DATA_DIR=" + dir,
		"EVENTSTORE_ADDR=127.0.0.1:0", "SERVICE_DOMAIN=lastmile.test",
	})
	if err != nil {
		return err
	}
	l := newLifecycle(slog.New(slog.DiscardHandler))
	defer l.stop()
	s, err := openStorage(ctx, cfg, clock.System(), l, storageMode{node: true})
	if err != nil {
		return err
	}
	if err := makeTables(ctx, s, l); err != nil {
		return err
	}
	// Each test has a platform key of its own.
	_, err = db.Owner.Exec(ctx, "delete from "+db.Namespace.Schema("vault")+".root_keys")
	return err
})

// makeTables makes the tables that come after those of the storage.
func makeTables(ctx context.Context, s *storage, l *lifecycle) error {
	if _, err := s.db.WatchWrites(ctx); err != nil {
		return err
	}
	f, err := startFeed(ctx, s, l)
	if err != nil {
		return err
	}
	if err := newProjections(s, f, clock.System(), l.logger, false).Prepare(ctx); err != nil {
		return err
	}
	if err := processrunner.New(processrunner.Config{DB: s.db}).Prepare(ctx); err != nil {
		return err
	}
	if err := jobrunner.New(jobrunner.Config{DB: s.db}).Prepare(ctx); err != nil {
		return err
	}
	if _, err := telemetry.Open(ctx, s.db); err != nil {
		return err
	}
	if _, err := networkjobs.OpenPolls(ctx, s.db); err != nil {
		return err
	}
	if _, err := cpejobs.OpenInforms(ctx, s.db, clock.System(), l.logger); err != nil {
		return err
	}
	_, err = webhooksjobs.OpenStore(ctx, s.db)
	return err
}
