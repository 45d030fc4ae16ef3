package subscribersapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Subscribers serves /subscribers.
type Subscribers struct {
	Bus           *bus.Bus
	Subscribers   subscribersviews.SubscribersQuery
	Subscriptions subscribersviews.SubscriptionsQuery
	Clock         clock.Clock
}

// Routes lists the endpoints of subscribers.
func (a Subscribers) Routes() []httpapi.Route {
	filters := []httpapi.Param{
		{Name: "q", Type: "string", Doc: "words that begin a name, phone, e-mail address or account number"},
		{Name: "status", Type: "string", Enum: subscriberStatuses},
		{Name: "tag", Type: "string"},
	}
	return []httpapi.Route{
		{
			Method: "POST", Path: "/subscribers", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Register a subscriber", Request: subscriberRequest{}, Response: subscriberResponse{}, Status: 201,
			Handle: a.create,
		},
		{
			Method: "GET", Path: "/subscribers", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "List and search subscribers", Row: subscriberResponse{}, Query: filters, Handle: a.list,
		},
		{
			Method: "GET", Path: "/subscribers/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Read a subscriber", Response: subscriberResponse{}, Handle: a.get,
		},
		{
			Method: "PATCH", Path: "/subscribers/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Correct a subscriber's details", Request: subscriberPatch{}, Response: subscriberResponse{},
			Handle: a.change,
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
			Method: "GET", Path: "/subscribers/:id/access", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Summary: "Why a subscriber is on or off", Response: accessResponse{},
			Handle: a.access,
		},
	}
}

// subscriberStatuses are the values of status.
var subscriberStatuses = []string{"active", "blocked", "forgotten"}

// location is a place in degrees, WGS 84.
type location struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// subscriberRequest is api.md's body of POST /subscribers.
type subscriberRequest struct {
	FirstName   string    `json:"firstName"`
	LastName    string    `json:"lastName,omitempty"`
	Phone       string    `json:"phone" doc:"E.164, or as people in Kenya write it"`
	Email       string    `json:"email,omitempty"`
	Address     string    `json:"address,omitempty"`
	Location    *location `json:"location,omitempty"`
	Tags        []string  `json:"tags,omitempty"`
	Notes       string    `json:"notes,omitempty"`
	ExternalRef string    `json:"externalRef,omitempty"`
}

// subscriberPatch changes what is given; null takes a value away.
type subscriberPatch struct {
	FirstName   *string   `json:"firstName,omitempty"`
	LastName    *string   `json:"lastName,omitempty"`
	Phone       *string   `json:"phone,omitempty"`
	Email       *string   `json:"email,omitempty"`
	Address     *string   `json:"address,omitempty"`
	Location    *location `json:"location,omitempty"`
	Tags        *[]string `json:"tags,omitempty"`
	Notes       *string   `json:"notes,omitempty"`
	ExternalRef *string   `json:"externalRef,omitempty"`

	nowhere bool // location is given as null
}

// subscriberResponse is a subscriber as api.md shows it. Amounts are major units.
type subscriberResponse struct {
	ID            id.Subscriber  `json:"id"`
	AccountNumber string         `json:"accountNumber"`
	FirstName     *string        `json:"firstName"` // personal fields are null when the person was forgotten
	LastName      *string        `json:"lastName"`
	Phone         *string        `json:"phone"`
	Email         *string        `json:"email"`
	Address       *string        `json:"address"`
	Notes         *string        `json:"notes"`
	Location      *location      `json:"location"`
	Tags          []string       `json:"tags"`
	ExternalRef   *string        `json:"externalRef"`
	Status        string         `json:"status"`
	Balance       httpapi.Number `json:"balance"`
	Credit        httpapi.Number `json:"credit"`
	Currency      money.Currency `json:"currency"`
	CreatedAt     time.Time      `json:"createdAt"`
}

