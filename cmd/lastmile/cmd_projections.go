package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/lastmile-isp/lastmile/projections/runner"
)

// projectionCommands has the sub-commands of `lastmile projections`.
type projectionCommands struct {
	List    projectionList    `cmd:"" help:"Show every read model's progress."`
	Rebuild projectionRebuild `cmd:"" help:"Fill new tables beside the present ones and switch to them."`
	Verify  projectionVerify  `cmd:"" help:"Replay the log into scratch tables and compare them with the present ones."`
}

// projectionList is `lastmile projections list`. It changes nothing.
type projectionList struct{}

// projectionRebuild is `lastmile projections rebuild NAME`; readers see the old tables until the new ones are ready.
type projectionRebuild struct {
	Name string `arg:"" help:"Name of the read model."`
}

// projectionVerify is `lastmile projections verify [NAME ...]`; without names it takes all read models.
type projectionVerify struct {
	Names []string `arg:"" optional:"" help:"Read models to verify; all of them by default."`
}

// withProjections opens the storage and the read models, calls do, and closes them again.
func withProjections(ctx context.Context, p program, do func(r *runner.Runner) error) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	l := newLifecycle(quiet(p, cfg))
	defer l.stop()
	now := productClock(cfg)
	s, err := openStorage(ctx, cfg, now, l, storageMode{node: true, attach: true})
	if err != nil {
		return err
	}
	f, err := startFeed(ctx, s, l)
	if err != nil {
		return err
	}
	r := newProjections(s, f, now, l.logger, false)
	if err := r.Prepare(ctx); err != nil {
		return err
	}
	return do(r)
}

// Run prints one line for each read model: version, state, its position and that of the log.
func (projectionList) Run(ctx context.Context, p program) error {
	return withProjections(ctx, p, func(r *runner.Runner) error {
		list, err := r.List(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "NAME\tVERSION\tGENERATION\tSTATE\tPOSITION\tHEAD\tLAG\tERROR")
		for _, s := range list {
			_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%d\t%d\t%d\t%s\n", s.Name, s.Version, s.Generation, s.State,
				s.Position, s.Head, s.Lag(), s.Error)
		}
		return w.Flush()
	})
}

// progressEvery is the time between two lines about the progress of a rebuild.
const progressEvery = time.Second

// Run rebuilds one read model and prints the progress until the switch.
func (c projectionRebuild) Run(ctx context.Context, p program) error {
	return withProjections(ctx, p, func(r *runner.Runner) error {
		var told time.Time
		report := func(s runner.Progress) {
			if now := time.Now(); now.Sub(told) >= progressEvery {
				told = now
				_, _ = fmt.Fprintf(p.out, "%s: generation %d at %d of %d\n", c.Name, s.Generation, s.Position, s.Head)
			}
		}
		if err := r.Rebuild(ctx, c.Name, report); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.out, "%s: rebuilt\n", c.Name)
		return err
	})
}

// errDiffers ends `verify` with exit code 1 when a read model differs from the log.
var errDiffers = errors.New("read models differ from the log; rebuild them with: lastmile projections rebuild NAME")

// errIncomplete ends `verify` with exit code 1 when a read model does not show the whole log.
var errIncomplete = errors.New(
	"not everything could be compared: read models have stopped, or wait for a program that " +
		"fills them; start lastmile serve, let them catch up, and verify again")

// tellIncomplete prints why a read model does not show the whole log, and returns errIncomplete then.
func (p program) tellIncomplete(r runner.Report) error {
	switch {
	case r.Stopped != "":
		_, _ = fmt.Fprintf(p.out, "%s: STOPPED at %d of %d: %s\n", r.Name, r.Position, r.Head, r.Stopped)
	case r.Behind:
		_, _ = fmt.Fprintf(p.out, "%s: BEHIND, shows the log up to %d of %d, as after a restore; no program fills it\n",
			r.Name, r.Position, r.Head)
	default:
		return nil
	}
	return errIncomplete
}

// Run compares each read model with a replay of the log, and prints a line for each table.
func (c projectionVerify) Run(ctx context.Context, p program) error {
	return withProjections(ctx, p, func(r *runner.Runner) error {
		names := c.Names
		if len(names) == 0 {
			for _, m := range readModels() {
				names = append(names, m.Name())
			}
		}
		var differs error
		for _, name := range names {
			report, err := r.Verify(ctx, name)
			if err != nil {
				return fmt.Errorf("verify %s: %w", name, err)
			}
			for _, t := range report.Tables {
				verdict := "equal"
				switch {
				case t.Missing:
					verdict, differs = "MISSING", errDiffers
				case !t.Equal:
					verdict, differs = "DIFFERENT", errDiffers
				}
				_, _ = fmt.Fprintf(p.out, "%s.%s at %d: %s, %d rows, %d from the log\n", name, t.Table, report.Position,
					verdict, t.Active, t.Replayed)
			}
			differs = cmp.Or(differs, p.tellIncomplete(report))
		}
		return differs
	})
}
