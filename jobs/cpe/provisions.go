package cpejobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// ProvisionServer has the provisions of organizations. Implementations are safe for concurrent use.
type ProvisionServer interface {
	// InstallCustom writes what is not there yet. Fails: genieacs.ErrForeign, a *genieacs.Refusal.
	InstallCustom(ctx context.Context, c genieacs.Custom) error
	// RemoveCustom takes away what is there.
	RemoveCustom(ctx context.Context, name string) error
}

// InstallCustom implements ProvisionServer.
func (NoServer) InstallCustom(context.Context, genieacs.Custom) error { return errNoServer() }

// RemoveCustom implements ProvisionServer.
func (NoServer) RemoveCustom(context.Context, string) error { return errNoServer() }

// Provisions brings provisions of organizations to the CPE server. Every field is required. Safe for concurrent use.
type Provisions struct {
	Bus *bus.Bus
	// Row reads a provision, whoever has it; nil = it is not known.
	Row func(ctx context.Context, provision id.CPEProvision) (*cpeviews.ProvisionRow, error)
	// Held reads a page of those that are not settled as removed, after an id, in the order of ids.
	Held   func(ctx context.Context, after id.CPEProvision, max int) ([]cpeviews.ProvisionRow, error)
	Server ProvisionServer
	Logger *slog.Logger
}

// Register makes the queue know the worker. The process asks again, so few attempts are made at once.
func (p Provisions) Register(queue *jobrunner.Runner) {
	jobrunner.AddWorker(queue, p.Install, jobrunner.Options{MaxAttempts: 4})
}

// Install waits for the read model to have the version, and brings the server to it.
func (p Provisions) Install(ctx context.Context, args commands.InstallCpeProvision, cause jobs.Cause) error {
	row, err := p.Row(ctx, args.ProvisionID)
	switch {
	case err != nil:
		return err
	case row == nil || row.Version < args.Version:
		return fmt.Errorf("version %d of provision %s is not readable yet", args.Version, args.ProvisionID)
	}
	return p.settle(ctx, *row, cause)
}

// settle brings the server to a version, and looks afterwards whether there is a later one, or whether this one was
// found never to come to rest meanwhile: of two that write at once the last to write sees what both wanted.
func (p Provisions) settle(ctx context.Context, row cpeviews.ProvisionRow, cause jobs.Cause) error {
	for {
		refused := p.bring(ctx, row)
		if refused != nil && (refusalOf(refused).Code == "" || takenBack(row)) {
			return fmt.Errorf("provision %s: %w", row.StoredName, refused)
		}
		now, err := p.Row(ctx, row.ID)
		if err != nil {
			return err
		}
		if now == nil || now.Version == row.Version && loops(*now) == loops(row) {
			return p.report(ctx, row, refused, cause)
		}
		row = *now
	}
}

// errLoops refuses a script that changes something each time it runs.
var errLoops = errors.New("the script never comes to rest")

// loops reports whether a version was refused because it never comes to rest; another version is tried.
func loops(row cpeviews.ProvisionRow) bool {
	return row.State == cpeviews.ProvisionRefused && null.Zero(row.ErrorCode) == commands.CpeProvisionLoops
}

// takenBack reports whether the server should not have a provision any more, which is tried until it has not. Each
// version that was written has a script; an earlier program noted refusals also of those that were taken back.
func takenBack(row cpeviews.ProvisionRow) bool {
	return row.State == cpeviews.ProvisionRemoving || row.State == cpeviews.ProvisionRemoved || row.Script == ""
}

// Refuse takes a version from the server that never came to rest on a CPE, and tells the log. A later one that came
// meanwhile is brought.
func (p Provisions) Refuse(ctx context.Context, row cpeviews.ProvisionRow, cause jobs.Cause) error {
	changed, err := p.refuse(ctx, row, errLoops, cause)
	if err != nil || !changed && !loops(row) {
		return err
	}
	if err := p.Server.RemoveCustom(ctx, row.StoredName); err != nil {
		return fmt.Errorf("provision %s: %w", row.StoredName, err)
	}
	now, err := p.Row(ctx, row.ID)
	if err != nil || now == nil || now.Version == row.Version {
		return err
	}
	return p.settle(ctx, *now, cause)
}

// bring makes the server have a version, or not have the provision any more.
func (p Provisions) bring(ctx context.Context, row cpeviews.ProvisionRow) error {
	if loops(row) {
		return cmp.Or(p.Server.RemoveCustom(ctx, row.StoredName), errLoops)
	}
	if takenBack(row) {
		return p.Server.RemoveCustom(ctx, row.StoredName)
	}
	return p.Server.InstallCustom(ctx, genieacs.Custom{
		OrgID: row.OrgID, Name: row.StoredName, Tag: row.Tag, Version: row.Version, Text: row.Script,
	})
}

// refusalOf tells errors that will not go away by themselves; Code is empty for others.
func refusalOf(err error) Outcome {
	var theirs *genieacs.Refusal
	switch {
	case errors.Is(err, genieacs.ErrForeign):
		return Outcome{Code: "name_taken", Message: "Somebody else has a script of this name at the CPE server."}
	case errors.Is(err, errLoops):
		return Outcome{
			Code: commands.CpeProvisionLoops,
			Message: "On three devices, or on all where there are fewer, each run of the script changed something " +
				"again, and their server has given up. A second run must find nothing left to do.",
		}
	case errors.Is(err, genieacs.ErrUnfit):
		return Outcome{Code: "unfit", Message: err.Error()}
	case errors.As(err, &theirs):
		return Outcome{Code: "refused", Message: theirs.Message}
	}
	return Outcome{}
}

// report tells the log what the server has; what it knows already changes nothing.
func (p Provisions) report(ctx context.Context, row cpeviews.ProvisionRow, refused error, cause jobs.Cause) error {
	if refused != nil {
		_, err := p.refuse(ctx, row, refused, cause)
		return err
	}
	cause.OrgID = row.OrgID
	_, err := p.Bus.Execute(ctx, commands.SettleCpeProvision{ProvisionID: row.ID, Version: row.Version},
		cause.Meta(fmt.Sprint("settle ", row.ID, row.Version)))
	return err
}

// refuse tells the log why the server does not have a version; false when it knows that, or has a later version.
func (p Provisions) refuse(ctx context.Context, row cpeviews.ProvisionRow, why error, cause jobs.Cause) (bool, error) {
	cause.OrgID = row.OrgID
	out := refusalOf(why)
	done, err := p.Bus.Execute(ctx, commands.RefuseCpeProvision{
		ProvisionID: row.ID, Version: row.Version, Code: out.Code, Message: shortened(out.Message, 500),
	}, cause.Meta(fmt.Sprint("refuse ", row.ID, row.Version)))
	return done.Changed, err
}

// heldPage is how many provisions are in memory at a time.
const heldPage = 50

// all brings every provision to the server: one that was set up anew has none. What fails does not hold up others.
func (p Provisions) all(ctx context.Context, cause jobs.Cause) error {
	var failed error
	for after := (id.CPEProvision{}); ; {
		rows, err := p.Held(ctx, after, heldPage)
		if err != nil || len(rows) == 0 {
			return errors.Join(failed, err)
		}
		for _, row := range rows {
			after = row.ID
			if err := p.settle(ctx, row, cause); err != nil {
				p.Logger.LogAttrs(ctx, slog.LevelWarn, "provision not installed", slog.String("name", row.StoredName),
					slog.String("org_id", row.OrgID.String()), slog.String("error", err.Error()))
				failed = err
				if failure.KindOf(err) == failure.Unavailable { // the others would fail alike
					return failed
				}
			}
		}
	}
}
