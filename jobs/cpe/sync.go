package cpejobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/acstag"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Sync reads from the CPE server which CPEs have called: it learns what they are, records those that have not asked who
// they are, and has these ask, and those whose tags are not those of the read model. Every field is required. Safe for
// concurrent use.
type Sync struct {
	Bus     *bus.Bus
	Gateway *genieacs.Server
	Informs *Informs
	// Rows reads some CPEs, whoever has them; one that is not known is left out.
	Rows   func(ctx context.Context, cpes []id.CPE) ([]cpeviews.CPERow, error)
	Clock  clock.Clock
	Logger *slog.Logger
	Every  time.Duration
}

// Times and sizes of the readings. A document is written at the end of its session, with the instant of its beginning:
// until then a reading does not find the call. The server waits two minutes for the end of a session, and a device that
// takes its time may be a little longer, so readings overlap by three.
const (
	syncTimeout = 10 * time.Minute
	syncWhole   = 24 * time.Hour
	syncOverlap = 3 * time.Minute
	syncPage    = 200
	maxDetail   = 128 // characters of what a CPE says of itself
)

// Register makes the queue know the worker, and when it works: one program at a time. A reading that fails is not
// repeated, because the next one begins where it began.
func (s Sync) Register(queue *jobrunner.Runner) {
	jobrunner.AddWorker(queue, s.sync, jobrunner.Options{Timeout: syncTimeout, MaxAttempts: 1})
	jobrunner.Every(queue, s.Every, commands.SyncCpes{})
}

// Statements of the one row.
const (
	syncedSQL = `select since, whole from {schema}.synced`
	syncSQL   = `
insert into {schema}.synced (since, whole) values ($1, $2)
on conflict (one) do update set since = excluded.since, whole = excluded.whole`
)

// sync reads all CPEs that have called since the last reading, and once a day all that there are.
func (s Sync) sync(ctx context.Context, _ commands.SyncCpes, cause jobs.Cause) error {
	now := s.Clock.Now()
	var since, whole time.Time
	err := s.Informs.db.Owner.QueryRow(ctx, s.Informs.sql(syncedSQL)).Scan(&since, &whole)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("read how far cpes are synchronised: %w", err)
	}
	if now.Sub(whole) >= syncWhole || now.Before(whole) || since.After(now) { // a clock was put back
		since, whole = time.Time{}, now
	}
	read := reading{Sync: s, cause: cause, latest: since}
	err = s.Gateway.EachDevice(ctx, genieacs.Listing{
		Since: since, Limit: syncPage, Paths: detailPaths(), Values: healthPaths(),
	},
		func(d genieacs.Device) error {
			read.page = append(read.page, d)
			if len(read.page) < syncPage {
				return nil
			}
			return read.done(ctx)
		})
	err = errors.Join(err, read.done(ctx))
	if read.left > loggedLeft {
		s.Logger.LogAttrs(ctx, slog.LevelWarn, "devices of the cpe server were left out",
			slog.Int("devices", read.left))
	}
	if err != nil {
		return fmt.Errorf("synchronise cpes: %w", err)
	}
	next := read.latest
	if next.After(since) {
		next = next.Add(-syncOverlap)
	}
	if _, err := s.Informs.db.Owner.Exec(ctx, s.Informs.sql(syncSQL), next, whole); err != nil {
		return fmt.Errorf("note how far cpes are synchronised: %w", err)
	}
	return nil
}

// detailPaths name maker, model, firmware, uptime and address in both data models. The uptime tells when the others
// were read.
func detailPaths() []string {
	var paths []string
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		tree := genieacs.TreeOf(root)
		paths = append(paths, tree.Manufacturer, tree.Model, tree.Firmware, tree.UpTime, tree.ConnectionRequestURL)
	}
	return paths
}

// reading is one pass over the CPE server.
type reading struct {
	Sync
	cause  jobs.Cause
	page   []genieacs.Device
	latest time.Time // call of all that were read
	left   int       // devices that were left out
}

