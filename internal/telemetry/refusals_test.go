package telemetry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// refused is a refused sign-in of the kit's customer.
func (k *kit) refused(code string, at time.Time, count int64) telemetry.Refusal {
	return telemetry.Refusal{
		OrgID: k.org, SubscriberID: k.subscriber, SubscriptionID: k.subscription, DeviceID: k.device, Code: code,
		FirstAt: at, At: at.Add(time.Minute), Count: count,
	}
}

// kinds are the codes and counts of refusals, in their order.
func kinds(list []telemetry.Refusal) map[string]int64 {
	out := map[string]int64{}
	for _, r := range list {
		out[r.Code] += r.Count
	}
	return out
}

func TestRefusals_AddUpOverDaysAndAnswerForThePast(t *testing.T) {
	t.Parallel()
	k := open(t)
	nobody := k.refused("unknown_user", noon, 7)
	nobody.SubscriberID, nobody.SubscriptionID = id.Subscriber{}, id.Subscription{}
	for _, list := range [][]telemetry.Refusal{
		{k.refused("unpaid", noon, 1), k.refused("unpaid", noon.Add(time.Hour), 2), nobody},
		{k.refused("wrong_mac", noon.AddDate(0, 0, 1), 5), k.refused("unpaid", noon.AddDate(0, 0, 2), 10)}, {},
	} {
		if err := k.SaveRefusals(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	for after, want := range map[int][]telemetry.Refusal{
		-1: nil, 0: {k.refused("unpaid", noon.Add(time.Hour), 3)},
		1: {k.refused("wrong_mac", noon.AddDate(0, 0, 1), 5), k.refused("unpaid", noon.Add(time.Hour), 3)},
		2: {k.refused("unpaid", noon.AddDate(0, 0, 2), 13), k.refused("wrong_mac", noon.AddDate(0, 0, 1), 5)},
	} {
		got, err := k.RefusalsOf(t.Context(), k.org, k.subscriber, noon.AddDate(0, 0, after))
		if err != nil || !slices.EqualFunc(got, want, func(a, b telemetry.Refusal) bool {
			return a.Code == b.Code && a.Count == b.Count && a.At.Equal(b.At) && a.DeviceID == b.DeviceID &&
				a.SubscriptionID == b.SubscriptionID
		}) {
			t.Errorf("after %d days: %+v, %v", after, got, err)
		}
	}
	at, err := k.RefusalsAt(t.Context(), k.org, k.device, noon)
	if err != nil || len(at) != 1 || at[0].Count != 7 || !at[0].SubscriberID.IsZero() {
		t.Errorf("of nobody: %+v, %v", at, err)
	}
	list, err := k.RefusalsOf(t.Context(), id.New[id.Organization](), k.subscriber, noon)
	if err != nil || len(list) > 0 {
		t.Errorf("another organization reads %+v, %v", list, err)
	}
}

func TestRefusals_GoWhenTheirTimeIsOverAndWithThePerson(t *testing.T) {
	t.Parallel()
	k := open(t)
	err := k.SaveRefusals(t.Context(), []telemetry.Refusal{
		k.refused("unpaid", noon, 1), k.refused("wrong_mac", noon.AddDate(0, 0, 9), 1),
	})
	if err != nil {
		t.Fatal(err)
	}
	left := func() map[string]int64 {
		list, err := k.RefusalsOf(t.Context(), k.org, k.subscriber, noon.AddDate(1, 0, 0))
		if err != nil {
			t.Fatal(err)
		}
		return kinds(list)
	}
	keep := telemetry.Retention{Sessions: 8 * 24 * time.Hour}
	if err := k.Purge(t.Context(), noon.AddDate(0, 0, 9), keep); err != nil {
		t.Fatal(err)
	}
	if got := left(); len(got) != 1 || got["wrong_mac"] != 1 {
		t.Errorf("kept %v", got)
	}
	if err := k.Forget(t.Context(), k.org, k.subscriber); err != nil {
		t.Fatal(err)
	}
	if got := left(); len(got) != 0 {
		t.Errorf("kept of a forgotten person %v", got)
	}
}

// tally is a source in memory for one goroutine.
type tally struct {
	waiting []telemetry.Refusal
	tries   []telemetry.Try
}

// Drain implements telemetry.RefusalSource.
func (s *tally) Drain() []telemetry.Refusal {
	list := s.waiting
	s.waiting = nil
	return list
}

// Return implements telemetry.RefusalSource.
func (s *tally) Return(list []telemetry.Refusal) { s.waiting = append(s.waiting, list...) }

// DrainTries implements telemetry.RefusalSource.
func (s *tally) DrainTries() []telemetry.Try {
	list := s.tries
	s.tries = nil
	return list
}

// ReturnTries implements telemetry.RefusalSource.
func (s *tally) ReturnTries(list []telemetry.Try) { s.tries = append(s.tries, list...) }

func TestRefusalWriter_KeepsWhatItCouldNotWriteAndWritesTheRestAtTheStop(t *testing.T) {
	t.Parallel()
	k := open(t)
	source := &tally{}
	for range 1_500 {
		source.waiting = append(source.waiting, k.refused("unpaid", noon, 1))
	}
	source.tries = []telemetry.Try{k.try("amina", "unpaid", noon)}
	w := telemetry.NewRefusalWriter(k.Store, source, storetest.Quiet())
	away, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Round(away); !errors.Is(err, context.Canceled) || len(source.waiting) != 1_500 ||
		len(source.tries) != 1 {
		t.Fatalf("%v, %d wait", err, len(source.waiting))
	}
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Stop()
	list, err := k.RefusalsOf(t.Context(), k.org, k.subscriber, noon)
	if err != nil || kinds(list)["unpaid"] != 1_500 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestOpenAt_GivesTheSessionsOfThatTime(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, time.Hour, 10, 1),
		k.at(telemetry.Stop, 2*time.Hour, 20, 2))
	for after, want := range map[time.Duration]int{-time.Second: 0, 0: 1, time.Hour: 1, 2 * time.Hour: 0} {
		list, err := k.OpenAt(t.Context(), k.org, k.subscriber, noon.Add(after))
		if err != nil || len(list) != want {
			t.Errorf("%v after the start: %d sessions, %v", after, len(list), err)
		}
	}
}
