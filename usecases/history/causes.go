package historycases

import (
	"context"
	"reflect"
	"time"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
)

// Cause is one field of a state with the event that made it what it is.
type Cause struct {
	Field string // as in a Change
	Value any
	By    events.Envelope
}

// Causes gives the state at an instant, and for each of its fields the last event that changed it. It reads the whole
// history. Fails: history_not_begun.
func (h *History) Causes(ctx context.Context, at time.Time) (State, []Cause, error) {
	last := map[string]events.Envelope{}
	var step *bus.Step
	until := endOf(at)
	err := h.past.Steps(ctx, 0, func(s bus.Step) bool {
		if s.Event.Meta.At.After(until) {
			return false
		}
		d := differ{view: h.view, most: mostCauses}
		d.walk("", reflect.ValueOf(s.Before), reflect.ValueOf(s.After))
		for _, c := range d.found {
			last[c.Field] = s.Event
		}
		step = &s
		return true
	})
	if err != nil {
		return State{}, nil, err
	}
	if step == nil {
		return State{}, nil, errNotBegun()
	}
	var out []Cause
	for _, f := range h.view.fields(step.After) {
		out = append(out, Cause{Field: f.Field, Value: f.To, By: last[f.Field]})
	}
	return stateOf(*step), out, nil
}

// mostCauses bounds what one event of a history is read for.
const mostCauses = 100_000
