package subscribersapi

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/billing"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// Subscriptions serves /subscriptions.
type Subscriptions struct {
	Cases         subscriberscases.Subscriptions
	Bus           *bus.Bus
	Subscriptions subscribersviews.SubscriptionsQuery
	Invoices      billingviews.InvoicesQuery // without Views answers name invoices that may not be readable yet
	Dunning       accessviews.DunningQuery
	Changes       billingcases.PlanChanges
	Clock         clock.Clock
}

// Routes lists the endpoints of subscriptions.
func (a Subscriptions) Routes() []httpapi.Route {
	filters := []httpapi.Param{
		{Name: "subscriberId", Type: "uuid"}, {Name: "state", Type: "string", Enum: subscriptionStates},
	}
	return append(a.planChangeRoutes(), []httpapi.Route{
		{
			Method: "POST", Path: "/subscriptions", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Give a subscriber a plan", Request: subscriptionRequest{}, Response: subscriptionResponse{},
			Status: 201, Handle: a.create,
		},
		{
			Method: "GET", Path: "/subscriptions", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own:     httpapi.OwnRows,
			Summary: "List subscriptions", Row: subscriptionResponse{}, Query: filters, Handle: a.list,
		},
		{
			Method: "GET", Path: "/subscriptions/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "Read a subscription", Response: subscriptionResponse{}, Handle: a.get,
		},
		{
			Method: "PATCH", Path: "/subscriptions/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Change the addresses of a subscription", Request: addressesPatch{},
			Response: subscriptionResponse{}, Handle: a.change,
		},
		{
			Method: "GET", Path: "/subscriptions/:id/credentials", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Show the login on the network; the audit log tells it",
			Response: credentialsResponse{}, Handle: a.showCredentials,
		},
		{
			Method: "POST", Path: "/subscriptions/:id/credentials", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Change the login on the network", Request: credentialsRequest{},
			Response: credentialsResponse{}, Handle: a.setCredentials,
		},
		{
			Method: "POST", Path: "/subscriptions/:id/pause", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Rest service and billing", Request: httpapi.ReasonRequest{},
			Response: subscriptionResponse{}, Handle: a.pause,
		},
		{
			Method: "POST", Path: "/subscriptions/:id/resume", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "End a pause", Request: httpapi.ReasonRequest{},
			Response: subscriptionResponse{}, Handle: a.resume,
		},
		{
			Method: "GET", Path: "/subscriptions/:id/end", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "What an end would do to the unpaid invoices", Response: endingResponse{}, Handle: a.ending,
		},
		{
			Method: "POST", Path: "/subscriptions/:id/end", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "End a subscription for good", Request: httpapi.ReasonRequest{}, Response: subscriptionResponse{},
			Handle: a.end,
		},
	}...)
}

// subscriptionState makes the description list subscriptionStates.
type subscriptionState string

// Texts implements httpapi.Enumerated.
func (subscriptionState) Texts() []string { return subscriptionStates }

// subscriptionStates are the values that the filter state accepts.
var subscriptionStates = []string{"pending", "active", "paused", "ended"}

// subscriptionRequest is the body of POST /subscriptions (docs/rules/subscribers.md#subscription-life).
type subscriptionRequest struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	PlanID       id.Plan       `json:"planId"`
	StartDate    calendar.Date `json:"startDate,omitzero" doc:"in the organization's time zone; today when absent"`
	Username     string        `json:"username,omitempty" doc:"on the network; made of the account number when absent"`
	Password     secrets.Text  `json:"password,omitempty" doc:"on the network; generated when absent"`
	addressesRequest
	// Extras are on the first invoice already.
	Charges   []chargeRequest   `json:"charges,omitempty" doc:"on the first invoice"`
	AddOns    []addOnRequest    `json:"addOns,omitempty" doc:"on each invoice"`
	Discounts []discountRequest `json:"discounts,omitempty" doc:"off each invoice"`
}