// loggedLeft bounds the lines about devices that were left out in one reading: anybody can make many.
const loggedLeft = 10

// leaveOut logs that a device is not read, unless many were logged.
func (r *reading) leaveOut(ctx context.Context, d genieacs.Device, why string) {
	if r.left++; r.left <= loggedLeft {
		r.Logger.LogAttrs(ctx, slog.LevelWarn, "a device of the cpe server was left out",
			slog.String("device", string(d.ID)), slog.String("error", why))
	}
}

// done compares a page with the read model.
func (r *reading) done(ctx context.Context) error {
	page := r.page
	r.page = nil
	named := make(map[id.CPE]genieacs.Device, len(page))
	for _, d := range page {
		if at := d.LastInform; at.After(r.latest) && !at.After(r.Clock.Now()) { // none of a clock that is ahead
			r.latest = at
		}
		identity := identityOf(d)
		identify := commands.IdentifyCpe{CpeID: commands.CpeID(identity), Identity: identity}
		if err := identify.Validate(); err != nil {
			r.leaveOut(ctx, d, "it has no usable identity")
			continue
		}
		named[identify.CpeID] = d
	}
	if len(named) == 0 {
		return nil
	}
	cpes := make([]id.CPE, 0, len(named))
	for cpe := range named {
		cpes = append(cpes, cpe)
	}
	rows, err := r.Rows(ctx, cpes)
	if err != nil {
		return err
	}
	known := make(map[id.CPE]cpeviews.CPERow, len(rows))
	for _, row := range rows {
		known[row.ID] = row
	}
	for cpe, device := range named {
		row, is := known[cpe]
		err := r.one(ctx, cpe, device, row, is)
		if ofOneDevice(err) {
			r.leaveOut(ctx, device, err.Error())
			continue
		}
		if err != nil {
			return fmt.Errorf("cpe %s: %w", cpe, err)
		}
	}
	return r.Informs.KeepHealth(ctx, healthOf(named, r.Clock.Now()))
}

// ofOneDevice reports whether an error is about what one device says: whoever calls the server may say what it likes,
// and holds up no other one.
func ofOneDevice(err error) bool {
	var refused *genieacs.Refusal
	switch failure.KindOf(err) {
	case failure.Invalid, failure.NotFound, failure.Conflict, failure.Refused:
		return err != nil
	default: // the failure of the program, or of the server
		return errors.Is(err, genieacs.ErrUnfit) || errors.As(err, &refused)
	}
}

// identityOf is who a device of the server is, in normal form.
func identityOf(d genieacs.Device) events.CpeIdentity {
	return commands.NormalCpeIdentity(events.CpeIdentity{
		SerialNumber: d.Serial, OUI: d.OUI, ProductClass: d.ProductClass,
	})
}

// one brings one CPE up to date. What a CPE does not say any more stays as it was.
func (r *reading) one(ctx context.Context, cpe id.CPE, d genieacs.Device, row cpeviews.CPERow, known bool) error {
	cause := r.cause
	cause.OrgID = row.OrgID
	if row.OrgID.IsZero() {
		if waits, err := r.waits(ctx, d); err != nil || !waits {
			return err
		}
	}
	if !known { // before it is recorded: a program that dies between the two finds it unknown again
		if err := r.ask(ctx, d); err != nil {
			return err
		}
		_, err := r.Bus.Execute(ctx, commands.IdentifyCpe{CpeID: cpe, Identity: identityOf(d)},
			cause.Meta("identify "+cpe.String()))
		if err != nil {
			return err
		}
	}
	before := events.CpeDetails{Manufacturer: row.Manufacturer, Model: row.Model, FirmwareVersion: row.Firmware}
	if told := detailsOf(d, before); told != before {
		_, err := r.Bus.Execute(ctx, commands.LearnCpeDetails{CpeID: cpe, Details: told},
			cause.Meta("learn "+cpe.String()))
		if err != nil {
			return err
		}
	}
	if !d.LastInform.IsZero() {
		r.Informs.HeardAt(cpe, row.OrgID, d.LastInform)
	}
	if err := r.respell(ctx, d); err != nil || !known || sameTags(d.Tags, row.Tags()) {
		return err
	}
	return r.ask(ctx, d)
}

