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

// One support request of these tests.
var (
	request = id.Derive[id.Support]("test", "request")
	staff   = id.Derive[id.User]("test", "jane")
	subject = events.SupportSubject{RequestID: request, OrgID: asked.OrgID, SubscriberID: who}
	slow    = personal.Of("It is slow.")
	opening = commands.OpenSupportRequest{
		RequestID: request, OrgID: asked.OrgID, SubscriberID: who, ByCustomer: true, Subject: personal.Of("Slow"),
		Text: slow,
	}
	opened = events.SupportRequestOpened{
		SupportSubject: subject, ByCustomer: true, Subject: opening.Subject, Text: slow, At: now,
	}
)

// ago makes an instant before the tests' now.
func ago(d time.Duration) time.Time { return now.Add(-d) }

// support begins a scenario of a request.
func support(
	t *testing.T, list ...events.SupportEvent,
) *decidertest.Scenario[messaging.SupportRequest, commands.SupportCommand, events.SupportEvent] {
	t.Helper()
	return decidertest.For(t, messaging.SupportRequests(), now).Given(list...)
}

func TestSupport_TextsGoOnUntilItIsClosed(t *testing.T) {
	t.Parallel()
	more := commands.ContinueSupportRequest{RequestID: request, Text: slow}
	answer := commands.AnswerSupportRequest{RequestID: request, Text: slow}
	note := commands.NoteSupportRequest{RequestID: request, Text: slow}
	end := commands.CloseSupportRequest{RequestID: request}
	for _, c := range []commands.SupportCommand{more, answer, note, end, commands.AssignSupportRequest{}} {
		support(t).When(c).ThenFails("support_request_not_found")
	}
	support(t).When(opening).Then(opened)
	support(t, opened).When(opening).ThenNothing()
	support(t, opened).When(more).Then(events.SupportRequestContinued{
		SupportSubject: subject, Number: 2, Text: slow, At: now,
	})
	support(t, opened).When(answer).Then(events.SupportRequestAnswered{
		SupportSubject: subject, Number: 2, Text: slow, Tell: true, At: now,
	})
	support(t, opened).When(note).Then(events.SupportRequestNoted{
		SupportSubject: subject, Number: 2, Text: slow, At: now,
	})
	closed := events.SupportRequestClosed{SupportSubject: subject, At: now}
	support(t, opened).When(end).Then(closed)
	support(t, opened, closed).When(end).ThenNothing()
}

// TestSupport_AClosedOneOpensAgainForFourteenDays, by a text of either side; a note changes nothing about it.
func TestSupport_AClosedOneOpensAgainForFourteenDays(t *testing.T) {
	t.Parallel()
	more := commands.ContinueSupportRequest{RequestID: request, Text: slow}
	answer := commands.AnswerSupportRequest{RequestID: request, Text: slow}
	at := func(d time.Duration) []events.SupportEvent {
		return []events.SupportEvent{opened, events.SupportRequestClosed{SupportSubject: subject, At: ago(d)}}
	}
	const days = messaging.ReopenDays * 24 * time.Hour
	support(t, at(days-time.Second)...).When(more).Then(events.SupportRequestContinued{
		SupportSubject: subject, Number: 2, Text: slow, Reopen: true, At: now,
	})
	support(t, at(days-time.Second)...).When(answer).Then(events.SupportRequestAnswered{
		SupportSubject: subject, Number: 2, Text: slow, Reopen: true, Tell: true, At: now,
	})
	support(t, at(days)...).When(more).ThenFails("support_request_closed")
	support(t, at(days)...).When(answer).ThenFails("support_request_closed")
	support(t, at(2*days)...).When(commands.NoteSupportRequest{RequestID: request, Text: slow}).Then(
		events.SupportRequestNoted{SupportSubject: subject, Number: 2, Text: slow, At: now})
	again := append(at(time.Hour), events.SupportRequestContinued{SupportSubject: subject, Number: 2, Reopen: true})
	support(t, again...).When(commands.CloseSupportRequest{RequestID: request, ByCustomer: true}).Then(
		events.SupportRequestClosed{SupportSubject: subject, ByCustomer: true, At: now})
}

// TestSupport_AnswersShortlyAfterEachOtherAreToldOnce, unless the customer has written in between.
func TestSupport_AnswersShortlyAfterEachOtherAreToldOnce(t *testing.T) {
	t.Parallel()
	answered := func(number int, d time.Duration, told bool) events.SupportRequestAnswered {
		return events.SupportRequestAnswered{SupportSubject: subject, Number: number, Tell: told, At: ago(d)}
	}
	reply := events.SupportRequestContinued{SupportSubject: subject, Number: 3, At: ago(time.Second)}
	for name, c := range map[string]struct {
		given []events.SupportEvent
		tell  bool
	}{
		"shortly after":             {[]events.SupportEvent{answered(2, 29*time.Minute, true)}, false},
		"later":                     {[]events.SupportEvent{answered(2, 30*time.Minute, true)}, true},
		"counted from what is told": {[]events.SupportEvent{answered(2, time.Hour, true), answered(3, 0, false)}, true},
		"after a reply":             {[]events.SupportEvent{answered(2, time.Minute, true), reply}, true},
	} {
		given := append([]events.SupportEvent{opened}, c.given...)
		t.Log(name)
		support(t, given...).When(commands.AnswerSupportRequest{RequestID: request, Text: slow}).Then(
			events.SupportRequestAnswered{
				SupportSubject: subject, Number: len(given) + 1, Text: slow, Tell: c.tell, At: now,
			})
	}
}

func TestSupport_ItIsGivenToOnePersonOrNone(t *testing.T) {
	t.Parallel()
	give := commands.AssignSupportRequest{RequestID: request, UserID: staff}
	given := events.SupportRequestAssigned{SupportSubject: subject, UserID: staff, At: now}
	support(t, opened).When(commands.AssignSupportRequest{RequestID: request}).ThenNothing()
	support(t, opened).When(give).Then(given)
	support(t, opened, given).When(give).ThenNothing()
	support(t, opened, given).When(commands.AssignSupportRequest{RequestID: request}).Then(
		events.SupportRequestAssigned{SupportSubject: subject, At: now})
}

// TestSupport_OneRequestDoesNotGrowForEver: a full one can only be closed.
func TestSupport_OneRequestDoesNotGrowForEver(t *testing.T) {
	t.Parallel()
	list := []events.SupportEvent{opened}
	for n := 2; n <= 400; n++ {
		list = append(list, events.SupportRequestNoted{SupportSubject: subject, Number: n, Text: slow, At: now})
	}
	support(t, list[:399]...).When(commands.NoteSupportRequest{RequestID: request, Text: slow}).Then(list[399])
	for _, c := range []commands.SupportCommand{
		commands.ContinueSupportRequest{RequestID: request, Text: slow},
		commands.AnswerSupportRequest{RequestID: request, Text: slow},
		commands.NoteSupportRequest{RequestID: request, Text: slow},
		commands.AssignSupportRequest{RequestID: request, UserID: staff},
	} {
		support(t, list...).When(c).ThenFails("support_request_full")
	}
	support(t, list...).When(commands.CloseSupportRequest{RequestID: request}).Then(
		events.SupportRequestClosed{SupportSubject: subject, At: now})
}
