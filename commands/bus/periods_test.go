package bus_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestPeriods_AFullStreamIsClosedIntoTheNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{PeriodLength: 10})
	c := w.opened("n")
	var metas []commands.Meta
	for i := range 25 {
		m := w.meta()
		metas = append(metas, m)
		w.must([]*bus.Bus{w.one, w.two}[i%2], add{ID: c, Step: 1}, m)
	}
	for _, b := range []*bus.Bus{w.one, w.two, w.replica(bus.Config{})} {
		for _, m := range metas { // repeats every command, also over the boundary of each period
			if r := w.must(b, add{ID: c, Step: 1}, m); r.Changed {
				t.Fatalf("a repeated command acted: %+v", r)
			}
		}
	}
	if diff := cmp.Diff(counter{Owner: w.org, Sum: 25, Names: []string{"n"}}, w.state(c)); diff != "" {
		t.Fatalf("state (-want +have)\n%s", diff)
	}
	second := "account-" + uuid.NewSHA1(c.UUID(), []byte("1")).String()
	for _, stream := range []string{"account-" + c.String(), second} {
		list, err := w.Store.Read(t.Context(), stream, 0)
		if err != nil || len(list) != 10 {
			t.Fatalf("%s has %d events, %v", stream, len(list), err)
		}
		last := list[9]
		if _, ok := last.Event.(events.AccountPeriodClosed); !ok || len(last.Meta.RecentCommands) == 0 ||
			last.Meta.OrgID != w.org {
			t.Errorf("%s ends with %+v", stream, last)
		}
		for _, e := range list {
			if e.Meta.AggregateID != id.Any(c) {
				t.Errorf("%s revision %d is of %s, want %s", stream, e.Revision, e.Meta.AggregateID, c)
			}
		}
	}
}

func TestPeriods_AStateTooLargeToCloseStillDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{PeriodLength: 4})
	c := w.opened(strings.Repeat("n", 900_000))
	for range 6 {
		w.must(w.one, add{ID: c, Step: 1}, w.meta())
	}
	if got := w.state(c).Sum; got != 6 {
		t.Errorf("sum %d", got)
	}
}

func TestPeriods_IfMatchHoldsOverTheBoundary(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{PeriodLength: 5})
	c := w.opened()
	seen := w.must(w.one, add{ID: c, Step: 1, Times: 2}, w.meta()).Revision // 3: the next command closes first
	m := w.meta()
	m.ExpectedRevision = &seen
	w.must(w.one, add{ID: c, Step: 0}, w.meta()) // closes the period and changes nothing
	r := w.must(w.two, add{ID: c, Step: 1}, m)
	if r.Revision != 0 || !r.Changed {
		t.Errorf("first of the next period: %+v", r)
	}
	old := seen
	m = w.meta()
	m.ExpectedRevision = &old
	w.fails(w.one, add{ID: c, Step: 1}, m, "stale_revision")
}

// closedFirst writes a stream whose first event closes its period with an opening.
func (w *world) closedFirst(opening string) id.Subscriber {
	w.t.Helper()
	c := id.New[id.Subscriber]()
	meta := events.Metadata{
		EventID: id.New[id.Event](), CommandID: id.New[id.Command](), AggregateID: id.Any(c), OrgID: w.org,
		Actor: events.Actor{Kind: events.ActorProcess, ID: "bus"}, At: start,
	}
	_, err := w.Store.Append(w.t.Context(), "account-"+c.String(), eventstore.NoStream, []eventstore.New{
		{Event: events.AccountPeriodClosed{SubscriberID: c, Opening: []byte(opening)}, Meta: meta},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func TestPeriods_AnOpeningThatCloseNeverWroteStopsAndNamesItsStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	for _, opening := range []string{`{}`, `null`, `[]`, `{"Sum":3}`} {
		c := w.closedFirst(opening)
		for name, cmd := range map[string]commands.Command{
			"a command": add{ID: c, Step: 1}, "the first command": open{ID: c, Org: w.org},
		} {
			_, err := w.one.Execute(t.Context(), cmd, w.meta())
			if err == nil || failure.KindOf(err) != failure.Internal ||
				!strings.Contains(err.Error(), "stream account-"+c.String()+" revision 0: opening of account") {
				t.Errorf("%s after %s: %v", name, opening, err)
			}
		}
		if _, _, err := bus.LoadUnchecked[counter](t.Context(), w.two, c); err == nil {
			t.Errorf("%s is read", opening)
		}
	}
}

func TestPeriods_AStateOfNobodyIsNotClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{PeriodLength: 1})
	c := w.opened() // is full before its first event
	w.must(w.one, add{ID: c, Step: 2}, w.meta())
	if got := w.state(c).Sum; got != 2 {
		t.Errorf("sum %d", got)
	}
}

