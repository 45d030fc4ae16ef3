package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofMessage describes the end of each message; its text and its address are not repeated.
func ofMessage(e events.MessageEvent) happening {
	about := func(s id.Subscriber, m id.Message, told Sentence) happening {
		return happening{subscriber: s, says: told, causeType: "message", cause: id.Any(m)}
	}
	switch v := e.(type) {
	case events.MessageSent:
		facts := Facts{Message: Message(v.Template)}
		switch v.Channel {
		case events.ChannelEmail:
			return about(v.SubscriberID, v.MessageID, says("message_sent_by_email", facts))
		case events.ChannelWhatsApp:
			return about(v.SubscriberID, v.MessageID, says("message_sent_by_whatsapp", facts))
		case events.ChannelSMS:
		}
		return about(v.SubscriberID, v.MessageID, says("message_sent_by_sms", facts))
	case events.MessageDoubted:
		return about(v.SubscriberID, v.MessageID, says("message_in_doubt", Facts{Message: Message(v.Template)}))
	case events.MessageUndelivered:
		return about(v.SubscriberID, v.MessageID,
			says("message_undelivered", Facts{Message: Message(v.Template), Fault: v.Reason}))
	case events.MessageFailed:
		return about(v.SubscriberID, v.MessageID,
			says("message_failed", Facts{Message: Message(v.Template), Fault: v.Code}))
	case events.MessageDropped:
		return about(v.SubscriberID, v.MessageID,
			says("message_dropped", Facts{Message: Message(v.Template), Fault: v.Code}))
	case events.MessageQueued, events.MessageAddressed: // bookkeeping, no row
	case events.MessageDelivered: // that it was sent has a row
	}
	return happening{}
}
