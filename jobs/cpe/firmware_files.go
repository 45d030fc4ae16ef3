package cpejobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// FileServer has the files that CPEs load. Implementations are safe for concurrent use.
type FileServer interface {
	// Delete takes a file away, by its name there; one that is not there is no failure.
	Delete(ctx context.Context, storedAs string) error
}

// Delete implements FileServer.
func (NoServer) Delete(context.Context, string) error { return errNoServer() }

// Delete implements FileServer.
func (a ACS) Delete(ctx context.Context, storedAs string) error {
	if err := a.Gateway.DeleteFile(ctx, storedAs); err != nil && !errors.Is(err, genieacs.ErrUnknownFile) {
		return err
	}
	return nil
}

// FirmwareFiles takes files of firmware from the CPE server that people took back. Every field is required. Safe for
// concurrent use.
type FirmwareFiles struct {
	Bus       *bus.Bus
	Campaigns cpeviews.CampaignsQuery
	Server    FileServer
}

// Register makes the queue know the worker. The process asks again, so few attempts are made at once.
func (f FirmwareFiles) Register(queue *jobrunner.Runner) {
	jobrunner.AddWorker(queue, f.Delete, jobrunner.Options{MaxAttempts: 4})
}

// Delete takes a file away. One that a campaign loads stays until the process asks again: the campaign began while the
// file was taken back.
func (f FirmwareFiles) Delete(ctx context.Context, args commands.DeleteCpeFirmware, cause jobs.Cause) error {
	if err := f.Campaigns.Views.WaitFor(ctx, cpeviews.CampaignsName, args.Position); err != nil {
		return err
	}
	used, err := f.Campaigns.Uses(ctx, args.OrgID, args.FirmwareID)
	if err != nil || used {
		return err
	}
	if err := f.Server.Delete(ctx, args.StoredAs); err != nil {
		return fmt.Errorf("delete file %s of the cpe server: %w", args.StoredAs, err)
	}
	cause.OrgID = args.OrgID
	_, err = f.Bus.Execute(ctx, commands.SettleCpeFirmware{FirmwareID: args.FirmwareID}, cause.Meta("settle"))
	return err
}
