package breaker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
)

// insist makes one call of a person with the given result and reports whether it ran.
func (k *kit) insist(t *testing.T, result error) (ran bool, err error) {
	t.Helper()
	err = k.Do(breaker.Insist(t.Context()), "provider", "paybill", func(context.Context) error {
		ran = true
		return result
	})
	return ran, err
}

func TestInsist_ASuccessClosesAnOpenBreaker(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	if ran, err := k.insist(t, nil); !ran || err != nil {
		t.Fatalf("ran %v, %v", ran, err)
	}
	if ran, err := k.call(t, nil); !ran || err != nil {
		t.Errorf("the next call: ran %v, %v", ran, err)
	}
	want := []breaker.Phase{breaker.Open, breaker.HalfOpen, breaker.Closed}
	if diff := cmp.Diff(want, k.heard); diff != "" {
		t.Error(diff)
	}
}

func TestInsist_AFailureLeavesTheCoolDown(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{"failed": errDown, "not sent": breaker.Unsent(errDown)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit()
			k.fail(t, 5)
			k.clock.Advance(10 * time.Second)
			for range 3 {
				if ran, err := k.insist(t, result); !ran || !errors.Is(err, errDown) {
					t.Fatalf("ran %v, %v", ran, err)
				}
			}
			got := k.States()[0]
			retry := start.Add(30 * time.Second)
			if got.State != breaker.Open || !got.OpenedAt.Equal(start) || !got.RetryAt.Equal(retry) {
				t.Errorf("%+v", got)
			}
			if ran, _ := k.call(t, nil); ran {
				t.Error("a call passed before the cool-down was over")
			}
			k.clock.Advance(20 * time.Second)
			_, _ = k.insist(t, result) // instead of the probe: it does not double the cool-down
			if ran, err := k.call(t, errDown); !ran || !errors.Is(err, errDown) {
				t.Errorf("the probe: ran %v, %v", ran, err)
			}
			if got := k.States()[0].RetryAt; !got.Equal(start.Add(90 * time.Second)) {
				t.Errorf("after the probe the next one is at %v", got)
			}
		})
	}
}

// While a probe is on its way a person waits for its end. Then the breaker is closed, or the person's call is the next.
func TestInsist_WaitsForTheProbeThatIsOnItsWay(t *testing.T) {
	t.Parallel()
	results := map[string]error{"answered": nil, "failed": errDown, "not sent": breaker.Unsent(errDown)}
	for name, result := range results {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit()
			k.fail(t, 5)
			k.clock.Advance(30 * time.Second)
			under, end, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			go func() {
				_ = k.Do(context.Background(), "provider", "paybill", func(context.Context) error {
					close(under)
					<-end
					return result
				})
			}()
			<-under
			go func() {
				done <- k.Do(breaker.Insist(context.Background()), "provider", "paybill", func(context.Context) error {
					select {
					case <-end:
						return nil
					default:
						return errors.New("asked beside the probe")
					}
				})
			}()
			if _, err := k.call(t, nil); err == nil {
				t.Error("a second call passed beside the probe")
			}
			close(end)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if got := k.States()[0].State; got != breaker.Closed {
				t.Errorf("in the end: %s", got)
			}
		})
	}
}

// A person who has gone before the probe's end is refused as everybody else, and holds nobody up.
func TestInsist_OneWhoLeavesIsRefused(t *testing.T) {
	t.Parallel()
	k := newKit()
	k.fail(t, 5)
	k.clock.Advance(30 * time.Second)
	ctx, leave := context.WithCancel(breaker.Insist(t.Context()))
	_ = k.Do(t.Context(), "provider", "paybill", func(context.Context) error {
		gone := make(chan error, 1)
		go func() {
			gone <- k.Do(ctx, "provider", "paybill", func(context.Context) error { return nil })
		}()
		leave()
		if err := <-gone; err == nil {
			t.Error("asked beside the probe")
		}
		return nil
	})
	k.Forget("provider", "paybill")
}

// Nor is one whose time ends together with the probe: a call that can ask nothing any more is no probe, and no failure
// of the target.
func TestInsist_OneWhoseTimeEndsWithTheProbeIsNoProbe(t *testing.T) {
	t.Parallel()
	for range 50 {
		k := newKit()
		k.fail(t, 5)
		k.clock.Advance(30 * time.Second)
		under, end, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			_ = k.Do(t.Context(), "provider", "paybill", func(context.Context) error {
				close(under)
				<-end
				return breaker.Unsent(errDown)
			})
		}()
		<-under
		ctx, leave := context.WithTimeout(breaker.Insist(t.Context()), time.Millisecond)
		asked := false
		go func() {
			defer close(done)
			_ = k.Do(ctx, "provider", "paybill", func(ctx context.Context) error {
				asked = ctx.Err() != nil
				return ctx.Err()
			})
		}()
		<-ctx.Done()
		close(end)
		<-done
		leave()
		if asked {
			t.Fatal("a call that had ended was let in")
		}
	}
}
