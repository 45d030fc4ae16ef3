package routerplan_test

import (
	"context"
	"net/netip"
	"os"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// A router has a script of the same number from an older program, in testdata/bootstrap-before.rsc. Its API user may
// log in from anywhere, which only the script can repair; the present script repairs all.
func TestUpgrade_AScriptOfAnOlderProgramIsTold(t *testing.T) {
	t.Parallel()
	before, err := os.ReadFile("testdata/bootstrap-before.rsc")
	if err != nil {
		t.Fatal(err)
	}
	script, err := routerplan.Bootstrap(bootstrapConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range releases {
		sim, err := router.New(router.Config{Routers: []router.RouterConfig{{
			Name: "r1", Version: version, Password: "secret", Tunnel: netip.MustParseAddr("10.99.0.2"),
		}}, Clock: manual()})
		if err == nil {
			err = sim.Start(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = sim.Stop(context.Background()) })
		r := sim.Router("r1")
		compare := func(text string) routerplan.Diff {
			if out, err := r.Script(text); err != nil {
				t.Fatalf("%s: %v: %s", version, err, out)
			}
			return routerplan.CompareSetup(read(t, r, setupMenus()), setupOf(),
				routerplan.ParseVersion(version))
		}
		var paths []string
		for _, x := range compare(string(before)).Resources() {
			if commands.ScriptOnly(x) {
				paths = append(paths, x.Path)
			}
		}
		if len(paths) == 0 || paths[0] != routerplan.MenuUser {
			t.Errorf("%s: after the former script only %v is left for the script", version, paths)
		}
		if d := compare(script); !d.InSync() {
			t.Errorf("%s: after the present script: %+v", version, d.Resources())
		}
	}
}
