package coretest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// templates has a *pgtest.Template for each set of read models that a test program asks for.
var templates sync.Map

// templateOf is a template with the tables of the platform and of read models.
func templateOf(models []runner.Projection) *pgtest.Template {
	var names []string
	for _, p := range models {
		names = append(names, fmt.Sprint(p.Name(), p.Version()))
	}
	t, _ := templates.LoadOrStore(strings.Join(names, " "), pgtest.NewTemplate(
		func(ctx context.Context, db *postgres.DB) error { return prepare(ctx, db, models) }))
	return t.(*pgtest.Template) //nolint:forcetypeassert // only templates are stored
}

// prepare makes the tables of log, vault, sessions, processes, jobs and read models.
func prepare(ctx context.Context, db *postgres.DB, models []runner.Projection) error {
	if err := storetest.Prepare(ctx, db); err != nil {
		return err
	}
	if err := prepareVault(ctx, db); err != nil {
		return err
	}
	if _, err := telemetry.Open(ctx, db); err != nil {
		return err
	}
	if err := processrunner.New(processrunner.Config{DB: db}).Prepare(ctx); err != nil {
		return err
	}
	if err := jobrunner.New(jobrunner.Config{DB: db}).Prepare(ctx); err != nil {
		return err
	}
	r := runner.New(runner.Config{Feed: feed.New(nil, storetest.Quiet()), DB: db, Clock: clock.System()})
	r.Register(models...)
	return r.Prepare(ctx)
}

// prepareVault makes the tables of a vault, under the key that all tests share.
func prepareVault(ctx context.Context, db *postgres.DB) error {
	_, err := vault.Open(ctx, vault.Config{DB: db, Keyring: keyring(), Clock: clock.System()})
	return err
}
