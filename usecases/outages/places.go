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
	HeardSince(
		ctx context.Context, org id.Organization, since map[id.Device]time.Time, now time.Time,
	) (map[id.Device]time.Time, error)
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
	cut     time.Duration      // how long before a time customers may have been cut off who are not back
	whole   events.RouterDowns // all times of the outage, of which those that are asked about are parts
	unheard bool               // leaves out those who were heard since: only the platform does not reach their router
}

// Devices are the routers of the place; nil for an area.
func (w Where) Devices() []id.Device { return w.devices }

// Find looks a place up: of a router also the routers that stand behind it. Fails: device_not_found, service_not_found.
func (p Places) Find(ctx context.Context, org id.Organization, place events.NetworkPlace) (Where, error) {
	switch {
	case !place.ServiceID.IsZero():
		service, _, err := bus.LoadOwned[network.Service](ctx, p.Bus, org, place.ServiceID)
		return Where{devices: []id.Device{service.Device}, servers: routerplan.ServerNames(place.ServiceID),
			cut: cutBefore}, err
	case !place.DeviceID.IsZero():
		if _, _, err := bus.LoadOwned[network.Device](ctx, p.Bus, org, place.DeviceID); err != nil {
			return Where{}, err
		}
		behind, err := p.behind(ctx, org, place.DeviceID)
		return Where{devices: behind, cut: cutBefore}, err
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

// during is one time at all routers of the place.
func (w Where) during(at events.TimeSpan) events.RouterDowns {
	return events.RouterDowns{}.Until(w.devices, at)
}

// served is the question for sessions at routers of the place in their times.
func (w Where) served(at events.RouterDowns) telemetry.ServedAt {
	out := telemetry.ServedAt{Servers: w.servers, Unheard: w.unheard}
	for _, d := range at {
		out.Times = append(out.Times, telemetry.TimeAt{
			Device: d.DeviceID, From: d.From, To: d.To, CutFrom: w.cutFrom(d),
		})
	}
	return out
}

// cutBefore is how long before a time that a person has named customers may have been cut off: the platform has not
// noticed when that was.
const cutBefore = 24 * time.Hour

// cutFrom is how early customers may have been cut off who had no service in a time of a router: when that went away
// first, because whoever has not been on since had none in its later times either.
func (w Where) cutFrom(at events.RouterDown) time.Time {
	from := at.WentAway()
	for _, d := range w.whole.Of(at.DeviceID) {
		if d.WentAway().Before(from) {
			from = d.WentAway()
		}
	}
	return from.Add(-max(w.cut, telemetry.CutWithin))
}

// pageOfSessions is how many sessions are read at a time.
const pageOfSessions = 1000

// Customers lists up to max customers of a place in the times of its routers, after one.
func (p Places) Customers(
	ctx context.Context, org id.Organization, w Where, at events.RouterDowns, after id.Subscriber, max int,
) ([]id.Subscriber, error) {
	if w.tag != "" {
		return p.Area.Tagged(ctx, org, w.tag, after, max)
	}
	var list []id.Subscriber
	for len(list) < max {
		rows, err := p.Sessions.Served(ctx, org, w.served(at), after, pageOfSessions)
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

// Count counts the customers of a place in the times of its routers.
func (p Places) Count(ctx context.Context, org id.Organization, w Where, at events.RouterDowns) (int, error) {
	if w.tag != "" {
		return p.Area.CountTagged(ctx, org, w.tag)
	}
	return p.Sessions.CountServed(ctx, org, w.served(at))
}

// Hit is a subscription of a place, with the longest time in which it had no service there. All of an area have a zero
// one.
type Hit struct {
	SubscriberID   id.Subscriber
	SubscriptionID id.Subscription
	At             events.TimeSpan
}

// Subscriptions lists the subscriptions of a place in the times of its routers, at most max and one more: those that
// had a session there, or all of an area.
func (p Places) Subscriptions(
	ctx context.Context, org id.Organization, w Where, at events.RouterDowns, max int,
) (list []Hit, err error) {
	if w.tag == "" {
		served, err := p.Sessions.Served(ctx, org, w.served(at), id.Subscriber{}, max+1)
		for _, s := range served {
			var times events.RouterDowns
			for _, i := range s.Times {
				times = append(times, at[i])
			}
			list = append(list, Hit{s.SubscriberID, s.SubscriptionID, times.Longest()})
		}
		return list, err
	}
	customers, err := p.Area.Tagged(ctx, org, w.tag, id.Subscriber{}, max+1)
	if err != nil {
		return nil, err
	}
	rows, err := p.Area.Of(ctx, org, customers)
	for _, r := range rows {
		list = append(list, Hit{SubscriberID: r.SubscriberID, SubscriptionID: r.SubscriptionID})
	}
	return list[:min(len(list), max+1)], err
}
