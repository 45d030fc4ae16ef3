package directory

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

func TestRefusals_AreCountedByKindAndDayUntilTheyAreWritten(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	r, who := NewRefusals(clock.System()), id.New[id.Subscriber]()
	refuse := func(code Code, at time.Time) {
		r.count(telemetry.Refusal{SubscriberID: who, Code: string(code), FirstAt: at, At: at, Count: 1})
	}
	refuse(CodeUnpaid, noon)
	refuse(CodeUnpaid, noon.Add(time.Minute))
	refuse(CodeWrongMAC, noon)
	refuse(CodeUnpaid, noon.AddDate(0, 0, 1))
	list := r.Drain()
	if len(list) != 3 || len(r.Drain()) != 0 {
		t.Fatalf("drained %+v", list)
	}
	refuse(CodeUnpaid, noon.Add(2*time.Minute))
	r.Return(list) // it could not be written
	found := false
	for _, one := range r.Drain() {
		if one.Code == string(CodeUnpaid) && one.FirstAt.Equal(noon) {
			found = one.Count == 3 && one.At.Equal(noon.Add(2*time.Minute))
		}
	}
	if !found {
		t.Error("what was given back and what came meanwhile do not add up")
	}
}

func TestRefusals_ALineOfARouterIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	r := NewRefusals(clock.NewManual(noon))
	org, router, other := id.New[id.Organization](), id.New[id.Device](), id.New[id.Device]()
	for _, at := range []time.Duration{0, 59 * time.Second, time.Minute, 100 * time.Second} {
		r.note(org, router, noon.Add(at))
	}
	r.note(org, other, noon.Add(time.Minute))
	for _, one := range r.Drain() {
		count := int64(1)
		if one.DeviceID == router {
			count = 2
		}
		if one.Code != telemetry.Accepted || !one.At.Equal(noon.Add(time.Minute)) || one.Count != count {
			t.Errorf("noted %+v", one)
		}
	}
	r.note(org, router, noon.Add(-time.Hour)) // the clock was put back
	if list := r.Drain(); len(list) != 1 || !list[0].At.Equal(noon.Add(-time.Hour)) {
		t.Errorf("noted %+v", list)
	}
}

// TestRefusals_AFloodIsBounded: and leaves room for those of other organizations.
func TestRefusals_AFloodIsBounded(t *testing.T) {
	t.Parallel()
	r := NewRefusals(clock.System())
	loud, calm := id.New[id.Organization](), id.New[id.Organization]()
	refuse := func(org id.Organization) {
		who := id.New[id.Subscriber]()
		r.count(telemetry.Refusal{OrgID: org, SubscriberID: who, Code: string(CodeUnpaid), Count: 1})
	}
	for round := range 2 { // what was written makes room
		for range maxWaiting + 100 {
			refuse(loud)
		}
		refuse(calm)
		kinds := map[id.Organization]int{}
		for _, one := range r.Drain() {
			kinds[one.OrgID]++
		}
		if kinds[loud] != 20_000 || kinds[calm] != 1 {
			t.Errorf("round %d: %d kinds of the one that floods, %d of the other", round, kinds[loud], kinds[calm])
		}
	}
}
