package telemetry_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// openOne is the one open session of the kit's subscriber.
func (k *kit) openOne(t *testing.T) telemetry.Session {
	t.Helper()
	list, err := k.OpenOf(t.Context(), k.subscriber)
	if err != nil || len(list) != 1 {
		t.Fatalf("open sessions %+v, %v", list, err)
	}
	return list[0]
}

func TestRegrant_LaterReportsWithTheOldClassDoNotTakeItBack(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	s := k.openOne(t)
	next := telemetry.Given{Access: "throttled", RateDown: 2_000, RateUp: 500, Stamp: "next"}
	if err := k.Regrant(t.Context(), s.ID, next); err != nil {
		t.Fatal(err)
	}
	k.commit(t, k.at(telemetry.Interim, time.Minute, 5, 5))
	if got := k.openOne(t); got.Access != "throttled" || got.RateDown != 2_000 || got.Stamp != "next" ||
		got.BytesDown != 5 {
		t.Errorf("%+v", got)
	}
}

func TestGone_EndsWithTheLastReportUntilANewerOneComes(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), k.at(telemetry.Interim, time.Minute, 5, 5))
	s := k.openOne(t)
	for range 2 {
		if err := k.Gone(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	k.commit(t, k.at(telemetry.Interim, time.Minute, 5, 5)) // once more
	if got := k.only(t); got.Reason != telemetry.ReasonGone || !got.Ended.Equal(noon.Add(time.Minute)) {
		t.Errorf("%+v", got)
	}
	k.commit(t, k.at(telemetry.Interim, 2*time.Minute, 9, 9))
	if got := k.openOne(t); got.EndReason != "" {
		t.Errorf("its router was wrong: %+v", got)
	}
	k.commit(t, k.at(telemetry.Stop, 3*time.Minute, 9, 9))
	if err := k.Gone(t.Context(), s.ID); err != nil || k.only(t).Reason != "stopped" {
		t.Errorf("an end that the router told: %+v, %v", k.only(t), err)
	}
}

func TestOpen_ListsByRouterAndAll(t *testing.T) {
	t.Parallel()
	k := open(t)
	nobody := k.at(telemetry.Start, 0, 0, 0)
	nobody.Session, nobody.User, nobody.Org = "81000009", "nobody", id.New[id.Organization]()
	ended := k.at(telemetry.Stop, time.Minute, 1, 1)
	ended.Session = "81000008"
	ended.MAC, ended.Calling = "AA:BB:CC:00:11:99", "AA:BB:CC:00:11:99"
	k.commit(t, k.at(telemetry.Start, 0, 0, 0), nobody, ended)
	at, err := k.OpenOn(t.Context(), k.device)
	if err != nil || len(at) != 1 || at[0].SessionKey != "81000001" {
		t.Errorf("%+v, %v", at, err)
	}
	var all []telemetry.SessionID
	err = k.OpenAll(t.Context(), func(s telemetry.Session) { all = append(all, s.ID) })
	if err != nil || len(all) != 1 || all[0] != at[0].ID {
		t.Errorf("%v, %v", all, err)
	}
}