// showSubscriber is a row as the API shows it.
func showSubscriber(r subscribersviews.SubscriberRow) subscriberResponse {
	out := subscriberResponse{
		ID: r.ID, AccountNumber: r.AccountNumber, FirstName: r.FirstName, LastName: r.LastName, Phone: r.Phone,
		Email: null.Text(r.Email), Address: null.Text(r.Address), Notes: null.Text(r.Notes), Tags: r.Tags,
		ExternalRef: null.Of(r.ExternalRef), Status: r.Status, Balance: r.Balance().Number(),
		Credit: r.Credit().Number(), Currency: r.Currency, CreatedAt: r.CreatedAt,
	}
	if r.Latitude != nil && r.Longitude != nil {
		out.Location = &location{*r.Latitude, *r.Longitude}
	}
	return out
}

// maxAccountNumberTries bounds the search for a free account number: with a tenth of the numbers taken, ten tries fail
// once in ten billion.
const maxAccountNumberTries = 10

// create registers a subscriber under an account number that nobody has.
func (a Subscribers) create(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[subscriberRequest](c)
	if err != nil {
		return err
	}
	settings, err := usecases.BillingSettings(ctx, a.Bus, c.Org.ID)
	if err != nil {
		return err
	}
	command := commands.RegisterSubscriber{
		SubscriberID: usecases.NewID[id.Subscriber](c.Asked(), "subscriber"), OrgID: c.Org.ID, Currency: settings.Currency,
		Details: events.SubscriberDetails{
			FirstName: personal.Of(strings.TrimSpace(in.FirstName)),
			LastName:  personal.Of(strings.TrimSpace(in.LastName)),
			Phone:     personal.Of(commands.NormalizeContactPhone(in.Phone)),
			Email:     personal.Of(commands.NormalizeEmail(in.Email)), Address: personal.Of(in.Address),
			Notes: personal.Of(in.Notes), Location: in.Location.event(), Tags: normalTags(in.Tags),
			ExternalRef: strings.TrimSpace(in.ExternalRef),
		},
	}
	for try := 1; ; try++ {
		if command.AccountNumber, err = newAccountNumber(); err != nil {
			return err
		}
		done, err := a.Bus.Execute(ctx, command, c.Meta())
		if failure.CodeOf(err) == "account_number_taken" && try < maxAccountNumberTries {
			continue
		}
		if err != nil {
			return err
		}
		return a.show(ctx, c, 201, command.SubscriberID, done)
	}
}

// event is the place as events hold it.
func (l *location) event() *events.Location {
	if l == nil {
		return nil
	}
	return &events.Location{Latitude: l.Latitude, Longitude: l.Longitude}
}

// normalTags trims tags and leaves each once, in the order given.
func normalTags(given []string) []string {
	var tags []string
	for _, t := range given {
		if t = strings.TrimSpace(t); !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

// newAccountNumber draws an account number that does not begin with zero, which people drop.
func newAccountNumber() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(9_000_000))
	if err != nil {
		return "", err
	}
	return commands.AccountNumber(1_000_000 + int(n.Int64())), nil
}

// show answers with the subscriber once the read side has the write.
func (a Subscribers) show(
	ctx context.Context, c *httpapi.Call, status int, subscriber id.Subscriber, done bus.Result,
) error {
	v := httpapi.Visible{Projection: subscribersviews.SubscribersName, ID: subscriber.String(), Result: done}
	return httpapi.SendVisible(ctx, c, status, v, func(ctx context.Context) (subscriberResponse, error) {
		row, err := a.Subscribers.Get(ctx, c.Org.ID, subscriber)
		if err != nil || row == nil {
			return subscriberResponse{}, cmp.Or(err, commands.ErrNoSubscriber())
		}
		return showSubscriber(*row), nil
	})
}

