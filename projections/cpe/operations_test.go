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
	for i, name := range []string{"queued", "begun", "sent", "confirmed", "failed", "expired", "measured", "read"} {
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
		case "read":
			life = append(life, events.CpeOperationSent{
				CpeOperationSubject: about, Call: "ok", At: at(3),
				Tasks: []events.CpeTask{{ID: "5403", Name: "reboot"}, {ID: "5404", Name: "getParameterValues"}},
			})
		case "failed":
			life = append(life, events.CpeOperationFailed{
				CpeOperationSubject: about, Code: "cwmp.9007", Message: "invalid value", At: at(3),
			})
		case "expired":
			life = append(life[:2], events.CpeOperationExpired{CpeOperationSubject: about, At: at(60)})
		}
		story.Add("cpeoperation-"+name, life...)
	}
	for i, name := range []string{"asked", "registered", "ready", "refused", "late", "leaving", "out"} {
		story.Add("cpeonu-"+name, onuLife(acme, name, began.Add(time.Duration(i)*time.Hour))...)
	}
	projectiontest.Check(t, cpeviews.Operations{}, story)
}

// onuLife has the events of an ONU up to a state.
func onuLife(org id.Organization, name string, at time.Time) []events.Event {
	about := events.CpeOnuSubject{
		OnuID: id.Derive[id.CPEOnu]("test", name), CpeID: id.Derive[id.CPE]("test", name), OrgID: org,
		OperationID: id.Derive[id.CPEOperation]("test onu", name),
	}
	place := events.CpeOnuPlace{OrgSlug: "acme", OLT: "hill", Port: "0/1/1", Serial: "HWTC1A2B3C4D", VLAN: 100}
	step := func(name string) events.Event {
		return events.CpeOnuStepDone{CpeOnuSubject: about, Step: name, At: at}
	}
	asked := events.CpeOnuAsked{
		CpeOnuSubject: about, Place: place, Steps: []string{events.CpeOnuRegister, events.CpeOnuTags},
		ExpiresAt: at.Add(24 * time.Hour), At: at,
	}
	ready := []events.Event{
		asked, step(events.CpeOnuRegister), step(events.CpeOnuTags), events.CpeOnuReady{CpeOnuSubject: about, At: at},
	}
	leaving := events.CpeOnuLeaving{CpeOnuSubject: about, Place: place, At: at}
	switch name {
	case "registered":
		return ready[:2]
	case "ready":
		return ready
	case "refused":
		return []events.Event{asked, events.CpeOnuFailed{
			CpeOnuSubject: about, Step: events.CpeOnuRegister, Code: "onu_not_seen", Message: "not seen", At: at,
		}}
	case "late":
		return []events.Event{asked, events.CpeOnuExpired{CpeOnuSubject: about, At: at}}
	case "leaving":
		return append(ready, leaving)
	case "out":
		return append(ready, leaving, events.CpeOnuTakenOut{CpeOnuSubject: about, At: at})
	}
	return []events.Event{asked}
}