// subscriptionResponse is a subscription with the terms that it has
// (docs/rules/subscribers.md#subscription-life).
type subscriptionResponse struct {
	ID            id.Subscription        `json:"id"`
	SubscriberID  id.Subscriber          `json:"subscriberId"`
	Subscriber    *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	PlanID        id.Plan                `json:"planId"`
	PlanVersion   int                    `json:"planVersion"`
	PlanName      string                 `json:"planName"`
	Price         httpapi.Number         `json:"price"`
	Currency      money.Currency         `json:"currency"`
	Billing       planBilling            `json:"billing"`
	Late          string                 `json:"lateRenewal" enum:"payment,expiry"`
	Partial       string                 `json:"partialPayment" enum:"credit,days"`
	Suspended     string                 `json:"billWhileSuspended" enum:"yes,no,days"`
	UnbilledSince *time.Time             `json:"unbilledSince" doc:"cut off since then and not billed; null: it is"`
	Rates         planRates              `json:"rates"`
	Cap           *planCap               `json:"cap" doc:"null: none, and no traffic can be added"`
	PlannedPlan   *plannedPlan           `json:"plannedPlan" doc:"null: the next period is of the present plan"`
	State         subscriptionState      `json:"state"`
	Reason        string                 `json:"reason"`
	StartsAt      time.Time              `json:"startsAt"`
	ActivatedAt   *time.Time             `json:"activatedAt"`
	PaidUntil     *time.Time             `json:"paidUntil"` // an instant; null before the first paid period
	Dunning       events.DunningState    `json:"dunning"`
	Access        string                 `json:"access" enum:"full,throttled,walled_garden,none"`
	Username      *string                `json:"username"`
	Password      *string                `json:"password,omitempty" doc:"only when the creation made it"`
	StaticIP      *string                `json:"staticIp"`
	StaticIPv6    *string                `json:"staticIpv6Prefix"`
	MACAddresses  []string               `json:"macAddresses" doc:"the only equipment that may sign in; empty = any"`
	Routes        []string               `json:"routes" doc:"networks behind the customer's address"`
	OpenInvoiceID *id.Invoice            `json:"openInvoiceId"`
	CreatedAt     time.Time              `json:"createdAt"`
	// Extras are missing in lists.
	Charges   []extraResponse `json:"charges,omitempty" doc:"of the next invoice; not in lists"`
	AddOns    []extraResponse `json:"addOns,omitempty" doc:"of each invoice; not in lists"`
	Discounts []extraResponse `json:"discounts,omitempty" doc:"off each invoice; not in lists"`
	// Periods are missing in lists.
	Periods []periodResponse `json:"periods,omitempty" doc:"the 24 newest, newest first; not in lists"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *subscriptionResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// ForCustomer implements httpapi.StaffSees: the reason of a pause or an end is in the words of staff.
func (r *subscriptionResponse) ForCustomer() { r.Reason = "" }

// periodResponse is one period of a subscription (docs/rules/subscribers.md#periods).
type periodResponse struct {
	Ordinal   int        `json:"ordinal"`
	State     string     `json:"state" enum:"due,paid,withdrawn,cancelled"`
	From      *time.Time `json:"from" doc:"null while the period takes no time"`
	To        *time.Time `json:"to" doc:"exclusive"`
	InvoiceID id.Invoice `json:"invoiceId"`
	DueAt     *time.Time `json:"dueAt"`
	PaidAt    *time.Time `json:"paidAt"`
}

// show writes the access of this moment.
func (a Subscriptions) show(r subscribersviews.SubscriptionRow) subscriptionResponse {
	t := r.Terms
	var periods []periodResponse
	for _, p := range r.Periods {
		periods = append(periods, periodResponse{
			Ordinal: p.Ordinal, State: p.State, From: p.From, To: p.To, InvoiceID: p.InvoiceID, DueAt: p.DueAt,
			PaidAt: p.PaidAt,
		})
	}
	out := subscriptionResponse{
		ID: r.ID, SubscriberID: r.SubscriberID, PlanID: r.PlanID, PlanVersion: r.PlanVersion, PlanName: t.Name,
		Price: t.Price.Number(), Currency: t.Price.Currency,
		Billing: showBilling(t),
		Late:    string(t.LateRenewal.WithDefault()), Partial: string(t.PartialPayment.WithDefault()),
		Suspended: string(t.BillWhileSuspended.WithDefault()), UnbilledSince: r.UnbilledSince,
		Rates: showRates(t.Rates.Down, t.Rates.Up, t.Access.Burst), Cap: showCap(t.Access.Cap),
		State: subscriptionState(r.State), Reason: r.Reason,
		StartsAt: r.StartsAt, ActivatedAt: r.ActivatedAt, PaidUntil: r.PaidUntil,
		Dunning: dunningState(r), Access: r.Access(a.Clock.Now()), Username: r.Username,
		StaticIP: r.StaticIP, StaticIPv6: r.StaticIPv6, MACAddresses: r.MACAddresses, Routes: r.Routes,
		OpenInvoiceID: r.OpenInvoice,
		CreatedAt:     r.CreatedAt, Periods: periods,
	}
	out.showExtras(r.Extras, a.Clock.Now())
	if p := r.Planned; p != nil {
		out.PlannedPlan = &plannedPlan{
			PlanID: p.PlanID, PlanVersion: p.Version, PlanName: p.Terms.Name, Price: p.Terms.Price.Number(),
			EffectiveAt: null.Time(p.EffectiveAt),
		}
	}
	return out
}

// create gives a subscriber a plan. The answer has a generated password, so no cache may keep it.
func (a Subscriptions) create(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[subscriptionRequest](c)
	if err != nil {
		return err
	}
	made, err := a.Cases.Create(ctx, c.Asked(), subscriberscases.CreateSubscriptionInput{
		SubscriberID: in.SubscriberID, PlanID: in.PlanID, StartDate: in.StartDate, Username: personal.Of(in.Username),
		Password: in.Password, Addresses: in.addresses(), Extras: in.extras(),
	})
	if err != nil {
		return err
	}
	one := a.one()
	one.Show = func(r subscribersviews.SubscriptionRow) subscriptionResponse {
		out := a.show(r)
		out.Password = null.Of(made.Generated.Reveal())
		return out
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	if err := a.showSubscriber(ctx, c, made.Result); err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, one, made.ID, made.Result)
}

// one describes how a subscription is read and shown.
func (a Subscriptions) one() httpapi.One[id.Subscription, subscribersviews.SubscriptionRow, subscriptionResponse] {
	return httpapi.One[id.Subscription, subscribersviews.SubscriptionRow, subscriptionResponse]{
		Model: subscribersviews.SubscriptionsName, Missing: commands.ErrNoSubscription, Read: a.read,
		Show: a.show, Revision: func(r subscribersviews.SubscriptionRow) int64 { return r.Revision },
		Names: []httpapi.Name[subscribersviews.SubscriptionRow]{{Wait: a.awaitInvoice, Withhold: withholdInvoice}},
	}
}

// awaitInvoice waits until the invoice of the newest period can be read: a process drafts it after the write. Invoices
// of older periods were there before the write.
func (a Subscriptions) awaitInvoice(
	ctx context.Context, org id.Organization, r subscribersviews.SubscriptionRow,
) (bool, error) {
	if a.Invoices.Views == nil || len(r.Periods) == 0 || r.Periods[0].State != "due" {
		return true, nil
	}
	return a.Invoices.WaitShown(ctx, org, r.Periods[0].InvoiceID)
}

// withholdInvoice takes the newest invoice out of an answer.
func withholdInvoice(r *subscribersviews.SubscriptionRow) {
	if r.OpenInvoice != nil && *r.OpenInvoice == r.Periods[0].InvoiceID {
		r.OpenInvoice = nil
	}
	r.Periods = r.Periods[1:]
}

// list answers with a page of subscriptions, newest first.
func (a Subscriptions) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	subscriber, state := httpapi.FilterID[id.Subscriber](f, "subscriberId"), f.OneOf("state", subscriptionStates...)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, a.show, func(
		ctx context.Context, after subscribersviews.SubscriptionKey, max int,
	) ([]subscribersviews.SubscriptionRow, error) {
		among, err := c.Among(subscriber)
		if err != nil {
			return nil, err
		}
		rows, err := a.Subscriptions.List(ctx, c.Org.ID, subscribersviews.SubscriptionFilter{
			Subscriber: subscriber, Among: among, State: state,
		}, after, max)
		if err != nil {
			return nil, err
		}
		return rows, a.addDunning(ctx, c.Org.ID, rows)
	})
}

// read gives one subscription with its step of dunning; nil when there is none.
func (a Subscriptions) read(
	ctx context.Context, org id.Organization, subscription id.Subscription,
) (*subscribersviews.SubscriptionRow, error) {
	row, err := a.Subscriptions.Get(ctx, org, subscription)
	if err != nil || row == nil {
		return nil, err
	}
	one := []subscribersviews.SubscriptionRow{*row}
	err = a.addDunning(ctx, org, one)
	return &one[0], err
}

// dunningState needs the step of dunning that addDunning has filled in.
func dunningState(r subscribersviews.SubscriptionRow) events.DunningState {
	if r.Dunning == nil {
		return events.DunningNone
	}
	return cmp.Or(r.Dunning.State, events.DunningNone)
}

// addDunning fills in the steps of dunning, and the caps that act.
func (a Subscriptions) addDunning(
	ctx context.Context, org id.Organization, rows []subscribersviews.SubscriptionRow,
) error {
	ids := make([]id.Subscription, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	steps, err := a.Dunning.Steps(ctx, org, ids)
	if err != nil {
		return err
	}
	used, err := accessviews.UsageQuery(a.Dunning).Reached(ctx, org, ids)
	for i, r := range rows {
		rows[i].Dunning, rows[i].Used = steps[r.ID], used[r.ID]
	}
	return err
}

// get answers with one subscription.
func (a Subscriptions) get(ctx context.Context, c *httpapi.Call) error {
	one := a.one()
	one.Read = httpapi.OwnRow(c, one.Read, func(r subscribersviews.SubscriptionRow) id.Subscriber {
		return r.SubscriberID
	})
	return httpapi.ReadOne(ctx, c, one)
}

// pause stops service and billing until resume.
func (a Subscriptions) pause(ctx context.Context, c *httpapi.Call) error {
	return a.act(ctx, c, func(s id.Subscription, reason string) commands.Command {
		return commands.PauseSubscription{SubscriptionID: s, Reason: reason}
	})
}

// resume ends a pause.
func (a Subscriptions) resume(ctx context.Context, c *httpapi.Call) error {
	return a.act(ctx, c, func(s id.Subscription, reason string) commands.Command {
		return commands.ResumeSubscription{SubscriptionID: s, Reason: reason}
	})
}

// end ends a subscription for good.
func (a Subscriptions) end(ctx context.Context, c *httpapi.Call) error {
	return a.act(ctx, c, func(s id.Subscription, reason string) commands.Command {
		return commands.EndSubscription{SubscriptionID: s, Reason: reason}
	})
}

// act executes a command that needs a reason, and answers with the subscription.
func (a Subscriptions) act(
	ctx context.Context, c *httpapi.Call, command func(id.Subscription, string) commands.Command,
) error {
	subscription, done, err := httpapi.ExecuteWithReason(ctx, c, a.Bus, commands.ErrNoSubscription, command)
	if err != nil {
		return err
	}
	if err := a.showSubscriber(ctx, c, done); err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), subscription, done)
}

// showSubscriber waits until the services of the subscriber show a write, too. After 2 s the answer goes on without.
func (a Subscriptions) showSubscriber(ctx context.Context, c *httpapi.Call, done bus.Result) error {
	_, err := c.WaitVisible(ctx, subscribersviews.SubscribersName, done.Position)
	return err
}
