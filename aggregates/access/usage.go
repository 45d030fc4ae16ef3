package access

import (
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Usages defines what the business decides on in the traffic of subscriptions: one stream for each subscription that
// was ever used or topped up. How much was used comes with the commands.
func Usages() aggregates.Definition[Usage, commands.UsageCommand, events.UsageEvent] {
	return aggregates.Definition[Usage, commands.UsageCommand, events.UsageEvent]{
		Category: commands.UsageCategory, Missing: commands.ErrNotFound, Evolve: evolveUsage, Decide: decideUsage,
		Owner: ownerUsage, Close: closeUsage,
		Commands: []commands.UsageCommand{
			commands.CountTraffic{}, commands.ResetCap{}, commands.AddTopUp{}, commands.GrantTopUp{},
		},
	}
}

// Usage is how far one subscription is in the present period of its cap. The zero value is "never used". It has no
// personal text, so that it can be the opening of a period of the stream.
type Usage struct {
	Subject events.UsageSubject
	Began   bool             // the first session is recorded
	Period  events.CapPeriod // of the latest event about a cap; may be over
	Used    int64            // bytes in Period, as the latest event told them
	Warned  bool             // in Period
	Reached bool             // in Period, and not reset since
	TopUps  []TopUp          // of Period
}

// TopUp is traffic that was added to a period.
type TopUp struct {
	ID    id.TopUp
	Bytes int64
}

// ownerUsage is the organization of the subscription.
func ownerUsage(s Usage) id.Organization { return s.Subject.OrgID }

// evolveUsage applies one recorded event.
func evolveUsage(s Usage, e events.UsageEvent) Usage {
	if closed, ok := e.(events.UsagePeriodClosed); ok {
		return aggregates.Opened[Usage](closed.Opening)
	}
	s.Subject = events.UsageSubjectOf(e)
	switch e := e.(type) {
	case events.FirstSessionBegan:
		s.Began = true
	case events.CapWarned:
		s = s.counted(e.CapPeriod, e.CapCount)
		s.Warned = true
	case events.CapReached:
		s = s.counted(e.CapPeriod, e.CapCount)
		s.Warned, s.Reached = true, true
	case events.CapReset:
		s = s.counted(e.CapPeriod, e.CapCount)
		s.Reached = false
		s.Warned = s.Warned && grade(e.CapCount) >= warned
	case events.CapPeriodMoved:
		s.Period = e.CapPeriod
	case events.TopUpAdded:
		s = s.counted(e.CapPeriod, e.CapCount)
		s.TopUps = append(slices.Clone(s.TopUps), TopUp{e.TopUpID, e.Bytes})
		s.Warned = s.Warned && grade(e.CapCount) >= warned
	case events.TopUpOrdered, events.UsagePeriodClosed: // an order adds nothing
	}
	return s
}

// counted is the state with another count. What a period had that is over counts for nothing in the next one.
func (s Usage) counted(p events.CapPeriod, c events.CapCount) Usage {
	if !s.Period.Same(p) {
		s.Warned, s.Reached, s.TopUps = false, false, nil
	}
	s.Period, s.Used = p, c.Used
	return s
}

// added is the sum of the period's top-ups in bytes.
func (s Usage) added() int64 {
	var sum int64
	for _, t := range s.TopUps {
		sum += t.Bytes
	}
	return sum
}

// Tells reports whether a message about the use of a cap is still true: the grade that it is about stands in the
// period, and the plan and the top-ups allow as much as they did then.
func (s Usage) Tells(about events.MessageTemplate, p events.CapPeriod, allowed int64, cap events.Cap) bool {
	same := s.Period.Same(p) && cap.Period == p.Period && cap.Bytes+s.added() == allowed
	if about == events.NoticeCapWarned {
		return same && s.Warned && !s.Reached
	}
	return same && s.Reached && (about == events.NoticeCapStopped) == (cap.Then == events.CapStop)
}

// The grades of use.
const (
	unheeded = iota
	warned
	reached
)

// Crosses reports whether a total that was used in a period leads to another grade than the recorded one, or is the
// first use ever. It is for those who hear of totals often, and only then give CountTraffic.
func (s Usage) Crosses(cap events.Cap, starts calendar.Date, used int64) bool {
	period := events.CapPeriod{Period: cap.Period, Starts: starts}
	switch {
	case !s.Began:
		return true
	case period.Period == s.Period.Period && starts.Before(s.Period.Starts):
		return false // late news of a period that is over
	}
	recorded := unheeded
	switch {
	case !s.Period.Same(period):
	case s.Reached:
		recorded = reached
	case s.Warned:
		recorded = warned
	}
	return grade(s.count(cap, period, starts, used)) > recorded
}

// warnedPart is the part of the allowed traffic that is left when the customer is warned: one fifth.
const warnedPart = 5

// grade compares what was used with what is allowed. Without a cap nothing is ever reached.
func grade(c events.CapCount) int {
	switch {
	case c.Allowed <= 0:
		return unheeded
	case c.Used >= c.Allowed:
		return reached
	case c.Used >= c.Allowed-c.Allowed/warnedPart:
		return warned
	}
	return unheeded
}

// closeUsage passes the whole state on.
func closeUsage(s Usage) events.UsageEvent {
	return events.UsagePeriodClosed{UsageSubject: s.Subject, Opening: aggregates.Opening(s)}
}
