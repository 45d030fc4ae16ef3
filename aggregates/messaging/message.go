// Package messaging has the rules about messages to customers: each is sent once, whoever asks for it.
package messaging

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Messages defines the messages to customers: a stream for each, with an id that follows from its cause and its day.
func Messages() aggregates.Definition[Message, commands.MessageCommand, events.MessageEvent] {
	return aggregates.Definition[Message, commands.MessageCommand, events.MessageEvent]{
		Category: commands.MessageCategory, Missing: commands.ErrNotFound, Evolve: evolveMessage,
		Decide: decideMessage, Owner: func(s Message) id.Organization { return s.Org }, First: commands.QueueMessage{},
		Commands: []commands.MessageCommand{
			commands.QueueMessage{}, commands.AddressMessage{}, commands.ConfirmMessage{}, commands.FailMessage{},
			commands.DropMessage{}, commands.DoubtMessage{}, commands.ReportMessage{},
		},
	}
}

// Message is one message. The zero value does not exist.
type Message struct {
	Org        id.Organization
	Subscriber id.Subscriber
	Template   events.MessageTemplate
	Channel    events.MessageChannel // "" before it has an address
	Until      time.Time
	Sender     id.Any
	At         time.Time // when it was asked for
	Over       bool      // it was sent, failed or was dropped, or its answer was lost
	Dropped    bool      // it told nobody
	Handed     bool      // the gateway took it, or may have
	HandedAt   time.Time // when it did
	Delivered  bool      // the provider says so
	Missed     bool      // the provider says that it was not delivered
	Watched    time.Time // when WhatsApp took it and is to report about it; zero = nobody waits for a report
	Back       string    // why it takes the way back from WhatsApp; "" = it does not
}

// Turns reports whether the message went by WhatsApp in vain and may take the way back.
func (s Message) Turns() bool { return s.Missed && !s.Watched.IsZero() }

// evolveMessage applies one recorded event.
func evolveMessage(s Message, e events.MessageEvent) Message {
	switch e := e.(type) {
	case events.MessageQueued:
		return Message{
			Org: e.OrgID, Subscriber: e.SubscriberID, Template: e.Template, Until: e.Until, Sender: e.Sender, At: e.At,
		}
	case events.MessageAddressed:
		s.Channel, s.Back = e.Channel, e.Back
		s.Over, s.Handed, s.Missed, s.Watched = false, false, false, time.Time{}
	case events.MessageSent:
		s.Over, s.Handed, s.HandedAt = true, true, e.At
		if e.Channel == events.ChannelWhatsApp && e.Reference != "" {
			s.Watched = e.At
		}
	case events.MessageDoubted:
		s.Over, s.Handed, s.HandedAt = true, true, e.At
	case events.MessageDelivered:
		s.Delivered, s.Missed = true, false
	case events.MessageUndelivered:
		s.Missed = true
	case events.MessageFailed:
		s.Over = true
	case events.MessageDropped:
		s.Over, s.Dropped = true, true
	}
	return s
}

// decideMessage only dispatches. A message that is over changes no more, but one that was dropped may be taken up.
func decideMessage(s Message, c commands.MessageCommand, now time.Time) ([]events.MessageEvent, error) {
	if q, ok := c.(commands.QueueMessage); ok {
		return decideQueueMessage(s, q, now), nil
	}
	if s.Org.IsZero() {
		return nil, commands.ErrNotFound()
	}
	switch c := c.(type) {
	case commands.QueueMessage: // above
	case commands.AddressMessage:
		if s.Over && !s.Turns() || s.Turns() && c.Channel == events.ChannelWhatsApp {
			return nil, errMessageOver()
		}
		return []events.MessageEvent{events.MessageAddressed{
			MessageID: c.MessageID, SubscriberID: s.Subscriber, Channel: c.Channel, To: c.To, Back: c.Back, At: now,
		}}, nil
	case commands.ConfirmMessage, commands.DoubtMessage:
		return decideHanded(s, c, now)
	case commands.ReportMessage:
		return decideReportMessage(s, c, now)
	case commands.FailMessage:
		if s.Over {
			return nil, nil
		}
		return []events.MessageEvent{events.MessageFailed{
			MessageID: c.MessageID, SubscriberID: s.Subscriber, Template: s.Template, Code: c.Code, At: now,
		}}, nil
	case commands.DropMessage:
		if s.Over {
			return nil, nil
		}
		return []events.MessageEvent{events.MessageDropped{
			MessageID: c.MessageID, SubscriberID: s.Subscriber, Template: s.Template, Code: c.Code, At: now,
		}}, nil
	}
	return nil, nil
}

// decideHanded ends a message that was handed to its gateway.
func decideHanded(s Message, c commands.MessageCommand, now time.Time) ([]events.MessageEvent, error) {
	if s.Over || s.Channel == "" {
		return nil, errMessageOver()
	}
	if sent, ok := c.(commands.ConfirmMessage); ok {
		return []events.MessageEvent{events.MessageSent{
			MessageID: sent.MessageID, SubscriberID: s.Subscriber, Template: s.Template, Channel: s.Channel,
			Reference: sent.Reference, Cost: sent.Cost, At: now,
		}}, nil
	}
	return []events.MessageEvent{events.MessageDoubted{
		MessageID: id.As[id.Message](c.Target().ID), SubscriberID: s.Subscriber, Template: s.Template,
		Channel: s.Channel, At: now,
	}}, nil
}

// decideReportMessage takes each outcome once. A phone that was off at first has the message later; what arrived is not
// lost by an older report that comes late.
func decideReportMessage(s Message, c commands.ReportMessage, now time.Time) ([]events.MessageEvent, error) {
	switch {
	case !s.Handed:
		return nil, errMessageOver()
	case s.Delivered, s.Missed && !c.Delivered:
		return nil, nil
	case c.Delivered:
		return []events.MessageEvent{events.MessageDelivered{
			MessageID: c.MessageID, SubscriberID: s.Subscriber, At: now,
		}}, nil
	}
	return []events.MessageEvent{events.MessageUndelivered{
		MessageID: c.MessageID, SubscriberID: s.Subscriber, Template: s.Template, Reason: c.Reason, At: now,
	}}, nil
}

// decideQueueMessage begins a message, unless its cause was told that day already, or another job is about to. What was
// dropped told nobody, so another job may begin it again.
func decideQueueMessage(s Message, c commands.QueueMessage, now time.Time) []events.MessageEvent {
	if !s.Org.IsZero() && (!s.Dropped || s.Sender == c.Sender) {
		return nil
	}
	return []events.MessageEvent{events.MessageQueued{
		MessageID: c.MessageID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, SubscriptionID: c.SubscriptionID,
		Template: c.Template, Until: c.Until.UTC(), Sender: c.Sender, OutageID: c.OutageID, At: now,
	}}
}

// errMessageOver is the failure for a message that was sent, failed or was dropped, or has no address yet.
func errMessageOver() error {
	return failure.NewConflict("message_over", "This message is not on its way.")
}
