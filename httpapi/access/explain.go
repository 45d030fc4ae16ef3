package accessapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// Access serves /subscribers/:id/access.
type Access struct {
	Cases accesscases.Explanations
	Zone  zoneOf
	Names deviceNames
}

// Routes lists the endpoint.
func (a Access) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/subscribers/:id/access", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
		Own: httpapi.OwnPath, Summary: "Why a subscriber is on or off", Response: accessResponse{}, Handle: a.get,
		Query: []httpapi.Param{{
			Name: "at", Type: "date-time", Doc: "a past instant: what was recorded and seen until then; absent = now",
		}},
	}}
}

// accessResponse says what a subscriber is entitled to, why, and what the network shows
// (docs/rules/access.md#access-endpoints).
type accessResponse struct {
	Entitled string            `json:"entitled" enum:"full,throttled,walled_garden,none"`
	Observed string            `json:"observed" enum:"online,walled_garden,offline,unknown"`
	Reasons  []accessReason    `json:"reasons"`
	Services []accessService   `json:"services"`
	Refusals []refusalResponse `json:"refusals" doc:"refused sign-ins by reason and router, the latest first"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *accessResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	for i := range r.Services {
		for j := range r.Services[i].Sessions {
			r.Services[i].Sessions[j].NameSubscribers(name)
		}
	}
}

// ForCustomer implements httpapi.StaffSees: what the network is made of, what is wrong with it, and why somebody placed
// a hold are staff's.
func (r *accessResponse) ForCustomer() {
	for i := range r.Services {
		s := &r.Services[i]
		s.Difference, s.Heard, s.NotHeard, s.Outage = nil, nil, nil, nil
		if s.Dunning != nil && s.Dunning.Hold != nil {
			s.Dunning.Hold.Reason = ""
		}
		for j := range s.Sessions {
			s.Sessions[j].ForCustomer()
		}
	}
	for i := range r.Refusals {
		r.Refusals[i].DeviceID, r.Refusals[i].DeviceName = nil, nil
	}
}

// accessReason is one reason. A block comes first, then the reasons of each subscription, the oldest first; of one
// subscription the reason that allows least comes first.
type accessReason struct {
	Code  entitlement.Code `json:"code" doc:"more can be added"`
	Since time.Time        `json:"since"`
	Cause accessObject     `json:"cause"`

	SubscriptionID *id.Subscription `json:"subscriptionId" doc:"null: about the customer and all subscriptions"`
}

// accessObject names the thing that caused a reason.
type accessObject struct {
	Type string `json:"type" enum:"event,subscriber,subscription,invoice"`
	ID   string `json:"id"`
}

// accessService is one subscription.
type accessService struct {
	SubscriptionID id.Subscription   `json:"subscriptionId"`
	Username       *string           `json:"username"`
	PlanName       string            `json:"planName"`
	State          string            `json:"state" enum:"pending,active,paused,ended"`
	PaidUntil      *time.Time        `json:"paidUntil"`
	Dunning        *accessDunning    `json:"dunning" doc:"null: not in dunning, nothing expected, and the clock runs"`
	Entitled       string            `json:"entitled" enum:"full,throttled,walled_garden,none"`
	Observed       string            `json:"observed" enum:"online,walled_garden,offline,unknown"`
	Rate           sessionRate       `json:"rate" doc:"to which it is entitled; 0 = no access, or no limit"`
	Sessions       []sessionResponse `json:"sessions" doc:"open ones, the newest first"`
	Difference     *accessDifference `json:"difference" doc:"null: sign-ins get it, or a past instant"`
	Heard          *accessHeard      `json:"heard" doc:"null: notHeard has it, not known, or a past instant"`
	NotHeard       *accessNotHeard   `json:"notHeard" doc:"null: heard has it, not known, or a past instant"`
	Outage         *accessOutage     `json:"outage" doc:"null: the router of heard answers, or a past instant"`
}

// accessHeard is where and when the device of a subscription was heard of last: by a report of a session, or by a
// sign-in that was refused.
type accessHeard struct {
	DeviceID   id.Device `json:"deviceId"`
	DeviceName *string   `json:"deviceName" doc:"null: removed"`
	At         time.Time `json:"at"`
}

// accessNotHeard is the time up to now in which nothing was heard of the device.
type accessNotHeard struct {
	Since time.Time `json:"since"`
	Never bool      `json:"never" doc:"since the subscription was made; false: what was heard before is not kept"`
}

// accessOutage is the router at which the device of a subscription was heard of last, when it does not answer and
// nothing was heard of the device since (docs/rules/reports.md#faults).
type accessOutage struct {
	DeviceID   id.Device `json:"deviceId"`
	DeviceName *string   `json:"deviceName" doc:"null: removed"`
	Since      time.Time `json:"since" doc:"when its breaker opened"`
}

// accessDifference is an answer to sign-ins that is not what the log has
// (docs/rules/access-radius.md#an-old-directory).
type accessDifference struct {
	Expected string `json:"expected" doc:"for people"`
	Actual   string `json:"actual" doc:"for people"`
}

// accessDunning is the step of dunning that a subscription is on, and the one that comes if nothing is paid. Its fields
// mean what they mean on the board.
type accessDunning struct {
	State       events.DunningState `json:"state"`
	Since       *time.Time          `json:"since" doc:"null in the state none"`
	Due         httpapi.Number      `json:"due" doc:"overdue; compared with the policy's minimumDue"`
	Currency    money.Currency      `json:"currency"`
	OverdueDays int                 `json:"overdueDays" doc:"calendar days since the due date"`
	Next        *boardNext          `json:"next" doc:"null: nothing comes by itself"`
	Hold        *boardHold          `json:"hold" doc:"null: no hold"`
	Stopped     *boardStopped       `json:"stopped" doc:"null: the clock does not stand still by itself"`
}

// refusalResponse counts refused sign-ins of one kind at one router.
type refusalResponse struct {
	Code           refusalCode      `json:"code" doc:"more can be added"`
	At             time.Time        `json:"at" doc:"the latest one"`
	Count          int64            `json:"count"`
	DeviceID       *id.Device       `json:"deviceId" doc:"the router; null: one that is not known"`
	DeviceName     *string          `json:"deviceName" doc:"of the router; null likewise"`
	SubscriptionID *id.Subscription `json:"subscriptionId,omitempty"`
}

// refusalCode is why a sign-in was refused (docs/rules/access-radius.md#refusals).
type refusalCode string

// Texts implements httpapi.Enumerated.
func (refusalCode) Texts() []string { return telemetry.RefusalCodes() }

// get answers for the present, or for a past instant.
func (a Access) get(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	at, err := a.Zone.at(ctx, c, f)
	if err != nil {
		return err
	}
	if err := f.Err(); err != nil {
		return err
	}
	var names namedDevices
	return httpapi.ReadOne(ctx, c, httpapi.One[id.Subscriber, accesscases.Explanation, accessResponse]{
		Missing: commands.ErrNoSubscriber,
		Show:    func(x accesscases.Explanation) accessResponse { return showAccess(x, names) },
		Read: func(
			ctx context.Context, org id.Organization, subscriber id.Subscriber,
		) (*accesscases.Explanation, error) {
			x, err := a.Cases.Of(ctx, org, subscriber, at)
			if err != nil || x == nil {
				return nil, err
			}
			seen := routersOf(*x)
			names, err = a.Names.of(ctx, org, len(seen), func(i int) id.Device { return seen[i] })
			return x, err
		},
	})
}

// routersOf lists the routers of the sessions, last signs and refusals of an explanation. Outages are of the same.
func routersOf(x accesscases.Explanation) []id.Device {
	var seen []id.Device
	for _, s := range x.Services {
		for _, session := range s.Sessions {
			seen = append(seen, session.DeviceID)
		}
		if s.Heard != nil {
			seen = append(seen, s.Heard.DeviceID)
		}
	}
	for _, r := range x.Refusals {
		seen = append(seen, r.DeviceID)
	}
	return seen
}

// showAccess writes lists that are empty as such.
func showAccess(x accesscases.Explanation, names namedDevices) accessResponse {
	out := accessResponse{
		Entitled: x.Entitlement.Access.String(), Observed: string(x.Observed), Reasons: []accessReason{},
		Services: []accessService{}, Refusals: showRefusals(x.Refusals, names),
	}
	for _, r := range x.Entitlement.Reasons {
		out.Reasons = append(out.Reasons, showReason(r))
	}
	for _, s := range x.Services {
		one := accessService{
			SubscriptionID: s.SubscriptionID, Username: null.Of(s.Username), PlanName: s.PlanName,
			State: string(s.State), PaidUntil: null.Time(s.PaidUntil), Dunning: showDunning(s),
			Entitled: s.Access.String(), Observed: string(s.Observed),
			Rate: sessionRate{Down: s.Rate.Speed.Down, Up: s.Rate.Speed.Up}, Sessions: []sessionResponse{},
		}
		if d := s.Difference; d != nil {
			one.Difference = &accessDifference{d.Expected, d.Actual}
		}
		if h := s.Heard; h != nil {
			one.Heard = &accessHeard{h.DeviceID, names.name(h.DeviceID), h.At.UTC()}
		}
		if n := s.NotHeard; n != nil {
			one.NotHeard = &accessNotHeard{n.Since.UTC(), n.Never}
		}
		if o := s.Outage; o != nil {
			one.Outage = &accessOutage{o.DeviceID, names.name(o.DeviceID), o.Since.UTC()}
		}
		for _, session := range s.Sessions {
			one.Sessions = append(one.Sessions, showSession(session, names))
		}
		out.Services = append(out.Services, one)
	}
	return out
}

// showDunning leaves out what is not known.
func showDunning(s accesscases.Service) *accessDunning {
	if s.Dunning == nil && s.Hold == nil && s.Stopped == nil {
		return nil
	}
	d := null.Zero(s.Dunning)
	out := accessDunning{
		State: cmp.Or(d.State, events.DunningNone), Since: null.Time(d.Since.UTC()), Due: s.Due.Number(),
		Currency: s.Due.Currency, OverdueDays: s.OverdueDays, Hold: showHold(s.Hold), Stopped: showStopped(s.Stopped),
	}
	if d.NextState != "" {
		out.Next = &boardNext{State: d.NextState, At: d.Next.UTC()}
	}
	return &out
}

// showReason names the cause of a reason.
func showReason(r entitlement.Reason) accessReason {
	return accessReason{
		r.Code, r.Since.UTC(), accessObject{r.Cause.Type, r.Cause.ID.String()}, null.Of(r.Of),
	}
}

// showRefusals writes null for what a refusal does not name.
func showRefusals(list []telemetry.Refusal, names namedDevices) []refusalResponse {
	out := make([]refusalResponse, len(list))
	for i, r := range list {
		out[i] = refusalResponse{
			Code: refusalCode(r.Code), At: r.At.UTC(), Count: r.Count, DeviceID: null.Of(r.DeviceID),
			DeviceName: names.name(r.DeviceID), SubscriptionID: null.Of(r.SubscriptionID),
		}
	}
	return out
}
