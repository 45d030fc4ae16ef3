package outagescases

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Outages begins and ends outages, and finds their customers. All fields are required. Safe for concurrent use.
type Outages struct {
	Bus    *bus.Bus
	Places Places
	Clock  clock.Clock
}

// BeginInput describes an outage that a person knows of.
type BeginInput struct {
	Place       events.NetworkPlace
	Title       string
	Message     string
	StartedAt   time.Time // zero = now
	ExpectedEnd time.Time // zero = nobody knows
	Untold      bool      // customers are not told, before somebody announces it
}

// Begin begins an outage. Fails: invalid_input, device_not_found, service_not_found, outage_exists.
func (u Outages) Begin(ctx context.Context, asked usecases.Asked, in BeginInput) (id.Outage, bus.Result, error) {
	outage := usecases.NewID[id.Outage](asked, "outage")
	in.Place.Tag = strings.TrimSpace(in.Place.Tag)
	command := commands.BeginOutage{
		OutageID: outage, OrgID: asked.Org(), Place: in.Place, Title: strings.TrimSpace(in.Title),
		Message: strings.TrimSpace(in.Message), StartedAt: in.StartedAt, ExpectedEnd: in.ExpectedEnd,
	}
	if command.StartedAt.IsZero() {
		command.StartedAt = u.Clock.Now()
	}
	if err := command.Validate(); err != nil {
		return outage, bus.Result{}, err
	}
	where, err := u.Places.Find(ctx, asked.Org(), in.Place)
	if err != nil {
		return outage, bus.Result{}, err
	}
	if !in.Place.DeviceID.IsZero() {
		command.Devices = where.Devices()
	}
	if in.Untold {
		command.TellAfter = -1
	}
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	return outage, done, err
}

// rules are those of an organization.
func (u Outages) rules(ctx context.Context, org id.Organization) (events.OutageRules, error) {
	state, _, err := bus.LoadUnchecked[outages.OutageRules](ctx, u.Bus, org) // the id is the organization's own
	return state.Present(), err
}

// Announce has the customers of an outage told while it lasts, also of one that the platform has noticed. Fails:
// outage_not_found, outage_over, stale_revision.
func (u Outages) Announce(ctx context.Context, asked usecases.Asked, outage id.Outage) (bus.Result, error) {
	return u.Bus.Execute(ctx, commands.AnnounceOutage{OutageID: outage}, asked.Meta)
}

// tellAfter is how long an outage that the platform has noticed lasts before customers are told by itself; negative
// when that waits for a person.
func tellAfter(rules events.OutageRules) time.Duration {
	if !rules.Tell {
		return -1
	}
	return time.Duration(rules.AfterMinutes) * time.Minute
}

// heardFor is how long the reports of a router tell that customers are served there: each session has one more often.
const heardFor = 2 * telemetry.ReportEvery

// detectedLimit is how old the sight of routers that are down may be when their outage begins.
const detectedLimit = 5 * time.Minute

// Detected begins an outage of routers that do not answer, unless that is long ago. Routers that go on reporting about
// their customers make none, one router behind which nobody is off makes none, nor does an organization that does not
// want it. Another outage of the same router that lasts is no failure.
func (u Outages) Detected(ctx context.Context, args commands.BeginDetectedOutage, meta commands.Meta) error {
	if u.Clock.Now().Sub(args.At) > detectedLimit {
		return nil
	}
	rules, err := u.rules(ctx, args.OrgID)
	if err != nil || !rules.Detect {
		return err
	}
	downs, err := u.silent(ctx, args)
	if err != nil || len(downs) == 0 {
		return err
	}
	outage, ended, err := u.unused(ctx, args)
	if err != nil || outage.IsZero() {
		return err
	}
	begin := commands.BeginOutage{
		OutageID: outage, OrgID: args.OrgID, Place: events.NetworkPlace{DeviceID: args.Root}, Downs: downs,
		Detected: true, TellAfter: tellAfter(rules),
	}
	for i, d := range downs {
		if d.From.Before(ended) {
			downs[i].From, d.From = ended, ended
		}
		begin.Devices = append(begin.Devices, d.DeviceID)
		if begin.StartedAt.IsZero() || d.From.Before(begin.StartedAt) {
			begin.StartedAt = d.From
		}
	}
	if !slices.Contains(begin.Devices, args.Root) {
		begin.Place.DeviceID = begin.Devices[0]
	}
	if len(downs) == 1 {
		at := downs.Until(begin.Devices, events.TimeSpan{To: u.Clock.Now()})
		off, err := u.Places.Count(ctx, args.OrgID, Where{devices: begin.Devices, unheard: true}, at)
		if err != nil || off == 0 {
			return err
		}
	}
	_, err = u.Bus.Execute(ctx, begin, meta)
	if failure.CodeOf(err) == "outage_exists" {
		return nil
	}
	return err
}

// againAfter is how long an outage is over before another one begins because its routers are still down.
const againAfter = 10 * time.Minute

