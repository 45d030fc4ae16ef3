package networkjobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
)

// maxRounds bounds how often a run reads back and writes again what still differs. A lost reply costs one round, a
// second editor of the router another.
const maxRounds = 4

// run is a run of writes to one router. Every write is announced before it is sent and recorded after, so that a write
// whose answer was lost, or whose program died, is still accounted for.
type run struct {
	w       *Workers
	r       router
	id      id.Run
	cause   jobs.Cause
	pending []events.RouterStep  // announced and not recorded
	turn    id.Any               // this execution of the job
	count   int                  // commands of this turn
	over    bool                 // it ended in an earlier attempt
	clashes map[string]bool      // additions that the router refused as duplicates
	blocked map[id.Service]error // services that do not work though they are written, with the reason
	guard   guard
	pace    time.Duration // of one call, as measured last; zero = not measured
}

// stopped ends a run early. It is recorded with the run and shown to operators.
type stopped struct {
	outcome   events.ReconcileOutcome
	path      string
	operation string
	message   string
}

// Error gives operation, menu and reason, for logs; operators see the fields.
func (s *stopped) Error() string {
	return fmt.Sprintf("%s %s: %s", s.operation, s.path, s.message)
}

// refused reports whether the router refused: a repeat would be refused again.
func (s *stopped) refused() bool { return s.outcome == events.ReconcileRefused }

// begin starts a run, or continues one whose program died with the writes that it had announced.
func (w *Workers) begin(ctx context.Context, r router, cause jobs.Cause, start commands.StartReconcile) (*run, error) {
	u := &run{
		w: w, r: r, id: start.RunID, cause: cause, turn: id.New[id.Any](), blocked: map[id.Service]error{},
		clashes: map[string]bool{},
	}
	start.OrgID, start.DeviceID, start.By = r.row.OrgID, r.row.ID, actorOf(cause)
	if _, err := w.report(ctx, cause, start.RunID.String(), start); err != nil {
		if u.over = failure.CodeOf(err) == "run_finished"; u.over {
			return u, nil
		}
		return nil, err
	}
	state, _, err := bus.LoadUnchecked[network.Run](ctx, w.cfg.Bus, start.RunID)
	u.pending, u.over = slices.Clone(state.Planned), state.Finished
	return u, err
}

// command executes a command of the run. Each execution of the job has command ids of its own, also one that repeats an
// attempt after a move of the clock: a write that is sent again is recorded again.
func (u *run) command(ctx context.Context, cmd commands.Command) error {
	u.count++
	_, err := u.w.report(ctx, u.cause, fmt.Sprintf("%s %s %d", u.id, u.turn, u.count), cmd)
	return err
}

// comparison says what a run compares a router with: services or the firewall.
type comparison struct {
	menus   []string // all that compare needs
	compare func(routerplan.Snapshot) routerplan.Diff
}

// converge compares, writes what differs, reads back what was written and compares again, until nothing differs.
// snapshot must hold the comparison's menus. The error is nil, a *stopped, or an error of our own that another
// attempt may not meet.
func (u *run) converge(ctx context.Context, snapshot routerplan.Snapshot, c comparison) error {
	for range maxRounds {
		diff := c.compare(snapshot)
		steps := diff.Plan()
		if err := u.settle(ctx, steps); err != nil {
			return err
		}
		if len(steps) == 0 {
			u.note(diff.Faults())
			return nil
		}
		again, err := u.writeAll(ctx, steps)
		switch {
		case err != nil:
			return err
		case again == nil:
			again = c.menus
		}
		if err := u.r.refresh(ctx, snapshot, again); err != nil {
			return stop(ctx, commands.OperationRead, err)
		}
	}
	return &stopped{outcome: events.ReconcileUnstable, operation: commands.OperationVerify,
		message: "The router still differs after several writes. Something else is changing it."}
}

// note keeps the services that do not work although all of them is written.
func (u *run) note(faults []routerplan.Fault) {
	for _, f := range faults {
		u.blocked[f.Service] = &stopped{
			outcome: events.ReconcileRefused, path: f.Path, operation: commands.OperationVerify, message: f.Message,
		}
	}
}

// skipped gives the reason of one service that does not work as the end of the run; nil without any.
func (u *run) skipped() error {
	for _, service := range slices.SortedFunc(maps.Keys(u.blocked), func(a, b id.Service) int {
		return strings.Compare(a.String(), b.String())
	}) {
		return u.blocked[service]
	}
	return nil
}

// settle records announced writes that the router turns out to have: only their answers were lost.
func (u *run) settle(ctx context.Context, steps []routerplan.Step) error {
	pending := u.pending
	u.pending = nil
	for _, p := range routerplan.Lost(pending, steps) {
		if err := u.command(ctx, commands.RecordWrite{RunID: u.id, Step: p, Found: true}); err != nil {
			return err
		}
	}
	return nil
}

// announce records the writes before they are sent (ReconcilePlanned).
func (u *run) announce(ctx context.Context, steps []routerplan.Step) error {
	planned := make([]events.RouterStep, len(steps))
	for i, s := range steps {
		planned[i] = s.Audit()
	}
	if err := u.command(ctx, commands.PlanWrites{RunID: u.id, Steps: planned}); err != nil {
		return err
	}
	return nil
}

// stop turns a router's error into the end of a run. When the job's own time is over, or the error is ours, the run
// continues in the next attempt.
func stop(ctx context.Context, operation string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := &stopped{operation: operation, message: messageOf(err)}
	var where *at
	if errors.As(err, &where) {
		out.path = where.path
	}
	switch failure.KindOf(err) {
	case failure.Unavailable:
		out.outcome = events.ReconcileUnreachable
		if !routeros.MayHaveApplied(err) {
			out.operation = commands.OperationConnect
		}
	case failure.Refused, failure.Denied, failure.Malformed, failure.Invalid:
		out.outcome = events.ReconcileRefused
	case failure.Internal, failure.Unauthenticated, failure.NotFound, failure.Conflict, failure.Stale, failure.TooLarge,
		failure.Limited:
		return err
	}
	return out
}

// messageOf gives the text for operators: the router's own words, or why it was not reached.
func messageOf(err error) string {
	var f *failure.Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	switch {
	case len(f.Faults) > 0:
		return f.Faults[0]
	case f.Kind == failure.Unavailable:
		return routeros.Why(err)
	}
	return f.Message
}

// finish ends the run; a nil why means that nothing differs any more, and one with the outcome done that no write could
// repair the rest.
func (u *run) finish(ctx context.Context, why *stopped) error {
	done := commands.FinishReconcile{RunID: u.id, Outcome: events.ReconcileDone}
	if why != nil {
		done.Outcome, done.Path, done.Operation, done.Message = why.outcome, why.path, why.operation, why.message
	}
	return u.command(ctx, done)
}
