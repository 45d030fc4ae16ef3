package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/null"
)

// States of a part.
const (
	partUp   = "up"
	partDown = "down"
)

// Part is a part of the program as super_admins see it.
type Part struct {
	Name     string   `json:"name" doc:"as in /readyz"`
	State    string   `json:"state" enum:"up,down"`
	Detail   *string  `json:"detail" doc:"a sentence; null: it is up, or the log alone says why"`
	WaitsFor []string `json:"waitsFor" doc:"parts without which it cannot be up; it comes back with them"`
}

// Down reports whether the part does not do its work.
func (p Part) Down() bool { return p.State == partDown }

// Waits reports whether the part is down and waits for another one of the list that is: what is told of that one is
// all that can be done.
func (p Part) Waits(all []Part) bool {
	return p.Down() && slices.ContainsFunc(all, func(o Part) bool {
		return o.Down() && slices.Contains(p.WaitsFor, o.Name)
	})
}

// Parts asks all checks at the same time, for at most probeLimit, and writes nothing to the log. The order is theirs.
func Parts(ctx context.Context, checks []Check) []Part {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	out := make([]Part, len(checks))
	var wait sync.WaitGroup
	for i, check := range checks {
		wait.Go(func() {
			r := resultOf(ask(ctx, check))
			out[i] = Part{
				Name: check.Name, State: r.Status, Detail: null.Of(r.Detail),
				WaitsFor: append([]string{}, check.WaitsFor...),
			}
		})
	}
	wait.Wait()
	return out
}

// ask runs one check. It does not wait for a check that ignores its deadline.
func ask(ctx context.Context, check Check) error {
	answer := make(chan error, 1)
	go func() { answer <- check.Probe(ctx) }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resultOf shows what a check said.
func resultOf(err error) checkResult {
	if err == nil {
		return checkResult{Status: partUp}
	}
	var f *failure.Error
	if errors.As(err, &f) {
		return checkResult{Status: partDown, Detail: f.Message}
	}
	return checkResult{Status: partDown}
}

// parts shows what the program is made of besides read models and processes, which have lists of their own.
func (a SystemAPI) parts(ctx context.Context, c *Call) error {
	return c.Send(http.StatusOK, ListOf[Part]{Data: a.Parts(ctx)})
}
