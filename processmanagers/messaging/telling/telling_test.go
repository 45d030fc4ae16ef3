package telling_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/messaging/telling"
)

// The subscription of these tests.
var (
	now     = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	subject = events.DunningSubject{
		SubscriptionID: id.Derive[id.Subscription]("test", "line"), OrgID: id.Derive[id.Organization]("test", "acme"),
		SubscriberID: id.Derive[id.Subscriber]("test", "amina"),
	}
)

func TestTelling_EachEventHasItsTemplate(t *testing.T) {
	t.Parallel()
	due, until := now.Add(5*time.Hour), now.Add(3*time.Hour)
	step := events.DunningStep{DueAt: due, At: now, Reason: "due"}
	soon := step
	soon.Reason = "due_soon"
	back := step
	back.Before = events.DunningSuspended
	young := step // the debt for which a write-off was proposed is paid, and a younger one is not
	young.Before = events.DunningWrittenOff
	reminded := func(day int) events.Event {
		return events.DunningReminded{DunningSubject: subject, Day: day, DueAt: due, Until: until, At: now}
	}
	began := func(s events.DunningStep) events.Event {
		return events.DunningBegan{DunningSubject: subject, DunningStep: s}
	}
	ended := func(before events.DunningState) events.Event {
		return events.DunningEnded{DunningSubject: subject, Before: before, At: now}
	}
	day, days := now.Add(24*time.Hour), now.Add(72*time.Hour)
	for name, c := range map[string]struct {
		event    events.Event
		template events.MessageTemplate // "" = nobody is told
		until    time.Time
		dueAt    time.Time
	}{
		"days before":    {reminded(-3), events.ReminderBefore, until, due},
		"on the day":     {reminded(0), events.ReminderDue, until, due},
		"days after":     {reminded(2), events.ReminderOverdue, until, due},
		"due":            {began(step), events.ReminderOverdue, day, due},
		"first reminder": {event: began(soon)},
		"another grace":  {event: began(back), template: events.NoticeRestored, until: day},
		"walled in": {
			event:    events.WalledGardenEntered{DunningSubject: subject, DunningStep: step},
			template: events.NoticeGarden, until: days,
		},
		"suspended": {
			event:    events.ServiceSuspended{DunningSubject: subject, DunningStep: step},
			template: events.NoticeSuspended, until: days,
		},
		"still suspended":   {event: events.ServiceSuspended{DunningSubject: subject, DunningStep: young}},
		"paid before a cut": {event: ended(events.DunningReminding)},
		"paid after a cut":  {event: ended(events.DunningWalledGarden), template: events.NoticeRestored, until: day},
	} {
		s := processtest.For(t, telling.Process(), now).When(c.event)
		if c.template == "" {
			s.ThenNothing()
			continue
		}
		t.Log(name)
		s.Then(processmanagers.Output{Jobs: []commands.Job{commands.SendMessage{
			OrgID: subject.OrgID, SubscriberID: subject.SubscriberID, SubscriptionID: subject.SubscriptionID,
			Template: c.template, DueAt: c.dueAt, At: now, Until: c.until, Position: processtest.Position,
		}}})
	}
}

func TestTelling_TheUseOfACapIsToldUntilItResets(t *testing.T) {
	t.Parallel()
	about := events.UsageSubject(subject)
	day := events.CapPeriod{Period: "day", ResetsAt: now.Add(5 * time.Hour)}
	month := events.CapPeriod{Period: "month", ResetsAt: now.AddDate(0, 0, 20)}
	slow := events.CapCount{Allowed: 100, Used: 101, Then: events.CapThrottle}
	stop := events.CapCount{Allowed: 100, Used: 101, Then: events.CapStop}
	for _, c := range []struct {
		event    events.Event
		template events.MessageTemplate
		period   events.CapPeriod
		count    events.CapCount
		until    time.Time
	}{
		{
			events.CapWarned{UsageSubject: about, CapPeriod: day, CapCount: slow, At: now},
			events.NoticeCapWarned, day, slow, day.ResetsAt,
		},
		{
			events.CapReached{UsageSubject: about, CapPeriod: day, CapCount: slow, At: now},
			events.NoticeCapThrottled, day, slow, day.ResetsAt,
		},
		{
			events.CapReached{UsageSubject: about, CapPeriod: month, CapCount: stop, At: now},
			events.NoticeCapStopped, month, stop, now.Add(72 * time.Hour),
		},
	} {
		processtest.For(t, telling.Process(), now).When(c.event).
			Then(processmanagers.Output{Jobs: []commands.Job{commands.SendMessage{
				OrgID: subject.OrgID, SubscriberID: subject.SubscriberID, SubscriptionID: subject.SubscriptionID,
				Template: c.template, At: now, Until: c.until, Position: processtest.Position,
				CapPeriod: c.period, CapCount: c.count,
			}}})
	}
}

func TestTelling_AForgottenPersonsMessagesGo(t *testing.T) {
	t.Parallel()
	processtest.For(t, telling.Process(), now).When(events.SubscriberForgotten{SubscriberID: subject.SubscriberID}).
		Then(processmanagers.Output{Jobs: []commands.Job{commands.ForgetMessages{SubscriberID: subject.SubscriberID}}})
}
