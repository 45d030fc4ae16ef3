package messagingapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// Support serves /support-requests (docs/rules/support.md#support-requests).
type Support struct {
	Requests messagingviews.SupportQuery
	Cases    messagingcases.Support
	// Users gives the names of some users; one that is no member of the organization is left out.
	Users func(ctx context.Context, org id.Organization, users []id.User) (map[id.User]string, error)
}

// Routes lists the endpoints.
func (a Support) Routes() []httpapi.Route {
	both := func(r httpapi.Route) httpapi.Route {
		r.Hosts, r.Access, r.Own = httpapi.OnOrganization, httpapi.AccessSubscriber, httpapi.OwnRows
		return r
	}
	return []httpapi.Route{
		both(httpapi.Route{
			Method: http.MethodGet, Path: "/support-requests", Row: supportRow{}, Handle: a.list,
			Summary: "List support requests: whose customers wait longest, then those written to last",
			Query: []httpapi.Param{
				{Name: "state", Type: "string", Enum: messagingviews.SupportStates()},
				{Name: "assigneeId", Type: "uuid", Doc: "a member of staff"},
				{Name: "unassigned", Type: "boolean", Doc: "true: only those with nobody in particular"},
				{Name: "subscriberId", Type: "uuid"},
			},
		}),
		both(httpapi.Route{
			Method: http.MethodPost, Path: "/support-requests", Request: supportOpening{}, Status: http.StatusCreated,
			Response: supportResponse{}, Summary: "Ask for support, or write down what a customer asks for",
			Handle: a.open,
		}),
		both(httpapi.Route{
			Method: http.MethodGet, Path: "/support-requests/:id", Response: supportResponse{},
			Summary: "Read a support request with all that was written", Handle: a.get,
		}),
		both(httpapi.Route{
			Method: http.MethodPost, Path: "/support-requests/:id/messages", Request: supportText{},
			Status: http.StatusCreated, Response: supportResponse{}, Summary: "Write to a support request",
			Handle: a.write,
		}),
		both(httpapi.Route{
			Method: http.MethodPost, Path: "/support-requests/:id/close", Request: httpapi.ArchiveRequest{},
			Response: supportResponse{}, Summary: "Close a support request", Handle: a.close,
		}),
		{
			Method: http.MethodPost, Path: "/support-requests/:id/assign", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Request: supportAssignment{}, Response: supportResponse{},
			Summary: "Give a support request to a member of staff", Handle: a.assign,
		},
	}
}

// supportOpening is the body of POST /support-requests.
type supportOpening struct {
	Subject      string        `json:"subject" doc:"one line, at most 120 characters"`
	Text         string        `json:"text" doc:"at most 4000 characters"`
	SubscriberID id.Subscriber `json:"subscriberId,omitzero" doc:"not needed by customers with one account"`
}

// supportText is the body of POST /support-requests/:id/messages.
type supportText struct {
	Text     string `json:"text" doc:"at most 4000 characters"`
	Internal bool   `json:"internal,omitempty" doc:"staff only: no customer sees it"`
}

// supportAssignment is the body of POST /support-requests/:id/assign.
type supportAssignment struct {
	UserID *id.User `json:"userId,omitempty" doc:"of staff; null or absent: nobody in particular"`
}

// supportState is how far a request has come.
type supportState string

// Texts implements httpapi.Enumerated.
func (supportState) Texts() []string { return messagingviews.SupportStates() }

