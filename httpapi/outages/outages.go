// Package outagesapi serves outages of the network, what customers get for them, and the public status page.
package outagesapi

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/usecases/outages"
)

// Outages serves /outages and /settings/outages (docs/rules/outages.md#life-of-an-outage).
type Outages struct {
	Bus     *bus.Bus
	Outages outagesviews.OutagesQuery
	Places  Places
	Told    messagingviews.MessagesQuery
	Cases   outagescases.Outages
	// Users gives the names of some users; one that is no member of the organization is left out.
	Users func(ctx context.Context, org id.Organization, users []id.User) (map[id.User]string, error)
	// Zone is where the days of an organization begin and end.
	Zone func(ctx context.Context, org id.Organization) (*time.Location, error)
}

// Routes lists the endpoints of outages.
func (a Outages) Routes() []httpapi.Route {
	on, admin, support := httpapi.OnOrganization, httpapi.AccessAdmin, httpapi.AccessSupport
	return []httpapi.Route{
		{
			Method: "GET", Path: "/outages", Hosts: on, Access: support, Summary: "List outages", Row: outageResponse{},
			Query: append([]httpapi.Param{
				{Name: "state", Type: "string", Enum: []string{"running", "ended"}, Doc: "all when absent"},
				{Name: "deviceId", Type: "uuid", Doc: "a router that was down in it"},
			}, httpapi.SpanParams("which it lasted")...),
			Handle: a.list,
		},
		{
			Method: "POST", Path: "/outages", Hosts: on, Access: admin, Summary: "Say that there is an outage",
			Request: outageRequest{}, Response: outageResponse{}, Status: 201, Handle: a.begin,
		},
		{
			Method: "GET", Path: "/outages/:id", Hosts: on, Access: support, Response: outageResponse{},
			Summary: "Read an outage, with the number of its customers", Handle: a.get,
		},
		{
			Method: "GET", Path: "/outages/:id/customers", Hosts: on, Access: support, Row: hitResponse{},
			Summary: "List the customers who had no service in an outage", Handle: a.customers,
		},
		{
			Method: "PATCH", Path: "/outages/:id", Hosts: on, Access: admin, Request: describeRequest{},
			Response: outageResponse{}, Summary: "Change what is written about an outage", Handle: a.describe,
		},
		{
			Method: "POST", Path: "/outages/:id/end", Hosts: on, Access: admin, Summary: "End an outage",
			Request: endRequest{}, Response: outageResponse{}, Handle: a.end,
		},
		{
			Method: "POST", Path: "/outages/:id/tell", Hosts: on, Access: admin, Response: outageResponse{},
			Summary: "Tell the customers of an outage that lasts", Handle: a.tell,
		},
		{
			Method: "GET", Path: "/settings/outages", Hosts: on, Access: support, Response: rulesShape{},
			Summary: "Read what is done about outages", Handle: a.rules,
		},
		{
			Method: "PUT", Path: "/settings/outages", Hosts: on, Access: admin, Request: rulesRequest{},
			Response: rulesShape{}, Summary: "Choose what is done about outages", Handle: a.adopt,
		},
	}
}

// outageRequest is the body of POST /outages. One of deviceId, serviceId and tag is required.
type outageRequest struct {
	DeviceID    *id.Device  `json:"deviceId,omitempty" doc:"a router; those behind it are down, too"`
	ServiceID   *id.Service `json:"serviceId,omitempty" doc:"a service on a router"`
	Tag         string      `json:"tag,omitempty" doc:"of customers: an area"`
	Title       string      `json:"title,omitempty" doc:"public"`
	Message     string      `json:"message,omitempty" doc:"public, for the status page"`
	StartedAt   *time.Time  `json:"startedAt,omitempty" doc:"now when absent"`
	ExpectedEnd *time.Time  `json:"expectedEnd,omitempty"`
	Tell        *bool       `json:"tell,omitempty" doc:"its customers are told at once; true when absent"`
}

