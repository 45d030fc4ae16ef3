package subscribersapi

import (
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
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/billing"
	"github.com/lastmile-isp/lastmile/usecases/reports"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// Subscribers serves /subscribers.
type Subscribers struct {
	Cases       subscriberscases.Subscribers
	WriteOffs   billingcases.WriteOffs
	Bus         *bus.Bus
	Subscribers subscribersviews.SubscribersQuery
	Clock       clock.Clock
	// Zone gives the zone of an organization, in which dates are.
	Zone func(context.Context, id.Organization) (*time.Location, error)
	// OffBehind lists the customers who are off because a router does not answer.
	OffBehind func(context.Context, id.Organization, id.Device) ([]id.Subscriber, error)
	// Outages gives the routers behind which some customers are off.
	Outages func(context.Context, id.Organization, []id.Subscriber) (map[id.Subscriber]reportscases.RouterAway, error)
	// Asked tells what a customer is asked to pay.
	Asked func(context.Context, subscribersviews.SubscriberRow) (billingcases.Asked, error)
	// Whole reads a customer with the services, and what the customer is asked to pay; nil when there is none.
	Whole func(context.Context, id.Organization, id.Subscriber) (
		*subscribersviews.SubscriberRow, billingcases.Asked, error)
	// Unheard counts the customers with an open session who are off because a router does not answer.
	Unheard func(context.Context, id.Organization) (int, error)
}

// Routes lists the endpoints of subscribers.
func (a Subscribers) Routes() []httpapi.Route {
	return append(a.ownRoutes(), []httpapi.Route{
		{
			Method: "POST", Path: "/subscribers", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Register a subscriber", Request: subscriberRequest{}, Response: subscriberResponse{}, Status: 201,
			Handle: a.create,
		},
		{
			Method: "GET", Path: "/subscribers", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "List and search subscribers", Row: subscriberResponse{}, Query: subscriberFilters(),
			Handle: a.list,
		},
		{
			Method: "GET", Path: "/reports/customers", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "How many subscribers there are, by access and by what they owe", Response: countsResponse{},
			Handle: a.counts,
		},
		{
			Method: "GET", Path: "/subscribers/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnPath, Summary: "Read a subscriber", Response: subscriberResponse{}, Handle: a.get,
		},
		{
			Method: "PATCH", Path: "/subscribers/:id", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSubscriberOrAdmin, Own: httpapi.OwnPath,
			Summary: "Correct a subscriber's details; customers choose language, onlyNeeded and whatsApp alone",
			Request: subscriberPatch{}, Response: subscriberResponse{}, Handle: a.change,
			Codes: []string{"changed_by_staff"},
		},
		{
			Method: "POST", Path: "/subscribers/:id/block", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Cut a subscriber off by hand", Request: httpapi.ReasonRequest{}, Response: subscriberResponse{},
			Handle: a.block,
		},
		{
			Method: "POST", Path: "/subscribers/:id/unblock", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "End a block", Request: httpapi.ReasonRequest{},
			Response: subscriberResponse{}, Handle: a.unblock,
		},
		{
			Method: "POST", Path: "/subscribers/:id/write-off", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Give up what a subscriber owes", Request: writeOffRequest{},
			Response: subscriberResponse{}, Handle: a.writeOff,
		},
	}...)
}

// subscriberFilters describes the query of the list.
func subscriberFilters() []httpapi.Param {
	return []httpapi.Param{
		{Name: "q", Type: "string", Doc: "words that begin a name, phone, e-mail address or account number"},
		{Name: "status", Type: "string", Enum: subscriberStatuses},
		{Name: "tag", Type: "string"},
		{Name: "access", Type: "string", Enum: subscribersviews.SubscriberAccesses, Doc: "the most of a service now"},
		{Name: "online", Type: "boolean", Doc: "has an open session, or has none"},
		{Name: "offBehind", Type: "uuid", Doc: "off as this router does not answer, as GET /reports/today counts"},
		{Name: "planId", Type: "uuid", Doc: "one of the services is of this plan"},
		{
			Name: "state", Type: "string", Enum: subscriptionStates,
			Doc: "of one of the services; with planId of one of that plan",
		},
		{Name: "owes", Type: "boolean", Doc: "the balance is above zero, or is not"},
		{Name: "paidBefore", Type: "date-time", Doc: "paidUntil is before; a date is one of the organization's zone"},
		{Name: "paidAfter", Type: "date-time", Doc: "paidUntil is not before; a date likewise"},
		{
			Name: "sort", Type: "string", Enum: subscribersviews.SubscriberSorts,
			Doc: "newest when absent; by name; by paidUntil, the earliest first; by balance, who owes most first",
		},
	}
}

// subscriberStatus makes the description list subscriberStatuses.
type subscriberStatus string

// Texts implements httpapi.Enumerated.
func (subscriberStatus) Texts() []string { return subscriberStatuses }

// subscriberStatuses are the values that the filter status accepts.
var subscriberStatuses = []string{"active", "blocked", "forgotten"}

// subscriberRequest is the body of POST /subscribers (docs/rules/subscribers.md#subscriber).
type subscriberRequest struct {
	FirstName   string    `json:"firstName"`
	LastName    string    `json:"lastName,omitempty"`
	Phone       string    `json:"phone" doc:"E.164, or as people in Kenya write it"`
	SecondPhone string    `json:"secondPhone,omitempty" doc:"another phone of the customer"`
	Email       string    `json:"email,omitempty"`
	Address     string    `json:"address,omitempty"`
	Location    *location `json:"location,omitempty"`
	Tags        []string  `json:"tags,omitempty"`
	Notes       string    `json:"notes,omitempty"`
	ExternalRef string    `json:"externalRef,omitempty"`
	TaxPIN      string    `json:"taxPin,omitempty" doc:"stands on documents"`
	Aliases     []string  `json:"accountAliases,omitempty" doc:"old account numbers that payments may still name"`

	Language   events.Language `json:"language,omitempty" doc:"of messages; absent = the organization's"`
	OnlyNeeded bool            `json:"onlyNeeded,omitempty" doc:"no receipts, early reminders and news by message"`
	WhatsApp   bool            `json:"whatsApp,omitempty" doc:"wants messages by WhatsApp"`

	MessageSecond bool `json:"messageSecond,omitempty" doc:"messages go to the second phone, not to the first"`
}

// subscriberPatch changes the fields that are given; null removes a value.
type subscriberPatch struct {
	FirstName   *string   `json:"firstName,omitempty"`
	LastName    *string   `json:"lastName,omitempty"`
	Phone       *string   `json:"phone,omitempty"`
	SecondPhone *string   `json:"secondPhone,omitempty"`
	Email       *string   `json:"email,omitempty"`
	Address     *string   `json:"address,omitempty"`
	Location    *location `json:"location,omitempty"`
	Tags        *[]string `json:"tags,omitempty"`
	Notes       *string   `json:"notes,omitempty"`
	ExternalRef *string   `json:"externalRef,omitempty"`
	TaxPIN      *string   `json:"taxPin,omitempty"`
	Aliases     *[]string `json:"accountAliases,omitempty"`

	Language   *events.Language `json:"language,omitempty"`
	OnlyNeeded *bool            `json:"onlyNeeded,omitempty"`
	WhatsApp   *bool            `json:"whatsApp,omitempty"`

	MessageSecond *bool `json:"messageSecond,omitempty"`
}

// subscriberResponse is a subscriber with balance and credit (docs/rules/subscribers.md#subscriber). Amounts are in
// major units.
type subscriberResponse struct {
	ID            id.Subscriber    `json:"id"`
	AccountNumber string           `json:"accountNumber"`
	FirstName     *string          `json:"firstName"` // personal fields are null when the person was forgotten
	LastName      *string          `json:"lastName"`
	Phone         *string          `json:"phone"`
	SecondPhone   *string          `json:"secondPhone"`
	MessageSecond bool             `json:"messageSecond" doc:"messages go to the second phone"`
	Email         *string          `json:"email"`
	Address       *string          `json:"address"`
	Notes         *string          `json:"notes"`
	Location      *location        `json:"location"`
	Tags          []string         `json:"tags"`
	ExternalRef   *string          `json:"externalRef"`
	TaxPIN        *string          `json:"taxPin"`
	Aliases       []string         `json:"accountAliases" doc:"old account numbers that payments may still name"`
	Language      *events.Language `json:"language" doc:"of messages; null = the organization's"`
	OnlyNeeded    bool             `json:"onlyNeeded" doc:"no receipts, early reminders and news by message"`
	WhatsApp      bool             `json:"whatsApp" doc:"wants messages by WhatsApp, where they go there"`
	Status        subscriberStatus `json:"status"`
	Balance       httpapi.Number   `json:"balance"`
	Credit        httpapi.Number   `json:"credit"`
	Currency      money.Currency   `json:"currency"`
	CreatedAt     time.Time        `json:"createdAt"`
	// Access, Online and PaidUntil sum up the services.
	Access    *string          `json:"access" enum:"full,throttled,walled_garden,none" doc:"null: no service"`
	Online    bool             `json:"online" doc:"a session is open, as routers report: with outage until it is lost"`
	Outage    *outageInShort   `json:"outage" doc:"null: no router that is away took the customer off"`
	PaidUntil *time.Time       `json:"paidUntil" doc:"the earliest of the running prepaid services; null: none"`
	Services  []serviceInShort `json:"services" doc:"those that have not ended, or the one that ended last"`
	// Due and ToRenew are missing in lists.
	Due     httpapi.Number   `json:"due,omitempty" doc:"asked for now: balance and toRenew, at least 0; not in lists"`
	ToRenew []serviceToRenew `json:"toRenew,omitempty" doc:"no time is paid, no invoice asks; not in lists"`
}

// ForCustomer implements httpapi.StaffSees: notes, tags and the number in another system are staff's, and the router
// that is away has a name of theirs.
func (r *subscriberResponse) ForCustomer() {
	r.Notes, r.Tags, r.ExternalRef, r.Outage = nil, []string{}, nil, nil
}

// serviceToRenew is a prepaid service that begins with its price (docs/rules/subscribers.md#price-without-an-invoice).
type serviceToRenew struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	Price          httpapi.Number  `json:"price" doc:"of the next period with charges, add-ons, discounts and taxes"`
	Due            httpapi.Number  `json:"due" doc:"price and what is owed, less the credit; at least 0"`
}

