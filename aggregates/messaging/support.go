package messaging

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// SupportRequests defines the support requests of customers: a stream for each.
func SupportRequests() aggregates.Definition[SupportRequest, commands.SupportCommand, events.SupportEvent] {
	return aggregates.Definition[SupportRequest, commands.SupportCommand, events.SupportEvent]{
		Category: commands.SupportCategory, Missing: commands.ErrNoSupportRequest, Evolve: evolveSupport,
		Decide: decideSupport, Owner: func(s SupportRequest) id.Organization { return s.Org },
		First: commands.OpenSupportRequest{},
		Commands: []commands.SupportCommand{
			commands.OpenSupportRequest{}, commands.ContinueSupportRequest{}, commands.AnswerSupportRequest{},
			commands.NoteSupportRequest{}, commands.AssignSupportRequest{}, commands.CloseSupportRequest{},
		},
	}
}

// SupportState is how far a request has come; its words are those of the API.
type SupportState string

// The states.
const (
	SupportOpen     SupportState = "open"     // staff has to do something
	SupportAnswered SupportState = "answered" // the customer may have to
	SupportClosed   SupportState = "closed"
)

// Limits of one request.
const (
	// ReopenDays is how many days after its end a text opens a request again.
	ReopenDays = 14
	// supportEvents bounds the stream: beyond it a request can only be closed.
	supportEvents = 400
	// toldAgain is how long after an answer of which the customer was told the next one is told, too.
	toldAgain = 30 * time.Minute
)

// SupportRequest is one request, without its texts. The zero value does not exist.
type SupportRequest struct {
	ID         id.Support
	Org        id.Organization
	Subscriber id.Subscriber
	State      SupportState
	Assignee   id.User   // zero = nobody in particular
	Texts      int       // of both sides, with notes
	Asked      int       // number of the customer's last text
	Answered   int       // number of the last answer; 0 = there is none
	Told       time.Time // when an answer was told that the customer has not replied to; zero = there is none
	ClosedAt   time.Time // zero = it is not closed
	Events     int
}

// evolveSupport applies one recorded event.
func evolveSupport(s SupportRequest, e events.SupportEvent) SupportRequest {
	s.Events++
	switch e := e.(type) {
	case events.SupportRequestOpened:
		return SupportRequest{
			ID: e.RequestID, Org: e.OrgID, Subscriber: e.SubscriberID, State: SupportOpen, Texts: 1, Asked: 1,
			Events: 1,
		}
	case events.SupportRequestContinued:
		s.State, s.Texts, s.Asked = SupportOpen, e.Number, e.Number
		s.ClosedAt, s.Told = time.Time{}, time.Time{}
	case events.SupportRequestAnswered:
		s.State, s.Texts, s.Answered, s.ClosedAt = SupportAnswered, e.Number, e.Number, time.Time{}
		if e.Tell {
			s.Told = e.At
		}
	case events.SupportRequestNoted:
		s.Texts = e.Number
	case events.SupportRequestAssigned:
		s.Assignee = e.UserID
	case events.SupportRequestClosed:
		s.State, s.ClosedAt = SupportClosed, e.At
	}
	return s
}

// decideSupport only dispatches.
func decideSupport(s SupportRequest, c commands.SupportCommand, now time.Time) ([]events.SupportEvent, error) {
	if open, first := c.(commands.OpenSupportRequest); first {
		return decideOpenSupport(s, open, now), nil
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoSupportRequest()
	}
	about := events.SupportSubject{RequestID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber}
	if last, closes := c.(commands.CloseSupportRequest); closes {
		if s.State == SupportClosed {
			return nil, nil
		}
		return []events.SupportEvent{
			events.SupportRequestClosed{SupportSubject: about, ByCustomer: last.ByCustomer, At: now},
		}, nil
	}
	if s.Events >= supportEvents {
		return nil, failure.NewConflict("support_request_full",
			"So much was written here that a new support request is needed.")
	}
	switch c := c.(type) {
	case commands.OpenSupportRequest, commands.CloseSupportRequest: // above
	case commands.ContinueSupportRequest:
		return s.reopening(now, events.SupportRequestContinued{
			SupportSubject: about, Number: s.Texts + 1, Text: c.Text, Reopen: s.State == SupportClosed, At: now,
		})
	case commands.AnswerSupportRequest:
		return s.reopening(now, events.SupportRequestAnswered{
			SupportSubject: about, Number: s.Texts + 1, Text: c.Text, Reopen: s.State == SupportClosed,
			Tell: s.Told.IsZero() || !now.Before(s.Told.Add(toldAgain)), At: now,
		})
	case commands.NoteSupportRequest:
		return []events.SupportEvent{
			events.SupportRequestNoted{SupportSubject: about, Number: s.Texts + 1, Text: c.Text, At: now},
		}, nil
	case commands.AssignSupportRequest:
		if s.Assignee == c.UserID {
			return nil, nil
		}
		return []events.SupportEvent{
			events.SupportRequestAssigned{SupportSubject: about, UserID: c.UserID, At: now},
		}, nil
	}
	return nil, nil
}

// decideOpenSupport changes nothing when the request is there already.
func decideOpenSupport(s SupportRequest, c commands.OpenSupportRequest, now time.Time) []events.SupportEvent {
	if !s.ID.IsZero() {
		return nil
	}
	return []events.SupportEvent{events.SupportRequestOpened{
		SupportSubject: events.SupportSubject{RequestID: c.RequestID, OrgID: c.OrgID, SubscriberID: c.SubscriberID},
		ByCustomer:     c.ByCustomer, Subject: c.Subject, Text: c.Text, At: now,
	}}
}

// reopening lets a text through, unless the request was closed too long ago.
func (s SupportRequest) reopening(now time.Time, text events.SupportEvent) ([]events.SupportEvent, error) {
	if s.State == SupportClosed && !now.Before(s.ClosedAt.AddDate(0, 0, ReopenDays)) {
		return nil, failure.NewConflict("support_request_closed",
			"This support request was closed long ago. A new one is needed.")
	}
	return []events.SupportEvent{text}, nil
}