// placeOf says where the outage is.
func placeOf(device *id.Device, service *id.Service, tag string) events.NetworkPlace {
	return events.NetworkPlace{DeviceID: null.Zero(device), ServiceID: null.Zero(service), Tag: tag}
}

// endRequest is the body of POST /outages/:id/end.
type endRequest struct {
	EndedAt *time.Time `json:"endedAt,omitempty" doc:"now when absent"`
}

// describeRequest is the body of PATCH /outages/:id: an absent field stays as it is.
type describeRequest struct {
	Title       *string    `json:"title,omitempty" doc:"public; empty or null = none"`
	Message     *string    `json:"message,omitempty" doc:"public, for the status page; empty or null = none"`
	ExpectedEnd *time.Time `json:"expectedEnd,omitempty" doc:"null = nobody knows"`
}

// outageResponse is an outage as it is shown.
type outageResponse struct {
	ID          id.Outage         `json:"id"`
	State       string            `json:"state" enum:"running,ended"`
	DeviceID    *id.Device        `json:"deviceId" doc:"the highest router that is down"`
	DeviceName  *string           `json:"deviceName"`
	ServiceID   *id.Service       `json:"serviceId"`
	Service     *placeOfService   `json:"service" doc:"where the service is; null: not of a service"`
	Tag         *string           `json:"tag"`
	Devices     []outageDevice    `json:"devices" doc:"all routers that were down in it"`
	Title       *string           `json:"title"`
	Message     *string           `json:"message"`
	Detected    bool              `json:"detected" doc:"the platform noticed it; else a person said so"`
	StartedAt   time.Time         `json:"startedAt"`
	ExpectedEnd *time.Time        `json:"expectedEnd"`
	EndedAt     *time.Time        `json:"endedAt"`
	TellAfter   *time.Time        `json:"tellAfter" doc:"when customers are told, if it lasts; null = not yet"`
	BegunBy     *httpapi.StaffRef `json:"begunBy"`
	MergedInto  *id.Outage        `json:"mergedInto" doc:"it goes on as a part of another one"`
	Customers   *int              `json:"customers" doc:"who had no service; null in lists of what is over"`
	Told        *toldShape        `json:"told" doc:"messages to customers; null in lists"`
}

// toldShape counts the messages about an outage.
type toldShape struct {
	Began toldCount `json:"began"`
	Over  toldCount `json:"over"`
}

// toldCount counts messages by what became of them.
type toldCount struct {
	Asked   int `json:"asked" doc:"all of them"`
	Sent    int `json:"sent"`
	Waiting int `json:"waiting" doc:"for the hours of messages, or on their way"`
	Failed  int `json:"failed"`
	Dropped int `json:"dropped" doc:"their moment was over"`
}

// add counts messages in a state.
func (t *toldCount) add(state string, n int) {
	t.Asked += n
	switch state {
	case "sent":
		t.Sent += n
	case "failed":
		t.Failed += n
	case "dropped":
		t.Dropped += n
	default:
		t.Waiting += n
	}
}

// outageDevice is a router that was down.
type outageDevice struct {
	ID   id.Device `json:"id"`
	Name *string   `json:"name"`
}