func TestPeriods_TheLargestIfMatchIsNotTheRevisionBeforeTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.closedFirst(`{"Owner":"` + w.org.String() + `","Sum":3}`)
	for _, want := range []uint64{math.MaxUint64, 1} {
		m := w.meta()
		m.ExpectedRevision = &want
		w.fails(w.one, add{ID: c, Step: 1}, m, "stale_revision")
	}
	m, closed := w.meta(), uint64(0)
	m.ExpectedRevision = &closed
	w.must(w.one, add{ID: c, Step: 1}, m)
}

func TestPeriods_LongClosedPeriodsAreNotReadWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{PeriodLength: 2 * eventstore.PageSize})
	c := w.opened()
	m := w.meta()
	w.must(w.one, add{ID: c, Step: 1, Times: 2 * eventstore.PageSize}, m)
	w.must(w.one, add{ID: c, Step: 1}, w.meta())
	cold := w.replica(bus.Config{})
	w.must(cold, add{ID: c, Step: 1, Times: 2 * eventstore.PageSize}, m)
	if got := w.state(c).Sum; got != 2*eventstore.PageSize+1 {
		t.Errorf("counted %d", got)
	}
}

// TestBus_AgreesWithAModel sends random commands, some of them twice, to random replicas with very short periods and
// small caches. It compares the results with a model of plain variables.
func TestBus_AgreesWithAModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{PeriodLength: 4, CachedStreams: 1})
	rapid.Check(t, func(rt *rapid.T) {
		type sent struct {
			cmd  commands.Command
			meta commands.Meta
		}
		var accepted []sent
		counters := []id.Subscriber{id.New[id.Subscriber](), id.New[id.Subscriber]()}
		model := map[id.Subscriber]counter{}
		holder := map[string]id.Subscriber{}
		salt := id.New[id.Any]().String() // names must be unique in the whole log
		for range rapid.IntRange(1, 12).Draw(rt, "commands") {
			b := rapid.SampledFrom([]*bus.Bus{w.one, w.two}).Draw(rt, "bus")
			if len(accepted) > 0 && rapid.IntRange(0, 3).Draw(rt, "repeat") == 0 {
				again := rapid.SampledFrom(accepted).Draw(rt, "which")
				if r, err := b.Execute(t.Context(), again.cmd, again.meta); err != nil || r.Changed {
					rt.Fatalf("repeated %+v: %+v, %v", again.cmd, r, err)
				}
				continue
			}
			c := rapid.SampledFrom(counters).Draw(rt, "counter")
			names := []string{rapid.SampledFrom([]string{"x", "y", "z"}).Draw(rt, "name") + salt}
			cmd := rapid.SampledFrom([]commands.Command{
				open{c, w.org, names}, add{ID: c, Step: rapid.Int64Range(0, 3).Draw(rt, "step"), Times: 1},
				rename{c, names},
			}).Draw(rt, "command")
			m := w.meta()
			_, err := b.Execute(t.Context(), cmd, m)
			if want := applyModel(model, holder, c, cmd, w.org); failure.CodeOf(err) != want {
				rt.Fatalf("%+v: want %q, have %v", cmd, want, err)
			}
			if a, ok := cmd.(add); err == nil && (!ok || a.Step > 0) {
				accepted = append(accepted, sent{cmd, m})
			}
		}
		for _, c := range counters {
			if diff := cmp.Diff(model[c], w.state(c)); diff != "" {
				rt.Fatalf("state (-model +log)\n%s", diff)
			}
		}
	})
}

// applyModel changes the model as the bus should change the aggregate, and returns the expected failure code.
func applyModel(
	model map[id.Subscriber]counter, holder map[string]id.Subscriber, c id.Subscriber, cmd commands.Command,
	org id.Organization,
) string {
	s := model[c]
	var names []string
	switch cmd := cmd.(type) {
	case open:
		if !s.Owner.IsZero() {
			return "counter_exists"
		}
		s.Owner, names = org, cmd.Names
	case rename:
		names = cmd.Names
	case add:
		s.Sum += cmd.Step
	}
	if s.Owner.IsZero() {
		return "counter_not_found"
	}
	for _, n := range names {
		if by, held := holder[n]; held && by != c {
			return "name_taken"
		}
	}
	if names != nil {
		for _, n := range s.Names {
			delete(holder, n)
		}
		holder[names[0]] = c
		s.Names = names
	}
	model[c] = s
	return ""
}

func TestPeriods_AReopenedStateLearnsWhenItsPeriodWasClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	opening, err := json.Marshal(counter{Owner: w.org})
	if err != nil {
		t.Fatal(err)
	}
	state, _, err := bus.LoadUnchecked[counter](t.Context(), w.two, w.closedFirst(string(opening)))
	if err != nil || !state.Closed.Equal(start) {
		t.Errorf("closed at %s, %v", state.Closed, err)
	}
}
