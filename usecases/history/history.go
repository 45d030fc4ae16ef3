package historycases

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Histories reads the past of aggregates from the log. Safe for concurrent use.
type Histories struct{ Bus *bus.Bus }

// Reader says who looks, and at what they may look.
type Reader struct {
	usecases.Asked
	// Operator is whoever has the machine: they see the aggregates of every organization, and of one all that is there.
	// For others Asked.Org is the organization; zero = the platform.
	Operator bool
}

// Target names one aggregate.
type Target struct {
	Category string
	ID       id.Any
}

// History is the past of one aggregate, open for one reader.
type History struct {
	Target
	Kind Kind
	Org  id.Organization // to which it belongs; zero = the platform

	past *bus.Past
	view view
}

// Entry is one event of a history.
type Entry struct {
	Event  events.Envelope
	Type   string // of the event, without its version: "billing.InvoiceIssued"
	Number uint64 // of the event in the aggregate, from 0, through all periods of its stream
	// Foreign says that the event is another organization's to see: of a receipt, what others reported. It then has
	// neither data nor changes, and nothing of its metadata but the time is to be shown.
	Foreign bool
	Data    Object
	Changes []Change
	More    bool // there are more changes than MostChanges
}

// State is an aggregate as it was.
type State struct {
	Number uint64    // of the last event
	LastAt time.Time // when it was recorded
	Fields any       // an Object
}

// Difference tells how an aggregate differs between two instants.
type Difference struct {
	From    *State // nil = it did not exist yet; without Fields
	To      State  // without Fields
	Changes []Change
	More    bool // there are more changes than MostChanges
}

// Open finds an aggregate of the organization that asks, by its stream alone. Fails: history_type_not_found, and as
// the aggregate is missing, also for another organization's.
func (h Histories) Open(ctx context.Context, by Reader, of Target) (*History, error) {
	kind, err := KindOf(of.Category, by.Operator || by.Org().IsZero())
	if err != nil {
		return nil, err
	}
	past, err := h.Bus.OpenPast(ctx, of.Category, of.ID)
	if err != nil {
		return nil, err
	}
	if past == nil || !by.Operator && past.Owner != by.Org() && !(by.Org().IsZero() && kind.Platform) {
		return nil, h.missing(of.Category)
	}
	return &History{
		Target: of, Kind: kind, Org: past.Owner, past: past, view: view{everything: by.Operator || by.Org().IsZero()},
	}, nil
}

// missing is the failure of a category for an id that does not exist.
func (h Histories) missing(category string) error {
	for _, k := range h.Bus.Kinds() {
		if k.Category == category {
			return k.Missing()
		}
	}
	return commands.ErrNotFound()
}

// Look is one look at a history, for the audit log.
type Look struct {
	Kind        events.HistoryLook
	From, Until time.Time // as of commands.ReadHistory
}

// Record records a look. Whoever gets an error must not answer.
func (h Histories) Record(ctx context.Context, by Reader, of *History, look Look) error {
	meta := by.Step("looked at " + of.Category + " " + of.ID.String() + " " + string(look.Kind))
	if meta.OrgID.IsZero() {
		meta.OrgID = of.Org
	}
	_, err := h.Bus.Execute(ctx, commands.ReadHistory{
		LookupID: id.Derive[id.Lookup]("history", meta.CommandID.String()), OrgID: meta.OrgID,
		Category: of.Category, TargetID: of.ID, Look: look.Kind, From: look.From, Until: look.Until,
	}, meta)
	return err
}

// Len is the number of events.
func (h *History) Len() uint64 { return h.past.Len() }

// Oldest gives up to max entries from a number on, the oldest first.
func (h *History) Oldest(ctx context.Context, from uint64, max int) ([]Entry, error) {
	var out []Entry
	if max < 1 || from >= h.past.Len() {
		return nil, nil
	}
	err := h.past.Steps(ctx, from, func(s bus.Step) bool {
		out = append(out, h.entry(s))
		return len(out) < max
	})
	return out, err
}

// Newest gives up to max entries before a number, the newest first.
func (h *History) Newest(ctx context.Context, before uint64, max int) ([]Entry, error) {
	before = min(before, h.past.Len())
	count := min(uint64(max), before) //nolint:gosec // pages are small and not negative
	list, err := h.Oldest(ctx, before-count, int(count))
	slices.Reverse(list)
	return list, err
}

