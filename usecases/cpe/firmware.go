package cpecases

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Firmware takes files of firmware, and deploys them. All fields are required. Safe for concurrent use.
type Firmware struct {
	Bus *bus.Bus
	// Store puts a file on the CPE server.
	Store    func(ctx context.Context, c commands.RecordCpeFirmware, content []byte) error
	CPEs     cpeviews.CPEsQuery
	Settings usecases.SettingsOf
	Clock    clock.Clock
}

// FirmwareUpload is a file of firmware with its bytes.
type FirmwareUpload struct {
	Filename, OUI, ProductClass, Version string
	Content                              []byte
}

// Upload puts a file on the CPE server, and records it then: a file that is known can be deployed. The same file again
// is put there again, for a server that has lost it. Fails: invalid_input, cpe_firmware_exists,
// cpe_server_unavailable.
func (u Firmware) Upload(
	ctx context.Context, asked usecases.Asked, in FirmwareUpload,
) (id.CPEFirmware, bus.Result, error) {
	sum := sha256.Sum256(in.Content)
	file := events.CpeFirmwareFile{
		Filename: in.Filename, OUI: strings.ToUpper(strings.TrimSpace(in.OUI)),
		ProductClass: strings.TrimSpace(in.ProductClass), Version: strings.TrimSpace(in.Version),
		Bytes: int64(len(in.Content)), SHA256: hex.EncodeToString(sum[:]),
	}
	command := commands.RecordCpeFirmware{
		FirmwareID: commands.CpeFirmwareOf(asked.Org(), in.Filename), OrgID: asked.Org(), File: file,
	}
	if err := command.Validate(); err != nil {
		return command.FirmwareID, bus.Result{}, err
	}
	present, _, err := bus.LoadOwned[cpe.Firmware](ctx, u.Bus, asked.Org(), command.FirmwareID)
	if err != nil && failure.KindOf(err) != failure.NotFound {
		return command.FirmwareID, bus.Result{}, err
	}
	if err := present.Takes(file); err != nil {
		return command.FirmwareID, bus.Result{}, err
	}
	if err := u.Store(ctx, command, in.Content); err != nil {
		return command.FirmwareID, bus.Result{}, err
	}
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	return command.FirmwareID, done, err
}

// Deployment says which file goes to which CPEs, and how; zero values are the usual ones.
type Deployment struct {
	Filename string
	Model    string
	Terms    events.CpeCampaignTerms // without the time zone
}

// Usual terms of a campaign. Source: docs/rules/cpe.md#campaigns.
const (
	usualAtOnce   = 10
	usualDeadline = 7 * 24 * time.Hour
)

// Deploy starts a campaign with all CPEs of a model that the organization has. Fails: cpe_firmware_not_found,
// invalid_input, read_model_building.
func (u Firmware) Deploy(
	ctx context.Context, asked usecases.Asked, in Deployment,
) (id.CPECampaign, bus.Result, error) {
	campaign := usecases.NewID[id.CPECampaign](asked, "cpe campaign")
	named := commands.CpeFirmwareOf(asked.Org(), in.Filename)
	file, _, err := bus.LoadOwned[cpe.Firmware](ctx, u.Bus, asked.Org(), named)
	if err != nil {
		return campaign, bus.Result{}, err
	}
	settings, err := u.Settings(ctx, asked.Org())
	if err != nil {
		return campaign, bus.Result{}, err
	}
	command := commands.StartCpeCampaign{
		CampaignID: campaign, OrgID: asked.Org(), FirmwareID: file.ID, Filename: file.File.Filename,
		Version: file.File.Version, Model: strings.TrimSpace(in.Model), Terms: in.Terms,
	}
	command.Terms.Timezone = settings.Timezone
	if err := u.complete(&command.Terms); err != nil {
		return campaign, bus.Result{}, err
	}
	if err := u.choose(ctx, &command, file.File); err != nil {
		return campaign, bus.Result{}, err
	}
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	return campaign, done, err
}

// complete fills in the usual terms. Fails: invalid_input.
func (u Firmware) complete(terms *events.CpeCampaignTerms) error {
	now := u.Clock.Now()
	if terms.AtOnce == 0 {
		terms.AtOnce = usualAtOnce
	}
	if terms.Deadline.IsZero() {
		terms.Deadline = now.Add(usualDeadline)
	}
	var f failure.Faults
	f.Check(terms.Deadline.After(now), "deadline", "must be in the future")
	f.Check(!terms.Deadline.After(now.Add(commands.MaxCpeCampaignTime)), "deadline", "must be at most %d days ahead",
		int(commands.MaxCpeCampaignTime/(24*time.Hour)))
	return f.Err()
}

// choose lists the CPEs of the model: those that get the file, and those that do not. It waits until the read model
// shows those that were claimed a moment ago.
func (u Firmware) choose(ctx context.Context, c *commands.StartCpeCampaign, file events.CpeFirmwareFile) error {
	shown, err := u.CPEs.Views.WaitWhole(ctx, cpeviews.CPEsName, func(context.Context) (bool, error) {
		return true, nil
	})
	if err != nil {
		return err
	}
	if !shown {
		return runner.ErrBuilding
	}
	rows, err := u.CPEs.OfModel(ctx, c.OrgID, c.Model, commands.MaxCpeCampaignDevices+1)
	if err != nil {
		return err
	}
	c.Skipped = map[events.CpeSkipReason][]id.CPE{}
	for _, row := range rows {
		switch {
		case row.OUI != file.OUI || row.ProductClass != file.ProductClass:
			c.Skipped[events.CpeOtherHardware] = append(c.Skipped[events.CpeOtherHardware], row.ID)
		case row.Firmware == file.Version:
			c.Skipped[events.CpeCurrent] = append(c.Skipped[events.CpeCurrent], row.ID)
		default: // it gets the file
			c.CpeIDs = append(c.CpeIDs, row.ID)
		}
	}
	return nil
}
