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

// Each request has its state, who waits and since when, and all texts; a forgotten customer's are gone.
func TestSupport_Story(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	acme, jane := id.Derive[id.Organization]("test", "acme"), id.Derive[id.User]("test", "jane")
	story := projectiontest.NewStory(acme, began).With(func(m *events.Metadata) {
		m.Actor = events.Actor{Kind: events.ActorUser, ID: jane.String(), Role: "support"}
	})
	for i, name := range []string{"open", "answered", "asked again", "noted", "closed", "reopened", "forgotten"} {
		s := events.SupportSubject{
			RequestID: id.Derive[id.Support]("test", name), OrgID: acme,
			SubscriberID: id.Derive[id.Subscriber]("test", name),
		}
		at := func(n int) time.Time { return began.Add(time.Duration(10*i+n) * time.Hour) }
		text := personal.Of("text of " + name)
		list := []events.Event{events.SupportRequestOpened{
			SupportSubject: s, ByCustomer: name != "noted", Subject: personal.Of("about " + name), Text: text,
			At: at(0),
		}}
		answer := events.SupportRequestAnswered{SupportSubject: s, Number: 2, Text: text, Tell: true, At: at(1)}
		end := events.SupportRequestClosed{SupportSubject: s, At: at(2)}
		switch name {
		case "answered":
			list = append(list, events.SupportRequestAssigned{SupportSubject: s, UserID: jane, At: at(1)}, answer)
		case "asked again":
			list = append(list, answer)
			for n := 3; n < 5; n++ {
				list = append(list, events.SupportRequestContinued{SupportSubject: s, Number: n, Text: text, At: at(n)})
			}
		case "noted":
			list = append(list, events.SupportRequestNoted{SupportSubject: s, Number: 2, Text: text, At: at(1)},
				events.SupportRequestAssigned{SupportSubject: s, UserID: jane, At: at(1)},
				events.SupportRequestAssigned{SupportSubject: s, At: at(2)})
		case "closed":
			list = append(list, answer, end)
		case "reopened":
			list = append(list, answer, end, events.SupportRequestContinued{
				SupportSubject: s, Number: 3, Text: text, Reopen: true, At: at(3),
			})
		case "forgotten":
			list = append(list, answer, events.SupportRequestContinued{
				SupportSubject: s, Number: 3, Text: text, At: at(3),
			}, events.SubscriberForgotten{SubscriberID: s.SubscriberID})
		}
		story.Add("supportrequest-"+name, list...)
	}
	projectiontest.Check(t, messagingviews.Support{}, story)
}
