package directory

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/radius"
)

// TestDirectory_APanicOverOneSignInLeavesItUnlocked, else no other sign-in would be answered after the next change.
func TestDirectory_APanicOverOneSignInLeavesItUnlocked(t *testing.T) {
	t.Parallel()
	d, b := &Directory{}, &voucherBook{}
	for name, c := range map[string]struct {
		what func()
		free func() bool
	}{
		"a verdict": {func() { d.verdictNow(nil, time.Time{}) }, d.mu.TryLock},
		"a guess":   {func() { b.guessed(&radius.NAS{}, radius.MAC{}, time.Time{}) }, b.mu.TryLock},
	} {
		if err := loop.Try(func() error {
			c.what()
			return nil
		}); loop.StackOf(err) == "" {
			t.Errorf("%s: %v, want a panic", name, err)
		}
		if !c.free() {
			t.Errorf("locked after %s", name)
		}
	}
}
