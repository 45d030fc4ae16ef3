package main

import (
	"context"
	"fmt"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/payments"
)

// startAbsence notes that this program takes money, and keeps reviews from cutting anybody before the platform's own
// absence is counted. It comes after the parts that take money and before the processes.
func (a *App) startAbsence(ctx context.Context) error {
	cfg := accessjobs.AbsenceConfig{
		Takes: a.roles.has(roleAPI), Settles: a.roles.has(roleProcesses), Presence: a.storage.vault.Presence,
		Workers: accessjobs.Workers{
			Bus: a.engines.bus, Views: a.engines.views, Clock: a.clock, Outage: a.paymentOutage,
		},
		Owed:     func(ctx context.Context) (bool, error) { return paymentsjobs.Owed(ctx, a.storage.vault.Inbox) },
		Position: a.lastWork, Passed: a.workPassed, Logger: a.logger,
	}
	if kept := a.kept; kept != nil {
		cfg.Program, cfg.Kept = kept.Place(), func() (int64, int64) { return kept.Ever(), kept.Money() }
	}
	absence := accessjobs.NewAbsence(cfg)
	if cfg.Settles {
		if err := a.storage.db.Watch(ctx, absence.Lost); err != nil {
			return fmt.Errorf("watch the database: %w", err)
		}
		a.storage.writes.Watch(absence.Lost)
		a.storage.store.Watch(absence.Lost)
	}
	if err := a.life.startBeside(ctx, "absence", stopEngines, absence); err != nil {
		return err
	}
	a.engines.absence.Store(absence)
	return nil
}

// lastWork gives the end of the log, once this program has read it, and the newest command of a process.
func (a *App) lastWork(ctx context.Context) (uint64, int64, error) {
	head, err := a.storage.store.Head(ctx)
	if err == nil && head > 0 {
		err = a.engines.feed.Wait(ctx, head-1)
	}
	if err != nil {
		return 0, 0, err
	}
	command, err := a.engines.processes.LastCommand(ctx)
	return head, command, err
}

// workPassed reports whether processes have passed a position and a command, and no job about money or a fault of the
// platform is to be done. Jobs for later do not count.
func (a *App) workPassed(ctx context.Context, position uint64, command int64) (bool, error) {
	var names []string
	for _, p := range processes() {
		names = append(names, p.Erase().Name)
	}
	passed, err := a.engines.processes.Passed(ctx, names, position, command)
	if err != nil || !passed {
		return false, err
	}
	var busy bool
	err = a.storage.db.Owner.QueryRow(ctx, `select exists (select from `+a.storage.db.Namespace.Schema("river")+
		`.river_job where kind = any($1) and state in ('available', 'running', 'retryable', 'pending'))`,
		[]string{commands.FindPayer{}.Kind(), commands.FollowFault{}.Kind()}).Scan(&busy)
	return !busy, err
}
