package cpejobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/gateways/olt"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Terminals are the optical line terminals. Each call may be repeated. Implementations are safe for concurrent use.
type Terminals interface {
	Register(ctx context.Context, at olt.Place, port string) (olt.Reading, error)
	SetVLAN(ctx context.Context, at olt.Place, vlan int) (olt.Reading, error)
	Remove(ctx context.Context, at olt.Place) error
}

// NoTerminals answers for a program that knows no terminals: set-ups of earlier days wait until they expire.
type NoTerminals struct{}

// Register implements Terminals.
func (NoTerminals) Register(context.Context, olt.Place, string) (olt.Reading, error) {
	return olt.Reading{}, ErrNoTerminals()
}

// SetVLAN implements Terminals.
func (NoTerminals) SetVLAN(context.Context, olt.Place, int) (olt.Reading, error) {
	return olt.Reading{}, ErrNoTerminals()
}

// Read gives no levels.
func (NoTerminals) Read(context.Context, olt.Place) (olt.Reading, error) {
	return olt.Reading{}, ErrNoTerminals()
}

// Remove implements Terminals.
func (NoTerminals) Remove(context.Context, olt.Place) error { return ErrNoTerminals() }

// ErrNoTerminals is the failure of work for terminals that the program does not know.
func ErrNoTerminals() error {
	return failure.NewUnavailable("olt_not_set_up", "There is no system of optical line terminals.", 0, nil)
}

// Boxes look at CPEs. Implementations are safe for concurrent use.
type Boxes interface {
	// Told reports whether a CPE has its tags and its login, and asks it to fetch them when it has not.
	Told(ctx context.Context, row cpeviews.CPERow) (tags, login bool, err error)
}

// Told implements Boxes.
func (NoServer) Told(context.Context, cpeviews.CPERow) (tags, login bool, err error) {
	return false, false, errNoServer()
}

