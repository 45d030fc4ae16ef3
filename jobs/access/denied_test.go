package accessjobs_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// denies has the router answer that it does not know sessions that it has.
func (k *kit) denies() {
	k.t.Helper()
	if err := k.nas.SetFaults(handset.Faults{Dynamic: handset.Deny}); err != nil {
		k.t.Fatal(err)
	}
}

// TestEnforce_ASessionThatItsRouterDeniesAndReportsIsEndedAtTheFirstTry: the router's own list has it.
func TestEnforce_ASessionThatItsRouterDeniesAndReportsIsEndedAtTheFirstTry(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.denies()
	k.block(true)
	if err := k.enforce(); err == nil { // it asks to see the end
		t.Error("nothing was ended")
	}
	if got := k.session(s); got.EndedAt == nil || got.EndReason == telemetry.ReasonGone {
		t.Errorf("%+v", got)
	}
	if got := k.changed(s); got.Via != events.ViaRouter || got.Found {
		t.Errorf("%+v", got)
	}
}

// TestEnforce_ADeniedSessionGoesOnUntilItsReportsAreMissing: the router's own list cannot be read.
func TestEnforce_ADeniedSessionGoesOnUntilItsReportsAreMissing(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.denies()
	k.menus.away = true
	k.block(true)
	if err := k.enforce(); err != nil {
		t.Fatal(err)
	}
	if got := k.session(s); got.EndedAt != nil {
		t.Errorf("a session that is reported was told as ended: %+v", got)
	}
	list := k.history(s)
	refused, is := list[len(list)-1].(events.SessionChangeRefused)
	if !is || !strings.Contains(refused.Message, "its reports go on") {
		t.Errorf("recorded %+v", list)
	}
	meta := commands.Meta{CommandID: id.New[id.Command](), OrgID: k.org}
	done, err := k.Disconnect(t.Context(), s.ID, true, meta)
	if err != nil || done.Ended || !strings.Contains(done.Error, "still reports it") {
		t.Errorf("a person is told %+v, %v", done, err)
	}
	if err := k.nas.SetFaults(handset.Faults{Dynamic: handset.Deny, LoseInterims: 1}); err != nil {
		t.Fatal(err)
	}
	k.clock.Advance(telemetry.ReportEvery + 2*time.Minute)
	if err := k.enforce(); err != nil {
		t.Fatal(err)
	}
	if got := k.session(s); got.EndReason != telemetry.ReasonGone {
		t.Errorf("after its reports are missing: %+v", got)
	}
}

// TestEnforce_ADeniedSpeedIsNoEnd: a session that its router has and denies is not told as ended by a change of speed.
func TestEnforce_ADeniedSpeedIsNoEnd(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	k.denies()
	k.menus.away = true
	k.clock.Advance(8*time.Hour + time.Minute) // the evening has another speed
	deadline, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for k.session(s).UpdatedAt.Before(noon.Add(8 * time.Hour)) { // it can be spooled before it is in the tables
		if deadline.Err() != nil {
			t.Fatal("the session is not reported")
		}
	}
	if err := k.enforce(); err != nil {
		t.Fatal(err)
	}
	if got := k.session(s); got.EndedAt != nil {
		t.Errorf("%+v", got)
	}
}
