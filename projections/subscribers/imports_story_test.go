package subscribersviews_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// imported is an import of two parts at Acme, one that waits at Other, one whose rows were lost, and one that began
// again.
func imported() *projectiontest.Story {
	gone := events.ImportFault{Row: 1, Message: "is no longer kept"}
	fault := []events.ImportFault{{Row: 3, Field: "phone", Column: "Mobile", Message: "is wrong"}}
	partly := func(of id.Import) []events.Event {
		return []events.Event{
			events.ImportAsked{ImportID: of, OrgID: acme, Rows: 9, Parts: 2, At: began},
			events.ImportPartDone{ImportID: of, OrgID: acme, Created: 4, Failed: 1, Faults: fault, At: began},
			events.ImportRowsLost{ImportID: of, OrgID: acme, Failed: 4, Fault: gone, At: began},
			events.ImportFinished{ImportID: of, OrgID: acme, At: began},
		}
	}
	one, two := id.Derive[id.Import]("test", "one"), id.Derive[id.Import]("test", "two")
	lost, again := id.Derive[id.Import]("test", "lost"), id.Derive[id.Import]("test", "again")
	return projectiontest.NewStory(acme, began).Add("import-1",
		events.ImportAsked{ImportID: one, OrgID: acme, Source: "daloradius", Rows: 7, Parts: 2, Skipped: 2, Failed: 1,
			Faults: fault, At: began},
		events.ImportPartDone{ImportID: one, OrgID: acme, Part: 0, Created: 2, Skipped: 1, At: began},
		events.ImportPartDone{ImportID: one, OrgID: acme, Part: 1, Failed: 1, Faults: fault, At: began},
		events.ImportFinished{ImportID: one, OrgID: acme, At: began}).
		With(func(m *events.Metadata) { m.OrgID = other }).
		Add("import-2", events.ImportAsked{ImportID: two, OrgID: other, Rows: 7, Parts: 1, At: began}).
		Add("import-3", partly(lost)...).
		Add("import-4", append(partly(again),
			events.ImportBegunAgain{ImportID: again, OrgID: acme, Round: 1, Rows: 9, Parts: 2, Skipped: 3, Failed: 1,
				At: began},
			events.ImportPartDone{ImportID: again, OrgID: acme, Part: 0, Created: 5, At: began})...)
}

func TestImports_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	projectiontest.Check(t, subscribersviews.Imports{}, imported())
}