// unused is the id of the outage that a sight begins, and the end of the one before it in the same failure: somebody
// has ended that one while its routers were down. Zero = one lasts, or has just ended.
func (u Outages) unused(
	ctx context.Context, args commands.BeginDetectedOutage,
) (outage id.Outage, ended time.Time, err error) {
	outage = id.Derive[id.Outage]("outage", args.OrgID.String(), args.Root.String(),
		args.Since.UTC().Format(time.RFC3339Nano))
	for {
		before, _, err := bus.LoadOwned[outages.Outage](ctx, u.Bus, args.OrgID, outage)
		switch {
		case failure.KindOf(err) == failure.NotFound:
			return outage, ended, nil
		case err != nil, before.Lasts(), u.Clock.Now().Sub(before.OverSince) < againAfter:
			return id.Outage{}, ended, err
		}
		outage, ended = id.Derive[id.Outage]("outage again", outage.String()), before.EndedAt
	}
}

// silent are the routers of a sight that report about no customer any more, each since its last report when that came
// after the program's last contact.
func (u Outages) silent(ctx context.Context, args commands.BeginDetectedOutage) (silent events.RouterDowns, err error) {
	since := map[id.Device]time.Time{}
	for _, device := range args.Devices {
		since[device] = args.Since
	}
	for _, d := range args.Downs {
		since[d.DeviceID] = d.From
	}
	heard, err := u.Places.Sessions.HeardSince(ctx, args.OrgID, since)
	for _, device := range args.Devices {
		last, is := heard[device]
		switch {
		case !is:
			silent = append(silent, events.RouterDown{DeviceID: device, From: since[device]})
		case u.Clock.Now().Sub(last) >= heardFor:
			silent = append(silent, events.RouterDown{DeviceID: device, From: last})
		}
	}
	return silent, err
}

// End ends an outage; at an instant, or now. Fails: outage_not_found, invalid_input, stale_revision.
func (u Outages) End(
	ctx context.Context, asked usecases.Asked, outage id.Outage, at time.Time,
) (bus.Result, error) {
	return u.Bus.Execute(ctx, commands.EndOutage{OutageID: outage, EndedAt: at}, asked.Meta)
}

// Description has what is written about an outage; nil = as before, empty and zero = nothing.
type Description struct {
	Title       *string
	Message     *string
	ExpectedEnd *time.Time
}

// Describe changes what is written about an outage; two people at once who change different fields both count. Fails:
// outage_not_found, invalid_input, stale_revision, concurrent_change.
func (u Outages) Describe(
	ctx context.Context, asked usecases.Asked, outage id.Outage, in Description,
) (bus.Result, error) {
	return usecases.Amend(ctx, u.Bus, asked, outage, func(present outages.Outage) (commands.Command, error) {
		return commands.DescribeOutage{
			OutageID: outage, Title: strings.TrimSpace(null.Or(in.Title, present.Title)),
			Message:     strings.TrimSpace(null.Or(in.Message, present.Message)),
			ExpectedEnd: null.Or(in.ExpectedEnd, present.ExpectedEnd),
		}, nil
	})
}

// times are those of the routers of an outage; while it lasts, only those that are down, up to now: whoever is behind
// one that is back has service again.
func (u Outages) times(row outagesviews.OutageRow, w Where) events.RouterDowns {
	at := events.TimeSpan{From: row.StartedAt, To: null.Or(row.EndedAt, u.Clock.Now())}
	if row.EndedAt == nil {
		return row.Downs.Lasting(w.devices, at)
	}
	return row.Downs.Until(w.devices, at)
}

// where is the place of an outage, with all routers that were down in it.
func (u Outages) where(ctx context.Context, row outagesviews.OutageRow) (Where, error) {
	if len(row.Devices) > 0 {
		where := Where{devices: row.Devices, cut: cutBefore, whole: row.Downs}
		if row.Detected {
			where.cut, where.unheard = 0, row.EndedAt == nil
		}
		return where, nil
	}
	where, err := u.Places.Find(ctx, row.OrgID, row.Place())
	if failure.KindOf(err) == failure.NotFound { // the service was removed since
		return Where{devices: []id.Device{}}, nil
	}
	return where, err
}

// Hit lists up to max customers who have no service in an outage, after one; of one that is over those who had none.
func (u Outages) Hit(
	ctx context.Context, row outagesviews.OutageRow, after id.Subscriber, max int,
) ([]id.Subscriber, error) {
	where, err := u.where(ctx, row)
	if err != nil {
		return nil, err
	}
	return u.Places.Customers(ctx, row.OrgID, where, u.times(row, where), after, max)
}

// Count counts the customers of Hit.
func (u Outages) Count(ctx context.Context, row outagesviews.OutageRow) (int, error) {
	where, err := u.where(ctx, row)
	if err != nil {
		return 0, err
	}
	return u.Places.Count(ctx, row.OrgID, where, u.times(row, where))
}

// PresentRules are the rules that apply when an organization has chosen some; nil = it never did.
func PresentRules(chosen *events.OutageRules) events.OutageRules {
	return outages.OutageRules{Chosen: chosen}.Present()
}
