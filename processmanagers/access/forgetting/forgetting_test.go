package forgetting_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/access/forgetting"
)

// The person of these tests.
var (
	now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	who = id.Derive[id.Subscriber]("test", "subscriber")
	org = id.Derive[id.Organization]("test", "org")
)

func TestForgetting_DeletesAtOnceAndOnceMore(t *testing.T) {
	t.Parallel()
	job := []commands.Job{commands.ForgetTelemetry{OrgID: org, SubscriberID: who}}
	first := []commands.Job{commands.ForgetTelemetry{OrgID: org, SubscriberID: who, Position: processtest.Position}}
	s := processtest.For(t, forgetting.Process(), now).With(events.Metadata{OrgID: org}).
		When(events.SubscriberForgotten{SubscriberID: who})
	s.Then(processmanagers.Output{
		Jobs: first, Timers: []processmanagers.Timer{{Name: "again", At: now.Add(time.Hour)}},
	})
	s = s.WhenDue("again", now.Add(time.Hour))
	s.Then(processmanagers.Output{Jobs: job})
	s.ThenEnded()
}

func TestForgetting_StopsWithoutAnOrganization(t *testing.T) {
	t.Parallel()
	processtest.For(t, forgetting.Process(), now).When(events.SubscriberForgotten{SubscriberID: who}).ThenStops()
}
