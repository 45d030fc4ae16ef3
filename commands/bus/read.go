package bus

import (
	"context"
	"fmt"
	"reflect"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// reader reads aggregates whose state is an S.
type reader[S any] struct {
	read    func(ctx context.Context, target id.Any) (state S, revision uint64, err error)
	owner   func(state S) id.Organization
	hidden  func(state S) bool
	acted   func(ctx context.Context, target id.Any, command id.Command) (bool, error)
	missing func() error
	history func(ctx context.Context, target id.Any) ([]events.Envelope, error)
}

// LoadOwned folds the present state of an organization's aggregate from the log, and returns the revision of its last
// event. S is the state of a registered definition. An aggregate that does not exist, that is gone, or that another
// organization owns gives the definition's Missing failure, so that a caller cannot distinguish the three.
func LoadOwned[S any, I ~[16]byte](ctx context.Context, b *Bus, org id.Organization, target I) (S, uint64, error) {
	var none S
	r, state, revision, err := load[S](ctx, b, id.Any(target))
	if err != nil {
		return none, 0, err
	}
	if owner := r.owner(state); owner.IsZero() || owner != org || r.hidden(state) {
		return none, 0, r.missing()
	}
	return state, revision, nil
}

// LoadUnchecked folds the present state of an aggregate from the log, for any owner; it is the zero state when there is
// none. It is for work of the platform, whose caller has no organization or checks the owner itself. Use LoadOwned for
// everything that a tenant asks for.
func LoadUnchecked[S any, I ~[16]byte](ctx context.Context, b *Bus, target I) (S, uint64, error) {
	_, state, revision, err := load[S](ctx, b, id.Any(target))
	return state, revision, err
}

// Acted reports whether a command with an id has acted on the aggregate with the state S, so that a use case of several
// steps finds at a repeat how far the first try came. A command that changed nothing has not acted.
func Acted[S any, I ~[16]byte](ctx context.Context, b *Bus, target I, command id.Command) (bool, error) {
	r, err := readerOf[S](b, id.Any(target))
	if err != nil {
		return false, err
	}
	acted, err := r.acted(ctx, id.Any(target), command)
	if err != nil {
		return false, fmt.Errorf("look for command %s in %s: %w", command, target, err)
	}
	return acted, nil
}

// HistoryUnchecked reads all events of an aggregate with the state S, through all periods of its stream, for any owner:
// the caller has found the aggregate among those of the organization that asks. It is for questions about the past. The
// events that close periods are among them.
func HistoryUnchecked[S any, I ~[16]byte](ctx context.Context, b *Bus, target I) ([]events.Envelope, error) {
	r, err := readerOf[S](b, id.Any(target))
	if err != nil {
		return nil, err
	}
	list, err := r.history(ctx, id.Any(target))
	if err != nil {
		return nil, fmt.Errorf("read history of %s: %w", target, err)
	}
	return list, nil
}

// load reads with the reader that is registered for the state; its error names the state's type.
func load[S any](ctx context.Context, b *Bus, target id.Any) (reader[S], S, uint64, error) {
	var none S
	r, err := readerOf[S](b, target)
	if err != nil {
		return reader[S]{}, none, 0, err
	}
	state, revision, err := r.read(ctx, target)
	if err != nil {
		return reader[S]{}, none, 0, fmt.Errorf("load %T %s: %w", none, target, err)
	}
	return r, state, revision, nil
}

// readerOf is the reader that is registered for a state.
func readerOf[S any](b *Bus, target id.Any) (reader[S], error) {
	r, ok := b.states[reflect.TypeFor[S]()].(reader[S])
	if !ok {
		var none S
		return reader[S]{}, fmt.Errorf("load %s: no aggregate with state %T is registered", target, none)
	}
	return r, nil
}

// read returns the state of an aggregate and the revision of its last event.
func (h *handler[S, C, E]) read(ctx context.Context, target id.Any) (S, uint64, error) {
	at, err := h.load(ctx, target)
	return at.state, at.result(false).Revision, err
}

// acted reports whether a command has acted on an aggregate.
func (h *handler[S, C, E]) acted(ctx context.Context, target id.Any, command id.Command) (bool, error) {
	at, err := h.load(ctx, target)
	_, acted := at.acted(command)
	return acted, err
}

// history reads the events of an aggregate.
func (h *handler[S, C, E]) history(ctx context.Context, target id.Any) ([]events.Envelope, error) {
	var all []events.Envelope
	for period := 0; ; period++ {
		list, err := h.bus.cfg.Store.Read(ctx, periodStream(h.def.Category, target, period), 0)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if len(list) == 0 || h.closing == "" || list[len(list)-1].Type != h.closing {
			return all, nil
		}
	}
}

// hidden reports whether the aggregate has ended.
func (h *handler[S, C, E]) hidden(state S) bool { return h.def.Gone != nil && h.def.Gone(state) }
