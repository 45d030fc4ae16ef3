package main

import (
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// startPresence tells other programs what is on the disk of this one, if it keeps callbacks. It comes as soon as there
// is a database: the start may wait for other things for long.
func (a *App) startPresence(ctx context.Context, v *vault.Vault) error {
	if a.kept == nil {
		return nil
	}
	a.presence = accessjobs.NewPresence(accessjobs.PresenceConfig{
		Program: a.kept.Place(), Kept: a.kept.Money, Vault: v.Presence, Clock: a.clock, Logger: a.logger,
	})
	return a.life.start(ctx, "presence", stopStorage, a.presence)
}

// newAbsence makes the gate of cuts, which is shut until it is started, and longer while money may not be counted.
func (a *App) newAbsence(ctx context.Context) (*accessjobs.Absence, error) {
	cfg := accessjobs.AbsenceConfig{
		Presence: a.storage.vault.Presence, Views: a.engines.views, Clock: a.clock,
		Kept:    func() (int64, int64) { return 0, 0 },
		Written: func() bool { return a.storage.writes.State() == postgres.WritesTaken },
		Log:     a.probeLog,
		Record: func(ctx context.Context, c commands.RecordAbsence, meta commands.Meta) error {
			_, err := a.engines.bus.Execute(ctx, c, meta)
			return err
		},
		Owed: func(ctx context.Context, after time.Time) (bool, error) {
			return paymentsjobs.Owed(ctx, a.storage.vault.Inbox, after)
		},
		Untaken: func(ctx context.Context, within, untried time.Duration) (bool, error) {
			return paymentsjobs.Untaken(ctx, a.storage.vault.Inbox, within, untried)
		},
		Position: a.lastWork, Passed: a.workPassed, Logger: a.logger,
	}
	if kept := a.kept; kept != nil {
		cfg.Program, cfg.Kept = kept.Place(), func() (int64, int64) { return kept.Ever(), kept.Money() }
	}
	absence := accessjobs.NewAbsence(cfg)
	if err := a.storage.db.Watch(ctx, absence.Lost); err != nil {
		return nil, fmt.Errorf("watch the database: %w", err)
	}
	a.storage.writes.Watch(absence.Lost)
	a.storage.store.Watch(absence.Lost)
	return absence, nil
}

// startProcesses starts the processes, and the gate of cuts with them: it is there before they begin to work, and reads
// their tables.
func (a *App) startProcesses(ctx context.Context) error {
	absence, err := a.newAbsence(ctx)
	if err != nil {
		return err
	}
	a.engines.absence.Store(absence)
	a.engines.processes.Register(processes()...)
	if err := a.life.startBeside(ctx, "processes", stopEngines, a.engines.processes); err != nil {
		return fmt.Errorf("start processes: %w", err)
	}
	return a.life.startBeside(ctx, "absence", stopEngines, absence)
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

// workPassed reports whether processes have passed a position and a command, no job about money or a fault of the
// platform is to be done, and no invoice is to be made that money may wait for. Jobs for later do not count.
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
		`.river_job where kind = any($1) and state in ('available', 'running', 'retryable', 'pending'))`, []string{
		commands.FindPayer{}.Kind(), commands.FollowFault{}.Kind(), commands.MakeInvoicesDue{}.Kind(),
	}).Scan(&busy)
	if err != nil || busy {
		return false, err
	}
	invoicing, err := a.invoicing(ctx, position)
	return err == nil && !invoicing, err
}

// invoicing reports whether an invoice is being made, as of a position: also one that a billing run has left behind,
// which its process takes over. Money that came for it is credit until it is issued, and buys no time.
func (a *App) invoicing(ctx context.Context, position uint64) (bool, error) {
	armed, err := a.engines.processes.Armed(ctx, invoicing.Name, a.clock.Now().Add(invoicing.ForRun))
	if err != nil || armed {
		return armed, err
	}
	return billingviews.NumberingQuery{Views: a.engines.views}.Waiting(ctx, position)
}
