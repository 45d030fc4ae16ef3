package messaging_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// One message of these tests, asked for by one job.
var (
	now   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	which = id.Derive[id.Message]("test", "message")
	who   = id.Derive[id.Subscriber]("test", "amina")
	job   = id.Derive[id.Any]("test", "job")
	asked = commands.QueueMessage{
		MessageID: which, OrgID: id.Derive[id.Organization]("test", "acme"), SubscriberID: who,
		Template: events.ReminderDue, Until: now.Add(time.Hour), Sender: job,
	}
	queued = events.MessageQueued{
		MessageID: which, OrgID: asked.OrgID, SubscriberID: who, Template: events.ReminderDue,
		Until: asked.Until, Sender: job, At: now,
	}
	addressed = events.MessageAddressed{
		MessageID: which, SubscriberID: who, Channel: events.ChannelSMS, To: personal.Of("+254711000001"), At: now,
	}
	sent = events.MessageSent{
		MessageID: which, SubscriberID: who, Template: events.ReminderDue, Channel: events.ChannelSMS, At: now,
	}
)

func TestMessage_IsAskedForOnceAndEndsOnce(t *testing.T) {
	t.Parallel()
	other := asked
	other.Sender = id.Derive[id.Any]("test", "other job")
	address := commands.AddressMessage{MessageID: which, Channel: events.ChannelSMS, To: addressed.To}
	confirm := commands.ConfirmMessage{MessageID: which}
	fail := commands.FailMessage{MessageID: which, Code: "no_address"}
	drop := commands.DropMessage{MessageID: which, Code: "expired"}
	given := func(list ...events.MessageEvent) *decidertest.Scenario[
		messaging.Message, commands.MessageCommand, events.MessageEvent,
	] {
		return decidertest.For(t, messaging.Messages(), now).Given(list...)
	}
	given().When(asked).Then(queued)
	given().When(confirm).ThenFails("not_found")
	given(queued).When(other).ThenNothing()
	given(queued).When(confirm).ThenFails("message_over")
	given(queued).When(address).Then(addressed)
	given(queued, addressed).When(confirm).Then(sent)
	given(queued).When(fail).Then(events.MessageFailed{
		MessageID: which, SubscriberID: who, Template: events.ReminderDue, Code: "no_address", At: now,
	})
	dropped := events.MessageDropped{
		MessageID: which, SubscriberID: who, Template: events.ReminderDue, Code: "expired", At: now,
	}
	given(queued).When(drop).Then(dropped)
	given(queued, addressed, dropped).When(asked).ThenNothing()
	again := queued
	again.Sender = other.Sender
	given(queued, addressed, dropped).When(other).Then(again)
	given(queued, addressed, dropped, again).When(confirm).ThenFails("message_over") // it has no address yet
	given(queued, dropped, again).When(address).Then(addressed)
	over := given(queued, addressed, sent)
	over.When(asked).ThenNothing()
	over.When(other).ThenNothing()
	over.When(address).ThenFails("message_over")
	over.When(confirm).ThenFails("message_over")
	over.When(fail).ThenNothing()
	over.When(drop).ThenNothing()
}

// TestMessage_AReportIsTakenOnceAndWhatArrivedStaysSo: reports come twice and out of order.
func TestMessage_AReportIsTakenOnceAndWhatArrivedStaysSo(t *testing.T) {
	t.Parallel()
	arrived := commands.ReportMessage{MessageID: which, Delivered: true}
	missed := commands.ReportMessage{MessageID: which, Reason: "AbsentSubscriber"}
	doubt := commands.DoubtMessage{MessageID: which}
	delivered := events.MessageDelivered{MessageID: which, SubscriberID: who, At: now}
	undelivered := events.MessageUndelivered{
		MessageID: which, SubscriberID: who, Template: events.ReminderDue, Reason: "AbsentSubscriber", At: now,
	}
	doubted := events.MessageDoubted{
		MessageID: which, SubscriberID: who, Template: events.ReminderDue, Channel: events.ChannelSMS, At: now,
	}
	given := func(list ...events.MessageEvent) *decidertest.Scenario[
		messaging.Message, commands.MessageCommand, events.MessageEvent,
	] {
		return decidertest.For(t, messaging.Messages(), now).Given(list...)
	}
	given(queued, addressed).When(arrived).ThenFails("message_over")
	given(queued, addressed).When(doubt).Then(doubted)
	given(queued).When(doubt).ThenFails("message_over")
	given(queued, addressed, sent).When(doubt).ThenFails("message_over")
	for _, end := range []events.MessageEvent{sent, doubted} {
		given(queued, addressed, end).When(arrived).Then(delivered)
		given(queued, addressed, end).When(missed).Then(undelivered)
	}
	given(queued, addressed, sent, undelivered).When(missed).ThenNothing()
	given(queued, addressed, sent, undelivered).When(arrived).Then(delivered)
	given(queued, addressed, sent, undelivered, delivered).When(missed).ThenNothing()
	given(queued, addressed, sent, delivered).When(arrived).ThenNothing()
}

// TestMessage_TakesTheWayBackOnceFromWhatsAppAlone: not when it arrived there, and never to WhatsApp again.
func TestMessage_TakesTheWayBackOnceFromWhatsAppAlone(t *testing.T) {
	t.Parallel()
	there, gone := addressed, sent
	there.Channel, gone.Channel, gone.Reference = events.ChannelWhatsApp, events.ChannelWhatsApp, "wamid.1"
	missed := events.MessageUndelivered{MessageID: which, SubscriberID: who, Template: events.ReminderDue, At: now}
	arrived := events.MessageDelivered{MessageID: which, SubscriberID: who, At: now}
	back := commands.AddressMessage{
		MessageID: which, Channel: events.ChannelSMS, To: addressed.To, Back: "undelivered",
	}
	returned := addressed
	returned.Back = "undelivered"
	given := func(list ...events.MessageEvent) *decidertest.Scenario[
		messaging.Message, commands.MessageCommand, events.MessageEvent,
	] {
		return decidertest.For(t, messaging.Messages(), now).Given(append([]events.MessageEvent{queued}, list...)...)
	}
	given(there, gone, missed).When(back).Then(returned)
	given(there, gone).When(back).ThenFails("message_over")
	given(there, gone, arrived).When(back).ThenFails("message_over")
	given(there, gone, missed, arrived).When(back).ThenFails("message_over")
	given(addressed, sent, missed).When(back).ThenFails("message_over")
	again := commands.AddressMessage{MessageID: which, Channel: events.ChannelWhatsApp, To: addressed.To}
	given(there, gone, missed).When(again).ThenFails("message_over")
	given(there, gone, missed, returned).When(commands.ConfirmMessage{MessageID: which}).Then(sent)
	given(there, gone, missed, returned, sent).When(back).ThenFails("message_over")
	late := commands.ReportMessage{MessageID: which, Reason: "no such account"}
	given(there, gone, missed, returned).When(late).ThenFails("message_over")
}
