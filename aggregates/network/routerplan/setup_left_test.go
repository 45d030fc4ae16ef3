package routerplan_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// What a run left in the scheduler would restore an old state at a power cut months later. It is a difference until it
// is removed, and the same one whenever it is read; the entries of a run in progress, and of the operator, are none.
func TestSetup_ARollbackThatWasLeftIsToldAndRemoved(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		now := manual()
		r, v := bootstrapped(t, version, now), routerplan.ParseVersion(version)
		compare := func(running ...id.Run) routerplan.Diff {
			want := setupOf()
			want.Running = running
			return routerplan.CompareSetup(read(t, r, setupMenus()), want, v)
		}
		run := id.New[id.Run]()
		write(t, r, routerplan.Arm(read(t, r, setupMenus()), run, 0))
		for _, entry := range []router.Item{
			{"name": "platform-rollback-2", "comment": "Platform"}, {"name": "mine", "comment": "Platform"},
		} {
			if _, err := r.Do("system/scheduler", "add", entry); err != nil {
				t.Fatal(err)
			}
		}
		if d := compare(run); len(d.Differences) != 1 || d.Differences[0].Name != "platform-rollback-2" {
			t.Errorf("%s: while the run is in progress: %+v", version, d.Resources())
		}
		d := compare(id.New[id.Run]())
		var told []string
		for _, x := range d.Resources() {
			told = append(told, x.Path+" "+x.Kind+" "+x.Name)
			if commands.ScriptOnly(x) {
				t.Errorf("%s: %+v is left for the script", version, x)
			}
		}
		if !slices.Equal(told, []string{
			"system/scheduler extra platform-rollback-boot", "system/scheduler extra platform-rollback",
			"system/scheduler extra platform-rollback-2",
		}) {
			t.Errorf("%s: told is %v", version, told)
		}
		r.StepClock(-365 * 24 * time.Hour)
		if _, err := r.Do("system/scheduler", "set", router.Item{
			"numbers": routerplan.RollbackName, "on-event": ":put x",
		}); err != nil {
			t.Fatal(err)
		}
		if again := compare(); again.Hash() != d.Hash() {
			t.Errorf("%s: told again as %+v", version, again.Resources())
		}
		if risky := routerplan.Risky(d.Plan()); len(risky) > 0 {
			t.Errorf("%s: risky are %v", version, shown(risky))
		}
		write(t, r, d.Plan())
		left := read(t, r, []string{routerplan.MenuScheduler})[routerplan.MenuScheduler]
		if d := compare(); !d.InSync() || len(left) != 1 || left[0]["name"] != "mine" {
			t.Errorf("%s: after the repair: %+v, the scheduler has %v", version, d.Resources(), left)
		}
	}
}
