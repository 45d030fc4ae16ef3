package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// shownProcesses shows the processes in the API.
type shownProcesses struct{ runner *processrunner.Runner }

// mostStopped bounds the parts that have stopped in one answer, as the command line does.
const mostStopped = 100

// List implements httpapi.Processes. A process that has stopped in another program counts as stopped here, too.
func (p shownProcesses) List(ctx context.Context, org string) ([]httpapi.ProcessState, error) {
	troubles, err := p.runner.TroublesOf(ctx, "", mostStopped)
	if org != "" && err == nil {
		troubles, err = p.ownTroubles(ctx, org, troubles)
	}
	if err != nil {
		return nil, err
	}
	states := p.runner.Status()
	out := make([]httpapi.ProcessState, 0, len(states))
	for _, s := range states {
		row := httpapi.ProcessState{
			Name: s.Name, State: string(s.State), Position: s.Position, Head: s.Head, Lag: s.Head - s.Position,
			Retrying: s.Retrying, Error: s.Error, Stopped: []httpapi.StoppedPart{},
		}
		for _, t := range troubles {
			switch {
			case t.Process != s.Name:
			case t.Key == "":
				row.State, row.Error = string(processrunner.StateStopped), t.Error
			default:
				row.Stopped = append(row.Stopped, httpapi.StoppedPart{
					Key: t.Key, Command: null.Of(t.Command), Since: t.Since, Waiting: t.Waiting, Error: t.Error,
				})
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// ownTroubles are the whole processes that have stopped, which concern everybody, and what has stopped of one
// organization.
func (p shownProcesses) ownTroubles(
	ctx context.Context, org string, all []processrunner.Trouble,
) ([]processrunner.Trouble, error) {
	own, err := p.runner.TroublesOf(ctx, org, mostStopped)
	for _, t := range all {
		if t.Key == "" {
			own = append(own, t)
		}
	}
	return own, err
}

// Retry implements httpapi.Processes.
func (p shownProcesses) Retry(ctx context.Context, process, key string) (known, stopped bool, err error) {
	if !p.runner.Known(process) {
		return false, false, nil
	}
	if stopped, err = p.runner.Stopped(ctx, process, key); err != nil || !stopped {
		return true, false, err
	}
	return true, true, p.runner.Retry(ctx, process, key)
}
