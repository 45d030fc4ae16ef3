package outagesapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/outages"
)

// Compensations serves /compensations (docs/rules/outages.md#compensation).
type Compensations struct {
	Compensations outagesviews.CompensationsQuery
	Places        Places
	Cases         outagescases.Compensations
	// Users gives the names of some users; one that is no member of the organization is left out.
	Users func(ctx context.Context, org id.Organization, users []id.User) (map[id.User]string, error)
	// Zone is where the days of an organization begin and end.
	Zone func(ctx context.Context, org id.Organization) (*time.Location, error)
}

// compensationStates are the values of the filter state.
var compensationStates = []string{
	outagesviews.CompensationPreviewed, outagesviews.CompensationApplying, outagesviews.CompensationFinished,
}

// Routes lists the endpoints of compensations.
func (a Compensations) Routes() []httpapi.Route {
	on, admin, support := httpapi.OnOrganization, httpapi.AccessAdmin, httpapi.AccessSupport
	return []httpapi.Route{
		{
			Method: "GET", Path: "/compensations", Hosts: on, Access: support, Summary: "List compensations",
			Row: compensationResponse{}, Handle: a.list,
			Query: append([]httpapi.Param{
				{Name: "outageId", Type: "uuid"}, {Name: "state", Type: "string", Enum: compensationStates},
				{Name: "failed", Type: "boolean", Doc: "whether some got nothing although the preview said otherwise"},
			}, httpapi.SpanParams("previewed")...),
		},
		{
			Method: "POST", Path: "/compensations", Hosts: on, Access: admin, Request: compensationRequest{},
			Response: compensationResponse{}, Status: 201, Handle: a.preview,
			Summary: "Preview what customers would get for a time without service; nothing is given yet",
		},
		{
			Method: "GET", Path: "/compensations/:id", Hosts: on, Access: support, Response: compensationResponse{},
			Summary: "Read a compensation and how far it is", Handle: a.get,
		},
		{
			Method: "GET", Path: "/compensations/:id/items", Hosts: on, Access: support, Row: itemResponse{},
			Summary: "List the subscriptions of a compensation", Handle: a.items,
			Query: []httpapi.Param{{Name: "gets", Type: "boolean", Doc: "whether it gets something; all when absent"}},
		},
		{
			Method: "POST", Path: "/compensations/:id/apply", Hosts: on, Access: admin,
			Response: compensationResponse{}, Status: 202, Handle: a.apply,
			Summary: "Give what was previewed, once",
		},
	}
}

// giveRequest takes one of {"days": 2}, {"money": 200} and "proportional".
type giveRequest struct {
	Days         int             `json:"days,omitempty" doc:"to the paid time, or their share of the invoice"`
	Money        *httpapi.Amount `json:"money,omitempty" doc:"a credit note of this amount"`
	Proportional bool            `json:"proportional,omitempty" doc:"a day for each 24 hours; or the text"`
}

// errGive is shown to the client behind the field's name.
var errGive = errors.New(`must be {"days": n}, {"money": amount} or "proportional"`)

// UnmarshalJSON takes the text "proportional", too.
func (g *giveRequest) UnmarshalJSON(raw []byte) error {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if word != "proportional" {
			return errGive
		}
		g.Proportional = true
		return nil
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &fields) != nil {
		return errGive
	}
	for name, value := range fields {
		var err error
		switch name {
		case "days":
			err = json.Unmarshal(value, &g.Days)
		case "money":
			g.Money = &httpapi.Amount{}
			err = g.Money.UnmarshalJSON(value)
		case "proportional":
			err = json.Unmarshal(value, &g.Proportional)
		default:
			err = errGive
		}
		if err != nil {
			return errGive
		}
	}
	return nil
}

// input has the gift in the form of the use case.
func (g giveRequest) input() outagescases.GiveInput {
	in := outagescases.GiveInput{Days: g.Days, Proportional: g.Proportional}
	if g.Money != nil {
		in.Money = new(usecases.Figure)
		*in.Money = g.Money.Figure()
	}
	return in
}

// compensationRequest is the body of POST /compensations. One of deviceId, serviceId, tag and outageId is required;
// with an outage its own time is taken where from and to are absent.
type compensationRequest struct {
	DeviceID  *id.Device  `json:"deviceId,omitempty"`
	ServiceID *id.Service `json:"serviceId,omitempty"`
	Tag       string      `json:"tag,omitempty"`
	OutageID  *id.Outage  `json:"outageId,omitempty"`
	From      *time.Time  `json:"from,omitempty"`
	To        *time.Time  `json:"to,omitempty"`
	Give      giveRequest `json:"give"`
	Reason    string      `json:"reason" doc:"for the organization; it must not name a person"`
}