// list answers with a page of subscribers.
func (a Subscribers) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := subscribersviews.SubscriberFilter{
		Search: f.Text("q"), Status: f.OneOf("status", subscriberStatuses...), Tag: f.Text("tag"),
	}
	if err := f.Err(); err != nil {
		return err
	}
	page, err := httpapi.PageOf[subscribersviews.SubscriberKey](c)
	if err != nil {
		return err
	}
	rows, err := a.Subscribers.List(ctx, c.Org.ID, filter, null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return httpapi.SendPage(c, page, rows, func(r subscribersviews.SubscriberRow) subscribersviews.SubscriberKey {
		return subscribersviews.SubscriberKey{CreatedAt: r.CreatedAt, ID: r.ID}
	}, showSubscriber)
}

// get answers with one subscriber.
func (a Subscribers) get(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	row, err := a.Subscribers.Get(ctx, c.Org.ID, subscriber)
	if err != nil || row == nil {
		return cmp.Or(err, commands.ErrNoSubscriber())
	}
	c.SetRevision(uint64(row.Revision))
	return c.Send(200, showSubscriber(*row))
}

// change corrects the details that are given.
func (a Subscribers) change(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[subscriberPatch](c)
	if err != nil {
		return err
	}
	in = in.cleared(c.Nulls())
	done, err := usecases.Amend(ctx, a.Bus, c.Asked(), subscriber,
		func(present subscribers.Subscriber) (commands.Command, error) {
			if present.Owner != c.Org.ID || present.Forgotten {
				return nil, commands.ErrNoSubscriber()
			}
			return commands.CorrectSubscriberDetails{SubscriberID: subscriber, Details: in.onto(present.Details)}, nil
		})
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, subscriber, done)
}

// cleared is the patch with the fields emptied that are given as null; what is required is refused when it is empty.
func (p subscriberPatch) cleared(null map[string]bool) subscriberPatch {
	for name, field := range map[string]**string{
		"firstName": &p.FirstName, "lastName": &p.LastName, "phone": &p.Phone, "email": &p.Email, "address": &p.Address,
		"notes": &p.Notes, "externalRef": &p.ExternalRef,
	} {
		*field = httpapi.Emptied(*field, null[name])
	}
	if null["tags"] {
		p.Tags = &[]string{}
	}
	p.nowhere = null["location"]
	return p
}

// onto is the details with what the patch gives.
func (p subscriberPatch) onto(d events.SubscriberDetails) events.SubscriberDetails {
	set := func(to *personal.Text, from *string, normal func(string) string) {
		if from != nil {
			*to = personal.Of(normal(*from))
		}
	}
	asIs := func(s string) string { return s }
	set(&d.FirstName, p.FirstName, strings.TrimSpace)
	set(&d.LastName, p.LastName, strings.TrimSpace)
	set(&d.Phone, p.Phone, commands.NormalizeContactPhone)
	set(&d.Email, p.Email, commands.NormalizeEmail)
	set(&d.Address, p.Address, asIs)
	set(&d.Notes, p.Notes, asIs)
	if p.Location != nil || p.nowhere {
		d.Location = p.Location.event()
	}
	if p.Tags != nil {
		d.Tags = normalTags(*p.Tags)
	}
	if p.ExternalRef != nil {
		d.ExternalRef = strings.TrimSpace(*p.ExternalRef)
	}
	return d
}

// block cuts a subscriber off by hand.
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

// act executes a command that needs a reason.
func (a Subscribers) act(
	ctx context.Context, c *httpapi.Call, command func(id.Subscriber, string) commands.Command,
) error {
	subscriber, done, err := httpapi.ExecuteWithReason(ctx, c, a.Bus, commands.ErrNoSubscriber, command)
	if err != nil {
		return err
	}
	// A block shows in the access of subscriptions too; when that is far behind, so is what show waits for.
	if _, err := c.WaitVisible(ctx, subscribersviews.SubscriptionsName, done.Position); err != nil {
		return err
	}
	return a.show(ctx, c, 200, subscriber, done)
}
