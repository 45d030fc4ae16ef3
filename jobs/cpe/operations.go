package cpejobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Server is the CPE server. A refusal of the server or of the CPE is an outcome; an error means that nobody knows what
// was done. Implementations are safe for concurrent use.
type Server interface {
	// Send hands a write over. What waits under the same key is replaced.
	Send(ctx context.Context, w Write) (Outcome, error)
	// Find tells what the server has under the key of a write: of one that may have been sent by a program that died.
	Find(ctx context.Context, w Write) (found bool, out Outcome, err error)
	// Outcome tells what became of a write that was sent.
	Outcome(ctx context.Context, w Write) (Outcome, error)
	// Withdraw takes the tasks of a write away, also those whose answers were lost, and what the server would do again
	// of those that have ended. It reports whether none had ended, and one was there: then nothing was done.
	Withdraw(ctx context.Context, w Write) (there bool, err error)
	// Store puts a file of firmware where CPEs load it from.
	Store(ctx context.Context, c commands.RecordCpeFirmware, content []byte) error
	// Ready fails while the server does not answer.
	Ready() error
}

// Write is one operation as the server gets it.
type Write struct {
	Key     string // the same at each try
	CPE     events.CpeIdentity
	Kind    events.CpeOperationKind
	Values  commands.CpeValues
	CallNow bool
	Tasks   []events.CpeTask // that the server has; nil before it was sent
	Written []string         // names of what was sent, where the device's tree decides; nil before it was sent
	// ExpiresAt is when it is not to be begun any more; zero = never.
	ExpiresAt time.Time
	Deployment

	// stopped says why it is not to be done any more; the zero value is for one that is.
	stopped refusal
}

// Deployment has the facts of a write of firmware alone. The zero value is for all others.
type Deployment struct {
	Image   Image
	BeginBy time.Time // when the CPE is not told any more
	Going   bool      // the campaign goes on
	AskedAt time.Time
	SentAt  time.Time
	// Others are the tasks of other operations of the CPE, when those of this one are not known.
	Others []events.CpeTask
}

// Image is a file of firmware.
type Image struct {
	File    string // its name at the server
	Version string // that a CPE tells which runs it
}

// Outcome says how far a write has come.
type Outcome struct {
	Done    bool   // it was found done
	Code    string // of the fault; "" = it has not failed
	Message string // in the words of CPE or server
	// Tasks are those that the server has by now; of Outcome none when they are those of before.
	Tasks []events.CpeTask
	// Written are the names of the parameters that are written, where the device's tree decides; nil as before.
	Written []string
	Call    string // "ok", "queued" or "failed"
	// Result has the figures of a test that is done; nil = it was no test.
	Result *events.CpeTestResult
}

// Operations does the jobs of writes to CPEs. Every field is required. Safe for concurrent use.
type Operations struct {
	Bus  *bus.Bus
	Rows cpeviews.OperationsQuery
	// CPE reads a CPE, whoever has it; nil = it is not known.
	CPE func(ctx context.Context, cpe id.CPE) (*cpeviews.CPERow, error)
	// Files and Campaigns are those of firmware.
	Files     cpeviews.FirmwareQuery
	Campaigns cpeviews.CampaignsQuery
	// Values reads what is to be written; a failure of kind NotFound means that it was deleted, after the end.
	Values func(ctx context.Context, ref id.Secret) ([]byte, error)
	// Drop deletes values; those that are deleted already are no failure.
	Drop   func(ctx context.Context, ref id.Secret) error
	Server Server
	// Password reads the password of a login; "" = there is none any more.
	Password func(ctx context.Context, ref id.Secret) (string, error)
	Uploads  Uploads
	Clock    clock.Clock
}

// Times of the attempts. The process asks again, so few are made at once.
const (
	operationAttempts = 3
	operationTimeout  = 45 * time.Second // a session that somebody waits for takes as long
)

// Register makes the queue know the workers.
func (o Operations) Register(queue *jobrunner.Runner) {
	few := jobrunner.Options{MaxAttempts: operationAttempts, Timeout: operationTimeout}
	jobrunner.AddWorker(queue, o.Send, few)
	again := few
	again.Again = true // the CPE may be released while it is looked for
	jobrunner.AddWorker(queue, o.Check, again)
	jobrunner.AddWorker(queue, o.drop, jobrunner.Options{})
}

