package telling_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
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

func TestTelling_InvoicesOfARunAreToldByOneJobWhenItIsOver(t *testing.T) {
	t.Parallel()
	run, invoice := id.Derive[id.BillingRun]("test", "run"), id.Derive[id.Invoice]("test", "invoice")
	issued := events.InvoiceIssued{
		OrgID: subject.OrgID, SubscriberID: subject.SubscriberID, InvoiceID: invoice, RunID: run, IssuedAt: now,
	}
	if key := telling.Process().Key(events.Envelope{Event: issued, Type: issued.EventType()}); key != "" {
		t.Errorf("an instance %s for an invoice of a run", key)
	}
	issued.RunID = id.BillingRun{} // the run left it to its process
	processtest.For(t, telling.Process(), now).When(issued).Then(processmanagers.Output{Jobs: []commands.Job{
		commands.SendMessage{
			OrgID: subject.OrgID, SubscriberID: subject.SubscriberID, InvoiceID: invoice,
			Template: events.NoticeIssued, At: now, NotBefore: now.Add(15 * time.Minute),
			Until: now.Add(72 * time.Hour), Position: processtest.Position,
		},
	}})
	over := events.BillingRunFinished{OrgID: subject.OrgID, RunID: run, At: now}
	processtest.For(t, telling.Process(), now).When(over).Then(processmanagers.Output{Jobs: []commands.Job{
		commands.TellRun{
			OrgID: subject.OrgID, RunID: run, At: now, NotBefore: now.Add(15 * time.Minute),
			Until: now.Add(72 * time.Hour), Position: processtest.Position,
		},
	}})
}

func TestTelling_MessagesGoOnAfterTheirRelease(t *testing.T) {
	t.Parallel()
	released := events.FuseReleased{
		FuseID: commands.FuseOf(subject.OrgID, events.FuseMessages), OrgID: subject.OrgID, Kind: events.FuseMessages,
		At: now,
	}
	processtest.For(t, telling.Process(), now).When(released).Then(processmanagers.Output{Jobs: []commands.Job{
		commands.WakeMessages{OrgID: subject.OrgID, NotBefore: now.Add(5 * time.Second)},
	}})
	released.Kind = events.FuseCuts
	processtest.For(t, telling.Process(), now).When(released).Then(processmanagers.Output{})
}

// A payment of an invoice that was due 70 days ago is taken back, and a younger invoice is not paid either: the
// write-off is proposed together with the suspension, is not any more when the old one is paid, and is again later.
func TestTelling_WhoIsSuspendedForAnOldDebtIsToldOnce(t *testing.T) {
	t.Parallel()
	zone, rules := time.FixedZone("EAT", 3*60*60), access.Dunnings()
	debt := func(days int) events.DunningDebt {
		return events.DunningDebt{
			InvoiceID: id.Derive[id.Invoice](strconv.Itoa(days)), DueOn: calendar.On(now.AddDate(0, 0, -days), zone),
			Amount: money.Major(1500, money.KES),
		}
	}
	c := commands.ReviewDunning{
		Subject: subject,
		Rules:   commands.DunningRules{Policy: access.DefaultDunningPolicy(money.KES), Zone: zone},
		Owed:    []events.DunningOwed{{At: now, Debts: []events.DunningDebt{debt(70), debt(40)}}},
	}
	var s access.Dunning
	var told []events.MessageTemplate
	review := func(at time.Time) {
		list, err := rules.Decide(s, c, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			s = rules.Evolve(s, e)
			out, err := telling.Process().Decide(telling.State{}, processmanagers.Input{
				Event: &events.Envelope{Event: e, Type: e.EventType()},
			}, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, job := range out.Jobs {
				told = append(told, job.(commands.SendMessage).Template)
			}
		}
	}
	at := now
	toTheEnd := func() {
		for review(at); !s.Reviewed.WakeAt.IsZero(); review(at) {
			at = s.Reviewed.WakeAt
		}
		if s.State != events.DunningWrittenOff {
			t.Fatalf("state %s", s.State)
		}
	}
	toTheEnd()
	at = at.Add(time.Hour)
	c.Owed = append(c.Owed, events.DunningOwed{At: at, Debts: []events.DunningDebt{debt(40)}})
	if review(at); s.State != events.DunningSuspended {
		t.Fatalf("state %s after a payment", s.State)
	}
	toTheEnd()
	want := []events.MessageTemplate{events.NoticeGarden, events.NoticeSuspended}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
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

// An invoice is told when it is signed, and only where the organization wants that.
func TestTelling_ASignedInvoiceIsTold(t *testing.T) {
	t.Parallel()
	signed := events.DocumentSigned{
		SignatureSubject: events.SignatureSubject{
			OrgID: subject.OrgID, SubscriberID: subject.SubscriberID, InvoiceID: id.Derive[id.Invoice]("test", "one"),
		},
		Messages: true, At: now,
	}
	processtest.For(t, telling.Process(), now).When(signed).
		Then(processmanagers.Output{Jobs: []commands.Job{commands.SendMessage{
			OrgID: subject.OrgID, SubscriberID: subject.SubscriberID, InvoiceID: signed.InvoiceID,
			Template: events.NoticeInvoice, At: now, Until: now.Add(72 * time.Hour), Position: processtest.Position,
		}}})
	signed.Messages = false
	if key := telling.Process().Key(events.Envelope{Event: signed}); key != "" {
		t.Errorf("a silent one is of the instance %q", key)
	}
}

func TestTelling_AForgottenPersonsMessagesGo(t *testing.T) {
	t.Parallel()
	processtest.For(t, telling.Process(), now).When(events.SubscriberForgotten{SubscriberID: subject.SubscriberID}).
		Then(processmanagers.Output{Jobs: []commands.Job{commands.ForgetMessages{SubscriberID: subject.SubscriberID}}})
}

// TestTelling_AnAnswerToASupportRequestIsTold, unless the customer has just been told of another one.
func TestTelling_AnAnswerToASupportRequestIsTold(t *testing.T) {
	t.Parallel()
	answer := events.SupportRequestAnswered{
		SupportSubject: events.SupportSubject{
			RequestID: id.Derive[id.Support]("test", "one"), OrgID: subject.OrgID, SubscriberID: subject.SubscriberID,
		},
		Number: 2, Tell: true, At: now,
	}
	processtest.For(t, telling.Process(), now).When(answer).
		Then(processmanagers.Output{Jobs: []commands.Job{commands.SendMessage{
			OrgID: subject.OrgID, SubscriberID: subject.SubscriberID, RequestID: answer.RequestID, Number: 2,
			Template: events.NoticeSupport, At: now, Until: now.Add(72 * time.Hour), Position: processtest.Position,
		}}})
	answer.Tell = false
	if key := telling.Process().Key(events.Envelope{Event: answer}); key != "" {
		t.Errorf("a silent one is of the instance %q", key)
	}
}
