package processrunner_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// periods is like renewal: each period that became due arms the timer of the next, and the timer asks for it by a
// command that is the same each time.
func periods() processmanagers.Process[trip] {
	return processmanagers.Process[trip]{
		Name: "periods",
		On:   []processmanagers.Handled{processmanagers.On(func(e parcel) string { return e.No })},
		Decide: func(_ trip, in processmanagers.Input, now time.Time) (out processmanagers.Output, err error) {
			switch {
			case in.Event != nil: // after a weekend the next period is overdue, too
				out.Timers = []processmanagers.Timer{{Name: "renew", At: now.Add(-time.Hour)}}
			case in.Timeout != nil:
				out.Commands = []commands.Command{deliver{"p1", "next period"}}
			}
			return out, nil
		},
		Evolve: func(s trip, in processmanagers.Input) trip { s.Seen = append(s.Seen, word(in)); return s },
		Ended:  func(trip) bool { return false },
	}
}

// TestTimer_TheNextStepIsNotLostWhileTheRowOfTheOneBeforeWaitsForItsRepeat: a command acted, but its answer (or the
// deletion of its row) was lost, so that its row waits for its repeat. Its event arms the timer anew; what that asks
// for is a new step, which the repeat, having the old id, does not make.
func TestTimer_TheNextStepIsNotLostWhileTheRowOfTheOneBeforeWaitsForItsRepeat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var acted, lost atomic.Int32
	b.office.before = func(_ context.Context, step string) error {
		if step != "executed" {
			return nil
		}
		b.office.mu.Lock()
		n := int32(len(b.office.acts))
		b.office.mu.Unlock()
		if n > acted.Swap(n) && n < 4 { // it acted now
			b.happen("p1", "due")
			if lost.Add(1) == 1 {
				return failure.New(failure.Unavailable, "eventstore_unavailable", "the answer was lost")
			}
		}
		return nil
	}
	r := processrunner.New(processrunner.Config{
		Feed: feedtest.Start(t, b.log), DB: b.db, Clock: b.clock, Bus: b.office, Jobs: b.office, Concurrency: 4,
	})
	r.Register(periods())
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	b.happen("p1", "due")
	b.office.until(t, "made four periods due", func() bool { return len(b.office.acts) == 4 })
}
