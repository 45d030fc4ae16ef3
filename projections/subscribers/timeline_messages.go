package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofMessage describes the end of each message; its text and its address are not repeated.
func ofMessage(e events.MessageEvent) happening {
	about := func(s id.Subscriber, m id.Message, summary string) happening {
		return happening{subscriber: s, summary: summary, causeType: "message", cause: id.Any(m)}
	}
	switch v := e.(type) {
	case events.MessageSent:
		way := "by SMS"
		if v.Channel == events.ChannelEmail {
			way = "by e-mail"
		}
		return about(v.SubscriberID, v.MessageID, "The customer was told "+way+": "+saying(v.Template)+".")
	case events.MessageFailed:
		return about(v.SubscriberID, v.MessageID, "The customer could not be told: "+saying(v.Template)+" ("+
			spoken(v.Code)+").")
	case events.MessageDropped:
		return about(v.SubscriberID, v.MessageID, "The customer was not told any more: "+saying(v.Template)+" ("+
			spoken(v.Code)+").")
	case events.MessageQueued, events.MessageAddressed: // bookkeeping, no row
	}
	return happening{}
}

// saying gives the meaning of a template in words for the staff.
func saying(t events.MessageTemplate) string {
	switch t {
	case events.ReminderBefore:
		return "payment is due soon"
	case events.ReminderDue:
		return "payment is due today"
	case events.ReminderOverdue:
		return "payment is overdue"
	case events.NoticeGarden:
		return "only the payment page can be reached"
	case events.NoticeSuspended:
		return "there is no access any more"
	case events.NoticeRestored:
		return "access is whole again"
	case events.NoticeCapWarned:
		return "four fifths of the traffic are used"
	case events.NoticeCapThrottled:
		return "the traffic is used up, access is slow"
	case events.NoticeCapStopped:
		return "the traffic is used up, there is no access"
	}
	return spoken(string(t))
}
