package routerplan_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
)

// A hotspot has no comment. The one that an operator renamed is still the service's, by its profile: its customers are
// counted, it gets its name back, and it goes with the service.
func TestHotspot_RenamedByTheOperatorIsStillTheServices(t *testing.T) {
	t.Parallel()
	r, service := newModel(t, nil), working(events.ServiceHotspot)
	r.run(t.Fatalf, routerplan.CompareService(r.menu, service, modern).Plan(), 100)
	r.menu[routerplan.MenuHotspot][0]["name"] = "cafe"
	r.menu[routerplan.MenuHotspotActive] = []routerplan.Row{
		{".id": "*A", "server": "cafe", "user": "jane"}, {".id": "*B", "server": "another", "user": "joe"},
	}
	if n := routerplan.Sessions(r.menu, service); n != 1 {
		t.Errorf("%d sessions", n)
	}
	d := routerplan.CompareService(r.menu, service, modern)
	if told := d.Resources(); len(told) != 1 || told[0].Kind != "changed" || told[0].Actual["name"] != "cafe" {
		t.Errorf("told is %+v", told)
	}
	steps := d.Plan()
	if len(steps) != 1 || !steps[0].Still(r.menu[routerplan.MenuHotspot][0]) {
		t.Errorf("repaired by %+v", steps)
	}
	delete(r.menu, routerplan.MenuHotspotActive)
	r.run(t.Fatalf, routerplan.CompareRemoval(r.menu, service.ID).Plan(), 100)
	if left := r.menu[routerplan.MenuHotspot]; len(left) > 0 {
		t.Errorf("after the removal %v is left", left)
	}
}
