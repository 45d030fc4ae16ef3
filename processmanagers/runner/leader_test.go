package processrunner_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// TestRunner_ADatabaseThatIsAwayFillsNoLog: the leadership is asked for again and again, and its end is told once.
func TestRunner_ADatabaseThatIsAwayFillsNoLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var lines strings.Builder
	asked := make(chan struct{})
	r := processrunner.New(processrunner.Config{
		Feed: feedtest.Start(t, b.log), DB: b.db, Clock: b.clock, Bus: b.office, Jobs: b.office, Concurrency: 4,
		Logger: slog.New(slog.NewTextHandler(&lines, nil)), Lost: func() {
			select {
			case asked <- struct{}{}:
			default:
			}
		},
	})
	b.db.Close()
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-asked
	}
	r.Stop()
	if told := strings.Count(lines.String(), "leadership of processes ended"); told != 1 {
		t.Errorf("told %d times:\n%s", told, lines.String())
	}
}
