package cpejobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/acstag"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Following brings CPEs at the CPE server up to whose they are and which login they use. Every field but Gateway is
// required. Safe for concurrent use.
type Following struct {
	Bus     *bus.Bus
	Gateway *genieacs.Server // nil = there is no CPE server: calls are counted, and no more
	Informs *Informs
	Rows    cpeviews.CPEsQuery
	// Operations knows the operations that were asked for already.
	Operations cpeviews.OperationsQuery
	Pauses     Pauses
	Secrets    *vault.Secrets
	Queue      *jobrunner.Runner
}

// Attempts of the work at the CPE server. When it stays away, the reading of its devices mends their tags, and the rest
// is done later.
const (
	followAttempts = 4
	followPause    = 5 * time.Minute // after which attempts that are used up begin anew
	tagTries       = 3
)

// Register makes the queue know the workers.
func (f Following) Register(queue *jobrunner.Runner) {
	jobrunner.AddWorker(queue, f.Tag, jobrunner.Options{
		MaxAttempts: followAttempts, Backoff: jobrunner.Doubling(5*time.Second, time.Minute),
	})
	jobrunner.OnDiscarded(queue, jobrunner.OnceMore[commands.TagCpe](queue, followPause))
	jobrunner.AddWorker(queue, f.Line, jobrunner.Options{})
	jobrunner.AddWorker(queue, f.leave, jobrunner.Options{})
}

// Tag gives a CPE the tags that it should have, takes those of yesterday away, and has it ask who it is where that is
// wanted. One that the server does not know gets all when it calls.
func (f Following) Tag(ctx context.Context, args commands.TagCpe, _ jobs.Cause) error {
	if err := f.Rows.Views.WaitFor(ctx, cpeviews.CPEsName, args.Position); err != nil {
		return err
	}
	row, err := f.Rows.Any(ctx, args.CpeID)
	if err != nil || row == nil {
		return err
	}
	if err := f.Informs.Move(ctx, row.ID, row.OrgID); err != nil {
		return err
	}
	if row.SignIn > 0 { // whatever has ended it leads here
		if err := f.Secrets.Delete(ctx, commands.CpeSignInRef(row.ID, row.SignIn-1)); err != nil {
			return err
		}
	}
	if f.Gateway == nil {
		return nil
	}
	var device genieacs.DeviceID
	for range tagTries {
		if device, err = f.tag(ctx, *row, args.Asks); err != nil || device == "" {
			return err
		}
		after, err := f.Rows.Any(ctx, args.CpeID)
		if err != nil || after == nil {
			return err
		}
		same := slices.Equal(after.Tags(), row.Tags())
		row = after // somebody may have changed it meanwhile, whose own job may have been faster
		if same {
			break
		}
	}
	return f.Pauses.End(ctx, *row, device)
}

// tag writes what differs, and gives the device; "" = the server does not know it. A device that loses a login is
// marked with it first, also when it gets another one: it has the old one until it has called, whatever becomes of this
// program, and perhaps longer. The tag of the new login comes before that of the old one goes, so that none leaves in
// between. One that an organization loses is marked with it, too, for what its scripts do in a session meanwhile. Tags
// that cannot be named to the server are left to its scripts.
func (f Following) tag(ctx context.Context, row cpeviews.CPERow, asks bool) (genieacs.DeviceID, error) {
	device, err := ACS{Gateway: f.Gateway}.find(ctx, events.CpeIdentity{
		SerialNumber: row.SerialNumber, OUI: row.OUI, ProductClass: row.ProductClass,
	})
	if errors.Is(err, genieacs.ErrUnfit) { // it cannot be asked for, and gets its tags when it calls
		return "", nil
	}
	should, has := row.Tags(), slices.DeleteFunc(slices.Clone(device.Tags), unfit)
	var gone []string
	marks, left := leftTags(has, should)
	for _, tag := range has {
		asks = asks || strings.HasPrefix(tag, genieacs.Left)
		if !ourTag(tag) || slices.Contains(should, tag) {
			continue
		}
		gone = append(gone, tag)
		if username, is := strings.CutPrefix(tag, cpeviews.TagSubscriber); is {
			asks, marks = true, append(marks, genieacs.Left+acstag.Name(username))
		}
	}
	if asks {
		should = append(should, genieacs.Unidentified)
	}
	missing := slices.DeleteFunc(should, func(tag string) bool { return slices.Contains(device.Tags, tag) })
	login := slices.IndexFunc(missing, func(tag string) bool { return strings.HasPrefix(tag, cpeviews.TagSubscriber) })
	if login >= 0 {
		marks, missing = append(marks, missing[login]), slices.Delete(missing, login, login+1)
	}
	each := func(do func(context.Context, genieacs.DeviceID, string) error, tags []string) {
		for _, tag := range tags {
			if err == nil {
				err = do(ctx, device.ID, tag)
			}
		}
	}
	each(f.Gateway.AddTag, slices.DeleteFunc(marks, unfit))
	each(f.Gateway.RemoveTag, append(gone, left...)) // no script of before begins while its tags are taken
	each(f.Gateway.AddTag, missing)
	if errors.Is(err, genieacs.ErrUnknownDevice) {
		return "", nil
	}
	return device.ID, err
}

// unfit reports whether a tag cannot be named to the CPE server.
func unfit(tag string) bool { return !genieacs.TagFits(tag) }

// maxLeftTags bounds the tags of former organizations that are taken from a CPE at once; it loses the others at its
// next call.
const maxLeftTags = 500