// waits notes that a device which nobody has goes on waiting to be claimed. False: it cannot wait, because it cannot be
// told from others, or because there is no room.
func (r *reading) waits(ctx context.Context, d genieacs.Device) (bool, error) {
	tree := genieacs.TreeOf(d.Root)
	host := ""
	if at, err := url.Parse(d.Values[tree.ConnectionRequestURL].Text()); err == nil {
		host = at.Hostname()
	}
	caller, refused := commands.NewCpeCaller(identityOf(d), host), ""
	if commands.DummyCpeSerial(caller.Identity.SerialNumber) {
		refused = commands.CpeSerialUnusable
	}
	admitted, err := r.Informs.Admit(ctx, caller, refused)
	if err != nil {
		return false, err
	}
	switch {
	case refused != "":
		r.leaveOut(ctx, d, "its serial number is one that many devices have")
	case !admitted:
		r.leaveOut(ctx, d, "so many devices wait to be claimed already")
	}
	return admitted && refused == "", nil
}

// respell writes those tags of ours anew that an earlier program has written as the server does not keep them: scripts
// cannot take them away. One that cannot be named to the server is none of ours.
func (r *reading) respell(ctx context.Context, d genieacs.Device) error {
	for _, tag := range d.Tags {
		ours := ourTag(tag) || strings.HasPrefix(tag, genieacs.Left)
		if !ours || acstag.Kept(tag) || unfit(tag) || unfit(acstag.Name(tag)) {
			continue
		}
		err := r.Gateway.AddTag(ctx, d.ID, acstag.Name(tag))
		if err == nil {
			err = r.Gateway.RemoveTag(ctx, d.ID, tag)
		}
		if err != nil && !errors.Is(err, genieacs.ErrUnknownDevice) { // it was deleted meanwhile
			return err
		}
	}
	return nil
}

// ask has a device ask at its next call who it is.
func (r *reading) ask(ctx context.Context, d genieacs.Device) error {
	if slices.Contains(d.Tags, genieacs.Unidentified) {
		return nil
	}
	err := r.Gateway.AddTag(ctx, d.ID, genieacs.Unidentified)
	if errors.Is(err, genieacs.ErrUnknownDevice) { // it was deleted meanwhile
		return nil
	}
	return err
}

// detailsOf reads maker, model and firmware; a text that the CPE does not say is that of before.
func detailsOf(d genieacs.Device, before events.CpeDetails) events.CpeDetails {
	tree := genieacs.TreeOf(d.Root)
	say := func(texts ...string) string {
		for _, text := range texts {
			text = strings.Join(strings.Fields(text), " ")
			if text != "" {
				return shortened(text, maxDetail)
			}
		}
		return ""
	}
	return events.CpeDetails{
		Manufacturer:    say(d.Values[tree.Manufacturer].Text(), d.Manufacturer, before.Manufacturer),
		Model:           say(d.Values[tree.Model].Text(), before.Model),
		FirmwareVersion: say(d.Values[tree.Firmware].Text(), before.FirmwareVersion),
	}
}

// sameTags compares the tags of ours that a device has with those that it should have; one that waits to ask who it is
// will have them. Tags of others do not count.
func sameTags(has, should []string) bool {
	if slices.Contains(has, genieacs.Unidentified) {
		return true
	}
	ours := slices.DeleteFunc(slices.Clone(has), func(tag string) bool { return !ourTag(tag) })
	slices.Sort(ours)
	return slices.Equal(ours, slices.Sorted(slices.Values(should)))
}
