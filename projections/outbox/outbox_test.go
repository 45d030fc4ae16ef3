package outbox_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// Each detected difference is a message with the data of docs/rules/webhooks.md#outbox; other events are none.
func TestOutbox_Story(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	acme, device, service := id.Derive[id.Organization]("test", "acme"), id.Derive[id.Device]("test", "tower"),
		id.Derive[id.Service]("test", "homes")
	drift := func(hash string) events.ServiceDriftDetected {
		return events.ServiceDriftDetected{
			ServiceID: service, OrgID: acme, DeviceID: device, FirstSeenAt: began, Hash: hash, At: began,
			Resources: []events.DriftedResource{
				{Path: "ip/pool", Kind: "missing", Name: "pool", Expected: map[string]string{"ranges": "a"}},
			},
		}
	}
	story := projectiontest.NewStory(acme, began).Add("nasservice-homes", drift("one"),
		events.ServiceDriftCleared{ServiceID: service, DeviceID: device, At: began}, drift("two")).
		Add("nasdevice-tower", events.DeviceSetupDrifted{
			DeviceID: device, OrgID: acme, FirstSeenAt: began, Hash: "three", At: began,
			Resources: []events.DriftedResource{{
				Path: "radius", Kind: "changed", Name: "Platform", Expected: map[string]string{"timeout": "3s"},
				Actual: map[string]string{"timeout": "1s"},
			}},
		}, events.DeviceSetupCleared{DeviceID: device, At: began})
	customer := events.DunningSubject{
		SubscriptionID: id.Derive[id.Subscription]("test", "line"), OrgID: acme,
		SubscriberID: id.Derive[id.Subscriber]("test", "amina"),
	}
	step := events.DunningStep{
		DueAt: began, Due: money.Major(1500, money.KES), At: began, PlanID: id.Derive[id.Plan]("test", "home"),
		InvoiceIDs: []id.Invoice{id.Derive[id.Invoice]("test", "1")},
	}
	prepaid := events.DunningStep{DueAt: began, Due: money.Of(0, money.KES), At: began}
	still := prepaid // a write-off was proposed, and is not any more
	still.Before = events.DunningWrittenOff
	known, old := step, step // a write-off is proposed after the suspension, and together with it
	known.Before, old.Before = events.DunningSuspended, events.DunningWalledGarden
	story = story.Add("dunning-line", events.DunningBegan{DunningSubject: customer, DunningStep: step},
		events.WalledGardenEntered{DunningSubject: customer, DunningStep: step},
		events.ServiceSuspended{DunningSubject: customer, DunningStep: prepaid},
		events.WriteOffProposed{DunningSubject: customer, DunningStep: known},
		events.ServiceSuspended{DunningSubject: customer, DunningStep: still},
		events.WriteOffProposed{DunningSubject: customer, DunningStep: old})
	projectiontest.Check(t, outbox.Outbox{}, story)
}
