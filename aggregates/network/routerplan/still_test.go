package routerplan_test

import (
	"maps"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
)

// TestStill_KnowsTheRowThatAStepWasMadeFor also checks that Still refuses a different row that has got the same id.
func TestStill_KnowsTheRowThatAStepWasMadeFor(t *testing.T) {
	t.Parallel()
	service := testService(1, events.ServiceHotspot, "ether5", 0)
	service.WalledGarden = events.WalledGarden{Domains: []string{"*.example.com"}, Addresses: []string{"198.51.100.7"}}
	v7 := routerplan.Version{Major: 7, Minor: 16}
	r := newModel(t, nil)
	for _, step := range routerplan.CompareService(r.menu, service, v7).Plan() {
		r.apply(t.Fatalf, step)
	}
	s := r.menu
	for path := range s {
		for i := range s[path] {
			s[path][i]["disabled"] = "true" // a property to set, in every menu that has it
		}
	}
	plans := map[string][]routerplan.Step{
		"set":     routerplan.CompareService(s, service, v7).Plan(),
		"removal": routerplan.CompareRemoval(s, service.ID).Plan(),
		"orphan":  routerplan.CompareDevice(s, nil, v7).Plan(),
	}
	for kind, plan := range plans {
		if len(plan) == 0 {
			t.Fatalf("no steps for %s", kind)
		}
		for _, step := range plan {
			row := find(s[step.Path], step.ID)
			if !step.Touches() || !step.Still(row) {
				t.Errorf("%s of %s: %v is not known again", kind, step.Path, row)
			}
			for name, change := range map[string]routerplan.Row{
				"foreign": {"comment": "mine", "name": "mine", "service-name": "mine"},
				"dynamic": {"dynamic": "true"}, "another id": {".id": "*FF"}, "gone": {".id": ""},
			} {
				other := maps.Clone(row)
				maps.Copy(other, change)
				if step.Still(other) {
					t.Errorf("%s of %s: a row that is %s is taken for it", kind, step.Path, name)
				}
			}
		}
	}
}

// find returns the row with this id; nil without one.
func find(rows []routerplan.Row, id string) routerplan.Row {
	for _, r := range rows {
		if r[".id"] == id {
			return r
		}
	}
	return nil
}
