package billingapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Fuses serves what is held because far more of it happened than usual (docs/rules/billing.md#fuses).
type Fuses struct {
	Bus      *bus.Bus
	Settings usecases.SettingsOf
	Fuses    billingviews.FusesQuery
	Users    identityviews.UsersQuery
	Clock    clock.Clock
}

// Routes lists the endpoints of fuses.
func (a Fuses) Routes() []httpapi.Route {
	on := httpapi.OnOrganization
	return []httpapi.Route{
		{
			Method: "GET", Path: "/fuses", Hosts: on, Access: httpapi.AccessSupport, Response: fusesResponse{},
			Summary: "List what was held because far more of it happened than usual", Handle: a.list,
		},
		{
			Method: "POST", Path: "/fuses/:id/release", Hosts: on, Access: httpapi.AccessAdmin,
			Request: httpapi.ReasonRequest{}, Response: fuseResponse{}, Handle: a.release,
			Summary: "Let held cuts or messages go on for the rest of the day",
		},
	}
}

// fusesResponse has both kinds at most.
type fusesResponse struct {
	Data []fuseResponse `json:"data" doc:"those that are held first; empty when none ever was"`
}

// fuseKind is one of the kinds of fuses.
type fuseKind string

// Texts implements httpapi.Enumerated.
func (fuseKind) Texts() []string { return []string{events.FuseCuts, events.FuseMessages} }

// fuseResponse is a fuse as it is shown.
type fuseResponse struct {
	ID            id.Fuse           `json:"id"`
	Kind          fuseKind          `json:"kind"`
	Held          bool              `json:"held"`
	Date          calendar.Date     `json:"date" doc:"on which it was held"`
	Count         int               `json:"count" doc:"that happened on that day until then"`
	Usual         int               `json:"usual" doc:"the most of a day in the two months before"`
	HeldAt        time.Time         `json:"heldAt"`
	ReleasedAt    *time.Time        `json:"releasedAt"`
	ReleasedBy    *httpapi.StaffRef `json:"releasedBy"`
	ReleaseReason *string           `json:"releaseReason"`
}

// fuseDetail is a fuse with the names of the staff who released it.
type fuseDetail struct {
	billingviews.FuseRow
	names map[id.User]string
}

// showFuse writes null for what is not known.
func showFuse(d fuseDetail) fuseResponse {
	r := d.FuseRow
	return fuseResponse{
		ID: r.ID, Kind: fuseKind(r.Kind), Held: r.Held, Date: r.Day(), Count: r.Count, Usual: r.Usual,
		HeldAt: r.HeldAt, ReleasedAt: r.ReleasedAt, ReleasedBy: staffRef(r.ReleasedBy, d.names),
		ReleaseReason: null.Of(r.ReleaseReason),
	}
}

// detail adds the name of who released a fuse.
func (a Fuses) detail(ctx context.Context, org id.Organization, row billingviews.FuseRow) (fuseDetail, error) {
	d := fuseDetail{FuseRow: row}
	if row.ReleasedBy.IsZero() {
		return d, nil
	}
	var err error
	d.names, err = a.Users.Names(ctx, org, []id.User{row.ReleasedBy})
	return d, err
}

// one describes how a fuse is read and shown.
func (a Fuses) one() httpapi.One[id.Fuse, fuseDetail, fuseResponse] {
	return httpapi.One[id.Fuse, fuseDetail, fuseResponse]{
		Model: billingviews.FusesName, Missing: commands.ErrNoFuse, Show: showFuse,
		Read: func(ctx context.Context, org id.Organization, fuse id.Fuse) (*fuseDetail, error) {
			row, err := a.Fuses.Get(ctx, org, fuse)
			if err != nil || row == nil {
				return nil, err
			}
			d, err := a.detail(ctx, org, *row)
			return &d, err
		},
	}
}

// list answers with all fuses of the organization that were ever blown.
func (a Fuses) list(ctx context.Context, c *httpapi.Call) error {
	rows, err := a.Fuses.List(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	out := fusesResponse{Data: []fuseResponse{}}
	for _, row := range rows {
		d, err := a.detail(ctx, c.Org.ID, row)
		if err != nil {
			return err
		}
		out.Data = append(out.Data, showFuse(d))
	}
	return c.Send(200, out)
}

// release lets a held kind go on.
func (a Fuses) release(ctx context.Context, c *httpapi.Call) error {
	today, err := a.Settings.Today(ctx, c.Org.ID, a.Clock.Now())
	if err != nil {
		return err
	}
	fuse, done, err := httpapi.ExecuteWithReason(ctx, c, a.Bus, commands.ErrNoFuse,
		func(fuse id.Fuse, reason string) commands.Command {
			return commands.ReleaseFuse{FuseID: fuse, Date: today, Reason: reason}
		})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), fuse, done)
}
