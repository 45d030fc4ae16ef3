package subscribersapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Subscriptions serves /subscriptions.
type Subscriptions struct {
	Bus           *bus.Bus
	Subscriptions subscribersviews.SubscriptionsQuery
	Secrets       *vault.Secrets
	Clock         clock.Clock
}

// Routes lists the endpoints of subscriptions.
func (a Subscriptions) Routes() []httpapi.Route {
	filters := []httpapi.Param{
		{Name: "subscriberId", Type: "uuid"}, {Name: "state", Type: "string", Enum: subscriptionStates},
	}
	return []httpapi.Route{
		{
			Method: "POST", Path: "/subscriptions", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Give a subscriber a plan", Request: subscriptionRequest{}, Response: subscriptionResponse{},
			Status: 201, Handle: a.create,
		},
		{
			Method: "GET", Path: "/subscriptions", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "List subscriptions", Row: subscriptionResponse{}, Query: filters, Handle: a.list,
		},
		{
			Method: "GET", Path: "/subscriptions/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Read a subscription", Response: subscriptionResponse{}, Handle: a.get,
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
			Method: "POST", Path: "/subscriptions/:id/end", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "End a subscription for good", Request: httpapi.ReasonRequest{}, Response: subscriptionResponse{},
			Handle: a.end,
		},
	}
}

// subscriptionStates are the values of state.
var subscriptionStates = []string{"pending", "active", "paused", "ended"}

// subscriptionRequest is api.md's body of POST /subscriptions.
type subscriptionRequest struct {
	SubscriberID id.Subscriber `json:"subscriberId"`
	PlanID       id.Plan       `json:"planId"`
	StartDate    calendar.Date `json:"startDate,omitzero" doc:"in the organization's time zone; today when absent"`
	Username     string        `json:"username,omitempty" doc:"login on the network; made of the account number when absent"`
	Password     secrets.Text  `json:"password,omitempty" doc:"login on the network, never shown; random when absent"`
}

// subscriptionResponse is a subscription as api.md shows it.
type subscriptionResponse struct {
	ID            id.Subscription `json:"id"`
	SubscriberID  id.Subscriber   `json:"subscriberId"`
	PlanID        id.Plan         `json:"planId"`
	PlanVersion   int             `json:"planVersion"`
	PlanName      string          `json:"planName"`
	Price         httpapi.Number  `json:"price"`
	Currency      money.Currency  `json:"currency"`
	Billing       planBilling     `json:"billing"`
	Rates         planRates       `json:"rates"`
	State         string          `json:"state"`
	Reason        string          `json:"reason"`
	StartsAt      time.Time       `json:"startsAt"`
	ActivatedAt   *time.Time      `json:"activatedAt"`
	PaidUntil     *time.Time      `json:"paidUntil"` // an instant; null before the first paid period
	Dunning       string          `json:"dunning"`
	Access        string          `json:"access"`
	Username      *string         `json:"username"`
	OpenInvoiceID *id.Invoice     `json:"openInvoiceId"`
	CreatedAt     time.Time       `json:"createdAt"`
}

// show is a row as the API shows it.
func (a Subscriptions) show(r subscribersviews.SubscriptionRow) subscriptionResponse {
	t := r.Terms
	return subscriptionResponse{
		ID: r.ID, SubscriberID: r.SubscriberID, PlanID: r.PlanID, PlanVersion: r.PlanVersion, PlanName: t.Name,
		Price: t.Price.Number(), Currency: t.Price.Currency,
		Billing: planBilling{Mode: string(t.Mode), Period: string(t.Period), Anchor: "anniversary"},
		Rates:   planRates(t.Rates), State: r.State, Reason: r.Reason, StartsAt: r.StartsAt, ActivatedAt: r.ActivatedAt,
		PaidUntil: r.PaidUntil, Dunning: "none", Access: r.Access(a.Clock.Now()), Username: r.Username,
		OpenInvoiceID: r.OpenInvoice, CreatedAt: r.CreatedAt,
	}
}

// create gives a subscriber a plan: its terms are copied as they stand in the log.
func (a Subscriptions) create(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[subscriptionRequest](c)
	if err != nil {
		return err
	}
	command, err := a.command(ctx, c, in)
	if err != nil {
		return err
	}
	if err := failure.JoinFaults(command.Validate(), checkNetworkPassword(in.Password)); err != nil {
		return err
	}
	if err := a.keepPassword(ctx, command, in.Password); err != nil {
		return err
	}
	done, err := a.createUnderFreeName(ctx, c, command, in.Username == "")
	if err != nil {
		if failure.KindOf(err) == failure.Conflict { // refused for good: nobody refers to the password
			err = errors.Join(err, a.Secrets.Delete(ctx, command.PasswordRef))
		}
		return err
	}
	return httpapi.SendOne(ctx, c, 201, a.one(), command.SubscriptionID, done)
}

// maxNetworkPassword is what RADIUS can carry. Source: RFC 2865 5.2.
const maxNetworkPassword = 128

// checkNetworkPassword checks a password that was given; none is given a random one.
func checkNetworkPassword(password secrets.Text) error {
	var f failure.Faults
	f.Check(len(password) <= maxNetworkPassword, "password", "must have at most %d bytes", maxNetworkPassword)
	f.Check(!strings.ContainsFunc(password.Reveal(), unicode.IsControl), "password", "must not have control characters")
	return f.Err()
}

