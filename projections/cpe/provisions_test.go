package cpeviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// Each script shows its latest version, and whether the CPE server has it.
func TestProvisions_Story(t *testing.T) {
	t.Parallel()
	acme, jane := id.Derive[id.Organization]("test", "acme"), id.Derive[id.User]("test", "jane")
	story := projectiontest.NewStory(acme, began).With(func(m *events.Metadata) {
		m.Actor = events.Actor{Kind: events.ActorUser, ID: jane.String(), Role: "admin"}
	})
	for i, name := range []string{"waiting", "installed", "refused", "twice", "removing", "removed", "back", "long"} {
		about := events.CpeProvisionSubject{ProvisionID: id.Derive[id.CPEProvision]("test", name), OrgID: acme}
		at := func(n int) time.Time { return began.Add(time.Duration(10*i+n) * time.Minute) }
		write := func(version int) events.CpeProvisionWritten {
			return events.CpeProvisionWritten{
				CpeProvisionSubject: about, Name: name, StoredName: "acme-" + name, Place: i + 1, Tag: "org:acme",
				Version: version, Script: "log(1);", At: at(version),
			}
		}
		installed := events.CpeProvisionInstalled{CpeProvisionSubject: about, Version: 1, At: at(1)}
		removed := events.CpeProvisionRemoved{CpeProvisionSubject: about, Version: 2, At: at(2)}
		gone := events.CpeProvisionUninstalled{CpeProvisionSubject: about, Version: 2, At: at(3)}
		life := []events.Event{write(1)}
		switch name {
		case "installed":
			life = append(life, installed)
		case "refused":
			life = append(life, events.CpeProvisionRefused{
				CpeProvisionSubject: about, Version: 1, Code: "name_taken", Message: "taken", At: at(1),
			})
		case "twice":
			life = append(life, installed, write(2))
		case "removing":
			life = append(life, installed, removed)
		case "removed":
			life = append(life, installed, removed, gone)
		case "back":
			life = append(life, installed, removed, gone, write(3))
		case "long":
			life = append(life, events.CpeProvisionPeriodClosed{CpeProvisionSubject: about, Opening: []byte("{}")})
		}
		story.Add("cpeprovision-"+name, life...)
	}
	projectiontest.Check(t, cpeviews.Provisions{}, story)
}