// outageInShort is the router whose fault counts the customer as off (docs/rules/reports.md#faults).
type outageInShort struct {
	DeviceID   id.Device `json:"deviceId"`
	DeviceName string    `json:"deviceName"`
	Since      time.Time `json:"since" doc:"when its breaker opened"`
}

// serviceInShort is one subscription in short.
type serviceInShort struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	PlanID         id.Plan         `json:"planId"`
	PlanName       string          `json:"planName"`
	Username       *string         `json:"username"`
	State          string          `json:"state" enum:"pending,active,paused,ended"`
	PaidUntil      *time.Time      `json:"paidUntil" doc:"null before the first paid period"`
	Access         string          `json:"access" enum:"full,throttled,walled_garden,none"`
	Dunning        string          `json:"dunning" enum:"none,reminding,walled_garden,suspended,written_off"`
	Online         bool            `json:"online"`
}

// countsResponse counts subscribers (docs/rules/subscribers.md#lists).
type countsResponse struct {
	Total        int64        `json:"total"`
	ByAccess     accessCounts `json:"byAccess" doc:"those without a service are in none of them"`
	Online       int64        `json:"online"`
	Unheard      int          `json:"unheard" doc:"of online: those off behind routers that do not answer"`
	Owing        int64        `json:"owing" doc:"with a balance above zero"`
	NewThisMonth int64        `json:"newThisMonth" doc:"registered since the first day of the month"`
}