// leftTags gives the marks of those organizations that do not have a CPE any more, but had it, and what goes with them:
// the tags of their scripts, which begin with their names. A name may begin that of the organization that has the CPE
// now, whose scripts have not run on it while one of before is tagged or marked there. An organization that has it
// again needs no mark.
func leftTags(has, should []string) (marks, gone []string) {
	var begin []string
	for _, tag := range has {
		name, was := strings.CutPrefix(tag, cpeviews.TagOrganization)
		marked := false
		if !was {
			name, marked = strings.CutPrefix(tag, genieacs.LeftOrganization)
		}
		again := slices.Contains(should, cpeviews.TagOrganization+name)
		switch {
		case marked && again:
			gone = append(gone, tag)
		case (was || marked) && !again:
			begin = append(begin, name+"-")
		}
		if mark := genieacs.LeftOrganization + acstag.Name(name); was && !again && !slices.Contains(has, mark) {
			marks = append(marks, mark)
		}
	}
	for _, tag := range has {
		ofThem := func(name string) bool { return strings.HasPrefix(tag, name) }
		if len(gone) < maxLeftTags && slices.ContainsFunc(begin, ofThem) {
			gone = append(gone, tag)
		}
	}
	return marks, gone
}

// ourTag reports whether a tag at the CPE server is one that follows from whose the CPE is.
func ourTag(tag string) bool {
	return strings.HasPrefix(tag, cpeviews.TagOrganization) || strings.HasPrefix(tag, cpeviews.TagSubscriber) ||
		strings.HasPrefix(tag, cpeviews.TagPlan)
}

// Line has the CPEs tagged that use a login, and the login written to them where that is wanted. A CPE that refuses it,
// or does not come in time, gets it at its next call: it is asked to say then who it is.
func (f Following) Line(ctx context.Context, args commands.FollowCpeLine, cause jobs.Cause) error {
	if err := f.Rows.Views.WaitFor(ctx, cpeviews.CPEsName, args.Position); err != nil {
		return err
	}
	rows, err := f.Rows.OfSubscription(ctx, args.OrgID, args.SubscriptionID)
	if err != nil {
		return err
	}
	cause.OrgID = args.OrgID
	next := map[string]commands.Job{}
	for _, row := range rows {
		if args.CpeID.IsZero() {
			next[row.ID.String()] = commands.TagCpe{CpeID: row.ID, Position: args.Position, Asks: args.Push}
		}
		if args.Push && f.Gateway != nil && (args.CpeID.IsZero() || args.CpeID == row.ID) {
			if err := f.push(ctx, row, cause); err != nil {
				return err
			}
		}
	}
	if len(next) == 0 {
		return nil
	}
	return f.Queue.Follow(ctx, cause, next)
}

// leave has each operation looked for that is open on a CPE which its organization has given up: it fails, and what
// waits at the CPE server is taken back.
func (f Following) leave(ctx context.Context, args commands.LeaveCpe, cause jobs.Cause) error {
	if err := f.Rows.Views.WaitFor(ctx, cpeviews.OperationsName, args.Position); err != nil {
		return err
	}
	rows, err := f.Operations.Open(ctx, args.OrgID, args.CpeID)
	if err != nil || len(rows) == 0 {
		return err
	}
	next := map[string]commands.Job{}
	for _, row := range rows {
		work := commands.CpeWork{
			OperationID: row.ID, CpeID: row.CpeID, OrgID: args.OrgID, Operation: events.CpeOperationKind(row.Kind),
			Left: true,
		}
		next[row.ID.String()] = commands.SendCpeOperation{CpeWork: work}
		if row.State == "sent" {
			next[row.ID.String()] = commands.CheckCpeOperation{CpeWork: work}
		}
	}
	cause.OrgID = args.OrgID
	return f.Queue.Follow(ctx, cause, next)
}

// push asks for the write of the login. One without a username or a password is none, and is not written. The values go
// into the vault before the request; a repeat finds the operation of the first try.
func (f Following) push(ctx context.Context, row cpeviews.CPERow, cause jobs.Cause) error {
	operation := id.Derive[id.CPEOperation]("cpe login", cause.JobID.String(), row.ID.String())
	present, err := f.Operations.Get(ctx, row.OrgID, operation)
	username := null.Zero(row.Username)
	if err != nil || present != nil || username == "" {
		return err
	}
	password, err := PasswordOf(ctx, f.Secrets, row.PasswordRef)
	if err != nil || password == "" {
		return err
	}
	text, err := json.Marshal(commands.CpeValues{Username: username, Password: password})
	if err != nil {
		return fmt.Errorf("write values of operation %s", operation) // the cause would have them
	}
	secret := vault.Secret{
		Ref:   id.Derive[id.Secret]("cpe operation", operation.String()),
		OrgID: row.OrgID, Purpose: commands.CpeValuesPurpose,
	}
	if err := f.Secrets.Put(ctx, secret, text); err != nil {
		return err
	}
	_, err = f.Bus.Execute(ctx, commands.QueueCpeOperation{
		OperationID: operation, CpeID: row.ID, OrgID: row.OrgID, SubscriberID: row.SubscriberID,
		Kind: events.CpeLogin, ValuesRef: secret.Ref, CallNow: true,
	}, cause.Meta("push "+row.ID.String()))
	return err
}

// PasswordOf reads a password; "" = there is none.
func PasswordOf(ctx context.Context, from *vault.Secrets, ref id.Secret) (string, error) {
	if ref.IsZero() {
		return "", nil
	}
	kept, err := from.Get(ctx, ref)
	if failure.CodeOf(err) == "secret_not_found" {
		return "", nil
	}
	return string(kept), err
}
