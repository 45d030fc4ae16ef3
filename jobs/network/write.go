package networkjobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
)

// maxAnnounced bounds how many writes are announced in one event, because an event has a largest size.
const maxAnnounced = 50

// writeAll announces and sends the steps, part by part. It gives the menus to be read again; nil for all.
func (u *run) writeAll(ctx context.Context, steps []routerplan.Step) (again []string, err error) {
	for part := range slices.Chunk(steps, maxAnnounced) {
		if err := u.announce(ctx, part); err != nil {
			return nil, err
		}
		touched, err := u.write(ctx, part)
		if err != nil || touched == nil {
			return nil, err
		}
		again = union(again, touched)
	}
	return again, nil
}

// write sends the steps in order and records each. It gives the menus to be read again. nil means all: a reply was lost
// or the router has changed, so that only a new reading shows its state.
func (u *run) write(ctx context.Context, steps []routerplan.Step) (again []string, err error) {
	for i, s := range steps {
		if may, err := u.guarding(ctx, s); err != nil || !may {
			return nil, err // not sent: the next round arms the rollback again
		}
		err := u.send(ctx, s)
		if s.Risky() && (err == nil || mayHaveApplied(err)) {
			u.guard.touched = true
		}
		switch {
		case err == nil:
		case s.Operation == commands.OperationRemove && routeros.IsMissing(err):
			// another editor removed it first
			again = union(again, []string{s.Path})
			continue
		case routeros.IsMissing(err), errors.Is(err, errMoved), routeros.IsDuplicate(err) && !u.clashed(s):
			u.pending = nil // the router has changed: read it again
			return nil, nil
		case mayHaveApplied(err) && ctx.Err() == nil:
			u.pending = []events.RouterStep{s.Audit()}
			return nil, nil
		default:
			u.pending = nil
			return nil, u.refuse(ctx, s, err)
		}
		record := commands.RecordWrite{RunID: u.id, ServiceID: s.Service, Step: s.Audit()}
		if err := u.command(ctx, record); err != nil {
			return nil, fmt.Errorf("record write %d of %d: %w", i+1, len(steps), err)
		}
		again = union(again, []string{s.Path})
	}
	return again, nil
}

// refuse ends the run at a step that failed. A refusal by the router is recorded with the step.
func (u *run) refuse(ctx context.Context, s routerplan.Step, err error) error {
	ended := stop(ctx, s.Operation, &at{path: s.Path, err: err})
	var why *stopped
	if !errors.As(ended, &why) || !why.refused() {
		return ended
	}
	record := commands.RecordRefusal{RunID: u.id, ServiceID: s.Service, Step: s.Audit(), Message: why.message}
	if err := u.command(ctx, record); err != nil {
		return fmt.Errorf("record refusal: %w", err)
	}
	return ended
}

// clashed reports whether the same addition was refused as a duplicate before. The first time the duplicate may be a
// write of this run whose answer was lost. When the router was read again and refuses again, the duplicate belongs to
// someone else, and the router's words name it.
func (u *run) clashed(s routerplan.Step) bool {
	key := s.Path + " " + s.Name
	before := u.clashes[key]
	u.clashes[key] = true
	return before
}

// errMoved means that the id of a row belongs to another row than the one that was read.
var errMoved = errors.New("the row is not the one that was read")

// same reads the row of a step again, so that no other row is written to. Fails: routeros.ErrMissing, errMoved.
func (u *run) same(ctx context.Context, s routerplan.Step) error {
	items, err := u.r.Print(ctx, s.Path, routeros.Query{Where: map[string]string{".id": s.ID}})
	switch {
	case err != nil:
		return &unsent{err}
	case len(items) == 0:
		return fmt.Errorf("%s of %s: %w", s.Operation, s.Path, routeros.ErrMissing)
	case len(items) > 1 || !s.Still(routerplan.Row(items[0])):
		return errMoved
	}
	return nil
}

// unsent marks an error from before a write was sent: the write was certainly not applied.
type unsent struct{ cause error }

// Error starts with "before the write", which logs and runs show.
func (e *unsent) Error() string { return "before the write: " + e.cause.Error() }

// Unwrap lets errors.As find the failure of the gateway.
func (e *unsent) Unwrap() error { return e.cause }

// send makes one write: under the router's lock, and only to the row that was read.
func (u *run) send(ctx context.Context, s routerplan.Step) error {
	if s.Touches() {
		if err := u.same(ctx, s); err != nil {
			return err
		}
	}
	if err := alone(ctx); err != nil {
		return err
	}
	switch s.Operation {
	case commands.OperationAdd:
		_, err := u.r.Add(ctx, s.Path, placed(s))
		return err
	case commands.OperationSet:
		return u.r.Set(ctx, s.Path, s.ID, s.Values)
	case commands.OperationRemove:
		return u.r.Remove(ctx, s.Path, s.ID)
	case commands.OperationMove:
		return u.r.Move(ctx, s.Path, s.ID, s.Destination)
	}
	return fmt.Errorf("write of kind %q", s.Operation)
}

// mayHaveApplied reports whether the router may have applied a write that failed.
func mayHaveApplied(err error) bool {
	var before *unsent
	return !errors.As(err, &before) && routeros.MayHaveApplied(err)
}

// placed gives the values of an addition; in an ordered menu with the row to be placed before.
func placed(s routerplan.Step) map[string]string {
	if s.Destination == "" {
		return s.Values
	}
	values := map[string]string{"place-before": s.Destination}
	for property, value := range s.Values {
		values[property] = value
	}
	return values
}