// keepPassword puts the network password into the vault, a random one when none is given. A repeat of the request keeps
// the one that the subscription has.
func (a Subscriptions) keepPassword(
	ctx context.Context, command commands.CreateSubscription, password secrets.Text,
) error {
	made, _, err := bus.LoadUnchecked[subscribers.Subscription](ctx, a.Bus, id.Any(command.SubscriptionID))
	if err != nil || !made.ID.IsZero() {
		return err
	}
	if password.IsZero() {
		password = secrets.Text(rand.Text())
	}
	secret := vault.Secret{Ref: command.PasswordRef, OrgID: command.OrgID, Purpose: "network_password"}
	return a.Secrets.Put(ctx, secret, []byte(password.Reveal()))
}

// maxDefaultNames bounds the search for a free name: a subscriber has few subscriptions.
const maxDefaultNames = 50

// createUnderFreeName creates the subscription. A name that nobody chose is the account number, with a number behind it
// when the subscriber has more than one subscription.
func (a Subscriptions) createUnderFreeName(
	ctx context.Context, c *httpapi.Call, command commands.CreateSubscription, unnamed bool,
) (bus.Result, error) {
	base := command.Username.Reveal()
	for n := 2; ; n++ {
		done, err := a.Bus.Execute(ctx, command, c.Meta())
		if failure.CodeOf(err) != "username_taken" || !unnamed || n > maxDefaultNames {
			return done, err
		}
		command.Username = personal.Of(fmt.Sprintf("%s-%d", base, n))
	}
}

// command fills the command from the subscriber, the plan and the settings, each read from the log.
func (a Subscriptions) command(
	ctx context.Context, c *httpapi.Call, in subscriptionRequest,
) (commands.CreateSubscription, error) {
	none := commands.CreateSubscription{}
	subscriber, _, err := bus.LoadUnchecked[subscribers.Subscriber](ctx, a.Bus, id.Any(in.SubscriberID))
	if err != nil {
		return none, err
	}
	if subscriber.Owner != c.Org.ID || subscriber.Forgotten {
		return none, commands.ErrNoSubscriber()
	}
	plan, _, err := bus.LoadUnchecked[subscribers.Plan](ctx, a.Bus, id.Any(in.PlanID))
	switch {
	case err != nil:
		return none, err
	case plan.Owner != c.Org.ID:
		return none, commands.ErrNoPlan()
	case plan.Archived:
		return none, failure.NewConflict("plan_archived", "This plan is archived.")
	}
	settings, err := usecases.BillingSettings(ctx, a.Bus, c.Org.ID)
	if err != nil {
		return none, err
	}
	starts, err := startInstant(in.StartDate, settings.Timezone, a.Clock.Now())
	if err != nil {
		return none, err
	}
	username := in.Username
	if username == "" {
		username = subscriber.AccountNumber
	}
	subscription := usecases.NewID[id.Subscription](c.Asked(), "subscription")
	return commands.CreateSubscription{
		SubscriptionID: subscription, OrgID: c.Org.ID, SubscriberID: in.SubscriberID, PlanID: in.PlanID,
		PlanVersion: plan.Version, Terms: plan.Terms, Timezone: settings.Timezone, StartsAt: starts,
		Username: personal.Of(username), PasswordRef: id.Derive[id.Secret]("network_password", subscription.String()),
		InvoiceID: id.Derive[id.Invoice]("first_period", subscription.String()),
	}, nil
}

// startInstant is the beginning of a day to come; today is now, a past day is refused.
func startInstant(day calendar.Date, timezone string, now time.Time) (time.Time, error) {
	zone, err := time.LoadLocation(timezone)
	if err != nil {
		return time.Time{}, err
	}
	today := calendar.On(now, zone)
	switch {
	case day.IsZero() || day == today:
		return now, nil
	case day.Before(today):
		return time.Time{}, failure.NewInvalid("invalid_input", "startDate must not be in the past")
	case today.AddDays(httpapi.MaxDaysAhead).Before(day):
		return time.Time{}, failure.NewInvalid("invalid_input", "startDate must be in the next five years")
	}
	return day.Start(zone), nil
}

// one is a subscription as it is read and shown.
func (a Subscriptions) one() httpapi.One[id.Subscription, subscribersviews.SubscriptionRow, subscriptionResponse] {
	return httpapi.One[id.Subscription, subscribersviews.SubscriptionRow, subscriptionResponse]{
		Model: subscribersviews.SubscriptionsName, Missing: commands.ErrNoSubscription, Read: a.Subscriptions.Get,
		Show: a.show, Revision: func(r subscribersviews.SubscriptionRow) int64 { return r.Revision },
	}
}

// list answers with a page of subscriptions.
func (a Subscriptions) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	subscriber, state := httpapi.FilterID[id.Subscriber](f, "subscriberId"), f.OneOf("state", subscriptionStates...)
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, a.show, func(
		ctx context.Context, after subscribersviews.SubscriptionKey, max int,
	) ([]subscribersviews.SubscriptionRow, error) {
		return a.Subscriptions.List(ctx, c.Org.ID, subscriber, state, after, max)
	})
}

// get answers with one subscription.
func (a Subscriptions) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// pause rests service and billing.
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

// act executes a command that needs a reason.
func (a Subscriptions) act(
	ctx context.Context, c *httpapi.Call, command func(id.Subscription, string) commands.Command,
) error {
	subscription, done, err := httpapi.ExecuteWithReason(ctx, c, a.Bus, commands.ErrNoSubscription, command)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), subscription, done)
}