// Codes of failures that are ours and not the server's.
const (
	codeReleased = "released" // the organization, or the customer, does not have the CPE any more
	codeUnknown  = "unknown"  // it may have happened, and must not happen twice
	codeLost     = "lost"     // its values are not there, as after a restore of an older vault
	// The device has another login by now, or another Wi-Fi was asked for, which an operation of its own writes.
	codeReplaced = events.CpeReplaced
)

// Send hands an operation to the server. Only the attempt that has announced it does so; one that finds it announced
// cannot know whether its predecessor came so far, and looks for it. What may be done twice is sent again then, under
// the same key. What may not has failed, with the truth: that it is not known.
func (o Operations) Send(ctx context.Context, args commands.SendCpeOperation, cause jobs.Cause) error {
	write, err := o.write(ctx, args.CpeWork)
	if err != nil {
		return err
	}
	cause.OrgID = args.OrgID
	begun, err := o.Bus.Execute(ctx, commands.BeginCpeOperation{OperationID: args.OperationID}, cause.Meta("begin"))
	if failure.CodeOf(err) == "cpe_operation_over" {
		return nil
	}
	if err != nil {
		return err
	}
	if write.Image.File != "" && (!write.Going || !o.Clock.Now().Before(write.BeginBy)) {
		write.stopped = refusal{events.CpeNotBegun, "The deployment did not come so far in time."}
	}
	switch {
	case write.stopped.code != "" && begun.Changed: // nobody has asked the server before
		return o.fail(ctx, args.CpeWork, cause, write.stopped)
	case write.stopped.code != "":
		return o.takeBack(ctx, args.CpeWork, cause, write)
	}
	if !begun.Changed {
		found, out, err := o.Server.Find(ctx, write)
		switch {
		case err != nil:
			return err
		case found:
			return o.sent(ctx, args.CpeWork, cause, out)
		case args.Operation == events.CpeFirmware: // it may be on its way: the version will tell
			return o.sent(ctx, args.CpeWork, cause, Outcome{Call: "queued"})
		case !repeatable(args.Operation):
			return o.fail(ctx, args.CpeWork, cause, refusal{codeUnknown, aboutUnknown})
		}
	}
	if err := o.letIn(ctx, args.CpeWork, cause); err != nil {
		return err
	}
	out, err := o.Server.Send(ctx, write)
	if err != nil {
		return fmt.Errorf("send operation %s: %w", args.OperationID, err)
	}
	return o.sent(ctx, args.CpeWork, cause, out)
}

// takeBack fails an operation that is not to be done any more, after what the server may have of it was taken away.
// Firmware that an earlier attempt may have sent, and that does not wait there, may be on its way: the version will
// tell.
func (o Operations) takeBack(ctx context.Context, w commands.CpeWork, cause jobs.Cause, write Write) error {
	there, err := o.Server.Withdraw(ctx, write)
	if err != nil {
		return fmt.Errorf("withdraw operation %s: %w", w.OperationID, err)
	}
	if !there && w.Operation == events.CpeFirmware && write.SentAt.IsZero() {
		return o.sent(ctx, w, cause, Outcome{Call: "queued"})
	}
	return o.fail(ctx, w, cause, write.stopped)
}

// Messages of codes.
const (
	aboutReleased   = "The device does not belong to the organization any more."
	aboutGiven      = "The device does not belong to the customer any more."
	aboutUnknown    = "It is not known whether the device was told."
	aboutLost       = "The values to be written are not there any more."
	aboutReplaced   = "The customer has another login by now."
	aboutSuperseded = "The Wi-Fi was changed once more."
)

// repeatable reports whether an operation that is done twice does the same as once.
func repeatable(kind events.CpeOperationKind) bool {
	return kind != events.CpeReboot && kind != events.CpeFactoryReset && kind != events.CpeFirmware
}

