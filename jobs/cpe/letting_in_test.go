package cpejobs_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// TestFactoryReset_TheDeviceComesBackWithoutItsPassword: that is so before the server is asked, and again when it has
// shown a new one before it has lost its settings. What it shows after it came back stays required.
func TestFactoryReset_TheDeviceComesBackWithoutItsPassword(t *testing.T) {
	t.Parallel()
	o := operate(t, events.CpeFactoryReset)
	identity := events.CpeIdentity{SerialNumber: "SN-1", OUI: "00AABB"}
	o.work.CpeID, o.work.ValuesRef = commands.CpeID(identity), id.Secret{}
	o.Run(t, coretest.Operator(id.Organization{}), commands.IdentifyCpe{CpeID: o.work.CpeID, Identity: identity})
	o.Run(t, coretest.Operator(o.owner), commands.ClaimCpe{CpeID: o.work.CpeID, OrgID: o.owner})
	shows := func(number int) {
		t.Helper()
		o.Run(t, coretest.Operator(o.owner), commands.ProveCpeSignIn{CpeID: o.work.CpeID, SignIn: number})
	}
	is := func(number int, required bool) {
		t.Helper()
		got, _, err := bus.LoadOwned[cpe.CPE](t.Context(), o.Bus, o.owner, o.work.CpeID)
		if err != nil || got.SignIn != number || got.Proven != required {
			t.Errorf("password %d, required %t; want %d, %t, %v", got.SignIn, got.Proven, number, required, err)
		}
	}
	check := func() {
		t.Helper()
		o.WaitForAll(t, o.views, cpeviews.OperationsName)
		cause := jobs.Cause{JobID: id.New[id.Any]()}
		err := o.jobs.Check(t.Context(), commands.CheckCpeOperation{CpeWork: o.work}, cause)
		if err != nil {
			t.Fatal(err)
		}
	}
	shows(0)
	o.server.lose = 1
	job := id.New[id.Any]()
	if err := o.send(job); err == nil {
		t.Fatal("the answer was not lost")
	}
	is(1, false)
	o.server.has = true
	if err := o.send(job); err != nil {
		t.Fatal(err)
	}
	o.is(cpe.Sent, "send", "find")
	o.server.outcome.Tasks = nil
	shows(1)
	check()
	is(2, false)
	check()
	is(2, false)
	shows(2)
	o.server.outcome.Done = true
	check()
	is(2, true)
}
