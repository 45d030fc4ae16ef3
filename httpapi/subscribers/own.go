package subscribersapi

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// ownRoutes lists the endpoint of customers who look at themselves.
func (a Subscribers) ownRoutes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/me/subscribers", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
		Own: httpapi.OwnRows, PeopleOnly: true, Summary: "The subscribers that the sign-in sees",
		Row: ownSubscriberResponse{}, Handle: a.own,
	}}
}

// ownSubscriberResponse is a subscriber as the customer sees it (docs/rules/identity.md#what-customers-see): what is to
// be paid, until when it is paid, and the services. Amounts are in major units.
type ownSubscriberResponse struct {
	ID            id.Subscriber    `json:"id"`
	AccountNumber string           `json:"accountNumber" doc:"what a customer types at the paybill"`
	FirstName     *string          `json:"firstName"`
	LastName      *string          `json:"lastName"`
	Phone         *string          `json:"phone" doc:"the contact, which can be asked to pay"`
	SecondPhone   *string          `json:"secondPhone" doc:"likewise; null: none"`
	Email         *string          `json:"email"`
	Status        subscriberStatus `json:"status"`
	Balance       httpapi.Number   `json:"balance" doc:"owed; negative: money on the account"`
	Credit        httpapi.Number   `json:"credit"`
	Currency      money.Currency   `json:"currency"`
	Due           httpapi.Number   `json:"due" doc:"asked for now: balance and toRenew, at least 0"`
	ToRenew       []serviceToRenew `json:"toRenew" doc:"services without paid time and without an invoice"`
	TimeZone      string           `json:"timezone" doc:"of the organization: that of dates and times"`
	Language      *events.Language `json:"language" doc:"of messages; null = the organization's"`
	OnlyNeeded    bool             `json:"onlyNeeded" doc:"no receipts, early reminders and news by message"`
	WhatsApp      bool             `json:"whatsApp" doc:"wants messages by WhatsApp, where they go there"`
	Access        *string          `json:"access" enum:"full,throttled,walled_garden,none" doc:"null: no service"`
	Online        bool             `json:"online"`
	PaidUntil     *time.Time       `json:"paidUntil" doc:"the earliest of the running prepaid services; null: none"`
	Subscriptions []serviceInShort `json:"subscriptions" doc:"those that have not ended, or the one that ended last"`
}

// ForCustomer implements httpapi.StaffSees: nothing in it is for staff alone.
func (*ownSubscriberResponse) ForCustomer() {}

// showOwn leaves out what the customer has no use for.
func showOwn(r person, zone string) ownSubscriberResponse {
	of := showSubscriber(r)
	out := ownSubscriberResponse{
		ID: of.ID, AccountNumber: of.AccountNumber, FirstName: of.FirstName, LastName: of.LastName, Phone: of.Phone,
		SecondPhone: of.SecondPhone, Email: of.Email, Status: of.Status,
		Balance: of.Balance, Credit: of.Credit, Currency: of.Currency, Due: of.Due,
		ToRenew: of.ToRenew, TimeZone: zone, Language: of.Language, OnlyNeeded: of.OnlyNeeded, WhatsApp: of.WhatsApp,
		Access: of.Access, Online: of.Online, PaidUntil: of.PaidUntil, Subscriptions: of.Services,
	}
	if out.ToRenew == nil {
		out.ToRenew = []serviceToRenew{}
	}
	return out
}

// own answers with the subscribers that the caller sees as a customer: none for staff.
func (a Subscribers) own(ctx context.Context, c *httpapi.Call) error {
	zone, err := a.Zone(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	show := func(r person) ownSubscriberResponse { return showOwn(r, zone.String()) }
	filter := subscribersviews.SubscriberFilter{Among: append([]id.Subscriber{}, c.Caller.Own...), Now: a.Clock.Now()}
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after subscribersviews.SubscriberKey, max int,
	) ([]person, error) {
		rows, err := a.Subscribers.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		out := make([]person, len(rows))
		for i, r := range rows {
			asked, err := a.Asked(ctx, r)
			if err != nil {
				return nil, err
			}
			out[i] = person{SubscriberRow: r, asked: &asked}
		}
		return out, nil
	})
}

// ownChoices are the fields of a subscriber that customers change themselves: how they are written to. Everything else
// stands on documents, or is asked for money (docs/rules/identity.md#what-customers-see).
var ownChoices = []string{"language", "onlyNeeded", "whatsApp"}

// mayChange refuses a customer every other field of a body, also one that is null. Fails: changed_by_staff.
func mayChange(c *httpapi.Call) error {
	if !c.IsCustomer() {
		return nil
	}
	for _, field := range c.Fields() {
		if !slices.Contains(ownChoices, field) {
			return failure.NewDenied("changed_by_staff",
				"Only the staff of your provider can change this. Please ask them.")
		}
	}
	return nil
}
