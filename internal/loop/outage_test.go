package loop_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// TestOutage_IsToldOnceAndEndsForAllAtOnce: twenty loops that need the same would write a line each time they try.
func TestOutage_IsToldOnceAndEndsForAllAtOnce(t *testing.T) {
	t.Parallel()
	var o loop.Outage
	for range 2 {
		if o.Ended() {
			t.Error("nothing was away")
		}
		told := 0
		var waits []<-chan struct{}
		for range 20 {
			tell, over := o.Failed()
			if tell {
				told++
			}
			waits = append(waits, over)
		}
		if told != 1 {
			t.Errorf("told %d times", told)
		}
		select {
		case <-waits[0]:
			t.Error("it lasts")
		default:
		}
		if !o.Ended() || o.Ended() {
			t.Error("it ends once")
		}
		for _, over := range waits {
			loop.Wait(t.Context(), over)
		}
	}
}