// supportRow is a request as lists have it.
type supportRow struct {
	ID           id.Support             `json:"id"`
	SubscriberID id.Subscriber          `json:"subscriberId"`
	Subscriber   *httpapi.SubscriberRef `json:"subscriber" doc:"null: not known yet"`
	Subject      *string                `json:"subject" doc:"null: the person was forgotten"`
	State        supportState           `json:"state"`
	Assignee     *httpapi.StaffRef      `json:"assignee" doc:"null: nobody in particular, or a customer reads"`
	OpenedAt     time.Time              `json:"openedAt"`
	LastAt       time.Time              `json:"lastAt" doc:"of the last text for the customer or by the customer"`
	WaitingSince *time.Time             `json:"waitingSince" doc:"of the customer; null: there is nothing to answer"`
	ClosedAt     *time.Time             `json:"closedAt"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *supportRow) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(r.SubscriberID)
}

// ForCustomer implements httpapi.StaffSees: who takes care of it is for staff to know.
func (r *supportRow) ForCustomer() { r.Assignee = nil }

// supportResponse is a request with its texts.
type supportResponse struct {
	supportRow
	Messages []supportMessage `json:"messages" doc:"the oldest first"`
}

// supportMessage is one text of a request.
type supportMessage struct {
	At       time.Time         `json:"at"`
	Side     string            `json:"side" enum:"customer,staff"`
	From     string            `json:"from" doc:"customer, or the name of staff; customers get the first name"`
	By       *httpapi.StaffRef `json:"by" doc:"of staff; null: the customer or a program, or a customer reads"`
	Internal bool              `json:"internal" doc:"no customer sees it"`
	Text     *string           `json:"text" doc:"null: the person was forgotten"`
}

// supportWriter is how a customer sees staff without a name.
const supportWriter = "support"

// ForCustomer implements httpapi.StaffSees: notes for staff are taken out, and of names only the first one stays.
func (r *supportResponse) ForCustomer() {
	r.supportRow.ForCustomer()
	public := []supportMessage{}
	for _, m := range r.Messages {
		if m.Internal {
			continue
		}
		if m.Side == "staff" {
			m.By, m.From = nil, firstName(m.From)
		}
		public = append(public, m)
	}
	r.Messages = public
}

// firstName is the first word of a name. A name that is an address is none.
func firstName(name string) string {
	words := strings.Fields(name)
	if len(words) == 0 || strings.Contains(words[0], "@") {
		return supportWriter
	}
	return words[0]
}

// supportDetail is a request with its texts and the names of staff.
type supportDetail struct {
	messagingviews.SupportRow
	texts []messagingviews.SupportText
	names map[id.User]string
}

// one describes how a request is read and shown to the caller.
func (a Support) one(c *httpapi.Call) httpapi.One[id.Support, supportDetail, supportResponse] {
	return httpapi.One[id.Support, supportDetail, supportResponse]{
		Model: messagingviews.SupportName, Missing: commands.ErrNoSupportRequest, Show: showSupport,
		Revision: func(d supportDetail) int64 { return d.SupportRow.Revision },
		Read: func(ctx context.Context, org id.Organization, request id.Support) (*supportDetail, error) {
			row, err := a.row(c)(ctx, org, request)
			if err != nil || row == nil {
				return nil, err
			}
			d := supportDetail{SupportRow: *row}
			if d.texts, err = a.Requests.Texts(ctx, org, request); err != nil {
				return nil, err
			}
			d.names, err = a.Users(ctx, org, supportUsers(d.texts, d.SupportRow))
			return &d, err
		},
	}
}

// row reads a request that the caller sees.
func (a Support) row(c *httpapi.Call) func(
	context.Context, id.Organization, id.Support,
) (*messagingviews.SupportRow, error) {
	return httpapi.OwnRow(c, a.Requests.Get, func(r messagingviews.SupportRow) id.Subscriber { return r.SubscriberID })
}

// supportUsers are the users whose names are shown: staff alone, since the customer is named by the account.
func supportUsers(texts []messagingviews.SupportText, rows ...messagingviews.SupportRow) []id.User {
	var users []id.User
	for _, r := range rows {
		if !r.Assignee.IsZero() {
			users = append(users, r.Assignee)
		}
	}
	for _, t := range texts {
		if !t.ByCustomer && !t.UserID.IsZero() {
			users = append(users, t.UserID)
		}
	}
	return users
}

// showSupportRow writes null for what is not known.
func showSupportRow(r messagingviews.SupportRow, names map[id.User]string) supportRow {
	return supportRow{
		ID: r.ID, SubscriberID: r.SubscriberID, Subject: r.Subject, State: supportState(r.State),
		Assignee: staffRef(r.Assignee, names), OpenedAt: r.OpenedAt, LastAt: r.LastAt, WaitingSince: r.WaitingSince,
		ClosedAt: r.ClosedAt,
	}
}

// showSupport adds the texts.
func showSupport(d supportDetail) supportResponse {
	out := supportResponse{supportRow: showSupportRow(d.SupportRow, d.names), Messages: []supportMessage{}}
	for _, t := range d.texts {
		m := supportMessage{At: t.At, Side: "customer", From: "customer", Internal: t.Internal, Text: t.Text}
		if !t.ByCustomer {
			m.Side, m.From, m.By = "staff", d.names[t.UserID], staffRef(t.UserID, d.names)
		}
		if m.From == "" {
			m.From = supportWriter
		}
		out.Messages = append(out.Messages, m)
	}
	return out
}

// staffRef names a user; nil for none.
func staffRef(user id.User, names map[id.User]string) *httpapi.StaffRef {
	if user.IsZero() {
		return nil
	}
	return &httpapi.StaffRef{ID: user, Name: null.Of(names[user])}
}

// list answers with a page of requests.
func (a Support) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := messagingviews.SupportFilter{
		State:        f.OneOf("state", messagingviews.SupportStates()...),
		Assignee:     httpapi.FilterID[id.User](f, "assigneeId"),
		Unassigned:   null.Zero(f.Bool("unassigned")),
		SubscriberID: httpapi.FilterID[id.Subscriber](f, "subscriberId"),
	}
	if err := f.Err(); err != nil {
		return err
	}
	if c.IsCustomer() && (filter.Unassigned || !filter.Assignee.IsZero()) { // who has it is for staff to know
		return httpapi.ErrRoleRequired(events.RoleSupport)
	}
	var err error
	if filter.Among, err = c.Among(filter.SubscriberID); err != nil {
		return err
	}
	var names map[id.User]string // of staff; set when the page is read
	show := func(r messagingviews.SupportRow) supportRow { return showSupportRow(r, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after messagingviews.SupportKey, max int,
	) ([]messagingviews.SupportRow, error) {
		rows, err := a.Requests.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		names, err = a.Users(ctx, c.Org.ID, supportUsers(nil, rows...))
		return rows, err
	})
}

// get answers with one request.
func (a Support) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one(c))
}

// open takes a new request.
func (a Support) open(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[supportOpening](c)
	if err != nil {
		return err
	}
	of, err := a.whose(c, in.SubscriberID)
	if err != nil {
		return err
	}
	request, done, err := a.Cases.Open(ctx, c.Asked(), messagingcases.SupportOpening{
		SubscriberID: of, ByCustomer: c.IsCustomer(), Subject: personal.Of(in.Subject), Text: personal.Of(in.Text),
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusCreated, a.one(c), request, done)
}

// whose is the subscriber of a new request: a customer with one account need not name it. Fails: invalid_input,
// subscriber_not_found.
func (a Support) whose(c *httpapi.Call, named id.Subscriber) (id.Subscriber, error) {
	own := c.Scope()
	switch {
	case named.IsZero() && c.IsCustomer() && len(own) == 1:
		return own[0], nil
	case named.IsZero():
		var f failure.Faults
		f.Add("subscriberId", "is required")
		return named, f.Err()
	case !c.Sees(named):
		return named, commands.ErrNoSubscriber()
	}
	return named, nil
}

// seen is the request of the path, when the caller sees it.
func (a Support) seen(ctx context.Context, c *httpapi.Call) (id.Support, error) {
	request, err := httpapi.PathID[id.Support](c, "id", commands.ErrNoSupportRequest)
	if err != nil {
		return request, err
	}
	row, err := a.row(c)(ctx, c.Org.ID, request)
	if err == nil && row == nil {
		err = commands.ErrNoSupportRequest()
	}
	return request, err
}

// write adds a text of the caller.
func (a Support) write(ctx context.Context, c *httpapi.Call) error {
	request, err := a.seen(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[supportText](c)
	if err != nil {
		return err
	}
	if in.Internal && c.IsCustomer() {
		return httpapi.ErrRoleRequired(events.RoleSupport)
	}
	done, err := a.Cases.Write(ctx, c.Asked(), messagingcases.SupportText{
		RequestID: request, ByCustomer: c.IsCustomer(), Internal: in.Internal, Text: personal.Of(in.Text),
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusCreated, a.one(c), request, done)
}

// close ends a request.
func (a Support) close(ctx context.Context, c *httpapi.Call) error {
	request, err := a.seen(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.ArchiveRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Close(ctx, c.Asked(), request, c.IsCustomer(), in.Reason)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusOK, a.one(c), request, done)
}

// assign gives a request to somebody.
func (a Support) assign(ctx context.Context, c *httpapi.Call) error {
	request, err := httpapi.PathID[id.Support](c, "id", commands.ErrNoSupportRequest)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[supportAssignment](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Assign(ctx, c.Asked(), request, null.Zero(in.UserID))
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusOK, a.one(c), request, done)
}
