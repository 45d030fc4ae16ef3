package accessapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// repairPatience is how long a request waits for a router, which is read whole and then written to.
const repairPatience = 25 * time.Second

// Differences serves /access-differences.
type Differences struct {
	// Open gives up to max open differences of an organization after a key, the newest first.
	Open func(
		ctx context.Context, org id.Organization, f accessviews.DifferenceFilter, after accessviews.DifferenceKey,
		max int,
	) ([]accessviews.DifferenceRow, error)
	// Repair ends a difference and says what was done: "done", "gone" or "waiting", and a sentence. Fails:
	// difference_not_found, repair_by_hand, access_events_unreadable, access_directory_behind, access_reports_waiting,
	// device_unreachable, router_not_readable, repair_refused.
	Repair func(ctx context.Context, difference id.Difference, meta commands.Meta) (outcome, message string, err error)
	// Audit asks for a look at one router of an organization, or at all of them for a zero id, and gives them, and when
	// the last look begins. Fails: device_not_found.
	Audit func(ctx context.Context, org id.Organization, device id.Device) ([]id.Device, time.Time, error)
	// Looks gives the latest looks at the routers of an organization.
	Looks func(ctx context.Context, org id.Organization) (map[id.Device]telemetry.Look, error)
	// Missing gives the instant from which on reports of routers are lost, as long as nobody has their disk; zero =
	// none are (docs/rules/access-auditor.md#programs-that-are-gone).
	Missing func(ctx context.Context) (time.Time, error)
	// Devices gives up to max routers of an organization after a key, the newest first.
	Devices func(
		ctx context.Context, org id.Organization, after networkviews.DeviceKey, max int,
	) ([]networkviews.DeviceRow, error)
	Names deviceNames
}

// differenceKinds are the values that the filter kind accepts.
var differenceKinds = events.AccessDifferenceKind("").Texts()

// Routes lists the endpoints of the auditor.
func (a Differences) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/access-differences", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "What routers show and customers are not entitled to, and the other way round, newest first",
			Row:     differenceResponse{}, Handle: a.list,
			Query: []httpapi.Param{
				{Name: "deviceId", Type: "uuid", Doc: "the router"}, {Name: "subscriberId", Type: "uuid"},
				{Name: "kind", Type: "string", Enum: differenceKinds},
			},
		},
		{
			Method: "POST", Path: "/access-differences/:id/repair", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "End a difference; pressing twice does nothing twice",
			Response: repairResponse{}, Handle: a.repair,
		},
		{
			Method: "GET", Path: "/access-audits", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "When the auditor saw each router last, newest router first", Row: lookResponse{}, Handle: a.looks,
		},
		{
			Method: "POST", Path: "/access-audits", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Status: 202, Summary: "Have the auditor look at routers now",
			Request: auditRequest{}, Response: auditResponse{}, Handle: a.audit,
		},
	}
}

