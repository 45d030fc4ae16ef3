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

// TestOutage_AnAbsenceAndAnOutageOfTheProviderLeaveEachOtherAlone: the provider's outage lasts, ends within the
// absence, and touches it.
func TestOutage_AnAbsenceAndAnOutageOfTheProviderLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org, from := id.Derive[id.Organization]("test", "outage"), at.Add(-6*time.Hour)
	away := commands.RecordAbsence{OrgID: org, From: from, Until: at}
	recorded := events.PlatformAway{OrgID: org, From: from, Until: at, At: at}
	stop := commands.InterruptPayments{OrgID: org, Evidence: "no_receipts", From: from.Add(-time.Hour)}
	stopped := events.PaymentsInterrupted{OrgID: org, Evidence: "no_receipts", From: stop.From, At: at}
	ends := commands.ResumePayments{OrgID: org, Until: from.Add(5 * time.Minute)}
	ended := events.PaymentsResumed{OrgID: org, From: stop.From, Until: ends.Until, At: at}

	s := decidertest.For(t, access.Outages(), at)
	s.When(away).Then(recorded)
	s.When(away).ThenNothing()
	s.When(ends).ThenNothing() // an absence is no outage that lasts
	s.When(stop).Then(stopped)
	s.When(away).ThenNothing()
	s.When(ends).Then(ended)

	s = decidertest.For(t, access.Outages(), at)
	s.When(stop).Then(stopped)
	s.When(away).Then(recorded)
	s.When(stop).ThenNothing()
	s.When(ends).Then(ended)
	next := commands.RecordAbsence{OrgID: org, From: at.Add(time.Minute), Until: at.Add(time.Hour)}
	s.At(at.Add(time.Hour)).When(next).Then(events.PlatformAway{
		OrgID: org, From: next.From, Until: next.Until, At: at.Add(time.Hour),
	})
}

func TestOutage_AnAbsenceThatSeemsToEndInTheFutureKeepsItsLength(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org := id.Derive[id.Organization]("test", "outage")
	decidertest.For(t, access.Outages(), at).
		When(commands.RecordAbsence{OrgID: org, From: at.Add(40 * time.Minute), Until: at.Add(time.Hour)}).
		Then(events.PlatformAway{OrgID: org, From: at.Add(-20 * time.Minute), Until: at, At: at})
}

// TestOutage_OneFromWhenAClockWasAheadHidesNoOther: whether the clock was put right after its end or before it.
func TestOutage_OneFromWhenAClockWasAheadHidesNoOther(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org := id.Derive[id.Organization]("test", "outage")
	for _, ahead := range []time.Duration{3 * time.Hour, 366 * 24 * time.Hour} {
		wrong, later := at.Add(ahead), at.Add(10*time.Minute)
		begins := func(from, now time.Time) (commands.InterruptPayments, events.PaymentsInterrupted) {
			return commands.InterruptPayments{OrgID: org, Evidence: "no_receipts", From: from},
				events.PaymentsInterrupted{OrgID: org, Evidence: "no_receipts", From: from, At: now}
		}
		first, recorded := begins(wrong.Add(-6*time.Minute), wrong)
		next, anew := begins(at.Add(-time.Minute), later)
		ends := commands.ResumePayments{OrgID: org, Until: wrong}
		decidertest.For(t, access.Outages(), wrong).When(first).Then(recorded).
			When(ends).Then(events.PaymentsResumed{OrgID: org, From: first.From, Until: wrong, At: wrong}).
			At(later).When(next).Then(anew)
		decidertest.For(t, access.Outages(), wrong).When(first).Then(recorded).
			At(at).When(ends).Then(events.PaymentsResumed{OrgID: org, From: at, Until: at, At: at}).
			At(later).When(next).Then(anew)
	}
}
