package cpejobs

import (
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/storetest"
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
