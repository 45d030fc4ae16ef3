package cpecases

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
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

// Firmware takes files of firmware, deploys them and takes them back. All fields are required. Safe for concurrent use.
type Firmware struct {
	Bus *bus.Bus
	// Ready fails while the CPE server is out of reach, or when there is none.
	Ready func() error
	// Store puts a file on the CPE server.
	Store func(ctx context.Context, c commands.RecordCpeFirmware, content []byte) error
	// Delete takes a file from the CPE server, by its name there; one that it does not have is no failure.
	Delete    func(ctx context.Context, storedAs string) error
	CPEs      cpeviews.CPEsQuery
	Campaigns cpeviews.CampaignsQuery
	Settings  usecases.SettingsOf
	Clock     clock.Clock
	Logger    *slog.Logger
}

// FirmwareUpload is a file of firmware with its bytes.
type FirmwareUpload struct {
	Filename, OUI, ProductClass, Version string
	Content                              []byte
}

// Upload takes a place for a file, puts it on the CPE server, and records then that it can be deployed: however many
// come at once, an organization has no more of them there than it may. The same file again is put there again, for a
// server that has lost it. Fails: invalid_input, cpe_firmware_exists, cpe_firmware_limit_reached,
// cpe_server_not_set_up, cpe_server_unavailable.
func (u Firmware) Upload(
	ctx context.Context, asked usecases.Asked, in FirmwareUpload,
) (id.CPEFirmware, bus.Result, error) {
	sum := sha256.Sum256(in.Content)
	file := commands.CpeFirmwareUpload{
		FirmwareID: commands.CpeFirmwareOf(asked.Org(), in.Filename), OrgID: asked.Org(), File: events.CpeFirmwareFile{
			Filename: in.Filename, OUI: strings.ToUpper(strings.TrimSpace(in.OUI)),
			ProductClass: strings.TrimSpace(in.ProductClass), Version: strings.TrimSpace(in.Version),
			Bytes: int64(len(in.Content)), SHA256: hex.EncodeToString(sum[:]),
		},
	}
	if err := cmp.Or(file.Validate(), u.Ready()); err != nil {
		return file.FirmwareID, bus.Result{}, err
	}
	if err := u.begin(ctx, asked, file); err != nil {
		return file.FirmwareID, bus.Result{}, err
	}
	record := commands.RecordCpeFirmware{CpeFirmwareUpload: file}
	if err := u.Store(ctx, record, in.Content); err != nil {
		return file.FirmwareID, bus.Result{}, err
	}
	done, err := u.Bus.Execute(ctx, record, asked.Meta)
	if err == nil { // a request that is repeated gets the outcome of its first time
		err = u.holds(ctx, file)
	}
	if kind := failure.KindOf(err); kind == failure.NotFound || kind == failure.Conflict {
		if failed := u.Delete(ctx, file.StoredAs()); failed != nil {
			u.Logger.LogAttrs(ctx, slog.LevelWarn, "a file of firmware that was taken back stays at the cpe server",
				slog.String("name", file.StoredAs()), slog.String("error", failed.Error()))
		}
	}
	return file.FirmwareID, done, err
}

// begin takes a place for a file. Fails: cpe_firmware_exists, cpe_firmware_limit_reached.
func (u Firmware) begin(ctx context.Context, asked usecases.Asked, file commands.CpeFirmwareUpload) error {
	meta := asked.Meta
	meta.CommandID = id.Derive[id.Command]("begin a file of firmware", meta.CommandID.String())
	command := commands.BeginCpeFirmware{CpeFirmwareUpload: file, Place: 1}
	for ; command.Place <= commands.CpeFirmwarePerOrganization; command.Place++ {
		_, err := u.Bus.Execute(ctx, command, meta)
		if err == nil {
			return u.holds(ctx, file)
		}
		if failure.CodeOf(err) != "firmware_place_taken" {
			return err
		}
	}
	return commands.ErrCpeFirmwareLimit()
}

// holds fails unless a file has its place at this moment. Fails: cpe_firmware_not_found, cpe_firmware_exists.
func (u Firmware) holds(ctx context.Context, file commands.CpeFirmwareUpload) error {
	present, _, err := bus.LoadOwned[cpe.Firmware](ctx, u.Bus, file.OrgID, file.FirmwareID)
	if err != nil {
		return err
	}
	return present.Takes(file.File)
}

// Remove takes a file of the organization back; it is taken from the CPE server afterwards. Fails:
// cpe_firmware_not_found, cpe_firmware_in_use.
func (u Firmware) Remove(ctx context.Context, asked usecases.Asked, file id.CPEFirmware) (bus.Result, error) {
	if _, _, err := bus.LoadOwned[cpe.Firmware](ctx, u.Bus, asked.Org(), file); err != nil {
		return bus.Result{}, err
	}
	used, err := u.Campaigns.Uses(ctx, asked.Org(), file)
	if err != nil {
		return bus.Result{}, err
	}
	if used {
		return bus.Result{}, commands.ErrCpeFirmwareInUse()
	}
	return u.Bus.Execute(ctx, commands.RemoveCpeFirmware{FirmwareID: file}, asked.Meta)
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
	if err == nil && !file.Ready() {
		err = commands.ErrNoCpeFirmware()
	}
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
