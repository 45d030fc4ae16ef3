package bookscases

import (
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// folding applies events to states of one kind of aggregate as the bus does, through closed streams.
type folding[S any, C commands.Command, E events.Event] struct {
	aggregates.Definition[S, C, E]
	closing string // type of the event that closes a stream; "" when streams are never closed
}

// foldingOf learns from the zero state which event closes a stream, as the bus does.
func foldingOf[S any, C commands.Command, E events.Event](def aggregates.Definition[S, C, E]) folding[S, C, E] {
	f := folding[S, C, E]{Definition: def}
	if def.Close != nil {
		var none S
		f.closing = def.Close(none).EventType()
	}
	return f
}

// next is the state after an event. It fails, and leaves the state as it was, when a closed stream passed on a state
// that the bus cannot read.
func (f folding[S, C, E]) next(state S, in events.Envelope, e E) (S, error) {
	if f.closing == "" || e.EventType() != f.closing {
		return f.Evolve(state, e), nil
	}
	opened, err := f.Reopen(e)
	if err != nil {
		return state, fmt.Errorf("stream %s revision %d: %w", in.Stream, in.Revision, err)
	}
	if f.ClosedAt != nil {
		opened = f.ClosedAt(opened, in.Meta.At)
	}
	return opened, nil
}
