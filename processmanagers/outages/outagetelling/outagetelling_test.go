package outagetelling_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers/outages/outagetelling"
)

func TestTelling_AShortOutageSaysNothing(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.March, 4, 9, 0, 0, 0, time.UTC)
	org, outage := id.Derive[id.Organization]("test", "org"), id.Derive[id.Outage]("test", "outage")
	began := events.OutageBegan{OutageID: outage, OrgID: org, StartedAt: now, TellAfter: now.Add(time.Hour), At: now}
	ended := events.OutageEnded{OutageID: outage, OrgID: org, EndedAt: now, At: now}
	s := processtest.For(t, outagetelling.Process(), now).Given(began)
	s.When(ended).ThenNothing().ThenEnded()
	told := s.WhenDue("tell", began.TellAfter)
	if jobs := told.Output().Jobs; len(jobs) != 1 || jobs[0].(commands.TellOutage).Over {
		t.Errorf("the beginning: %+v", jobs)
	}
	merged := ended
	merged.MergedInto = id.Derive[id.Outage]("test", "other")
	told.When(merged).ThenNothing()
	over := told.When(ended)
	if jobs := over.Output().Jobs; len(jobs) != 1 || !jobs[0].(commands.TellOutage).Over {
		t.Errorf("the end: %+v", jobs)
	}
	silent := began
	silent.TellAfter = time.Time{}
	processtest.For(t, outagetelling.Process(), now).When(silent).ThenEnded()
}
