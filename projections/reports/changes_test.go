package reportsviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/reports"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// Each kind of change has a row. A reminder, a step that changes no access, and a failure that is tried again by
// itself have none; access that comes back while another grace runs is given back.
func TestChanges_Story(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	acme := id.Derive[id.Organization]("test", "acme")
	amina := id.Derive[id.Subscriber]("test", "amina")
	line := events.DunningSubject{
		SubscriptionID: id.Derive[id.Subscription]("test", "amina"), OrgID: acme, SubscriberID: amina,
	}
	step := func(before events.DunningState, hours int) events.DunningStep {
		return events.DunningStep{Before: before, At: at.Add(time.Duration(hours) * time.Hour)}
	}
	tower := id.Derive[id.Device]("test", "tower")
	service := id.Derive[id.Service]("test", "pppoe")
	payment, message := id.Derive[id.Payment]("test", "p"), id.Derive[id.Message]("test", "m")
	story := projectiontest.NewStory(acme, at).
		Add("subscriber-amina", events.SubscriberRegistered{SubscriberID: amina, OrgID: acme, RegisteredAt: at}).
		Add("dunning-amina",
			events.DunningBegan{DunningSubject: line, DunningStep: step(events.DunningNone, 1)},
			events.WalledGardenEntered{DunningSubject: line, DunningStep: step(events.DunningReminding, 2)},
			events.ServiceSuspended{DunningSubject: line, DunningStep: step(events.DunningWalledGarden, 3)},
			events.WriteOffProposed{DunningSubject: line, DunningStep: step(events.DunningSuspended, 4)},
			events.DunningBegan{DunningSubject: line, DunningStep: step(events.DunningWrittenOff, 5)},
			events.DunningEnded{DunningSubject: line, Before: events.DunningReminding, At: at.Add(6 * time.Hour)},
			events.WriteOffProposed{DunningSubject: line, DunningStep: step(events.DunningReminding, 7)},
			events.DunningEnded{DunningSubject: line, Before: events.DunningWrittenOff, At: at.Add(8 * time.Hour)}).
		Add("payment-p",
			events.PaymentFailed{PaymentID: payment, SubscriberID: amina, At: at.Add(9 * time.Hour)},
			events.PaymentExpired{PaymentID: payment, SubscriberID: amina, At: at.Add(10 * time.Hour)}).
		Add("message-m", events.MessageFailed{MessageID: message, SubscriberID: amina, At: at.Add(11 * time.Hour)}).
		Add("device-tower",
			events.DeviceUnreachable{DeviceID: tower, Error: "no answer", At: at.Add(12 * time.Hour)},
			events.DeviceRecovered{DeviceID: tower, At: at.Add(13 * time.Hour)},
			events.DeviceSetupDrifted{DeviceID: tower, OrgID: acme, At: at.Add(14 * time.Hour)}).
		Add("nasservice-pppoe",
			events.ServiceDriftDetected{ServiceID: service, OrgID: acme, DeviceID: tower, At: at.Add(15 * time.Hour)},
			events.ServiceApplyFailed{ServiceID: service, DeviceID: tower, At: at.Add(16 * time.Hour)},
			events.ServiceApplyFailed{
				ServiceID: service, DeviceID: tower, Refused: true, At: at.Add(17 * time.Hour),
			})
	projectiontest.Check(t, reportsviews.Changes{}, story)
}
