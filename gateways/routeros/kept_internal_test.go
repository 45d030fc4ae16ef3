package routeros

import (
	"testing"
	"time"
)

// TestConnections_OutliveTheTimeBetweenPolls: else each poll is a sign-in, and a line in the router's log.
func TestConnections_OutliveTheTimeBetweenPolls(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]time.Duration{
		0: time.Minute, time.Second: time.Minute, time.Minute: 3 * time.Minute, 5 * time.Minute: 15 * time.Minute,
		time.Hour: time.Minute, 24 * time.Hour: time.Minute,
	} {
		if got := keptFor(every); got != want {
			t.Errorf("called every %s: kept for %s, want %s", every, got, want)
		}
	}
}
