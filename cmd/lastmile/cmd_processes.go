package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// processCommands has the sub-commands of `lastmile processes`.
type processCommands struct {
	List  processList  `cmd:"" help:"Show what has stopped: processes, instances and commands."`
	Retry processRetry `cmd:"" help:"Try again what has stopped."`
}

// processList is `lastmile processes list`. It changes nothing.
type processList struct {
	Limit int `default:"100" help:"Rows to show."`
}

// processRetry is `lastmile processes retry PROCESS [KEY]`. The program that drives the processes does the work.
type processRetry struct {
	Process string `arg:"" help:"Name of the process."`
	Key     string `arg:"" optional:"" help:"The instance; everything of the process by default."`
}

// withProcesses opens the database of a running program, or starts it, and calls do with a runner that drives nothing.
func withProcesses(ctx context.Context, p program, do func(r *processrunner.Runner) error) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	l := newLifecycle(quiet(p, cfg))
	defer l.stop()
	s := &storage{}
	if err := s.openDatabase(ctx, cfg, l, storageMode{}, findRunning(ctx, cfg)); err != nil {
		return err
	}
	r := processrunner.New(processrunner.Config{DB: s.db, Clock: clock.System(), Logger: l.logger})
	r.Register(processes()...)
	if err := r.Prepare(ctx); err != nil {
		return err
	}
	return do(r)
}

// Run prints a line for everything that has stopped; the longest stopped of a process comes first.
func (c processList) Run(ctx context.Context, p program) error {
	return withProcesses(ctx, p, func(r *processrunner.Runner) error {
		list, err := r.Troubles(ctx, c.Limit)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(p.out, "nothing has stopped")
			return err
		}
		w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "PROCESS\tINSTANCE\tCOMMAND\tSINCE\tWAITING\tERROR")
		for _, t := range list {
			since := ""
			if t.Since != nil {
				since = t.Since.UTC().Format(time.RFC3339)
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", t.Process, t.Key, t.Command, since, t.Waiting, t.Error)
		}
		return w.Flush()
	})
}

// Run leaves a request, which the running program, or the next one, takes within a second. It fails when nothing of
// that name has stopped: a key that is mistyped would otherwise look as if it had been mended.
func (c processRetry) Run(ctx context.Context, p program) error {
	return withProcesses(ctx, p, func(r *processrunner.Runner) error {
		stopped, err := r.Stopped(ctx, c.Process, c.Key)
		switch {
		case err != nil:
			return err
		case !stopped:
			return errors.New("nothing has stopped under this name: see lastmile processes list")
		}
		if err := r.Retry(ctx, c.Process, c.Key); err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.out, "asked for; the program that drives the processes tries it within seconds, or "+
			"when it starts: see lastmile processes list")
		return err
	})
}
