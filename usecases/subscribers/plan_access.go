package subscriberscases

import (
	"slices"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/null"
)

// AccessChange has new access terms of a plan; nil leaves a term as it is. The zero value of a term that can be absent
// removes it.
type AccessChange struct {
	SessionLimit      *int
	OnLimit           *events.OnLimit
	Burst             *events.Burst
	Pool              *string
	IPv6Pool          *string
	IPv6DelegatedPool *string
	Cap               *events.Cap
	Schedule          *[]events.ScheduleWindow
	DunningPolicy     *string
}

// onto applies the change to the present terms. A session limit below 1 is a fault when somebody asks for it, and is
// found here: in terms it means that none was recorded.
func (in AccessChange) onto(a events.AccessTerms, faults *failure.Faults) events.AccessTerms {
	faults.Check(in.SessionLimit == nil || *in.SessionLimit > 0, "sessionLimit", "must be from 1 to %d",
		commands.MaxSessions)
	a.SessionLimit, a.OnLimit = null.Or(in.SessionLimit, a.SessionLimit), null.Or(in.OnLimit, a.OnLimit)
	a.Burst, a.Pool = null.Or(in.Burst, a.Burst), null.Or(in.Pool, a.Pool)
	a.IPv6Pool = null.Or(in.IPv6Pool, a.IPv6Pool)
	a.IPv6DelegatedPool = null.Or(in.IPv6DelegatedPool, a.IPv6DelegatedPool)
	a.Cap, a.DunningPolicy = null.Or(in.Cap, a.Cap), null.Or(in.DunningPolicy, a.DunningPolicy)
	if in.Schedule != nil {
		a.Schedule = slices.Clip(append([]events.ScheduleWindow(nil), *in.Schedule...)) // nil when it is empty
	}
	return a.WithDefaults()
}