// accessCounts counts subscribers by the access that they have now.
type accessCounts struct {
	Full         int64 `json:"full"`
	Throttled    int64 `json:"throttled"`
	WalledGarden int64 `json:"walled_garden"`
	None         int64 `json:"none"`
}

// person is a subscriber with the router behind which the customer is off, nil for none, and with what is to be paid,
// nil in lists.
type person struct {
	subscribersviews.SubscriberRow

	away  *reportscases.RouterAway
	asked *billingcases.Asked
}

// withOutages adds the routers that are away to rows: one reading for all of them.
func (a Subscribers) withOutages(
	ctx context.Context, org id.Organization, rows []subscribersviews.SubscriberRow,
) ([]person, error) {
	ids := make([]id.Subscriber, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	away, err := a.Outages(ctx, org, ids)
	if err != nil {
		return nil, err
	}
	out := make([]person, len(rows))
	for i, r := range rows {
		out[i].SubscriberRow = r
		if router, is := away[r.ID]; is {
			out[i].away = &router
		}
	}
	return out, nil
}

// showSubscriber writes null for what is empty, and for personal fields of a forgotten person.
func showSubscriber(r person) subscriberResponse {
	out := subscriberResponse{
		ID: r.ID, AccountNumber: r.AccountNumber, FirstName: r.FirstName, LastName: r.LastName, Phone: r.Phone,
		SecondPhone: null.Of(r.SecondPhone), MessageSecond: r.MessageSecond,
		Email: null.Text(r.Email), Address: null.Text(r.Address), Notes: null.Text(r.Notes), Tags: r.Tags,
		ExternalRef: null.Of(r.ExternalRef), TaxPIN: null.Of(r.TaxPIN), Aliases: r.Aliases,
		Language: null.Of(r.Language), OnlyNeeded: r.OnlyNeeded, WhatsApp: r.WhatsApp,
		Status: subscriberStatus(r.Status), Balance: r.Balance().Number(),
		Credit: r.Credit().Number(), Currency: r.Currency, CreatedAt: r.CreatedAt,
		Access: r.Access(), Online: r.Online, PaidUntil: r.PaidUntil,
		Services: make([]serviceInShort, len(r.Services)),
	}
	for i, s := range r.Services {
		out.Services[i] = serviceInShort{
			SubscriptionID: s.SubscriptionID, PlanID: s.PlanID, PlanName: s.PlanName, Username: s.Username,
			State: s.State, PaidUntil: s.PaidUntil, Access: s.Access(), Dunning: s.Dunning, Online: s.Online,
		}
	}
	if r.asked != nil {
		out.Due = r.asked.Due.Number()
		for _, s := range r.asked.ToRenew {
			out.ToRenew = append(out.ToRenew, serviceToRenew{s.SubscriptionID, s.Price.Number(), s.Due.Number()})
		}
	}
	if o := r.away; o != nil {
		out.Outage = &outageInShort{o.DeviceID, o.Name, o.Since.UTC()}
	}
	if r.Latitude != nil && r.Longitude != nil {
		out.Location = &location{*r.Latitude, *r.Longitude}
	}
	return out
}

// create registers a subscriber.
func (a Subscribers) create(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[subscriberRequest](c)
	if err != nil {
		return err
	}
	subscriber, done, err := a.Cases.Register(ctx, c.Asked(), events.SubscriberDetails{
		FirstName: personal.Of(in.FirstName), LastName: personal.Of(in.LastName), Phone: personal.Of(in.Phone),
		Email: personal.Of(in.Email), Address: personal.Of(in.Address), Notes: personal.Of(in.Notes),
		Location: in.Location.event().Text(), Tags: personal.OfAll(in.Tags),
		ExternalRef: personal.Of(in.ExternalRef), TaxPIN: personal.Of(in.TaxPIN),
		AccountAliases: personal.OfAll(in.Aliases), Language: in.Language, OnlyNeeded: in.OnlyNeeded,
		WhatsApp: in.WhatsApp, SecondPhone: personal.Of(in.SecondPhone), MessageSecond: in.MessageSecond,
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, a.one(), subscriber, done)
}

// one describes how a subscriber is read and shown.
func (a Subscribers) one() httpapi.One[id.Subscriber, person, subscriberResponse] {
	return httpapi.One[id.Subscriber, person, subscriberResponse]{
		Model: subscribersviews.SubscribersName, Missing: commands.ErrNoSubscriber, Read: a.read,
		Show: showSubscriber, Revision: func(r person) int64 { return r.Revision },
	}
}

// read gives one subscriber with the services as they are now, and with what is to be paid.
func (a Subscribers) read(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) (*person, error) {
	row, asked, err := a.Whole(ctx, org, subscriber)
	if err != nil || row == nil {
		return nil, err
	}
	rows, err := a.withOutages(ctx, org, []subscribersviews.SubscriberRow{*row})
	if err != nil {
		return nil, err
	}
	rows[0].asked = &asked
	return &rows[0], nil
}

// list answers with a page of subscribers.
func (a Subscribers) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	zone := time.UTC
	if f.Text("paidBefore")+f.Text("paidAfter") != "" { // only then it is looked up
		var err error
		if zone, err = a.Zone(ctx, c.Org.ID); err != nil {
			return err
		}
	}
	filter := subscribersviews.SubscriberFilter{
		Search: f.Text("q"), Status: f.OneOf("status", subscriberStatuses...), Tag: f.Text("tag"),
		Access: f.OneOf("access", subscribersviews.SubscriberAccesses...), Online: f.Bool("online"),
		Plan: httpapi.FilterID[id.Plan](f, "planId"), State: f.OneOf("state", subscriptionStates...),
		Owes: f.Bool("owes"), PaidBefore: f.Instant("paidBefore", zone), PaidFrom: f.Instant("paidAfter", zone),
		Sort: f.OneOf("sort", subscribersviews.SubscriberSorts...), Now: a.Clock.Now(),
	}
	router := httpapi.FilterID[id.Device](f, "offBehind")
	if err := f.Err(); err != nil {
		return err
	}
	if !router.IsZero() {
		off, err := a.OffBehind(ctx, c.Org.ID, router)
		if err != nil {
			return err
		}
		filter.Among = append([]id.Subscriber{}, off...) // never nil: nobody is nobody
	}
	return httpapi.SendList(ctx, c, showSubscriber, func(
		ctx context.Context, after subscribersviews.SubscriberKey, max int,
	) ([]person, error) {
		rows, err := a.Subscribers.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		return a.withOutages(ctx, c.Org.ID, rows)
	})
}

// counts answers with the numbers for the head of the list.
func (a Subscribers) counts(ctx context.Context, c *httpapi.Call) error {
	zone, err := a.Zone(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	now := a.Clock.Now()
	month := calendar.On(now, zone)
	month.Day = 1
	n, err := a.Subscribers.Counts(ctx, c.Org.ID, now, month.Start(zone))
	if err != nil {
		return err
	}
	unheard, err := a.Unheard(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	return c.Send(200, countsResponse{
		Total: n.Total, Online: n.Online, Unheard: unheard, Owing: n.Owing, NewThisMonth: n.New,
		ByAccess: accessCounts{Full: n.Full, Throttled: n.Throttled, WalledGarden: n.WalledGarden, None: n.None},
	})
}

// get answers with one subscriber.
func (a Subscribers) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// block cuts a subscriber off by hand, until somebody ends the block.
func (a Subscribers) block(ctx context.Context, c *httpapi.Call) error {
	return a.act(ctx, c, func(s id.Subscriber, reason string) commands.Command {
		return commands.BlockSubscriber{SubscriberID: s, Reason: reason}
	})
}

// unblock ends a block.
func (a Subscribers) unblock(ctx context.Context, c *httpapi.Call) error {
	return a.act(ctx, c, func(s id.Subscriber, reason string) commands.Command {
		return commands.UnblockSubscriber{SubscriberID: s, Reason: reason}
	})
}

// act executes a command that needs a reason, and answers with the subscriber.
func (a Subscribers) act(
	ctx context.Context, c *httpapi.Call, command func(id.Subscriber, string) commands.Command,
) error {
	subscriber, done, err := httpapi.ExecuteWithReason(ctx, c, a.Bus, commands.ErrNoSubscriber, command)
	if err != nil {
		return err
	}
	// The access of subscriptions must show the block, too. After 2 s the answer goes on without them.
	if _, err := c.WaitVisible(ctx, subscribersviews.SubscriptionsName, done.Position); err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), subscriber, done)
}
