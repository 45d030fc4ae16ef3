package access

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Outages defines the times in which customers could not pay: one stream for each organization that ever had one.
func Outages() aggregates.Definition[Outage, commands.OutageCommand, events.OutageEvent] {
	return aggregates.Definition[Outage, commands.OutageCommand, events.OutageEvent]{
		Category: commands.OutageCategory, Missing: commands.ErrNotFound, Evolve: evolveOutage,
		Decide: decideOutage, Owner: func(s Outage) id.Organization { return s.Org },
		Commands: []commands.OutageCommand{
			commands.InterruptPayments{}, commands.ResumePayments{}, commands.RecordAbsence{},
		},
	}
}

// Outage is the present or the last time in which customers could not pay because of the provider, and beside it the
// newest absence of the platform; neither changes the other. The zero value is "never".
type Outage struct {
	Org       id.Organization
	Evidence  string
	From      time.Time // zero = there was none of the provider
	Until     time.Time // zero = it lasts
	AwayFrom  time.Time // of the newest recorded absence; zero = there was none
	AwayUntil time.Time
}

// Lasts reports whether customers cannot pay at present.
func (s Outage) Lasts() bool { return !s.From.IsZero() && s.Until.IsZero() }

// evolveOutage applies one recorded event.
func evolveOutage(s Outage, e events.OutageEvent) Outage {
	switch e := e.(type) {
	case events.PaymentsInterrupted:
		s.Org, s.Evidence, s.From, s.Until = e.OrgID, e.Evidence, e.From, time.Time{}
	case events.PaymentsResumed:
		s.From, s.Until = e.From, e.Until
	case events.PlatformAway:
		s.Org, s.AwayFrom, s.AwayUntil = e.OrgID, e.From, e.Until
	}
	return s
}

// decideOutage records each beginning and each end once. A beginning before the last end is the same outage, which has
// ended. What lies in the future is from when a clock was ahead: such an end hides no other outage, and an outage with
// such a beginning ends empty, which hides none either.
func decideOutage(s Outage, c commands.OutageCommand, now time.Time) ([]events.OutageEvent, error) {
	switch c := c.(type) {
	case commands.InterruptPayments:
		ended := s.From.Before(s.Until) && c.From.Before(s.Until) && !s.Until.After(now)
		if s.Lasts() || ended || c.From.After(now) {
			return nil, nil
		}
		return []events.OutageEvent{events.PaymentsInterrupted{
			OrgID: c.OrgID, Evidence: c.Evidence, From: c.From.UTC(), At: now,
		}}, nil
	case commands.ResumePayments:
		if !s.Lasts() {
			return nil, nil
		}
		from, until := earlier(s.From, now), earlier(c.Until.UTC(), now)
		if until.Before(from) {
			until = from
		}
		return []events.OutageEvent{events.PaymentsResumed{OrgID: s.Org, From: from, Until: until, At: now}}, nil
	case commands.RecordAbsence:
		return decideRecordAbsence(s, c, now), nil
	}
	return nil, nil
}

// decideRecordAbsence records an absence once. One whose end seems to lie in the future has ended now: its length was
// measured, its place comes from a clock.
func decideRecordAbsence(s Outage, c commands.RecordAbsence, now time.Time) []events.OutageEvent {
	from, until := c.From.UTC(), c.Until.UTC()
	if from.Equal(s.AwayFrom) && until.Equal(s.AwayUntil) {
		return nil
	}
	if ahead := until.Sub(now); ahead > 0 {
		from, until = from.Add(-ahead), now
	}
	return []events.OutageEvent{events.PlatformAway{OrgID: c.OrgID, From: from, Until: until, At: now}}
}
