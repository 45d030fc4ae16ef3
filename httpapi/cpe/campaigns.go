package cpeapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// Campaigns deploys firmware, and tells how far that is (docs/rules/cpe.md#campaigns). All fields but Server are
// required.
type Campaigns struct {
	Bus   *bus.Bus
	Cases cpecases.Firmware
	Rows  cpeviews.CampaignsQuery
	CPEs  cpeviews.CPEsQuery
	Users userNames
	// Server says that there is a CPE server. Without one nothing is deployed.
	Server bool
}

// shownSkips bounds the devices that an answer lists; all are in the list of devices.
const shownSkips = 1_000

// Routes lists the endpoints.
func (a Campaigns) Routes() []httpapi.Route {
	on, read, write := httpapi.OnOrganization, httpapi.AccessSupport, httpapi.AccessAdmin
	over := []string{"cpe_campaign_over"}
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: "/cpe/firmware/deploy", Hosts: on, Access: write,
			Request: cpeDeployRequest{}, Response: cpeDeployment{}, Handle: a.deploy,
			Summary: "Send a file of firmware to all CPEs of a model",
			Codes:   []string{"cpe_firmware_not_found", "cpe_server_not_set_up"},
		},
		{
			Method: http.MethodGet, Path: "/cpe/firmware/campaigns", Hosts: on, Access: read, Row: cpeCampaignRow{},
			Summary: "List deployments of firmware, the latest first", Handle: a.list,
		},
		{
			Method: http.MethodGet, Path: "/cpe/firmware/campaigns/:id", Hosts: on, Access: read,
			Response: cpeCampaign{}, Summary: "Read how far a deployment of firmware is", Handle: a.get,
		},
		{
			Method: http.MethodGet, Path: "/cpe/firmware/campaigns/:id/devices", Hosts: on, Access: read,
			Row: cpeCampaignDevice{}, Summary: "List the CPEs of a deployment of firmware", Handle: a.devices,
			Query: []httpapi.Param{{Name: "state", Type: "string", Enum: cpeviews.CampaignDeviceStates()}},
		},
		{
			Method: http.MethodPost, Path: "/cpe/firmware/campaigns/:id/halt", Hosts: on, Access: write,
			Response: cpeCampaign{}, Summary: "End a deployment of firmware", Codes: over,
			Handle: a.acts(func(campaign id.CPECampaign) commands.Command {
				return commands.HaltCpeCampaign{CampaignID: campaign}
			}),
		},
		{
			Method: http.MethodPost, Path: "/cpe/firmware/campaigns/:id/continue", Hosts: on, Access: write,
			Response: cpeCampaign{}, Summary: "Let a deployment of firmware go on that has stopped", Codes: over,
			Handle: a.acts(func(campaign id.CPECampaign) commands.Command {
				return commands.ContinueCpeCampaign{CampaignID: campaign}
			}),
		},
	}
}

// cpeDeployRequest says which file goes to which devices.
type cpeDeployRequest struct {
	Filename string    `json:"filename"`
	Model    string    `json:"model" doc:"as the devices tell it"`
	AtOnce   int       `json:"atOnce,omitempty" doc:"devices that load at the same time, 1 to 100; by default 10"`
	Hours    *cpeHours `json:"hours,omitempty" doc:"in which it begins on a device; by default at any time"`
	Deadline time.Time `json:"deadline,omitzero" doc:"at most 30 days ahead; by default in 7 days"`
}

// cpeHours is a part of each day in the organization's time zone.
type cpeHours struct {
	From string `json:"from" doc:"such as 22:00"`
	To   string `json:"to" doc:"may be earlier than from: over midnight"`
}

// read makes hours of two texts; nil of nil. Fails: invalid_input.
func (h *cpeHours) read() (*calendar.Hours, error) {
	if h == nil {
		return nil, nil
	}
	var f failure.Faults
	from, err := calendar.ParseTimeOfDay(h.From)
	f.Check(err == nil, "hours.from", "must have times of day as HH:MM from 00:00 to 24:00, not %q", h.From)
	to, err := calendar.ParseTimeOfDay(h.To)
	f.Check(err == nil, "hours.to", "must have times of day as HH:MM from 00:00 to 24:00, not %q", h.To)
	return &calendar.Hours{From: from, To: to}, f.Err()
}

// cpeDeployment is a deployment as it begins.
type cpeDeployment struct {
	CampaignID id.CPECampaign `json:"campaignId"`
	Matched    int            `json:"matched" doc:"devices of the model that the file is for"`
	Succeeded  int            `json:"succeeded"`
	Failed     int            `json:"failed"`
	Skipped    []cpeSkip      `json:"skipped" doc:"the first 1,000"`
}

