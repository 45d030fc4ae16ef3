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
		Commands: []commands.OutageCommand{commands.InterruptPayments{}, commands.ResumePayments{}},
	}
}

// Outage is the present or the last time in which customers could not pay. The zero value is "never".
type Outage struct {
	Org      id.Organization
	Evidence string
	From     time.Time
	Until    time.Time // zero = it lasts
}

// Lasts reports whether customers cannot pay at present.
func (s Outage) Lasts() bool { return !s.Org.IsZero() && s.Until.IsZero() }

// evolveOutage applies one recorded event.
func evolveOutage(s Outage, e events.OutageEvent) Outage {
	switch e := e.(type) {
	case events.PaymentsInterrupted:
		return Outage{Org: e.OrgID, Evidence: e.Evidence, From: e.From}
	case events.PaymentsResumed:
		s.Until = e.Until
	}
	return s
}

// decideOutage records each beginning and each end once. A beginning before the last end is the same outage, which has
// ended.
func decideOutage(s Outage, c commands.OutageCommand, now time.Time) ([]events.OutageEvent, error) {
	switch c := c.(type) {
	case commands.InterruptPayments:
		if s.Lasts() || c.From.Before(s.Until) || c.From.After(now) {
			return nil, nil
		}
		return []events.OutageEvent{events.PaymentsInterrupted{
			OrgID: c.OrgID, Evidence: c.Evidence, From: c.From.UTC(), At: now,
		}}, nil
	case commands.ResumePayments:
		if !s.Lasts() {
			return nil, nil
		}
		until := c.Until.UTC()
		if until.After(now) {
			until = now
		}
		if until.Before(s.From) {
			until = s.From
		}
		return []events.OutageEvent{events.PaymentsResumed{OrgID: s.Org, From: s.From, Until: until, At: now}}, nil
	}
	return nil, nil
}