// giveShape has one field that is set; the others are null or false.
type giveShape struct {
	Days         *int            `json:"days"`
	Money        *httpapi.Number `json:"money"`
	Proportional bool            `json:"proportional"`
}

// compensationResponse is a compensation as it is shown.
type compensationResponse struct {
	ID            id.Compensation   `json:"id"`
	State         string            `json:"state" enum:"previewed,applying,finished"`
	DeviceID      *id.Device        `json:"deviceId"`
	DeviceName    *string           `json:"deviceName"`
	ServiceID     *id.Service       `json:"serviceId"`
	Service       *placeOfService   `json:"service" doc:"where the service is; null: not of a service"`
	Tag           *string           `json:"tag"`
	OutageID      *id.Outage        `json:"outageId"`
	From          time.Time         `json:"from"`
	To            time.Time         `json:"to"`
	Give          giveShape         `json:"give"`
	Reason        string            `json:"reason"`
	Subscriptions int               `json:"subscriptions" doc:"of the preview, with those that get nothing"`
	Customers     int               `json:"customers" doc:"who get something"`
	Days          int               `json:"days" doc:"of all together"`
	Amount        httpapi.Number    `json:"amount" doc:"of all together"`
	Currency      *money.Currency   `json:"currency"`
	Given         int               `json:"given" doc:"subscriptions that have it"`
	Refused       int               `json:"refused" doc:"subscriptions that got nothing"`
	Failed        int               `json:"failed" doc:"of refused: those to which the preview promised something"`
	PreviewedAt   time.Time         `json:"previewedAt"`
	PreviewedBy   *httpapi.StaffRef `json:"previewedBy"`
	AppliedAt     *time.Time        `json:"appliedAt"`
	AppliedBy     *httpapi.StaffRef `json:"appliedBy"`
	FinishedAt    *time.Time        `json:"finishedAt"`
}

