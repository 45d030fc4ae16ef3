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

// maxAnnounced bounds how many writes are announced at a time: an event has a largest size.
const maxAnnounced = 50

// writeAll announces and sends the steps, part by part. It gives the menus to be read again, nil for all.
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

// write sends the steps in order and records each. It gives the menus to be read again, nil for all: that is when
// something happened that only the router can tell about.
func (u *run) write(ctx context.Context, steps []routerplan.Step) (again []string, err error) {
	for i, s := range steps {
		err := u.send(ctx, s)
		switch {
		case err == nil:
		case s.Operation == commands.OperationRemove && routeros.IsMissing(err):
			// gone already: somebody else was faster
			again = union(again, []string{s.Path})
			continue
		case routeros.IsMissing(err), errors.Is(err, errMoved), routeros.IsDuplicate(err) && !u.clashed(s):
			u.pending = nil // it was not this write: look again
			return nil, nil
		case mayHaveApplied(err) && ctx.Err() == nil:
			u.pending = []events.RouterStep{s.Audit()}
			return nil, nil
		default:
			u.pending = nil
			return nil, stop(ctx, s.Operation, &at{path: s.Path, err: err})
		}
		record := commands.RecordWrite{RunID: u.id, ServiceID: s.Service, Step: s.Audit()}
		if err := u.command(ctx, record); err != nil {
			return nil, fmt.Errorf("record write %d of %d: %w", i+1, len(steps), err)
		}
		again = union(again, []string{s.Path})
	}
	return again, nil
}

// clashed tells whether an addition was refused before as something that the router has already. Once it may be a write
// of this run whose answer was lost; when the router was read again and it is refused again, it is somebody else's
// resource that is in the way, and the router's words say which.
func (u *run) clashed(s routerplan.Step) bool {
	key := s.Path + " " + s.Name
	before := u.clashes[key]
	u.clashes[key] = true
	return before
}

// errMoved is a row that is not the one that was read: another has its identifier.
var errMoved = errors.New("the row is not the one that was read")

// same reads the row of a step again. Nothing is written to a row that is not the one that was meant.
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

// unsent is an error from before a write was sent: whatever it says, the write was not applied.
type unsent struct{ cause error }

// Error says that nothing was written.
func (e *unsent) Error() string { return "before the write: " + e.cause.Error() }

// Unwrap is why.
func (e *unsent) Unwrap() error { return e.cause }

// send makes one write, as the only writer of the router and to no other row than the one that was read.
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

// mayHaveApplied tells whether the router may have a write that failed.
func mayHaveApplied(err error) bool {
	var before *unsent
	return !errors.As(err, &before) && routeros.MayHaveApplied(err)
}

// placed are the values of an addition, with its place in an ordered menu.
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
