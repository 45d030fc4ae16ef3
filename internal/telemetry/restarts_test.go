package telemetry_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// endSize is how many sessions one transaction of these tests may end.
const endSize = 3

// small makes the tables refuse statements that end or delete more sessions than a transaction may.
func (k *kit) small(t *testing.T) {
	t.Helper()
	k.SmallEnds(endSize)
	sql := strings.NewReplacer("{schema}", k.schema(), "{most}", fmt.Sprint(endSize)).Replace(`
		create function {schema}.bound_ends() returns trigger language plpgsql as $$begin
			if (select count(*) from was w left join {schema}.sessions s on s.id = w.id
				where s.id is null or w.ended_at is null and s.end_reason in ('router_restarted', 'lost')) > {most}
			then raise 'one statement ends too many sessions'; end if; return null; end$$;
		create trigger bound_ends after update on {schema}.sessions referencing old table as was
			for each statement execute function {schema}.bound_ends();
		create trigger bound_deletes after delete on {schema}.sessions referencing old table as was
			for each statement execute function {schema}.bound_ends()`)
	if _, err := k.db.Owner.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// occupy begins n sessions of a router at noon.
func (k *kit) occupy(t *testing.T, device id.Device, n int) {
	t.Helper()
	var list []telemetry.Report
	for i := range n {
		list = append(list, k.start(device, i, 0))
	}
	k.commit(t, list...)
}

// on is a report of a router that it begins to account, a minute after noon.
func (k *kit) on(device id.Device) telemetry.Report {
	return telemetry.Report{Kind: telemetry.On, Org: k.org, Device: device, At: noon.Add(time.Minute)}
}

// reasons counts the sessions of a router by why they ended.
func (k *kit) reasons(t *testing.T, device id.Device) map[string]int {
	t.Helper()
	list := map[string]int{}
	for _, one := range k.rows(t.Context(), t, device) {
		list[one.Reason]++
	}
	return list
}

// TestCommit_ARestartOfARouterWithManySessionsEndsThemInSteps: the restart itself is kept when few are left.
func TestCommit_ARestartOfARouterWithManySessionsEndsThemInSteps(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.small(t)
	k.Bound(8)
	k.occupy(t, k.device, 8)
	other := id.New[id.Device]()
	k.occupy(t, other, 2)
	restarts := []telemetry.Report{k.on(k.device), k.on(other)}
	clock := noon
	for step, want := range []bool{false, false, true} {
		if _, err := k.Commit(t.Context(), k.now(&clock), restarts); err == nil {
			t.Fatalf("step %d: all ends at once", step)
		}
		if all, err := k.CloseRestarted(t.Context(), restarts[0]); all != want || err != nil {
			t.Fatalf("step %d: these are all: %v, %v", step, all, err)
		}
	}
	done, err := k.Commit(t.Context(), k.now(&clock), append(restarts, k.start(k.device, 9, 2*time.Minute)))
	if err != nil || len(done.Crowded) > 0 {
		t.Fatalf("%v, no room for %v", err, done.Crowded)
	}
	for device, want := range map[id.Device]map[string]int{
		k.device: {telemetry.ReasonRestarted: 8, "": 1}, other: {telemetry.ReasonRestarted: 2},
	} {
		if got := k.reasons(t, device); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
		if at := done.Restarts[device]; !at.Equal(noon.Add(time.Minute)) {
			t.Errorf("it restarted at %v", at)
		}
	}
}

// TestRecorder_RestartsOfFullRoutersHoldNoOtherUp: each has several turns, and what follows it in its organization
// comes after it.
func TestRecorder_RestartsOfFullRoutersHoldNoOtherUp(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.small(t)
	var list []telemetry.Report
	routers := make([]id.Device, 4)
	for i := range routers {
		routers[i] = id.New[id.Device]()
		k.occupy(t, routers[i], 10)
		list = append(list, k.on(routers[i]), k.start(routers[i], 20, 2*time.Minute))
	}
	_, calm := k.neighbours(1)
	closed, before := 0, -1
	r := telemetry.NewRecorder(telemetry.Config{
		Store: k.Store, Directory: k.directory(), SpoolDir: t.TempDir(),
		Began: func(r telemetry.Report) {
			if r.Org != k.org {
				before = closed
			}
		},
	})
	r.AlwaysSpool()
	filled := make(chan struct{})
	r.Watch(func(step string) {
		switch step {
		case "before commit":
			<-filled
		case "closed":
			closed++
		}
	}, func(time.Duration) {})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	record(r, append(list, calm)...)
	close(filled)
	settle(t, r)
	r.Stop()
	if before < 0 || before > 1 || closed != 4*len(routers) {
		t.Errorf("the other one's session is kept after %d of %d steps", before, closed)
	}
	for _, device := range routers {
		if got := k.reasons(t, device); got[telemetry.ReasonRestarted] != 10 || got[""] != 1 {
			t.Errorf("%v", got)
		}
	}
	if got := r.Status(); got.Dropped != 0 {
		t.Errorf("%+v", got)
	}
}

// TestRecorder_AKillBetweenTheStepsOfARestartLeavesNoSessionOpen: the report of it waits on the disk.
func TestRecorder_AKillBetweenTheStepsOfARestartLeavesNoSessionOpen(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.small(t)
	seen := map[string]bool{}
	for n := 1; ; n++ {
		device, dir := id.New[id.Device](), t.TempDir()
		k.occupy(t, device, 8)
		death := &telemetry.Death{At: n, Dead: make(chan struct{})}
		first := k.recorder(t, k.Store, dir, death)
		kept := len(tell(first, death, []telemetry.Report{k.on(device), k.start(device, 20, 2*time.Minute)}))
		for len(death.Names()) < n && first.Spooled() {
			runtime.Gosched()
		}
		first.Stop()
		second := k.recorder(t, k.Store, dir, nil)
		settle(t, second)
		second.Stop()
		got := k.reasons(t, device)
		if open := got[""]; kept > 0 && got[telemetry.ReasonRestarted] != 8 || kept > 1 && open != 1 {
			t.Errorf("killed at step %d %v, %d reports acknowledged: %v", n, death.Names(), kept, got)
		}
		for _, name := range death.Names() {
			seen[name] = true
		}
		if len(death.Names()) < n {
			break
		}
	}
	if !seen["closed"] {
		t.Errorf("only the steps %v", seen)
	}
}

// TestSessions_ManyThatAreLostOrForgottenGoInSteps: so that no report waits for all of them.
func TestSessions_ManyThatAreLostOrForgottenGoInSteps(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.small(t)
	k.occupy(t, k.device, 3*endSize)
	k.commit(t, k.start(k.device, 20, time.Hour))
	silent := telemetry.Silence{Since: noon.Add(time.Minute)}
	if n, err := k.CloseLost(t.Context(), silent); n != 3*endSize || err != nil {
		t.Errorf("%d are lost, %v", n, err)
	}
	if got := k.reasons(t, k.device); got[telemetry.ReasonLost] != 3*endSize || got[""] != 1 {
		t.Errorf("%v", got)
	}
	if err := k.Forget(t.Context(), k.org, k.subscriber); err != nil {
		t.Error(err)
	}
	if n := len(k.rows(t.Context(), t, k.device)); n != 0 {
		t.Errorf("%d are not forgotten", n)
	}
}
