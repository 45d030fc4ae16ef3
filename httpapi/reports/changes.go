package reportsapi

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/reports"
)

// sorted gives the keys of a map in their order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// Changes serves /reports/changes.
type Changes struct {
	Changes reportsviews.ChangesQuery
	Devices networkviews.DevicesQuery
	// Zone is where the days of an organization begin and end.
	Zone func(context.Context, id.Organization) (*time.Location, error)
}

// changeResponse is something that changed. Ids that it has nothing to do with are null.
type changeResponse struct {
	At             time.Time              `json:"at"`
	Kind           changeKind             `json:"kind"`
	SubscriberID   *id.Subscriber         `json:"subscriberId"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber" doc:"null: about no customer, or not known yet"`
	SubscriptionID *id.Subscription       `json:"subscriptionId"`
	PaymentID      *id.Payment            `json:"paymentId"`
	MessageID      *id.Message            `json:"messageId"`
	DeviceID       *id.Device             `json:"deviceId"`
	DeviceName     *string                `json:"deviceName" doc:"of the router; null: none, or not known"`
	ServiceID      *id.Service            `json:"serviceId"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *changeResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// changeKind is a kind in answers.
type changeKind string

// Texts implements httpapi.Enumerated.
func (changeKind) Texts() []string { return kinds }

// Routes lists the endpoint.
func (a Changes) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/reports/changes", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Summary: "What changed for customers, and for an admin on the network, newest first", Row: changeResponse{},
		Query: append([]httpapi.Param{
			{Name: "kind", Type: "string", Enum: kinds, Doc: "all that the caller may read when absent"},
		}, httpapi.SpanParams("happened")...), Handle: a.list,
	}}
}

// kinds are the values of the filter.
var kinds = slices.Concat(reportsviews.CustomerKinds, reportsviews.NetworkKinds)

// list answers with a page of changes. What happens on the network is an admin's. Fails: role_required.
func (a Changes) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	kind := f.OneOf("kind", kinds...)
	from, to, err := f.Span(func() (*time.Location, error) { return a.Zone(ctx, c.Org.ID) })
	if err = cmp.Or(err, f.Err()); err != nil {
		return err
	}
	filter := reportsviews.ChangeFilter{Kinds: kinds, From: from, To: to}
	admin := c.Caller.Role.AtLeast(events.RoleAdmin)
	switch {
	case !admin && slices.Contains(reportsviews.NetworkKinds, kind):
		return httpapi.ErrRoleRequired(events.RoleAdmin)
	case kind != "":
		filter.Kinds = []string{kind}
	case !admin:
		filter.Kinds = reportsviews.CustomerKinds
	}
	var names map[id.Device]string // of the routers of the page; set when it is read
	show := func(r reportsviews.ChangeRow) changeResponse { return showChange(r, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after reportsviews.ChangeKey, max int,
	) ([]reportsviews.ChangeRow, error) {
		rows, err := a.Changes.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		var devices []id.Device
		for _, r := range rows {
			if r.DeviceID != nil {
				devices = append(devices, *r.DeviceID)
			}
		}
		if len(devices) > 0 {
			names, err = a.Devices.Names(ctx, c.Org.ID, devices)
		}
		return rows, err
	})
}

// showChange leaves out the position, which is the log's own.
func showChange(r reportsviews.ChangeRow, names map[id.Device]string) changeResponse {
	return changeResponse{
		At: r.At.UTC(), Kind: changeKind(r.Kind), SubscriberID: r.SubscriberID, SubscriptionID: r.SubscriptionID,
		PaymentID: r.PaymentID, MessageID: r.MessageID, DeviceID: r.DeviceID, ServiceID: r.ServiceID,
		DeviceName: null.Of(names[null.Zero(r.DeviceID)]),
	}
}
