package reconciliations_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/reconciliations"
)

func TestReconciliation_EachStepHasItsJob(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	which := id.Must[id.Reconciliation]("0195a000-0000-7000-8000-000000000061")
	started := events.ReconciliationStarted{ReconciliationID: which}
	adoption := events.ReconciliationAdoptionStarted{ReconciliationID: which}
	for e, job := range map[events.Event]commands.Job{
		started:  commands.CompareStatement{ReconciliationID: which, Position: processtest.Position},
		adoption: commands.AdoptStatement{ReconciliationID: which, Position: processtest.Position},
	} {
		processtest.For(t, reconciliations.Process(), now).When(e).
			Then(processmanagers.Output{Jobs: []commands.Job{job}}).ThenEnded()
	}
	processtest.CheckKeys(t, reconciliations.Process(), which.String(), started, adoption)
}
