package outagescases

import (
	"context"
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
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Outages begins and ends outages, and finds their customers. All fields are required. Safe for concurrent use.
type Outages struct {
	Bus    *bus.Bus
	Places Places
	Clock  clock.Clock
	// Hears reports whether all that the routers of an organization have told about customers for some time has come,
	// and has had a way since one of them went away.
	Hears func(ctx context.Context, org id.Organization, went time.Time, within time.Duration) (bool, error)
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
