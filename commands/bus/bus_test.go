package bus_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

func TestExecute_ACommandActsOnceWithAForeignEventBetween(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c, m := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}, w.meta()
	for _, cmd := range []commands.Command{
		c, add{ID: c.ID, Step: 5, Times: 2}, rename{ID: c.ID, Names: []string{"m"}},
	} {
		m.CommandID = id.New[id.Command]()
		first := w.must(w.one, cmd, m)
		if !first.Changed || first.Stream != cmd.Target().Stream() {
			t.Fatalf("%s: %+v", cmd.CommandName(), first)
		}
		w.must(w.two, add{ID: c.ID, Step: 1}, w.meta())
		first.Changed = false
		for _, b := range []*bus.Bus{w.one, w.two, w.replica(bus.Config{})} {
			if again := w.must(b, cmd, m); again.Revision != first.Revision || again.Stream != first.Stream ||
				again.Changed {
				t.Fatalf("%s repeated: %+v, want %+v", cmd.CommandName(), again, first)
			}
		}
	}
	if diff := cmp.Diff(counter{Owner: w.org, Sum: 13, Names: []string{"m"}}, w.state(c.ID)); diff != "" {
		t.Errorf("state (-want +have)\n%s", diff)
	}
}

func TestExecute_AlreadySoChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	before := w.must(w.one, add{ID: c, Step: 1}, w.meta())
	r := w.must(w.two, add{ID: c, Step: 0}, w.meta())
	if r.Changed || r.Revision != before.Revision || r.Position != before.Position {
		t.Errorf("have %+v after %+v", r, before)
	}
}

func TestExecute_ConcurrentCommandsOfTwoReplicasAllCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{PeriodLength: 20})
	c := w.opened()
	var wg sync.WaitGroup
	for _, b := range []*bus.Bus{w.one, w.two} {
		for range 4 {
			wg.Go(func() {
				for range 10 {
					m := w.meta()
					for {
						_, err := b.Execute(t.Context(), add{ID: c, Step: 1}, m)
						if err == nil {
							break
						}
						if failure.CodeOf(err) != "concurrent_change" {
							t.Errorf("add: %v", err)
							return
						}
					}
				}
			})
		}
	}
	wg.Wait()
	if got := w.state(c).Sum; got != 80 {
		t.Errorf("counted %d, want 80", got)
	}
}

func TestExecute_IfMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	seen := w.must(w.one, add{ID: c, Step: 1}, w.meta()).Revision
	w.must(w.two, add{ID: c, Step: 1}, w.meta())
	m := w.meta()
	m.ExpectedRevision = &seen
	_, err := w.one.Execute(t.Context(), add{ID: c, Step: 1}, m)
	if failure.KindOf(err) != failure.Stale || failure.CodeOf(err) != "stale_revision" {
		t.Fatalf("old revision: %v", err)
	}
	*m.ExpectedRevision++
	now := w.must(w.one, add{ID: c, Step: 1}, m)
	if again := w.must(w.two, add{ID: c, Step: 1}, m); again.Revision != now.Revision {
		t.Errorf("repeated with the same If-Match: %+v, want %+v", again, now)
	}
}

func TestExecute_AnotherOrganizationSeesWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	foreign := w.meta()
	foreign.OrgID = id.New[id.Organization]()
	_, hidden := w.one.Execute(t.Context(), add{ID: c, Step: 1}, foreign)
	_, absent := w.one.Execute(t.Context(), add{ID: id.New[id.Subscriber](), Step: 1}, foreign)
	if failure.KindOf(hidden) != failure.NotFound || hidden.Error() != absent.Error() {
		t.Errorf("hidden: %v; absent: %v", hidden, absent)
	}
	w.fails(w.one, open{ID: c, Org: foreign.OrgID}, foreign, "not_found")
	// on behalf of another organization
	w.fails(w.one, open{ID: id.New[id.Subscriber](), Org: w.org}, foreign, "not_found")
	if got := w.state(c).Sum; got != 0 {
		t.Errorf("counted %d", got)
	}
}

func TestExecute_OnlyThePlatformActsForNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	for _, actor := range []events.Actor{
		{Kind: events.ActorProcess, ID: "renewal"}, {Kind: events.ActorProvider, ID: "mpesa"}, {
			Kind: events.ActorOperator,
		},
		{Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: string(events.RoleSuperAdmin)},
	} {
		w.must(w.one, add{ID: c, Step: 1}, commands.Meta{CommandID: id.New[id.Command](), Actor: actor})
	}
	for _, actor := range []events.Actor{
		{Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: string(events.RoleAdmin)},
		{Kind: events.ActorPublic}, {Kind: events.ActorAPIKey},
	} {
		w.fails(w.one, add{ID: c, Step: 1}, commands.Meta{CommandID: id.New[id.Command](), Actor: actor},
			"organization_required")
	}
	w.fails(w.one, add{ID: c, Step: 1}, commands.Meta{OrgID: w.org}, "command_id_required")
	w.fails(w.one, add{ID: c, Step: -1}, w.meta(), "invalid_input")
	w.fails(w.one, add{Step: 1}, w.meta(), "invalid_input")
}

