package cpejobs

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestSync_ARefusalOfOneDeviceHoldsUpNoOther: a failure of the program or of the server does.
func TestSync_ARefusalOfOneDeviceHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	details := commands.LearnCpeDetails{}
	details.Details.Model = "a\u0090"
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {details.Validate(), true}, {commands.ErrNoCpe(), true}, {&genieacs.Refusal{Status: 400}, true},
		{genieacs.ErrUnfit, true}, {errors.New("the database is away"), false},
		{failure.NewUnavailable("cpe_server_unavailable", "away", 0, nil), false},
	} {
		if got := ofOneDevice(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

// TestSync_AClockThatIsAheadMovesNothing: the next reading begins at the last call that has been.
func TestSync_AClockThatIsAheadMovesNothing(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))
	called := now.Now().Add(-time.Minute)
	r := reading{Sync: Sync{Clock: now, Logger: storetest.Quiet()}, page: []genieacs.Device{
		{LastInform: now.Now().AddDate(1, 0, 0)}, {LastInform: called}, // neither has an identity
	}}
	if err := r.done(t.Context()); err != nil || !r.latest.Equal(called) {
		t.Errorf("read until %s (%v)", r.latest, err)
	}
}

// TestSync_ReadsOnceMoreWhatHadNotEnded: the document of a session that took two and a half minutes comes with an
// instant before those that were read meanwhile.
func TestSync_ReadsOnceMoreWhatHadNotEnded(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))
	sim := acs.New(acs.Config{Clock: now})
	if err := sim.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Stop(context.Background()) })
	gateway, err := genieacs.New(genieacs.Config{
		NBI: sim.URL(), Guard: breaker.New(breaker.Config{Clock: now}), Clock: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gateway.Close)
	informs, err := OpenInforms(t.Context(), pgtest.New(t), now, storetest.Quiet())
	if err != nil {
		t.Fatal(err)
	}
	s := Sync{Gateway: gateway, Informs: informs, Clock: now, Logger: storetest.Quiet()}
	_, err = sim.AddDevice(acs.DeviceConfig{Serial: strings.Repeat("9", 65)}) // no identity: it is read and left out
	if err = errors.Join(err, sim.Idle(t.Context())); err != nil {
		t.Fatal(err)
	}
	now.Advance(150 * time.Second)
	for range 2 {
		if err := s.sync(t.Context(), commands.SyncCpes{}, jobs.Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	asked, err := url.QueryUnescape(sim.Requests()[len(sim.Requests())-1])
	if _, since, is := strings.Cut(asked, `"$gte":"`); err != nil || !is || since[:19] > "2026-03-01T08:57:30" {
		t.Errorf("the second reading asks %s (%v)", asked, err)
	}
}

// TestSync_ATagThatCannotBeNamedIsNotWrittenAnew: no script of ours has written it, and the reading goes on.
func TestSync_ATagThatCannotBeNamedIsNotWrittenAnew(t *testing.T) {
	t.Parallel()
	gateway, err := genieacs.New(genieacs.Config{NBI: "http://127.0.0.1:1", Guard: breaker.New(breaker.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	defer gateway.Close()
	r := reading{Sync: Sync{Gateway: gateway}}
	for tag, fails := range map[string]bool{
		"sub:a0xF.5":                            true, // the server is asked, and is away
		"sub:a0xF.5" + strings.Repeat("y", 300): false, "sub:a0xF.5" + strings.Repeat("x", 180): false,
	} {
		err := r.respell(t.Context(), genieacs.Device{ID: "00AABB-SN1", Tags: []string{tag}})
		if fails != (err != nil) {
			t.Errorf("%s: %v", tag, err)
		}
	}
}
