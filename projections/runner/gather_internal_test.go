package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
)

// gathering is how long a projection gathers after a page of so many events.
func gathering(t *testing.T, e *entry, count int) time.Duration {
	began := time.Now()
	e.gather(t.Context(), feed.Page{Events: make([]*events.Envelope, count)})
	return time.Since(began)
}

func TestGather_WaitsOnlyUnderLoadAndWhileNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &entry{asked: make(chan struct{}, 1)}
		for _, c := range []struct {
			events int
			want   time.Duration
		}{
			{1, 0}, {gatherFrom - 1, 0}, {gatherFrom, gatherFrom * gatherEach}, {batchLimit - 1, gatherMost},
			{batchLimit, 0},
		} {
			if got := gathering(t, e, c.events); got != c.want {
				t.Errorf("after %d events it waits %v, want %v", c.events, got, c.want)
			}
		}
		views := &Views{r: New(Config{})}
		leave := views.hurry(e)
		if got := gathering(t, e, gatherFrom); got != 0 {
			t.Errorf("a reader waits for %v", got)
		}
		leave()
		<-e.asked
		time.AfterFunc(gatherEach, func() { views.hurry(e) })
		if got := gathering(t, e, batchLimit-1); got != gatherEach {
			t.Errorf("a reader who came after %v has waited until %v", gatherEach, got)
		}
	})
}
