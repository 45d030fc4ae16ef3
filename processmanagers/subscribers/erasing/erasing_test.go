package erasing_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/erasing"
)

// The person of these tests.
var (
	now    = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	who    = id.Derive[id.Subscriber]("test", "subscriber")
	org    = id.Derive[id.Organization]("test", "org")
	closed = events.AccountClosed{SubscriberID: who, OrgID: org, Forget: true}
	gone   = events.SubscriberForgotten{SubscriberID: who}
)

// job is the output that asks for the job.
func job(position uint64, timers ...processmanagers.Timer) processmanagers.Output {
	return processmanagers.Output{
		Jobs:   []commands.Job{commands.ErasePerson{OrgID: org, SubscriberID: who, Position: position}},
		Timers: timers,
	}
}

func TestErasing_GoesOnWhereTheRequestWasBrokenOff(t *testing.T) {
	t.Parallel()
	due := now.Add(erasing.GoesOnAfter)
	waits := processmanagers.Output{Timers: []processmanagers.Timer{{Name: "go on", At: due}}}
	s := processtest.For(t, erasing.Process(), now).With(events.Metadata{OrgID: org}).When(closed)
	s.Then(waits).ThenGoesOn().WhenDue("go on", due).Then(processmanagers.Output{Commands: []commands.Command{
		commands.ForgetSubscriber{SubscriberID: who, Reason: erasing.Reason},
	}}).ThenGoesOn()
}

func TestErasing_RemovesAtOnceAndOnceMore(t *testing.T) {
	t.Parallel()
	again := processmanagers.Timer{Name: "again", At: now.Add(erasing.AgainAfter)}
	s := processtest.For(t, erasing.Process(), now).With(events.Metadata{OrgID: org}).Given(closed).When(gone)
	s = s.Then(job(processtest.Position, again)).ThenGoesOn()
	s = s.WhenDue("go on", now.Add(erasing.GoesOnAfter)).ThenNothing().ThenGoesOn()
	s.WhenDue("again", again.At).Then(job(0)).ThenEnded()
}

func TestErasing_WhoIsRemovedWithAnImportIsNotErased(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, erasing.Process(), now).With(events.Metadata{OrgID: org})
	s.When(events.AccountClosed{SubscriberID: who, OrgID: org}).ThenNothing().ThenEnded()
	s.When(events.SubscriberForgotten{SubscriberID: who, Undone: true}).ThenNothing().ThenEnded()
}

func TestErasing_StopsWithoutAnOrganization(t *testing.T) {
	t.Parallel()
	processtest.For(t, erasing.Process(), now).When(gone).ThenStops()
}
