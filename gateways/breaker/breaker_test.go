package breaker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// start is the instant at which every test's clock begins, in UTC.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// errDown stands for a transport error, which counts as a failure.
var errDown = errors.New("connection reset")

// kit has a set, its clock and the changes that it announced.
type kit struct {
	*breaker.Set
	clock *clock.Manual
	mu    sync.Mutex
	heard []breaker.Phase
}

// newKit makes a set with the numbers of docs/rules/engine.md#breaker.
func newKit() *kit {
	k := &kit{clock: clock.NewManual(start)}
	k.Set = breaker.New(breaker.Config{Clock: k.clock, OnChange: func(s breaker.State) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.heard = append(k.heard, s.State)
	}})
	return k
}

// call makes one call with the given result and reports whether it ran.
func (k *kit) call(t *testing.T, result error) (ran bool, err error) {
	t.Helper()
	err = k.Do(t.Context(), "provider", "paybill", func(context.Context) error {
		ran = true
		return result
	})
	return ran, err
}

// fail makes n failing calls and fails the test if one of them is refused.
func (k *kit) fail(t *testing.T, n int) {
	t.Helper()
	for range n {
		if ran, err := k.call(t, errDown); !ran || !errors.Is(err, errDown) {
			t.Fatalf("failing call: ran %v, error %v", ran, err)
		}
	}
}

func TestBreaker_OpensAfterFiveConsecutiveFailures(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 4)
	if _, err := k.call(t, nil); err != nil { // a success sets the count to 0
		t.Fatal(err)
	}
	k.fail(t, 5)
	ran, err := k.call(t, nil)
	if ran {
		t.Fatal("a call passed an open breaker")
	}
	var f *failure.Error
	if !errors.As(err, &f) || f.Kind != failure.Unavailable || f.Code != "provider_unavailable" ||
		f.RetryAfter != 30*time.Second {
		t.Fatalf("refusal is %#v", err)
	}
	want := []breaker.State{{Target: "paybill", Kind: "provider", State: breaker.Open, Failures: 5,
		OpenedAt: start, RetryAt: start.Add(30 * time.Second), LastError: "connection reset", AnsweredAt: start}}
	if diff := cmp.Diff(want, k.States()); diff != "" {
		t.Error(diff)
	}
}

func TestBreaker_CoolDownDoublesToTenMinutes(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	for _, wait := range []time.Duration{
		30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute,
		10 * time.Minute,
	} {
		k.clock.Advance(wait - time.Millisecond)
		if ran, _ := k.call(t, nil); ran {
			t.Fatalf("passed before %v were over", wait)
		}
		k.clock.Advance(time.Millisecond)
		if got := k.States()[0].State; got != breaker.HalfOpen {
			t.Fatalf("after %v the state is %s", wait, got)
		}
		k.fail(t, 1)
		if got := k.States()[0]; !got.OpenedAt.Equal(start) {
			t.Fatalf("the outage began at %v, shown as %v", start, got.OpenedAt)
		}
	}
	k.clock.Advance(10 * time.Minute)
	if ran, err := k.call(t, nil); !ran || err != nil {
		t.Fatalf("probe: ran %v, error %v", ran, err)
	}
	k.fail(t, 5) // closed again, and the cool-down is back at its first length
	if got := k.States()[0]; !got.RetryAt.Equal(k.clock.Now().Add(30 * time.Second)) {
		t.Fatalf("cool-down after recovery ends at %v", got.RetryAt)
	}
}

// TestBreaker_ACoolDownIsNoLongerWhenTheMachinesClockIsPutBack.
func TestBreaker_ACoolDownIsNoLongerWhenTheMachinesClockIsPutBack(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	k.clock.Set(start.Add(-3 * time.Hour))
	if got := k.States()[0].RetryAt; !got.Equal(start.Add(-3*time.Hour + 30*time.Second)) {
		t.Errorf("the next probe is shown for %v", got)
	}
	k.clock.Advance(30 * time.Second)
	if ran, err := k.call(t, nil); !ran || err != nil {
		t.Errorf("no probe when the cool-down is over: %v", err)
	}
}