func TestExecute_NothingIsRecordedWithoutAnActor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	for _, actor := range []events.Actor{{}, {ID: "nobody"}, {Role: string(events.RoleSuperAdmin)}} {
		meta := commands.Meta{CommandID: id.New[id.Command](), OrgID: w.org, Actor: actor}
		_, err := w.one.Execute(t.Context(), add{ID: c, Step: 1}, meta)
		if err == nil || failure.KindOf(err) != failure.Internal || !strings.Contains(err.Error(), "has no actor") {
			t.Errorf("%+v: %v", actor, err)
		}
	}
	if all, err := w.Store.Read(t.Context(), "account-"+c.String(), 0); err != nil || len(all) != 2 {
		t.Errorf("%d events, %v", len(all), err)
	}
}

func TestExecute_EveryEventSaysWhoWhenAndWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	m := w.meta()
	m.IP, m.RequestID, m.CausationID, m.Reason = "203.0.113.9", "r-1", "cause", "because"
	w.must(w.one, add{ID: c, Step: 1, Times: 2}, m)
	platform := commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess, ID: "renewal"},
		CorrelationID: "chain",
	}
	w.must(w.one, add{ID: c, Step: 1}, platform)
	all, err := w.Store.Read(t.Context(), "account-"+c.String(), 2)
	if err != nil || len(all) != 3 {
		t.Fatalf("read %d events, %v", len(all), err)
	}
	want := events.Metadata{
		EventID: all[0].ID, CommandID: m.CommandID, AggregateID: id.Any(c), Action: "test.Add", OrgID: w.org,
		Actor: m.Actor, IP: personal.Of(m.IP), RequestID: "r-1", CorrelationID: m.CommandID.String(),
		CausationID: "cause", Said: personal.Of("because"), SaidOf: id.Any(all[0].Meta.IPSubject()), At: start,
	}
	if diff := cmp.Diff(want, all[0].Meta); diff != "" {
		t.Errorf("metadata (-want +have)\n%s", diff)
	}
	if all[0].ID == all[1].ID || uuid.UUID(all[0].ID).Version() != 5 {
		t.Errorf("event ids %s and %s", all[0].ID, all[1].ID)
	}
	if got := all[2].Meta; got.OrgID != w.org || got.CorrelationID != "chain" {
		t.Errorf("metadata of a process's command: %+v", got)
	}
}

func TestExecute_AnOutageIsSurvivedOrTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	w.StopNode()
	w.fails(w.one, add{ID: c, Step: 1}, w.meta(), "eventstore_unavailable")
	m, done := w.meta(), make(chan struct{})
	go func() {
		defer close(done)
		w.untilAvailable(w.one, add{ID: c, Step: 1}, m)
	}()
	w.StartNode()
	<-done
	w.untilAvailable(w.two, add{ID: c, Step: 1}, m)
	if got := w.state(c).Sum; got != 1 {
		t.Errorf("counted %d, want 1", got)
	}
}

func TestExecute_RefusesWhatIsNotRegistered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	empty := bus.New(bus.Config{Store: w.Store, Clock: w.clock})
	if _, err := empty.Execute(t.Context(), add{ID: id.New[id.Subscriber](), Step: 1}, w.meta()); err == nil ||
		!strings.Contains(err.Error(), "account") {
		t.Errorf("execute: %v", err)
	}
	if _, _, err := bus.LoadUnchecked[int](t.Context(), w.one, id.New[id.Subscriber]()); err == nil {
		t.Error("load with another state type gave no error")
	}
}

func TestStored_CommandsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	b := bus.New(bus.Config{})
	bus.Register(b, counters())
	want := add{ID: id.New[id.Subscriber](), Step: 3, Times: 2}
	name, body, err := b.EncodeStored(want)
	if err != nil || name != "test.Add" {
		t.Fatalf("encode: %q, %v", name, err)
	}
	got, err := b.DecodeStored(name, body)
	if err != nil || got != commands.Command(want) {
		t.Fatalf("decode: %+v, %v", got, err)
	}
	empty := bus.New(bus.Config{})
	if _, _, err := empty.EncodeStored(rename{}); err == nil {
		t.Error("a command that is not registered was encoded")
	}
	if _, err := empty.DecodeStored("test.Rename", body); err == nil {
		t.Error("a command that is not registered was decoded")
	}
	if _, err := b.DecodeStored(name, []byte("{")); err == nil {
		t.Error("half a command was decoded")
	}
}

func TestStored_ACommandThatCanHoldPersonalTextIsRefused(t *testing.T) {
	t.Parallel()
	b := bus.New(bus.Config{})
	bus.Register(b, counters())
	if _, body, err := b.EncodeStored(nickname{}); err == nil || !strings.Contains(err.Error(), "personal") {
		t.Errorf("encoded %s, %v", body, err)
	}
}

func TestRegister_TwoCommandsOfOneNamePanic(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("the second command took the name of the first")
		}
	}()
	twice := counters()
	twice.Commands = append(twice.Commands, add{})
	bus.Register(bus.New(bus.Config{}), twice)
}
