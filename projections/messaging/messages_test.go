package messagingviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// Each message has a row with its latest state, and no address once the customer was forgotten.
func TestMessages_Story(t *testing.T) {
	t.Parallel()
	began, acme := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), id.Derive[id.Organization]("test", "acme")
	story := projectiontest.NewStory(acme, began)
	for _, name := range []string{
		"waiting", "sent", "failed", "dropped", "taken up", "told", "forgotten", "doubted", "delivered", "missed",
		"turned back",
	} {
		m, who := id.Derive[id.Message]("test", name), id.Derive[id.Subscriber]("test", name)
		list := []events.Event{
			events.MessageQueued{
				MessageID: m, OrgID: acme, SubscriberID: who, SubscriptionID: id.Derive[id.Subscription]("test", name),
				Template: events.ReminderBefore, At: began,
			},
			events.MessageAddressed{
				MessageID: m, SubscriberID: who, Channel: events.ChannelSMS, To: personal.Of("+254711000001"),
				At: began.Add(time.Minute),
			},
			events.MessageSent{MessageID: m, SubscriberID: who, Channel: events.ChannelSMS, At: began.Add(time.Hour)},
		}
		switch name {
		case "waiting":
			of := list[0].(events.MessageQueued)
			of.Template, of.OutageID = events.NoticeOutage, id.Derive[id.Outage]("test", "dark")
			list = []events.Event{of}
		case "failed":
			list = append(list[:2], events.MessageFailed{MessageID: m, SubscriberID: who, Code: "gateway_failed"})
		case "dropped":
			list = append(list[:1], events.MessageDropped{MessageID: m, SubscriberID: who, Code: "expired"})
		case "taken up", "told":
			again := list[0].(events.MessageQueued)
			again.Template, again.At = events.ReminderDue, began.Add(time.Hour)
			again.SubscriptionID = id.Derive[id.Subscription]("test", "other line")
			rest := list[1:]
			dropped := events.MessageDropped{MessageID: m, SubscriberID: who, Code: "no_longer_true"}
			list = append(list[:2:2], dropped, again)
			if name == "told" {
				list = append(list, rest...)
			}
		case "doubted":
			at := began.Add(time.Hour)
			list[2] = events.MessageDoubted{MessageID: m, SubscriberID: who, Channel: events.ChannelSMS, At: at}
		case "delivered", "missed":
			sent := list[2].(events.MessageSent)
			sent.Reference, sent.Cost = "ATXid_"+name, "KES 0.8000"
			missed := events.MessageUndelivered{MessageID: m, SubscriberID: who, Reason: "AbsentSubscriber", At: began}
			list = append(list[:2], sent, missed)
			if name == "delivered" {
				arrived := events.MessageDelivered{MessageID: m, SubscriberID: who, At: began.Add(2 * time.Hour)}
				list = append(list, arrived)
			}
		case "turned back":
			list = turnedBack(list)
		case "forgotten":
			list = append(list, events.SubscriberForgotten{SubscriberID: who})
		}
		story.Add("message-"+name, list...)
	}
	projectiontest.Check(t, messagingviews.Messages{}, story)
}

// turnedBack has a message that went by WhatsApp in vain, and then as it would have gone without.
func turnedBack(list []events.Event) []events.Event {
	there, gone := list[1].(events.MessageAddressed), list[2].(events.MessageSent)
	back, again := there, gone
	there.Channel, gone.Channel, gone.Reference = events.ChannelWhatsApp, events.ChannelWhatsApp, "wamid.1"
	back.Back, back.At = "undelivered", there.At.Add(2*time.Hour)
	again.Reference, again.Cost, again.At = "ATXid_back", "KES 0.8000", back.At
	return append(list[:1], there, gone, events.MessageUndelivered{
		MessageID: gone.MessageID, SubscriberID: gone.SubscriberID, Reason: "Message undeliverable (131026)",
		At: there.At.Add(time.Hour),
	}, back, again)
}