func TestBreaker_OneProbeAtATime(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	k.clock.Advance(30 * time.Second)
	if err := k.Ready("provider", "paybill"); err != nil {
		t.Fatalf("ready for a probe, but %v", err)
	}
	err := k.Do(t.Context(), "provider", "paybill", func(context.Context) error {
		if ran, err := k.call(t, nil); ran || failure.KindOf(err) != failure.Unavailable {
			t.Errorf("second probe: ran %v, error %v", ran, err)
		}
		if err := k.Ready("provider", "paybill"); failure.KindOf(err) != failure.Unavailable {
			t.Errorf("ready during a probe: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if diff := cmp.Diff([]breaker.Phase{breaker.Open, breaker.HalfOpen, breaker.Closed}, k.heard); diff != "" {
		t.Error(diff)
	}
}

func TestBreaker_AnswersOfTheSystemAreNoFailures(t *testing.T) {
	t.Parallel()
	k := newKit()
	refused := errors.New("invalid account")
	for range 20 {
		if _, err := k.call(t, breaker.Answered(refused)); !errors.Is(err, refused) {
			t.Fatalf("error is %v", err)
		}
	}
	if breaker.Answered(nil) != nil {
		t.Error("an answer without error became one")
	}
	if got := k.States()[0]; got.State != breaker.Closed || got.Failures != 0 {
		t.Fatalf("state %+v", got)
	}
}

func TestBreaker_CallerWhoLeavesIsNoVerdict(t *testing.T) {
	t.Parallel()
	k := newKit()
	leave := func() error {
		ctx, cancel := context.WithCancel(t.Context())
		return k.Do(ctx, "provider", "paybill", func(ctx context.Context) error {
			cancel()
			return ctx.Err()
		})
	}
	for range 10 {
		if err := leave(); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if err := k.Ready("provider", "paybill"); err != nil {
		t.Fatalf("callers who left opened the breaker: %v", err)
	}
	k.fail(t, 5)
	k.clock.Advance(30 * time.Second)
	if err := leave(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if ran, err := k.call(t, nil); !ran || err != nil { // the cancelled probe did not count
		t.Fatalf("next probe: ran %v, error %v", ran, err)
	}
}

func TestBreaker_TimeoutsCount(t *testing.T) {
	t.Parallel()
	k := newKit()
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := k.Do(ctx, "provider", "paybill", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if k.Ready("provider", "paybill") == nil {
		t.Fatal("five time-outs left the breaker closed")
	}
}

func TestBreaker_LateResultsOfAnEarlierEraAreIgnored(t *testing.T) {
	t.Parallel()
	k := newKit()
	err := k.Do(t.Context(), "provider", "paybill", func(context.Context) error {
		k.fail(t, 5)
		return nil // begun before the outage: no proof of recovery
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := k.States()[0]; got.State != breaker.Open || got.Failures != 5 {
		t.Fatalf("state %+v", got)
	}
}

func TestBreaker_PanicCountsAndFreesTheProbe(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	k.clock.Advance(30 * time.Second)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = k.Do(t.Context(), "provider", "paybill", func(context.Context) error { panic("broken") })
	}()
	if got := k.States()[0]; got.State != breaker.Open || !got.RetryAt.Equal(k.clock.Now().Add(time.Minute)) {
		t.Fatalf("state %+v", got)
	}
}

func TestBreaker_TargetsAreSeparate(t *testing.T) {
	t.Parallel()
	set := breaker.New(breaker.Config{Codes: map[string]string{"router": "device_unreachable"}})
	for range 5 {
		_ = set.Do(t.Context(), "router", "one", func(context.Context) error { return errDown })
	}
	if err := set.Ready("router", "one"); failure.CodeOf(err) != "device_unreachable" {
		t.Fatalf("error is %v", err)
	}
	for _, other := range [][2]string{{"router", "two"}, {"provider", "one"}} {
		if err := set.Do(t.Context(), other[0], other[1], func(context.Context) error { return nil }); err != nil {
			t.Errorf("%v: %v", other, err)
		}
	}
	set.Forget("router", "one")
	if err := set.Ready("router", "one"); err != nil {
		t.Errorf("a forgotten target still refuses: %v", err)
	}
}

func TestBreaker_ConcurrentCallersSeeOneProbe(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	k.clock.Advance(30 * time.Second)
	var wait sync.WaitGroup
	var mu sync.Mutex
	passed, hold, begun := 0, make(chan struct{}), make(chan struct{}, 32)
	for range 32 {
		wait.Go(func() {
			err := k.Do(t.Context(), "provider", "paybill", func(context.Context) error {
				mu.Lock()
				passed++
				mu.Unlock()
				begun <- struct{}{}
				<-hold
				return errDown
			})
			if failure.KindOf(err) == failure.Unavailable {
				return
			}
			if !errors.Is(err, errDown) {
				t.Errorf("error is %v", err)
			}
		})
	}
	<-begun // all but the probe are refused while it hangs
	close(hold)
	wait.Wait()
	if passed != 1 {
		t.Errorf("%d probes passed", passed)
	}
}

// speechless is an error whose text panics.
type speechless struct{}

func (speechless) Error() string { panic("no text") }

func TestBreaker_AnErrorWithoutATextCountsAndFreesTheProbe(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	k.clock.Advance(time.Minute)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic does not reach the caller")
			}
		}()
		_, _ = k.call(t, speechless{})
	}()
	k.clock.Advance(time.Hour)
	if ran, err := k.call(t, nil); !ran || err != nil {
		t.Errorf("the next probe: ran %v, error %v", ran, err)
	}
}

func TestBreaker_WaitingCallsNeitherCountNorEndTheCount(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 4)
	if _, err := k.call(t, breaker.Unsent(errDown)); !errors.Is(err, errDown) {
		t.Errorf("a call that was not sent: %v", err)
	}
	ended, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	err := k.Do(ended, "provider", "paybill", func(context.Context) error {
		t.Error("a call ran with a context that had ended")
		return nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that had ended: %v", err)
	}
	if got := k.States()[0]; got.State != breaker.Closed || got.Failures != 4 {
		t.Fatalf("after calls that were not sent: %+v", got)
	}
	k.fail(t, 1)
	if got := k.States()[0].State; got != breaker.Open {
		t.Errorf("after the fifth failure: %s", got)
	}
	if breaker.Unsent(nil) != nil {
		t.Error("no error was marked as one")
	}
}

func TestBreaker_AProbeThatWasNotSentLeavesTheNextCallAsProbe(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	k.clock.Advance(30 * time.Second)
	_, _ = k.call(t, breaker.Unsent(errDown))
	if ran, err := k.call(t, nil); !ran || err != nil {
		t.Errorf("the next probe: ran %v, %v", ran, err)
	}
	if got := k.States()[0].State; got != breaker.Closed {
		t.Errorf("after the probe: %s", got)
	}
}

func TestBreaker_AProofFromOutsideClosesIt(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.Alive("provider", "paybill") // nobody knows it
	k.fail(t, 5)
	k.Alive("provider", "paybill")
	if got := k.States()[0]; got.State != breaker.Closed || got.Failures != 0 {
		t.Errorf("after the proof: %+v", got)
	}
	k.fail(t, 4)
	k.Alive("provider", "paybill")
	k.fail(t, 4)
	if got := k.States()[0].State; got != breaker.Closed {
		t.Errorf("failures of before the proof count: %s", got)
	}
}

// TestBreaker_AnOutageIsAsOldAsItIsWhateverTheClockIsSetTo: it began while the machine's clock was ahead.
func TestBreaker_AnOutageIsAsOldAsItIsWhateverTheClockIsSetTo(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	k.clock.Advance(10 * time.Minute)
	k.clock.Set(start.Add(-3 * time.Hour))
	if got := k.States()[0].OpenedAt; !got.Equal(start.Add(-3*time.Hour - 10*time.Minute)) {
		t.Errorf("the outage began at %v", got)
	}
}