// hitResponse is a customer who had no service.
type hitResponse struct {
	SubscriberID id.Subscriber          `json:"subscriberId"`
	Subscriber   *httpapi.SubscriberRef `json:"subscriber"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *hitResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// detail is an outage with names.
type detail struct {
	outagesviews.OutageRow
	places names
	users  map[id.User]string
	count  *int
	told   *toldShape
}

// details adds the names of routers and staff.
func (a Outages) details(
	ctx context.Context, org id.Organization, rows []outagesviews.OutageRow,
) ([]detail, error) {
	var devices []id.Device
	var services []id.Service
	var users []id.User
	for _, r := range rows {
		devices = append(append(devices, r.Devices...), r.DeviceID)
		services, users = append(services, r.ServiceID), append(users, r.BegunBy)
	}
	places, err := a.Places.names(ctx, org, devices, services)
	if err != nil {
		return nil, err
	}
	staff, err := a.Users(ctx, org, known(users))
	if err != nil {
		return nil, err
	}
	list := make([]detail, 0, len(rows))
	for _, r := range rows {
		one := detail{OutageRow: r, places: places, users: staff}
		if r.EndedAt == nil {
			count, err := a.Cases.Count(ctx, r)
			if err != nil {
				return nil, err
			}
			one.count = &count
		}
		list = append(list, one)
	}
	return list, nil
}

// whole adds to one outage what lists leave out.
func (a Outages) whole(ctx context.Context, org id.Organization, row outagesviews.OutageRow) (*detail, error) {
	list, err := a.details(ctx, org, []outagesviews.OutageRow{row})
	if err != nil {
		return nil, err
	}
	one := &list[0]
	if one.count == nil {
		count, err := a.Cases.Count(ctx, row)
		if err != nil {
			return nil, err
		}
		one.count = &count
	}
	told, err := a.Told.Told(ctx, org, row.ID)
	if err != nil {
		return nil, err
	}
	one.told = &toldShape{}
	for _, m := range told {
		if m.Template == string(events.NoticeOutageOver) {
			one.told.Over.add(m.State, m.Count)
		} else {
			one.told.Began.add(m.State, m.Count)
		}
	}
	return one, nil
}

// known leaves out what is zero, since a statement takes no list with it.
func known[I interface{ IsZero() bool }](list []I) []I {
	return slices.DeleteFunc(list, I.IsZero)
}

// show writes null for what is not known.
func show(d detail) outageResponse {
	r := outageResponse{
		ID: d.ID, State: "running", DeviceID: null.Of(d.DeviceID), DeviceName: null.Of(d.places.devices[d.DeviceID]),
		ServiceID: null.Of(d.ServiceID), Service: d.places.service(d.ServiceID), Tag: null.Of(d.Tag),
		Devices: []outageDevice{}, Title: null.Of(d.Title),
		Message: null.Of(d.Message), Detected: d.Detected, StartedAt: d.StartedAt, ExpectedEnd: d.ExpectedEnd,
		EndedAt: d.EndedAt, TellAfter: d.TellAfter, BegunBy: staff(d.BegunBy, d.users),
		MergedInto: null.Of(d.MergedInto), Customers: d.count, Told: d.told,
	}
	if d.EndedAt != nil {
		r.State = "ended"
	}
	for _, device := range d.Devices {
		r.Devices = append(r.Devices, outageDevice{ID: device, Name: null.Of(d.places.devices[device])})
	}
	return r
}

// staff names a user; nil for nobody.
func staff(user id.User, names map[id.User]string) *httpapi.StaffRef {
	if user.IsZero() {
		return nil
	}
	return &httpapi.StaffRef{ID: user, Name: null.Of(names[user])}
}

// one describes how an outage is read and shown.
func (a Outages) one() httpapi.One[id.Outage, detail, outageResponse] {
	return httpapi.One[id.Outage, detail, outageResponse]{
		Model: outagesviews.OutagesName, Missing: commands.ErrNoOutage, Show: show,
		Revision: func(d detail) int64 { return d.OutageRow.Revision },
		Read: func(ctx context.Context, org id.Organization, outage id.Outage) (*detail, error) {
			row, err := a.Outages.Get(ctx, org, outage)
			if err != nil || row == nil {
				return nil, err
			}
			return a.whole(ctx, org, *row)
		},
	}
}

// list answers with a page of outages: those that last first.
func (a Outages) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	state := f.OneOf("state", "running", "ended")
	filter := outagesviews.OutageFilter{Device: httpapi.FilterID[id.Device](f, "deviceId")}
	var err error
	filter.Since, filter.Until, err = f.Span(func() (*time.Location, error) { return a.Zone(ctx, c.Org.ID) })
	if err = cmp.Or(err, f.Err()); err != nil {
		return err
	}
	if state != "" {
		filter.Lasting = new(state == "running")
	}
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after outagesviews.OutageKey, max int,
	) ([]detail, error) {
		rows, err := a.Outages.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		return a.details(ctx, c.Org.ID, rows)
	})
}

// get answers with one outage.
func (a Outages) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// begin records what a person knows.
func (a Outages) begin(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[outageRequest](c)
	if err != nil {
		return err
	}
	outage, done, err := a.Cases.Begin(ctx, c.Asked(), outagescases.BeginInput{
		Place: placeOf(in.DeviceID, in.ServiceID, in.Tag), Title: in.Title, Message: in.Message,
		StartedAt: null.Zero(in.StartedAt), ExpectedEnd: null.Zero(in.ExpectedEnd), Untold: !null.Or(in.Tell, true),
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, a.one(), outage, done)
}

// describe changes what everybody can read about an outage.
func (a Outages) describe(ctx context.Context, c *httpapi.Call) error {
	outage, err := httpapi.PathID[id.Outage](c, "id", commands.ErrNoOutage)
	if err != nil {
		return err
	}
	if _, err := a.one().Find(ctx, c, outage); err != nil {
		return err
	}
	in, err := httpapi.Decode[describeRequest](c)
	if err != nil {
		return err
	}
	nulls := c.Nulls()
	done, err := a.Cases.Describe(ctx, c.Asked(), outage, outagescases.Description{
		Title: httpapi.Emptied(in.Title, nulls["title"]), Message: httpapi.Emptied(in.Message, nulls["message"]),
		ExpectedEnd: httpapi.Emptied(in.ExpectedEnd, nulls["expectedEnd"]),
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), outage, done)
}

// end records what a person knows; customers who were told hear of it.
func (a Outages) end(ctx context.Context, c *httpapi.Call) error {
	outage, err := httpapi.PathID[id.Outage](c, "id", commands.ErrNoOutage)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[endRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.End(ctx, c.Asked(), outage, null.Zero(in.EndedAt))
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), outage, done)
}

// tell has customers told who were not; a repeat tells nobody twice.
func (a Outages) tell(ctx context.Context, c *httpapi.Call) error {
	outage, err := httpapi.PathID[id.Outage](c, "id", commands.ErrNoOutage)
	if err != nil {
		return err
	}
	done, err := a.Cases.Announce(ctx, c.Asked(), outage)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), outage, done)
}

// hitKey is a customer's place in the list.
type hitKey struct {
	ID id.Subscriber `json:"i"`
}

// hitRow is a customer in the list.
type hitRow struct{ id.Subscriber }

// Key makes the next page begin after this row.
func (r hitRow) Key() hitKey { return hitKey{ID: r.Subscriber} }

// customers answers with a page of the customers of an outage.
func (a Outages) customers(ctx context.Context, c *httpapi.Call) error {
	outage, err := httpapi.PathID[id.Outage](c, "id", commands.ErrNoOutage)
	if err != nil {
		return err
	}
	row, err := a.Outages.Get(ctx, c.Org.ID, outage)
	if err != nil {
		return err
	}
	if row == nil {
		return commands.ErrNoOutage()
	}
	return httpapi.SendList(ctx, c, func(r hitRow) hitResponse { return hitResponse{SubscriberID: r.Subscriber} },
		func(ctx context.Context, after hitKey, max int) ([]hitRow, error) {
			list, err := a.Cases.Hit(ctx, *row, after.ID, max)
			rows := make([]hitRow, 0, len(list))
			for _, subscriber := range list {
				rows = append(rows, hitRow{subscriber})
			}
			return rows, err
		})
}
