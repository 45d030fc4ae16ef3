package processrunner

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// TestOutbox_APanicOverOneRetryLeavesItUnlocked, else no process would give a command afterwards.
func TestOutbox_APanicOverOneRetryLeavesItUnlocked(t *testing.T) {
	t.Parallel()
	o := &outbox{waiting: []retry{{}}} // of no lane
	if err := loop.Try(func() error {
		o.putBack(time.Now())
		return nil
	}); loop.StackOf(err) == "" {
		t.Fatalf("%v, want a panic", err)
	}
	if !o.mu.TryLock() {
		t.Fatal("locked")
	}
}