// cpeSkip is a device that does not get the file.
type cpeSkip struct {
	DeviceID id.CPE        `json:"deviceId"`
	Reason   cpeSkipReason `json:"reason"`
}

// cpeSkipReason says why a device does not get the file; Texts lists the values.
type cpeSkipReason string

// Texts implements httpapi.Enumerated.
func (cpeSkipReason) Texts() []string {
	var texts []string
	for _, reason := range events.CpeSkipReasons() {
		texts = append(texts, string(reason))
	}
	return texts
}

// cpeCampaignState is how far a deployment has come.
type cpeCampaignState string

// Texts implements httpapi.Enumerated.
func (cpeCampaignState) Texts() []string { return cpeviews.CampaignStates() }

// cpeCampaignRow is a deployment in a list.
type cpeCampaignRow struct {
	ID        id.CPECampaign    `json:"id"`
	State     cpeCampaignState  `json:"state" doc:"stopped: too many devices have failed, a person has to look"`
	Filename  string            `json:"filename"`
	Version   string            `json:"version"`
	Model     string            `json:"model"`
	AtOnce    int               `json:"atOnce"`
	Hours     *cpeHours         `json:"hours" doc:"null: at any time"`
	Deadline  time.Time         `json:"deadline"`
	StartedAt time.Time         `json:"startedAt"`
	StartedBy *httpapi.StaffRef `json:"startedBy" doc:"null: no member of the staff"`
	EndedAt   *time.Time        `json:"endedAt" doc:"null: it has not ended"`
	Matched   int               `json:"matched" doc:"devices of the model that the file is for"`
	Succeeded int               `json:"succeeded"`
	Failed    int               `json:"failed"`
	Pending   int               `json:"pending" doc:"with those that load it now"`
	Loading   int               `json:"loading" doc:"those of pending that were told to load it"`
	SkipCount int               `json:"skipCount" doc:"of all skipped ones"`
}

// cpeCampaign is a deployment with the devices that do not get the file.
type cpeCampaign struct {
	cpeCampaignRow
	Skipped []cpeSkip `json:"skipped" doc:"the first 1,000"`
}

// cpeCampaignDevice is one device of a deployment.
type cpeCampaignDevice struct {
	DeviceID     id.CPE                 `json:"deviceId"`
	SerialNumber *string                `json:"serialNumber" doc:"null: the organization does not have it any more"`
	State        cpeCampaignDeviceState `json:"state"`
	Reason       *string                `json:"reason" doc:"of a skip, or the code of the failure"`
	OperationID  *id.CPEOperation       `json:"operationId" doc:"the latest one; null: none yet"`
	TriedAt      *time.Time             `json:"triedAt"`
}

// cpeCampaignDeviceState is how far a device has come.
type cpeCampaignDeviceState string

// Texts implements httpapi.Enumerated.
func (cpeCampaignDeviceState) Texts() []string { return cpeviews.CampaignDeviceStates() }

// showCampaign counts a device that loads as pending, too.
func showCampaign(r cpeviews.CampaignRow, names map[id.User]string) cpeCampaignRow {
	out := cpeCampaignRow{
		ID: r.ID, State: cpeCampaignState(r.State), Filename: r.Filename, Version: r.Version, Model: r.Model,
		AtOnce: r.Terms.AtOnce, Deadline: r.Terms.Deadline, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		StartedBy: staffRef(r.ActorKind, r.ActorID, names), Matched: r.Matched, Succeeded: r.Succeeded,
		Failed: r.Failed, Pending: r.Pending + r.Sent, Loading: r.Sent, SkipCount: r.Skipped,
	}
	if h := r.Terms.Hours; h != nil {
		out.Hours = &cpeHours{From: h.From.String(), To: h.To.String()}
	}
	return out
}

// deploy starts a deployment.
func (a Campaigns) deploy(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cpeDeployRequest](c)
	if err != nil {
		return err
	}
	if !a.Server {
		return errNoServer()
	}
	wanted := cpecases.Deployment{
		Filename: in.Filename, Model: in.Model,
		Terms: events.CpeCampaignTerms{AtOnce: in.AtOnce, Deadline: in.Deadline},
	}
	if wanted.Terms.Hours, err = in.Hours.read(); err != nil {
		return err
	}
	campaign, done, err := a.Cases.Deploy(ctx, c.Asked(), wanted)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusOK, campaigns(a, func(r campaignShown) cpeDeployment {
		return cpeDeployment{
			CampaignID: r.row.ID, Matched: r.row.Matched, Succeeded: r.row.Succeeded, Failed: r.row.Failed,
			Skipped: r.skipped,
		}
	}), campaign, done)
}

// campaignShown is a campaign with what an answer shows of it.
type campaignShown struct {
	row     cpeviews.CampaignRow
	skipped []cpeSkip
	names   map[id.User]string
}