// sent reports that the server has the operation, or has refused it.
func (o Operations) sent(ctx context.Context, w commands.CpeWork, cause jobs.Cause, out Outcome) error {
	if out.Code != "" {
		return o.fail(ctx, w, cause, refusal{out.Code, out.Message})
	}
	cause.OrgID = w.OrgID
	_, err := o.Bus.Execute(ctx, commands.ReportCpeOperationSent{
		OperationID: w.OperationID, Tasks: out.Tasks, Names: out.Written, Call: out.Call,
	}, cause.Meta("sent"))
	return err
}

// fail reports why an operation was not done.
func (o Operations) fail(ctx context.Context, w commands.CpeWork, cause jobs.Cause, why refusal) error {
	cause.OrgID = w.OrgID
	_, err := o.Bus.Execute(ctx, commands.FailCpeOperation{
		OperationID: w.OperationID, Code: shortened(why.code, 64), Message: shortened(why.message, 500),
	}, cause.Meta("fail"))
	return err
}

// shortened cuts a text of others to a number of characters.
func shortened(text string, most int) string {
	if all := []rune(text); len(all) > most {
		return string(all[:most])
	}
	return text
}

// others gives the tasks of the other operations of a CPE that have not ended.
func (o Operations) others(ctx context.Context, w commands.CpeWork) (tasks []events.CpeTask, _ error) {
	rows, err := o.Rows.Open(ctx, w.OrgID, w.CpeID)
	for _, row := range rows {
		if row.ID != w.OperationID {
			tasks = append(tasks, row.Tasks...)
		}
	}
	return tasks, err
}

// Check looks for the outcome of an operation that was sent. One that has ended, or whose end the server does not know
// yet, stays as it is.
func (o Operations) Check(ctx context.Context, args commands.CheckCpeOperation, cause jobs.Cause) error {
	row, err := o.Rows.Get(ctx, args.OrgID, args.OperationID)
	if err != nil || row == nil || row.State != "sent" {
		return err
	}
	write, err := o.write(ctx, args.CpeWork)
	if err != nil {
		return err
	}
	write.Tasks, write.Written, write.AskedAt = row.Tasks, row.Written, row.AskedAt
	if row.SentAt != nil {
		write.SentAt = *row.SentAt
	}
	if write.Kind == events.CpeFirmware && len(row.Tasks) == 0 {
		if write.Others, err = o.others(ctx, args.CpeWork); err != nil {
			return err
		}
	}
	switch write.stopped.code {
	case codeReleased: // its tasks may still wait for the device
		return o.takeBack(ctx, args.CpeWork, cause, write)
	case codeLost:
		return nil // it has ended meanwhile
	}
	out, err := o.Server.Outcome(ctx, write)
	switch {
	case err != nil:
		return fmt.Errorf("look for operation %s: %w", args.OperationID, err)
	case out.Done:
		return o.confirm(ctx, args.CpeWork, cause, out.Result)
	case write.stopped.code != "": // the device may have what replaces it
		return o.takeBack(ctx, args.CpeWork, cause, write)
	case out.Code != "":
		return o.fail(ctx, args.CpeWork, cause, refusal{out.Code, out.Message})
	case len(out.Tasks) > 0: // the device is asked what it has
		return o.sent(ctx, args.CpeWork, cause, out)
	}
	return o.letIn(ctx, args.CpeWork, cause)
}

// letIn lets a CPE that is about to lose its settings come back without its password. As long as it has not come back
// that is done again: it may have shown a new one meanwhile, and lose that one.
func (o Operations) letIn(ctx context.Context, w commands.CpeWork, cause jobs.Cause) error {
	if w.Operation != events.CpeFactoryReset {
		return nil
	}
	cause.OrgID = w.OrgID
	_, err := o.Bus.Execute(ctx, commands.EndCpeSignIn{CpeID: w.CpeID}, cause.Meta("let in"))
	if failure.KindOf(err) == failure.NotFound {
		return nil // it was released meanwhile
	}
	return err
}

