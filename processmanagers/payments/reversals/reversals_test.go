package reversals_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/payments/reversals"
)

// The instant and the refund of these tests.
var (
	now    = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	refund = id.Must[id.Refund]("0195a000-0000-7000-8000-000000000041")
)

// The events of a reversal.
var (
	approved  = events.RefundApproved{RefundID: refund, By: "reversal", At: now}
	submitted = events.RefundSubmitted{RefundID: refund, At: now}
	doubted   = events.RefundDoubted{RefundID: refund, Cause: "no_answer", At: now}
	completed = events.RefundCompleted{RefundID: refund, At: now}
)

// timers is an output of timers alone.
func timers(list ...processmanagers.Timer) processmanagers.Output {
	return processmanagers.Output{Timers: list}
}

func TestReversal_IsAskedForOnceAndEndsWithItsResult(t *testing.T) {
	t.Parallel()
	processtest.For(t, reversals.Process(), now).When(approved).Then(processmanagers.Output{
		Jobs: []commands.Job{commands.SubmitReversal{RefundID: refund, Position: processtest.Position}},
	}).ThenGoesOn().When(submitted).Then(timers(processmanagers.Timer{Name: "result", At: now.Add(5 * time.Minute)})).
		ThenGoesOn().When(completed).
		Then(timers(processmanagers.Timer{Name: "result"}, processmanagers.Timer{Name: "ask"})).ThenEnded()
}

func TestReversal_WithoutAResultIsDoubtedAndAskedAboutForTwoDays(t *testing.T) {
	t.Parallel()
	processtest.For(t, reversals.Process(), now).Given(approved, submitted).WhenDue("result", now.Add(5*time.Minute)).
		Then(processmanagers.Output{Commands: []commands.Command{
			commands.DoubtRefund{RefundID: refund, Cause: commands.DoubtNoResult},
		}}).ThenGoesOn()
	asks := []commands.Job{commands.AskRefundStatus{RefundID: refund}}
	in := processtest.For(t, reversals.Process(), now).Given(approved, submitted).When(doubted).
		Then(timers(processmanagers.Timer{Name: "result"},
			processmanagers.Timer{Name: "ask", At: now.Add(time.Minute)})).ThenGoesOn()
	in.WhenDue("ask", now).Then(processmanagers.Output{
		Jobs: asks, Timers: []processmanagers.Timer{{Name: "ask", At: now.Add(time.Minute)}},
	}).ThenGoesOn()
	late := doubted
	late.At = now.Add(-48 * time.Hour)
	processtest.For(t, reversals.Process(), now).Given(approved, submitted, late).WhenDue("ask", now).
		Then(processmanagers.Output{Jobs: asks}).ThenGoesOn()
}

func TestReversal_IsNotForRefundsByHand(t *testing.T) {
	t.Parallel()
	byHand := approved
	byHand.By = "manual"
	if key := reversals.Process().Key(events.Envelope{Event: byHand}); key != "" {
		t.Errorf("a refund by hand begins %s", key)
	}
	processtest.CheckKeys(t, reversals.Process(), refund.String(), approved, submitted, doubted, completed,
		events.RefundFailed{RefundID: refund})
}