// differenceResponse is one open difference (docs/rules/access-auditor.md#kinds).
type differenceResponse struct {
	ID             id.Difference               `json:"id"`
	Kind           events.AccessDifferenceKind `json:"kind"`
	SubscriberID   *id.Subscriber              `json:"subscriberId" doc:"null: not known, or a voucher"`
	Subscriber     *httpapi.SubscriberRef      `json:"subscriber" doc:"null: nobody, or not known yet"`
	SubscriptionID *id.Subscription            `json:"subscriptionId" doc:"null likewise"`
	DeviceID       id.Device                   `json:"deviceId"`
	DeviceName     *string                     `json:"deviceName" doc:"of the router; null: not known"`
	Since          time.Time                   `json:"since"`
	Expected       string                      `json:"expected"`
	Actual         string                      `json:"actual"`
	LookedAt       *time.Time                  `json:"lookedAt" doc:"when its router was seen last"`
	UnseenSince    *time.Time                  `json:"unseenSince" doc:"null: the latest look saw the router"`
	MissingSince   *time.Time                  `json:"reportsMissingSince" doc:"reports since then are lost"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *differenceResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// repairResponse says what came of a repair.
type repairResponse struct {
	Outcome string `json:"outcome" enum:"done,gone,waiting"`
	Message string `json:"message"`
}

// auditRequest is the body of POST /access-audits.
type auditRequest struct {
	DeviceID id.Device `json:"deviceId,omitzero" doc:"all routers without it"`
}

// auditResponse has the routers that are looked at; GET /access-audits shows when they were seen.
type auditResponse struct {
	Routers      int         `json:"routers"`
	DeviceIDs    []id.Device `json:"deviceIds"`
	LastBeginsAt time.Time   `json:"lastBeginsAt" doc:"when the look at the last of them begins"`
}

// lookResponse is the latest look at one router.
type lookResponse struct {
	DeviceID     id.Device  `json:"deviceId"`
	DeviceName   string     `json:"deviceName"`
	TriedAt      *time.Time `json:"triedAt" doc:"when it was looked at last, whether that compared or not; null: never"`
	LookedAt     *time.Time `json:"lookedAt" doc:"when it was compared last; null: never"`
	UnseenSince  *time.Time `json:"unseenSince" doc:"null: the latest look compared"`
	MissingSince *time.Time `json:"reportsMissingSince" doc:"of any router, reports of since then are lost; null: none"`

	Why *string `json:"why" enum:"router_unreachable,router_refuses,reports_waiting,directory_behind,events_unreadable"`
}

// list answers with a page of open differences.
func (a Differences) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := accessviews.DifferenceFilter{
		Device:     httpapi.FilterID[id.Device](f, "deviceId"),
		Subscriber: httpapi.FilterID[id.Subscriber](f, "subscriberId"), Kind: f.OneOf("kind", differenceKinds...),
	}
	if err := f.Err(); err != nil {
		return err
	}
	looks, err := a.Looks(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	missing, err := a.Missing(ctx)
	if err != nil {
		return err
	}
	var names namedDevices // set when the page is read
	show := func(r accessviews.DifferenceRow) differenceResponse {
		out := showDifference(r, looks[r.DeviceID], missing)
		out.DeviceName = names.name(r.DeviceID)
		return out
	}
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after accessviews.DifferenceKey, max int,
	) ([]accessviews.DifferenceRow, error) {
		list, err := a.Open(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		names, err = a.Names.of(ctx, c.Org.ID, len(list), func(i int) id.Device { return list[i].DeviceID })
		return list, err
	})
}

// showDifference writes times in UTC, and null for what is not known. The name of the router is left out.
func showDifference(r accessviews.DifferenceRow, look telemetry.Look, missing time.Time) differenceResponse {
	return differenceResponse{
		ID: r.ID, Kind: r.Kind, SubscriberID: null.Of(r.SubscriberID),
		SubscriptionID: null.Of(r.SubscriptionID), DeviceID: r.DeviceID, Since: r.Since.UTC(), Expected: r.Expected,
		Actual: r.Actual, LookedAt: inUTC(look.LookedAt), UnseenSince: inUTC(look.UnseenSince),
		MissingSince: null.Time(missing.UTC()),
	}
}

// inUTC is an instant in UTC; nil stays nil.
func inUTC(at *time.Time) *time.Time { return null.Time(null.Zero(at).UTC()) }

// looks answers with a page of routers.
func (a Differences) looks(ctx context.Context, c *httpapi.Call) error {
	looks, err := a.Looks(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	missing, err := a.Missing(ctx)
	if err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, func(r networkviews.DeviceRow) lookResponse {
		look := looks[r.ID]
		return lookResponse{
			DeviceID: r.ID, DeviceName: r.Details.Name, TriedAt: null.Time(look.TriedAt.UTC()),
			LookedAt: inUTC(look.LookedAt), UnseenSince: inUTC(look.UnseenSince), Why: null.Of(look.Why),
			MissingSince: null.Time(missing.UTC()),
		}
	}, func(ctx context.Context, after networkviews.DeviceKey, max int) ([]networkviews.DeviceRow, error) {
		return a.Devices(ctx, c.Org.ID, after, max)
	})
}

// repair ends a difference and waits for the router.
func (a Differences) repair(ctx context.Context, c *httpapi.Call) error {
	difference, err := httpapi.PathID[id.Difference](c, "id", commands.ErrNoDifference)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, repairPatience)
	defer cancel()
	outcome, message, err := a.Repair(ctx, difference, c.Asked().Meta)
	if err != nil {
		return err
	}
	return c.Send(200, repairResponse{Outcome: outcome, Message: message})
}

// audit asks for a look, which ends some seconds later.
func (a Differences) audit(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[auditRequest](c)
	if err != nil {
		return err
	}
	routers, last, err := a.Audit(ctx, c.Org.ID, in.DeviceID)
	if err != nil {
		return err
	}
	return c.Send(202, auditResponse{Routers: len(routers), DeviceIDs: routers, LastBeginsAt: last.UTC()})
}
