package telemetry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// turns are those that a store tells, without the ids of sessions.
type turns struct{ list []telemetry.Turn }

// watch begins to note what a store tells.
func (k *kit) watch() *turns {
	t := &turns{}
	k.Watch(func(list []telemetry.Turn) { t.list = append(t.list, list...) })
	return t
}

// are compares what was told since the last call.
func (w *turns) are(t *testing.T, what string, want ...telemetry.Turn) {
	t.Helper()
	for i := range w.list {
		if one := &w.list[i]; !one.SessionID.IsZero() {
			one.SessionID = telemetry.SessionID{1}
		}
	}
	if diff := cmp.Diff(want, w.list); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	w.list = nil
}

func TestWatch_TellsWhichSessionsBeginAndEndAndOfNoOtherReport(t *testing.T) {
	t.Parallel()
	k := open(t)
	told := k.watch()
	one := telemetry.Turn{OrgID: k.org, SessionID: telemetry.SessionID{1}, SubscriberID: k.subscriber, At: noon}
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	told.are(t, "begun", one)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	k.commit(t, k.at(telemetry.Interim, 5*time.Minute, 10, 10))
	told.are(t, "a repetition and a report")
	ended := one
	ended.Ended, ended.At = true, noon.Add(10*time.Minute)
	k.commit(t, k.at(telemetry.Stop, 10*time.Minute, 20, 20))
	told.are(t, "ended", ended)
}

func TestWatch_TellsOfManySessionsAtOnceByTheirOrganization(t *testing.T) {
	t.Parallel()
	k := open(t)
	told := k.watch()
	k.occupy(t, k.device, 5)
	told.list = nil
	k.commit(t, k.on(k.device))
	told.are(t, "a router restarted", telemetry.Turn{OrgID: k.org, Ended: true})
	k.commit(t, k.at(telemetry.Start, 20*time.Minute, 0, 0))
	told.list = nil
	if n, err := k.CloseLost(t.Context(), telemetry.Silence{Since: noon.Add(time.Hour)}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	told.are(t, "lost", telemetry.Turn{OrgID: k.org, Ended: true})
}

func TestWatch_TellsOfASessionThatItsRouterDoesNotKnow(t *testing.T) {
	t.Parallel()
	k := open(t)
	told := k.watch()
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	session := told.list[0].SessionID
	told.list = nil
	for range 2 {
		if err := k.Gone(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	told.are(t, "gone", telemetry.Turn{
		OrgID: k.org, SessionID: telemetry.SessionID{1}, SubscriberID: k.subscriber, Ended: true, At: noon,
	})
}