// confirm reports that an operation was done. To what a device has measured in an upload to the platform comes what the
// platform got.
func (o Operations) confirm(
	ctx context.Context, w commands.CpeWork, cause jobs.Cause, result *events.CpeTestResult,
) error {
	if w.Operation == events.CpeUploadTest && result != nil {
		var err error
		if result.ReceivedBytes, err = o.Uploads.Received(ctx, w.OperationID); err != nil {
			return err
		}
	}
	cause.OrgID = w.OrgID
	_, err := o.Bus.Execute(ctx, commands.ConfirmCpeOperation{OperationID: w.OperationID, Result: result},
		cause.Meta("confirm"))
	return err
}

// write makes what the server gets, and says of what is not to be done any more why. What was asked for a CPE that the
// organization, or the customer, does not have any more is nothing for the next one.
func (o Operations) write(ctx context.Context, w commands.CpeWork) (Write, error) {
	row, err := o.CPE(ctx, w.CpeID)
	if err != nil {
		return Write{}, err
	}
	out := Write{Key: w.OperationID.String(), Kind: w.Operation, CallNow: w.CallNow, ExpiresAt: w.ExpiresAt}
	if row != nil {
		out.CPE = events.CpeIdentity{SerialNumber: row.SerialNumber, OUI: row.OUI, ProductClass: row.ProductClass}
	}
	switch {
	case row == nil || row.OrgID != w.OrgID || w.Left:
		out.stopped = refusal{codeReleased, aboutReleased}
		return out, nil
	case w.Deployed != nil:
		out.Deployment, err = o.deployment(ctx, w)
		return out, err
	case !w.SubscriberID.IsZero() && row.SubscriberID != w.SubscriberID: // zero also in jobs of an earlier program
		out.stopped = refusal{codeReleased, aboutGiven}
		return out, nil
	case w.ValuesRef.IsZero():
		return out, nil
	}
	kept, err := o.Values(ctx, w.ValuesRef)
	if failure.KindOf(err) == failure.NotFound {
		out.stopped = refusal{codeLost, aboutLost}
		return out, nil
	}
	if err != nil {
		return Write{}, err
	}
	if err := json.Unmarshal(kept, &out.Values); err != nil {
		return Write{}, fmt.Errorf("values of operation %s cannot be read", w.OperationID) // the cause has them
	}
	out.stopped, err = o.replaced(ctx, w, *row, out.Values)
	return out, err
}

// replaced tells why values are not the latest any more: an older login, or an older Wi-Fi, must not come after a newer
// one. The zero value is for those that are.
func (o Operations) replaced(
	ctx context.Context, w commands.CpeWork, row cpeviews.CPERow, values commands.CpeValues,
) (refusal, error) {
	switch w.Operation {
	case events.CpeLogin:
		password, err := o.Password(ctx, row.PasswordRef)
		if err != nil {
			return refusal{}, err
		}
		if null.Zero(row.Username) != values.Username || password != values.Password {
			return refusal{codeReplaced, aboutReplaced}, nil
		}
	case events.CpeWifi:
		later, err := o.Rows.Superseded(ctx, w.OrgID, w.OperationID)
		if err != nil || !later {
			return refusal{}, err
		}
		return refusal{codeReplaced, aboutSuperseded}, nil
	default: // what may be done beside others of its kind
	}
	return refusal{}, nil
}

// deployment reads the file of a write of firmware, and whether its campaign goes on. Both are in the log before the
// write is.
func (o Operations) deployment(ctx context.Context, w commands.CpeWork) (Deployment, error) {
	file, err := o.Files.Get(ctx, w.OrgID, w.Deployed.FirmwareID)
	if err != nil {
		return Deployment{}, err
	}
	state, err := o.Campaigns.State(ctx, w.OrgID, w.Deployed.CampaignID)
	if err != nil {
		return Deployment{}, err
	}
	if file == nil || state == "" {
		return Deployment{}, runner.ErrBuilding
	}
	return Deployment{
		Image:   Image{File: file.StoredAs, Version: file.Version},
		BeginBy: w.Deployed.BeginBy, Going: state == cpeviews.CampaignRunning,
	}, nil
}

// drop deletes the values of an operation that has ended.
func (o Operations) drop(ctx context.Context, args commands.DropCpeValues, _ jobs.Cause) error {
	if err := o.Uploads.Forget(ctx, args.OperationID); err != nil {
		return err
	}
	return o.Drop(ctx, args.ValuesRef)
}
