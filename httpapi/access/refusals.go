package accessapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// Refusals serves /nas/devices/:id/refusals.
type Refusals struct {
	Store   *telemetry.Store
	Devices networkviews.DevicesQuery
	Clock   clock.Clock
}

// Routes lists the endpoint.
func (a Refusals) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/nas/devices/:id/refusals", Hosts: httpapi.OnOrganization,
		Access: httpapi.AccessSupport, Response: httpapi.ListOf[refusalResponse]{}, Handle: a.get,
		Summary: "Sign-ins at a router that were refused or dropped and named no customer, or led to no session",
	}, {
		Method: "GET", Path: "/nas/devices/:id/refused-sign-ins", Hosts: httpapi.OnOrganization,
		Access: httpapi.AccessSupport, Response: refusedSignIns{}, Handle: a.signIns,
		Summary: "Refused sign-ins at a router as it sent them: who tried, from which device and port",
	}}
}

// refusedSignIns are up to a hundred, the latest first.
type refusedSignIns httpapi.ListOf[refusedSignIn]

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *refusedSignIns) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	for i := range r.Data {
		r.Data[i].Subscriber = name(null.Zero(r.Data[i].SubscriberID))
	}
}

// refusedSignIn counts refused sign-ins of one username from one device, for one reason.
type refusedSignIn struct {
	Username       string                 `json:"username" doc:"as it was typed"`
	SubscriberID   *id.Subscriber         `json:"subscriberId" doc:"null: nobody of the organization has the username"`
	Subscriber     *httpapi.SubscriberRef `json:"subscriber" doc:"null likewise"`
	SubscriptionID *id.Subscription       `json:"subscriptionId" doc:"null likewise"`
	MACAddress     *string                `json:"macAddress" doc:"or the calling station; null: not sent"`
	Port           *string                `json:"port" doc:"NAS-Port-Id, such as the interface; null: not sent"`
	DeviceID       id.Device              `json:"deviceId" doc:"the router"`
	DeviceName     *string                `json:"deviceName" doc:"of the router"`
	Code           refusalCode            `json:"code" doc:"more can be added"`
	FirstAt        time.Time              `json:"firstAt"`
	At             time.Time              `json:"at" doc:"the latest one"`
	Count          int64                  `json:"count"`
}

// signIns answers with the refused sign-ins that are kept, the latest first.
func (a Refusals) signIns(ctx context.Context, c *httpapi.Call) error {
	var names namedDevices
	return httpapi.ReadOne(ctx, c, httpapi.One[id.Device, []telemetry.Try, refusedSignIns]{
		Missing: commands.ErrNoDevice,
		Show:    func(all []telemetry.Try) refusedSignIns { return showTries(all, names) },
		Read: func(ctx context.Context, org id.Organization, device id.Device) (*[]telemetry.Try, error) {
			row, err := a.Devices.Get(ctx, org, device)
			if err != nil || row == nil {
				return nil, err
			}
			names = namedDevices{row.ID: row.Details.Name}
			all, err := a.Store.TriesAt(ctx, org, device, a.Clock.Now())
			return &all, err
		},
	})
}

// showTries writes null for what a sign-in did not name.
func showTries(list []telemetry.Try, names namedDevices) refusedSignIns {
	out := refusedSignIns{Data: make([]refusedSignIn, len(list))}
	for i, t := range list {
		out.Data[i] = refusedSignIn{
			Username: t.Username, SubscriberID: null.Of(t.SubscriberID), SubscriptionID: null.Of(t.SubscriptionID),
			MACAddress: null.Of(t.Calling), Port: null.Of(t.Port), DeviceID: t.DeviceID,
			DeviceName: names.name(t.DeviceID), Code: refusalCode(t.Code), FirstAt: t.FirstAt.UTC(), At: t.At.UTC(),
			Count: t.Count,
		}
	}
	return out
}

// get answers with the kinds of refusals that are kept, the latest first.
func (a Refusals) get(ctx context.Context, c *httpapi.Call) error {
	type list = httpapi.ListOf[refusalResponse]
	var names namedDevices
	return httpapi.ReadOne(ctx, c, httpapi.One[id.Device, []telemetry.Refusal, list]{
		Missing: commands.ErrNoDevice,
		Show:    func(all []telemetry.Refusal) list { return list{Data: showRefusals(all, names)} },
		Read: func(ctx context.Context, org id.Organization, device id.Device) (*[]telemetry.Refusal, error) {
			row, err := a.Devices.Get(ctx, org, device)
			if err != nil || row == nil {
				return nil, err
			}
			names = namedDevices{row.ID: row.Details.Name}
			all, err := a.Store.RefusalsAt(ctx, org, device, a.Clock.Now())
			return &all, err
		},
	})
}
