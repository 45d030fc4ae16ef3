package cpecases_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// deployed has a campaign of 10,000 CPEs, some of which are online.
type deployed struct {
	*coretest.Kit
	t        *testing.T
	views    *runner.Views
	now      *clock.Movable
	org      id.Organization
	campaign id.CPECampaign
	online   []id.CPE
	work     cpecases.CampaignWork
	ready    error
}

// deploy starts the campaign, with so many devices at once.
func deploy(t *testing.T, online, atOnce int, hours *calendar.Hours) *deployed {
	t.Helper()
	now := clock.NewMovable(clock.System(), 0)
	d := &deployed{
		Kit: coretest.New(t, now, cpeviews.CPEs{}, cpeviews.Campaigns{}), t: t, now: now,
		org: id.New[id.Organization](), campaign: id.New[id.CPECampaign](),
	}
	bus.Register(d.Bus, cpe.CPEs())
	bus.Register(d.Bus, cpe.Operations())
	bus.Register(d.Bus, cpe.Campaigns())
	d.views = d.Show(t)
	all := make([]id.CPE, 10_000)
	for n := range all {
		i := events.CpeIdentity{SerialNumber: fmt.Sprint("SN", n), OUI: "00AABB"}
		all[n] = commands.CpeID(i)
		if n < online {
			d.Run(t, coretest.Operator(d.org), commands.IdentifyCpe{CpeID: all[n], Identity: i})
			d.Run(t, coretest.Operator(d.org), commands.ClaimCpe{CpeID: all[n], OrgID: d.org})
		}
	}
	d.online = all[:online]
	d.Run(t, coretest.Operator(d.org), commands.StartCpeCampaign{
		CampaignID: d.campaign, OrgID: d.org, FirmwareID: id.New[id.CPEFirmware](), Filename: "box.bin",
		Version: "2.0", Model: "Box", CpeIDs: all, Terms: events.CpeCampaignTerms{
			AtOnce: atOnce, Hours: hours, Timezone: "Africa/Nairobi", Deadline: now.Now().Add(48 * time.Hour),
		},
	})
	d.work = cpecases.CampaignWork{
		Bus: d.Bus, Views: d.views, CPEs: cpeviews.CPEsQuery{Views: d.views},
		Campaigns: cpeviews.CampaignsQuery{Views: d.views}, Clock: now, Ready: func() error { return d.ready },
		Since: func(context.Context, id.Organization, time.Time) ([]id.CPE, error) { return d.online, nil },
	}
	return d
}

// advances takes a step, and fails unless the campaign has numbers then.
func (d *deployed) advances(want string) {
	d.t.Helper()
	job := commands.AdvanceCpeCampaign{CampaignID: d.campaign, OrgID: d.org}
	meta := func(string) commands.Meta { return coretest.Operator(d.org) }
	err := d.work.Advance(d.t.Context(), job, meta)
	for errors.Is(err, cpecases.ErrCampaignBehind) { // the queue does the job again then
		err = d.work.Advance(d.t.Context(), job, meta)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.WaitForAll(d.t, d.views, cpeviews.CampaignsName)
	row, err := d.work.Campaigns.Get(d.t.Context(), d.org, d.campaign)
	if err != nil {
		d.t.Fatal(err)
	}
	got := fmt.Sprintf("%s %d %d %d %d %d", row.State, row.Pending, row.Sent, row.Succeeded, row.Failed, row.Skipped)
	if got != want {
		d.t.Errorf("the campaign is %s, want %s", got, want)
	}
}

// ends ends the operations that are on their way: with a code, or well.
func (d *deployed) ends(code string) {
	d.t.Helper()
	rows, err := d.work.Campaigns.Devices(d.t.Context(), d.org, d.campaign, "sent", cpeviews.CampaignDeviceKey{}, 100)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range rows {
		var end commands.Command = commands.FailCpeOperation{OperationID: r.OperationID, Code: code}
		if code == "" {
			d.Run(d.t, coretest.Operator(d.org), commands.BeginCpeOperation{OperationID: r.OperationID})
			end = commands.ConfirmCpeOperation{OperationID: r.OperationID}
		}
		d.Run(d.t, coretest.Operator(d.org), end)
	}
}

// TestCampaign_OfTenThousandTellsSoManyAtOnce: those that are online, each once, until the deadline.
func TestCampaign_OfTenThousandTellsSoManyAtOnce(t *testing.T) {
	t.Parallel()
	d := deploy(t, 7, 4, nil)
	d.ready = errors.New("away")
	d.advances("running 10000 0 0 0 0")
	d.ready = nil
	d.advances("running 9996 4 0 0 0")
	d.advances("running 9996 4 0 0 0")
	d.ends("")
	d.advances("running 9993 3 4 0 0")
	d.ends(events.CpeNotBegun)
	d.advances("running 9996 0 4 0 0") // they are tried again later
	d.now.Advance(11 * time.Minute)
	d.advances("running 9993 3 4 0 0")
	d.now.Advance(48 * time.Hour)
	d.advances("running 9993 3 4 0 0")
	d.ends("cwmp.9018")
	d.advances("finished 0 0 4 3 9993")
}

// TestCampaign_StopsAtTheShareOfFailures, and counts anew when a person has looked.
func TestCampaign_StopsAtTheShareOfFailures(t *testing.T) {
	t.Parallel()
	d := deploy(t, 12, 5, nil)
	d.advances("running 9995 5 0 0 0")
	d.ends("cwmp.9018")
	d.advances("stopped 9995 0 0 5 0")
	d.advances("stopped 9995 0 0 5 0")
	d.Run(t, coretest.Operator(d.org), commands.ContinueCpeCampaign{CampaignID: d.campaign})
	d.advances("running 9990 5 0 5 0")
	d.ends("")
	d.advances("running 9988 2 5 5 0")
	d.Run(t, coretest.Operator(d.org), commands.HaltCpeCampaign{CampaignID: d.campaign})
	d.advances("halted 0 2 5 5 9988")
	d.ends(events.CpeNotBegun)
	d.advances("halted 0 0 5 5 9990")
}

// TestCampaign_BeginsWithinItsHours, which go over midnight.
func TestCampaign_BeginsWithinItsHours(t *testing.T) {
	t.Parallel()
	zone := calendar.ZoneOrUTC("Africa/Nairobi")
	d := deploy(t, 1, 4, &calendar.Hours{From: 23 * 60, To: 60})
	today := calendar.On(d.now.Now(), zone)
	d.now.Advance(today.AddDays(1).At(22*60, zone).Sub(d.now.Now())) // 22:00 of tomorrow, or less than 48 h ahead
	d.advances("running 10000 0 0 0 0")
	d.now.Advance(70 * time.Minute)
	d.advances("running 9999 1 0 0 0")
}
