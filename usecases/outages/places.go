// Package outagescases has the use cases about outages of the network and about what customers get for them.
package outagescases

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Sessions tells who was served where. Implementations are safe for concurrent use.
type Sessions interface {
	Served(
		ctx context.Context, org id.Organization, at telemetry.ServedAt, after id.Subscriber, max int,
	) ([]telemetry.Served, error)
	CountServed(ctx context.Context, org id.Organization, at telemetry.ServedAt) (int, error)
}

// Places finds the customers of a place of the network: by their sessions at a router or a service, or by their tag.
// All fields are required. Safe for concurrent use.
type Places struct {
	Bus      *bus.Bus
	Sessions Sessions
	Area     subscribersviews.AreaQuery
}

// Where is a place with its routers, and the names of the servers of a service.
type Where struct {
	tag     string
	devices []id.Device
	servers []string
}

// Devices are the routers of the place; nil for an area.
func (w Where) Devices() []id.Device { return w.devices }

// Find looks a place up: of a router also the routers that stand behind it. Fails: device_not_found, service_not_found.
func (p Places) Find(ctx context.Context, org id.Organization, place events.NetworkPlace) (Where, error) {
	switch {
	case !place.ServiceID.IsZero():
		service, _, err := bus.LoadOwned[network.Service](ctx, p.Bus, org, place.ServiceID)
		return Where{devices: []id.Device{service.Device}, servers: routerplan.ServerNames(place.ServiceID)}, err
	case !place.DeviceID.IsZero():
		if _, _, err := bus.LoadOwned[network.Device](ctx, p.Bus, org, place.DeviceID); err != nil {
			return Where{}, err
		}
		behind, err := p.behind(ctx, org, place.DeviceID)
		return Where{devices: behind}, err
	}
	return Where{tag: place.Tag}, nil
}

// behind lists a router and all that stand behind it.
func (p Places) behind(ctx context.Context, org id.Organization, device id.Device) ([]id.Device, error) {
	topology, _, err := bus.LoadUnchecked[network.Topology](ctx, p.Bus, org) // the id is the organization's own
	if err != nil {
		return nil, err
	}
	list := []id.Device{device}
	for d := range topology.Upstreams {
		if d != device && topology.Leads(d, device) {
			list = append(list, d)
		}
	}
	slices.SortFunc(list[1:], func(a, b id.Device) int { return strings.Compare(a.String(), b.String()) })
	return list, nil
}

// served is the question for sessions.
func (w Where) served(from, to time.Time) telemetry.ServedAt {
	return telemetry.ServedAt{Devices: w.devices, Servers: w.servers, From: from, To: to}
}

// pageOfSessions is how many sessions are read at a time.
const pageOfSessions = 1000

// Customers lists up to max customers of a place in a time, after one.
func (p Places) Customers(
	ctx context.Context, org id.Organization, w Where, at events.TimeSpan, after id.Subscriber, max int,
) ([]id.Subscriber, error) {
	if w.tag != "" {
		return p.Area.Tagged(ctx, org, w.tag, after, max)
	}
	var list []id.Subscriber
	for len(list) < max {
		rows, err := p.Sessions.Served(ctx, org, w.served(at.From, at.To), after, pageOfSessions)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if len(list) == 0 || list[len(list)-1] != r.SubscriberID {
				list = append(list, r.SubscriberID)
			}
		}
		if len(rows) < pageOfSessions {
			break
		}
		after = list[len(list)-1]
	}
	return list[:min(len(list), max)], nil
}

// Count counts the customers of a place in a time.
func (p Places) Count(ctx context.Context, org id.Organization, w Where, at events.TimeSpan) (int, error) {
	if w.tag != "" {
		return p.Area.CountTagged(ctx, org, w.tag)
	}
	return p.Sessions.CountServed(ctx, org, w.served(at.From, at.To))
}

// Subscriptions lists the subscriptions of a place in a time, at most max and one more: those that had a session there,
// or all of an area.
func (p Places) Subscriptions(
	ctx context.Context, org id.Organization, w Where, at events.TimeSpan, max int,
) ([]telemetry.Served, error) {
	if w.tag == "" {
		return p.Sessions.Served(ctx, org, w.served(at.From, at.To), id.Subscriber{}, max+1)
	}
	customers, err := p.Area.Tagged(ctx, org, w.tag, id.Subscriber{}, max+1)
	if err != nil {
		return nil, err
	}
	rows, err := p.Area.Of(ctx, org, customers)
	var list []telemetry.Served
	for _, r := range rows {
		list = append(list, telemetry.Served{SubscriberID: r.SubscriberID, SubscriptionID: r.SubscriptionID})
	}
	return list[:min(len(list), max+1)], err
}