// campaigns describes how a campaign is read and shown.
func campaigns[T any](a Campaigns, show func(campaignShown) T) httpapi.One[id.CPECampaign, campaignShown, T] {
	return httpapi.One[id.CPECampaign, campaignShown, T]{
		Model: cpeviews.CampaignsName, Missing: commands.ErrNoCpeCampaign, Read: a.read, Show: show,
		Revision: func(r campaignShown) int64 { return r.row.Revision },
	}
}

// read reads a campaign whole.
func (a Campaigns) read(
	ctx context.Context, org id.Organization, campaign id.CPECampaign,
) (*campaignShown, error) {
	row, err := a.Rows.Get(ctx, org, campaign)
	if err != nil || row == nil {
		return nil, err
	}
	out := campaignShown{row: *row, skipped: []cpeSkip{}}
	skipped, err := a.Rows.Devices(ctx, org, campaign, "skipped", cpeviews.CampaignDeviceKey{}, shownSkips)
	if err != nil {
		return nil, err
	}
	for _, d := range skipped {
		out.skipped = append(out.skipped, cpeSkip{DeviceID: d.CpeID, Reason: cpeSkipReason(null.Zero(d.Reason))})
	}
	out.names, err = a.Users(ctx, org, []id.User{userOf(row.ActorKind, row.ActorID)})
	return &out, err
}

// whole shows a campaign with its skipped devices.
func whole(r campaignShown) cpeCampaign {
	return cpeCampaign{cpeCampaignRow: showCampaign(r.row, r.names), Skipped: r.skipped}
}

// get answers with one campaign.
func (a Campaigns) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, campaigns(a, whole))
}

// acts executes a command of the staff on a campaign.
func (a Campaigns) acts(command func(id.CPECampaign) commands.Command) func(context.Context, *httpapi.Call) error {
	return func(ctx context.Context, c *httpapi.Call) error {
		campaign, err := httpapi.PathID[id.CPECampaign](c, "id", commands.ErrNoCpeCampaign)
		if err != nil {
			return err
		}
		done, err := a.Bus.Execute(ctx, command(campaign), c.Meta())
		if err != nil {
			return err
		}
		return httpapi.SendOne(ctx, c, http.StatusOK, campaigns(a, whole), campaign, done)
	}
}

// list answers with a page of campaigns.
func (a Campaigns) list(ctx context.Context, c *httpapi.Call) error {
	var names map[id.User]string // set when the page is read
	show := func(r cpeviews.CampaignRow) cpeCampaignRow { return showCampaign(r, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after cpeviews.CampaignKey, max int,
	) ([]cpeviews.CampaignRow, error) {
		rows, err := a.Rows.List(ctx, c.Org.ID, after, max)
		if err != nil {
			return nil, err
		}
		users := make([]id.User, len(rows))
		for i, r := range rows {
			users[i] = userOf(r.ActorKind, r.ActorID)
		}
		names, err = a.Users(ctx, c.Org.ID, users)
		return rows, err
	})
}

// devices answers with a page of the devices of a campaign.
func (a Campaigns) devices(ctx context.Context, c *httpapi.Call) error {
	campaign, err := httpapi.PathID[id.CPECampaign](c, "id", commands.ErrNoCpeCampaign)
	if err != nil {
		return err
	}
	f := c.Filters()
	in := f.OneOf("state", cpeviews.CampaignDeviceStates()...)
	if err := f.Err(); err != nil {
		return err
	}
	if known, err := a.Rows.State(ctx, c.Org.ID, campaign); err != nil || known == "" {
		return orMissing(err)
	}
	var serials map[id.CPE]string // set when the page is read
	show := func(r cpeviews.CampaignDeviceRow) cpeCampaignDevice {
		return cpeCampaignDevice{
			DeviceID: r.CpeID, SerialNumber: null.Of(serials[r.CpeID]), State: cpeCampaignDeviceState(r.State),
			Reason: r.Reason, OperationID: null.Of(r.OperationID), TriedAt: r.TriedAt,
		}
	}
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after cpeviews.CampaignDeviceKey, max int,
	) ([]cpeviews.CampaignDeviceRow, error) {
		rows, err := a.Rows.Devices(ctx, c.Org.ID, campaign, in, after, max)
		if err != nil {
			return nil, err
		}
		of := make([]id.CPE, len(rows))
		for i, r := range rows {
			of[i] = r.CpeID
		}
		serials, err = a.CPEs.Serials(ctx, c.Org.ID, of)
		return rows, err
	})
}

// orMissing is an error, or that of a campaign that is not there.
func orMissing(err error) error {
	if err != nil {
		return err
	}
	return commands.ErrNoCpeCampaign()
}
