package access_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestOutage_EachBeginningAndEachEndIsRecordedOnce(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org, from := id.Derive[id.Organization]("test", "outage"), at.Add(-time.Hour)
	stop := commands.InterruptPayments{OrgID: org, Evidence: "no_receipts", From: from}
	ends := func(until time.Time) commands.ResumePayments {
		return commands.ResumePayments{OrgID: org, Until: until}
	}
	s := decidertest.For(t, access.Outages(), at)
	s.When(ends(at)).ThenNothing()
	s.When(stop).Then(events.PaymentsInterrupted{OrgID: org, Evidence: "no_receipts", From: from, At: at})
	s.When(stop).ThenNothing()
	s.When(ends(at.Add(-time.Minute))).
		Then(events.PaymentsResumed{OrgID: org, From: from, Until: at.Add(-time.Minute), At: at})
	s.When(ends(at)).ThenNothing()
	s.When(stop).ThenNothing() // it is the outage that has ended
	stop.From = at.Add(time.Second)
	s.When(stop).ThenNothing() // a beginning in the future is a mistake
	s.At(at.Add(time.Hour)).When(stop).Then(events.PaymentsInterrupted{
		OrgID: org, Evidence: "no_receipts", From: stop.From, At: at.Add(time.Hour),
	})
	s.When(ends(at)).Then(events.PaymentsResumed{
		OrgID: org, From: stop.From, Until: stop.From, At: at.Add(time.Hour),
	})
}