// entry shows a step.
func (h *History) entry(s bus.Step) Entry {
	out := Entry{Event: s.Event, Number: s.Number, Foreign: h.foreign(s.Event)}
	out.Type, _, _ = strings.Cut(s.Event.Type, ".v")
	if out.Foreign {
		return out
	}
	out.Data, _ = h.view.show(reflect.ValueOf(s.Event.Event)).(Object)
	out.Changes, out.More = h.view.changes(h.own(s.Before), h.own(s.After))
	return out
}

// foreign reports whether an event is another organization's to see. A receipt has what other organizations reported
// about the same number, and the shortcode of a report without an organization can be anybody's.
func (h *History) foreign(e events.Envelope) bool {
	if h.view.everything {
		return false
	}
	if reported, is := e.Event.(events.ReceiptDisputed); is {
		return reported.OrgID != h.Org
	}
	others := func(of id.Organization) bool { return !of.IsZero() && of != h.Org }
	return others(e.Meta.OrgID) || others(orgOf(e.Event))
}

// orgOf is the organization that an event names as its own; zero for one that names none.
func orgOf(e events.Event) id.Organization {
	f := reflect.ValueOf(e).FieldByName("OrgID")
	if !f.IsValid() {
		return id.Organization{}
	}
	org, _ := f.Interface().(id.Organization)
	return org
}

// ofOthers reports whether a state is another organization's to see, which had the aggregate then: a device goes from
// one to the next, and so does money that the platform gave to the wrong one.
func (h *History) ofOthers(state any) bool {
	owner := h.past.OwnerOf(state)
	return !h.view.everything && !owner.IsZero() && owner != h.Org
}

// own is a state for its differences: nothing of what others had.
func (h *History) own(state any) any {
	if h.ofOthers(state) {
		return reflect.Zero(reflect.TypeOf(state)).Interface()
	}
	return state
}

// At is the state after the last event that was recorded at or before an instant. Fails: history_not_begun, also while
// another organization had the aggregate.
func (h *History) At(ctx context.Context, at time.Time) (State, error) {
	step, err := h.until(ctx, at)
	if err != nil {
		return State{}, err
	}
	if step == nil || h.ofOthers(step.After) {
		return State{}, errNotBegun()
	}
	out := stateOf(*step)
	out.Fields = h.view.show(reflect.ValueOf(step.After))
	return out, nil
}

// Between compares two instants. From may be before the first event, or when another organization had the aggregate:
// all that is there differs then. Fails: history_not_begun when to is such an instant.
func (h *History) Between(ctx context.Context, from, to time.Time) (Difference, error) {
	after, err := h.until(ctx, to)
	if err != nil {
		return Difference{}, err
	}
	if after == nil || h.ofOthers(after.After) {
		return Difference{}, errNotBegun()
	}
	before, err := h.until(ctx, from)
	if err != nil {
		return Difference{}, err
	}
	out := Difference{To: stateOf(*after)}
	was := reflect.Zero(reflect.TypeOf(after.After)).Interface()
	if before != nil && !h.ofOthers(before.After) {
		state := stateOf(*before)
		out.From, was = &state, before.After
	}
	out.Changes, out.More = h.view.changes(was, after.After)
	return out, nil
}

// until finds the last step until an instant.
func (h *History) until(ctx context.Context, at time.Time) (*bus.Step, error) {
	return h.past.Until(ctx, endOf(at))
}

// endOf is the last nanosecond of the microsecond of an instant. Other answers show whole microseconds, and events have
// nanoseconds: an instant that was copied from one means its event, too.
func endOf(at time.Time) time.Time { return at.Truncate(time.Microsecond).Add(time.Microsecond - 1) }

// stateOf is the place of a state, without its fields.
func stateOf(s bus.Step) State { return State{Number: s.Number, LastAt: s.Event.Meta.At} }

// errNotBegun is the failure for an instant before the first event.
func errNotBegun() error {
	return failure.NewNotFound("history_not_begun",
		"Nothing was recorded about it until then. Ask for a later time.")
}
