package nofault_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/access/nofault"
)

// The faults of these tests.
var (
	now    = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	from   = now.Add(-3 * time.Minute) // it was noticed later
	org    = id.Derive[id.Organization]("test", "acme")
	device = id.Derive[id.Device]("test", "tower")
)

// round is the output of one round of a fault that lasts.
func round(job commands.FollowFault, at time.Time) processmanagers.Output {
	return processmanagers.Output{
		Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: "round", At: at.Add(nofault.Every)}},
	}
}

func TestNoFault_PaymentsAreFollowedInRoundsUntilTheirEnd(t *testing.T) {
	t.Parallel()
	job := commands.FollowFault{
		OrgID: org, Cause: "no_payment:" + strconv.FormatInt(from.Unix(), 10), From: from,
		Position: processtest.Position,
	}
	s := processtest.For(t, nofault.Process(), now).When(events.PaymentsInterrupted{OrgID: org, From: from, At: now}).
		Then(round(job, now))
	next := now.Add(nofault.Every)
	job.Round = 1
	s = s.At(next).WhenDue("round", next).Then(round(job, next))
	job.Round, job.Until = 0, next.Add(-time.Minute)
	s.When(events.PaymentsResumed{OrgID: org, From: from, Until: job.Until, At: next}).Then(processmanagers.Output{
		Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: "round"}},
	})
}

func TestNoFault_ARouterIsAFaultUntilItIsReachedOrGone(t *testing.T) {
	t.Parallel()
	job := commands.FollowFault{
		OrgID: org, DeviceID: device, From: now, Position: processtest.Position,
		Cause: "no_line:" + device.String() + ":" + strconv.FormatInt(now.Unix(), 10),
	}
	down := processtest.For(t, nofault.Process(), now).With(events.Metadata{OrgID: org, At: now.Add(time.Hour)}).
		When(events.DeviceUnreachable{DeviceID: device, At: now}).Then(round(job, now))
	down.When(events.DeviceUnreachable{DeviceID: device, At: now.Add(time.Minute)}).ThenNothing()
	job.Until = now.Add(time.Hour)
	ends := processmanagers.Output{Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: "round"}}}
	down.When(events.DeviceRecovered{DeviceID: device, At: job.Until}).Then(ends)
	down.When(events.DeviceDecommissioned{DeviceID: device, OrgID: org}).Then(ends)
	late := now.Add(31 * 24 * time.Hour)
	job.Until = now.Add(30 * 24 * time.Hour)
	down.At(late).WhenDue("round", late).Then(processmanagers.Output{
		Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: "round"}},
	})
}

func TestNoFault_AnEndWithoutABeginningIsNothing(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, nofault.Process(), now)
	s.When(events.DeviceRecovered{DeviceID: device, At: now}).ThenNothing()
	s.When(events.PaymentsResumed{OrgID: org, At: now}).ThenNothing()
}

// TestNoFault_AnAbsenceOfThePlatformStandsBesideAnOutageOfTheProvider: both have the same beginning.
func TestNoFault_AnAbsenceOfThePlatformStandsBesideAnOutageOfTheProvider(t *testing.T) {
	t.Parallel()
	away := events.PlatformAway{OrgID: org, From: from, Until: now.Add(-time.Minute), At: now}
	follow := processmanagers.Output{Jobs: []commands.Job{commands.FollowFault{
		OrgID: org, Cause: "no_payment:platform:" + strconv.FormatInt(from.UnixMicro(), 10), From: from,
		Until: away.Until, Position: processtest.Position,
	}}}
	processtest.For(t, nofault.Process(), now).When(away).Then(follow)
	outage := processtest.For(t, nofault.Process(), now).Given(events.PaymentsInterrupted{
		OrgID: org, From: from, At: now,
	})
	outage.When(away).Then(follow)
}