// itemResponse is one subscription of a compensation.
type itemResponse struct {
	SubscriptionID id.Subscription        `json:"subscriptionId"`
	SubscriberID   id.Subscriber          `json:"subscriberId"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber"`
	Days           int                    `json:"days"`
	Amount         *httpapi.Number        `json:"amount"`
	Currency       *money.Currency        `json:"currency"`
	Code           *string                `json:"code" doc:"why it gets nothing, as in docs/errors.md"`
	Given          bool                   `json:"given"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *itemResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// compensationDetail is a compensation with names.
type compensationDetail struct {
	outagesviews.CompensationRow
	places names
	users  map[id.User]string
}

// details adds the names of routers and staff.
func (a Compensations) details(
	ctx context.Context, org id.Organization, rows []outagesviews.CompensationRow,
) ([]compensationDetail, error) {
	var devices []id.Device
	var services []id.Service
	var users []id.User
	for _, r := range rows {
		devices, services = append(devices, r.DeviceID), append(services, r.ServiceID)
		users = append(users, r.PreviewedBy, r.AppliedBy)
	}
	places, err := a.Places.names(ctx, org, devices, services)
	if err != nil {
		return nil, err
	}
	people, err := a.Users(ctx, org, known(users))
	list := make([]compensationDetail, 0, len(rows))
	for _, r := range rows {
		list = append(list, compensationDetail{CompensationRow: r, places: places, users: people})
	}
	return list, err
}

// showGive writes the amount in major units.
func showGive(g events.CompensationGive) giveShape {
	out := giveShape{Days: null.Of(g.Days), Proportional: g.Proportional}
	if !g.Money.IsZero() {
		out.Money = new(httpapi.Number)
		*out.Money = g.Money.Number()
	}
	return out
}

// showCompensation writes null for what is not known.
func showCompensation(d compensationDetail) compensationResponse {
	r := compensationResponse{
		ID: d.ID, State: outagesviews.CompensationPreviewed, DeviceID: null.Of(d.DeviceID),
		DeviceName: null.Of(d.places.devices[d.DeviceID]), ServiceID: null.Of(d.ServiceID),
		Service: d.places.service(d.ServiceID), Tag: null.Of(d.Tag), OutageID: null.Of(d.OutageID), From: d.From,
		To: d.To, Give: showGive(d.Give),
		Reason: d.Reason, Subscriptions: d.Subscriptions, Customers: d.Customers, Days: d.Days,
		Amount: money.Of(d.AmountMinor, d.Currency).Number(), Currency: null.Of(d.Currency), Given: d.Given,
		Refused: d.Refused, Failed: d.Failed, PreviewedAt: d.PreviewedAt, PreviewedBy: staff(d.PreviewedBy, d.users),
		AppliedAt: d.AppliedAt, AppliedBy: staff(d.AppliedBy, d.users), FinishedAt: d.FinishedAt,
	}
	switch {
	case d.FinishedAt != nil:
		r.State = outagesviews.CompensationFinished
	case d.AppliedAt != nil:
		r.State = outagesviews.CompensationApplying
	}
	return r
}

// showItem writes null for what it does not get.
func showItem(r outagesviews.ItemRow) itemResponse {
	out := itemResponse{
		SubscriptionID: r.SubscriptionID, SubscriberID: r.SubscriberID, Days: r.Days, Code: null.Of(r.Code),
		Given: r.Given,
	}
	if r.AmountMinor != 0 {
		amount := money.Of(r.AmountMinor, r.Currency)
		out.Amount, out.Currency = new(httpapi.Number), &r.Currency
		*out.Amount = amount.Number()
	}
	return out
}

// one describes how a compensation is read and shown.
func (a Compensations) one() httpapi.One[id.Compensation, compensationDetail, compensationResponse] {
	return httpapi.One[id.Compensation, compensationDetail, compensationResponse]{
		Model: outagesviews.CompensationsName, Missing: commands.ErrNoCompensation, Show: showCompensation,
		Revision: func(d compensationDetail) int64 { return d.CompensationRow.Revision },
		Read: func(ctx context.Context, org id.Organization, of id.Compensation) (*compensationDetail, error) {
			row, err := a.Compensations.Get(ctx, org, of)
			if err != nil || row == nil {
				return nil, err
			}
			list, err := a.details(ctx, org, []outagesviews.CompensationRow{*row})
			if err != nil {
				return nil, err
			}
			return &list[0], nil
		},
	}
}

// list answers with a page of compensations, newest first.
func (a Compensations) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := outagesviews.CompensationFilter{
		Outage: httpapi.FilterID[id.Outage](f, "outageId"), State: f.OneOf("state", compensationStates...),
		Failed: f.Bool("failed"),
	}
	var err error
	filter.From, filter.To, err = f.Span(func() (*time.Location, error) { return a.Zone(ctx, c.Org.ID) })
	if err = cmp.Or(err, f.Err()); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showCompensation, func(
		ctx context.Context, after outagesviews.CompensationKey, max int,
	) ([]compensationDetail, error) {
		rows, err := a.Compensations.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		return a.details(ctx, c.Org.ID, rows)
	})
}

// preview records a preview.
func (a Compensations) preview(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[compensationRequest](c)
	if err != nil {
		return err
	}
	compensation, done, err := a.Cases.Preview(ctx, c.Asked(), outagescases.PreviewInput{
		Place: placeOf(in.DeviceID, in.ServiceID, in.Tag), OutageID: null.Zero(in.OutageID),
		From: null.Zero(in.From), To: null.Zero(in.To), Give: in.Give.input(), Reason: in.Reason,
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, a.one(), compensation, done)
}

// get answers with one compensation.
func (a Compensations) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// items answers with a page of its subscriptions.
func (a Compensations) items(ctx context.Context, c *httpapi.Call) error {
	compensation, err := httpapi.PathID[id.Compensation](c, "id", commands.ErrNoCompensation)
	if err != nil {
		return err
	}
	if _, err := a.one().Find(ctx, c, compensation); err != nil {
		return err
	}
	f := c.Filters()
	gets := f.Bool("gets")
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showItem, func(
		ctx context.Context, after outagesviews.ItemKey, max int,
	) ([]outagesviews.ItemRow, error) {
		page := outagesviews.ItemPage{After: after, Max: max}
		return a.Compensations.Items(ctx, c.Org.ID, compensation, gets, page)
	})
}

// apply begins to give, and answers before the end.
func (a Compensations) apply(ctx context.Context, c *httpapi.Call) error {
	compensation, err := httpapi.PathID[id.Compensation](c, "id", commands.ErrNoCompensation)
	if err != nil {
		return err
	}
	done, err := a.Cases.Apply(ctx, c.Asked(), compensation)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 202, a.one(), compensation, done)
}
