package cpeviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// Each operation shows how far it has come, what the server made of it, and who asked for it.
func TestOperations_Story(t *testing.T) {
	t.Parallel()
	acme, jane := id.Derive[id.Organization]("test", "acme"), id.Derive[id.User]("test", "jane")
	story := projectiontest.NewStory(acme, began).With(func(m *events.Metadata) {
		m.Actor = events.Actor{Kind: events.ActorUser, ID: jane.String(), Role: "admin"}
	})
	for i, name := range []string{"queued", "begun", "sent", "confirmed", "failed", "expired", "measured"} {
		about := events.CpeOperationSubject{
			OperationID: id.Derive[id.CPEOperation]("test", name), CpeID: id.Derive[id.CPE]("test", "box"), OrgID: acme,
		}
		at := func(n int) time.Time { return began.Add(time.Duration(10*i+n) * time.Minute) }
		life := []events.Event{
			events.CpeOperationQueued{
				CpeOperationSubject: about, Kind: events.CpeParameters, Names: []string{"Device.DeviceInfo.X"},
				ExpiresAt: at(60), At: at(0),
			},
			events.CpeOperationBegan{CpeOperationSubject: about, At: at(1)},
			events.CpeOperationSent{
				CpeOperationSubject: about, Call: "queued", Tasks: []events.CpeTask{{ID: "5403", Name: "reboot"}},
				At: at(2),
			},
		}
		switch name {
		case "queued":
			life = life[:1]
		case "begun":
			life = life[:2]
		case "confirmed":
			life = append(life, events.CpeOperationConfirmed{CpeOperationSubject: about, At: at(3)})
		case "measured":
			life = append(life, events.CpeOperationMeasured{
				CpeOperationSubject: about, Kind: events.CpeSpeedTest, At: at(3),
				Result: events.CpeTestResult{
					BeganAt: at(2), EndedAt: at(3), Bytes: 10_000_000, BitsPerSecond: 1_333_333,
				},
			}, events.CpeOperationConfirmed{CpeOperationSubject: about, At: at(3)})
		case "failed":
			life = append(life, events.CpeOperationFailed{
				CpeOperationSubject: about, Code: "cwmp.9007", Message: "invalid value", At: at(3),
			})
		case "expired":
			life = append(life[:2], events.CpeOperationExpired{CpeOperationSubject: about, At: at(60)})
		}
		story.Add("cpeoperation-"+name, life...)
	}
	projectiontest.Check(t, cpeviews.Operations{}, story)
}
