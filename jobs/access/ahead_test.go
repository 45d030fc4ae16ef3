package accessjobs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// TestEnforce_ABlockEndsTheSessionAlsoAfterTheClockWasAhead: the customer was online while the clock was ahead, and has
// dialled again since it was put right.
func TestEnforce_ABlockEndsTheSessionAlsoAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.clock.Set(noon.Add(3 * time.Hour))
	k.online()
	k.nas.SignOutAll(handset.UserRequest)
	k.idle()
	k.clock.Set(noon.Add(10 * time.Minute))
	r, err := k.nas.SignIn(t.Context(), handset.Customer{Name: "amina", Password: "pw", MAC: "AA:BB:CC:00:11:22"})
	if err != nil || r.Outcome != handset.Accepted {
		t.Fatalf("sign in: %+v, %v", r, err)
	}
	k.idle()
	if list, err := k.store.OpenOf(t.Context(), k.subscriber); err != nil || len(list) != 1 {
		t.Errorf("the router has %d session, and open are %+v, %v", k.nas.Statistics().Online, list, err)
	}
	k.block(true)
	err = k.enforce()
	k.idle()
	if on := k.nas.Statistics().Online; on != 0 {
		t.Errorf("blocked and enforced (%v): %d session goes on at the router, %d requests were sent to it", err, on,
			k.requests.Load())
	}
}