// Told implements Boxes. The CPE asks who it is, and gets both, in the session that begins with its next call.
func (a ACS) Told(ctx context.Context, row cpeviews.CPERow) (tags, login bool, err error) {
	device, err := a.find(ctx, events.CpeIdentity{
		SerialNumber: row.SerialNumber, OUI: row.OUI, ProductClass: row.ProductClass,
	})
	if errors.Is(err, genieacs.ErrUnknownDevice) { // it has not called there yet
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	waits := slices.Contains(device.Tags, genieacs.Unidentified)
	tags = !waits && sameTags(device.Tags, row.Tags())
	if row.Username == nil {
		login = true
	} else if layout, err := a.Gateway.Layout(ctx, device.ID); err != nil {
		return false, false, err
	} else {
		line, has := layout.Line(ourLogin(*row.Username, nil))
		login = has && line.LoggedInAs == *row.Username
	}
	if tags && login {
		return true, true, nil
	}
	if !waits {
		if err := a.Gateway.AddTag(ctx, device.ID, genieacs.Unidentified); err != nil {
			return tags, login, err
		}
	}
	a.call(ctx, Write{CallNow: true}, device.ID)
	return tags, login, nil
}

// Onus does the jobs of set-ups of ONUs. Every field is required. Safe for concurrent use.
type Onus struct {
	Bus  *bus.Bus
	Rows cpeviews.OperationsQuery
	// CPE reads a CPE, whoever has it; nil = it is not known.
	CPE       func(ctx context.Context, cpe id.CPE) (*cpeviews.CPERow, error)
	Terminals Terminals
	Boxes     Boxes
	Clock     clock.Clock
}

// claimPatience is how long a set-up waits for the claim that was asked for with it.
const claimPatience = 2 * time.Minute

// Register makes the queue know the workers. The process asks again, so few attempts are made at once.
func (o Onus) Register(queue *jobrunner.Runner) {
	few := jobrunner.Options{MaxAttempts: operationAttempts, Timeout: operationTimeout}
	jobrunner.AddWorker(queue, o.Place, few)
	jobrunner.AddWorker(queue, o.TakeOut, few)
}

// Place does the steps that are not done yet, in their order. A refusal of the terminal ends the set-up; what has no
// answer is tried again.
func (o Onus) Place(ctx context.Context, args commands.PlaceCpeOnu, cause jobs.Cause) error {
	cause.OrgID = args.OrgID
	operation, err := o.Rows.Get(ctx, args.OrgID, args.OperationID)
	switch {
	case err != nil:
		return err
	case operation == nil:
		return fmt.Errorf("set-up %s is not readable yet", args.OperationID)
	case operation.EndedAt != nil:
		return nil
	}
	row, err := o.CPE(ctx, args.CpeID)
	switch {
	case err != nil:
		return err
	case row == nil || row.OrgID.IsZero() && o.Clock.Now().Sub(operation.AskedAt) < claimPatience:
		return fmt.Errorf("claim of %s is not readable yet", args.CpeID)
	case row.OrgID != args.OrgID:
		return o.fail(ctx, args.CpeOnuWork, cause, onuRefusal{code: commands.CpeOnuReleased, message: aboutReleased})
	}
	for _, step := range args.Steps {
		if done(operation.Steps, step) {
			continue
		}
		ended, err := o.step(ctx, args.CpeOnuWork, *row, step)
		switch {
		case refusedByTerminal(err):
			return o.fail(ctx, args.CpeOnuWork, cause, refusalAt(step, err))
		case err != nil || !ended:
			return err
		}
		if again, err := o.report(ctx, args.CpeOnuWork, cause, step); err != nil || !again {
			return err
		}
	}
	return nil
}

// done reports whether a step is done.
func done(steps []cpeviews.OnuStep, name string) bool {
	return slices.Contains(steps, cpeviews.OnuStep{Name: name, Done: true})
}

// step does one step; false = it takes until the CPE calls.
func (o Onus) step(ctx context.Context, w commands.CpeOnuWork, row cpeviews.CPERow, step string) (bool, error) {
	switch step {
	case events.CpeOnuRegister:
		_, err := o.Terminals.Register(ctx, placeOf(w), w.Place.Port)
		return true, err
	case events.CpeOnuVLAN:
		_, err := o.Terminals.SetVLAN(ctx, placeOf(w), w.Place.VLAN)
		return true, err
	}
	tags, login, err := o.Boxes.Told(ctx, row)
	if step == events.CpeOnuCredentials {
		return login, err
	}
	return tags, err
}

// placeOf names the ONU at its terminal.
func placeOf(w commands.CpeOnuWork) olt.Place {
	return olt.Place{Organization: w.Place.OrgSlug, OLT: w.Place.OLT, Serial: w.Place.Serial}
}

// refusedByTerminal tells a no from an answer that nobody has.
func refusedByTerminal(err error) bool {
	kind := failure.KindOf(err)
	return err != nil && (kind == failure.Conflict || kind == failure.Refused)
}

// report tells the log that a step is done; false = the set-up has ended meanwhile. An ONU that was taken out while it
// was registered is taken out again: nobody knows which of the two came first.
func (o Onus) report(ctx context.Context, w commands.CpeOnuWork, cause jobs.Cause, step string) (bool, error) {
	_, err := o.Bus.Execute(ctx, commands.ReportCpeOnuStep{
		OnuID: w.OnuID, OperationID: w.OperationID, Step: step,
	}, cause.Meta(step))
	switch failure.CodeOf(err) {
	case "onu_removed":
		return false, o.Terminals.Remove(ctx, placeOf(w))
	case "cpe_operation_over":
		return false, nil
	}
	return err == nil, err
}

// onuRefusal says why a set-up ends.
type onuRefusal struct{ step, code, message string }

// refusalAt has the words of a terminal. What one that does not know the platform has done before is not known: then no
// step is named, and the ONU stays that of the CPE.
func refusalAt(step string, err error) onuRefusal {
	if failure.KindOf(err) == failure.Refused {
		step = ""
	}
	var known *failure.Error
	if errors.As(err, &known) {
		return onuRefusal{step, known.Code, known.Message}
	}
	return onuRefusal{step, failure.CodeOf(err), ""}
}

// fail reports why a set-up ended.
func (o Onus) fail(ctx context.Context, w commands.CpeOnuWork, cause jobs.Cause, why onuRefusal) error {
	_, err := o.Bus.Execute(ctx, commands.FailCpeOnu{
		OnuID: w.OnuID, OperationID: w.OperationID, Step: why.step, Code: shortened(why.code, 64),
		Message: shortened(why.message, 500),
	}, cause.Meta("fail"))
	return err
}

// TakeOut takes an ONU out of its terminal. A terminal that is gone has none.
func (o Onus) TakeOut(ctx context.Context, args commands.TakeOutCpeOnu, cause jobs.Cause) error {
	err := o.Terminals.Remove(ctx, placeOf(args.CpeOnuWork))
	if err != nil && failure.CodeOf(err) != "olt_not_found" {
		return fmt.Errorf("take out ONU %s: %w", args.Place.Serial, err)
	}
	cause.OrgID = args.OrgID
	_, err = o.Bus.Execute(ctx, commands.ReportCpeOnuTakenOut{OnuID: args.OnuID}, cause.Meta("taken out"))
	return err
}
