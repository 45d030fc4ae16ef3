package accessjobs

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
)

// actFresh is for how long somebody's act counts as the cause of what a look finds that no event led to.
const actFresh = time.Minute

// causeOf is the cause of what a job finds to be changed for a subscriber. A job sees what is true when it runs, which
// somebody may have changed after the event that led to the job, or shortly before a look that no event led to: that is
// the cause then (docs/rules/access-enforcement.md#who). position is that of the job's event, 0 without one.
func (e *Enforcer) causeOf(
	org id.Organization, who id.Subscriber, position uint64, cause jobs.Cause,
) jobs.Cause {
	act, known := e.Entitled.Directory.LastAct(org, who)
	newer := act.Position > position
	if position == 0 {
		newer = e.Clock.Now().Sub(act.At).Abs() < actFresh
	}
	if known && newer && !cause.Actor.Answers() {
		cause.Actor, cause.CorrelationID, cause.CausationID = act.Actor, act.CorrelationID, act.EventID.String()
	}
	return cause
}
