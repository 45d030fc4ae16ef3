package apitest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// parcelRequest has a field of each kind that endpoints take.
type parcelRequest struct {
	Name    string         `json:"name"`
	Amount  httpapi.Amount `json:"amount"`
	PlanID  id.Plan        `json:"planId,omitzero"`
	DueDate calendar.Date  `json:"dueDate,omitzero"`
	Kind    string         `json:"kind,omitempty" enum:"letter,box"`
	Notes   *string        `json:"notes,omitempty"`
	Lines   []parcelLine   `json:"lines,omitempty"`
}

// parcelLine is an object in a list.
type parcelLine struct {
	Text     string `json:"text"`
	Quantity int    `json:"quantity"`
}

// ParcelResponse shows what the handler read from the request.
type ParcelResponse struct {
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Amount    json.Number  `json:"amount"`
	CommandID string       `json:"commandId"`
	Actor     events.Actor `json:"actor"`
	Org       string       `json:"org"`
	IP        string       `json:"ip"`
}

// ForCustomer implements httpapi.StaffSees: the address is for staff.
func (r *ParcelResponse) ForCustomer() { r.IP = "" }

// Parcels is a small area whose endpoints show every convention.
type Parcels struct {
	Made   chan id.Command    // one entry for each run of create
	Gate   chan struct{}      // create waits here when it is not nil
	Seen   chan commands.Meta // one entry for each POST /auth/knock
	Refuse error              // create fails with it when it is not nil
}

// NewParcels makes an area that refuses nothing. Handlers block after 1,000 entries that no test has read.
func NewParcels() *Parcels {
	return &Parcels{Made: make(chan id.Command, 1000), Seen: make(chan commands.Meta, 1000)}
}

// Routes has one route for each convention that the server's tests try.
func (p *Parcels) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/parcels", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Make", Status: 201, Request: parcelRequest{}, Response: ParcelResponse{}, Handle: p.create,
		},
		{
			Method: "GET", Path: "/parcels", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "List", Row: RowResponse{}, Query: []httpapi.Param{{Name: "kind", Type: "string"}}, Handle: p.list,
		},
		{
			Method: "GET", Path: "/parcels/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "Read", Response: ParcelResponse{}, Handle: p.read,
		},
		{
			Method: "PATCH", Path: "/parcels/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Change", Response: ParcelResponse{}, Handle: p.change,
		},
		{
			Method: "POST", Path: "/parcels/:id/claim", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "Claim", Response: ParcelResponse{}, Handle: p.claim,
		},
		{
			Method: "DELETE", Path: "/parcels/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Remove", Status: 204,
			Handle: func(_ context.Context, c *httpapi.Call) error { return c.NoContent() },
		},
		{
			Method: "GET", Path: "/depots", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "Platform", Response: map[string]string{}, Handle: Ok,
		},
		{
			Method: "POST", Path: "/auth/knock", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic, Summary: "Public",
			LoginLimit: true, Response: map[string]string{}, Handle: p.note,
		},
		{
			Method: "GET", Path: "/auth/mine", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber, Summary: "Own",
			Response: map[string]string{}, Handle: Ok,
		},
		{
			Method: "POST", Path: "/webhooks/parcels/:token", Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
			Summary: "Callback", Response: map[string]string{}, Handle: p.callback,
		},
		{
			Method: "POST", Path: "/manifests", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Import", Accepts: "text/csv", Response: map[string]string{}, Handle: Ok,
		},
		{
			Method: "GET", Path: "/breaks/:how", Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic,
			Summary: "Fails", Response: map[string]string{}, Handle: p.breaks,
		},
	}
}

// RowResponse has a number from 50 down to 1.
type RowResponse struct {
	Number int `json:"number"`
}

// Ok answers 200 with an empty object.
func Ok(_ context.Context, c *httpapi.Call) error { return c.Send(200, struct{}{}) }

// claim answers with the id of the path.
func (p *Parcels) claim(_ context.Context, c *httpapi.Call) error {
	return c.Send(200, ParcelResponse{ID: c.Param("id")})
}

// note sends the metadata that a command would carry to Seen.
func (p *Parcels) note(ctx context.Context, c *httpapi.Call) error {
	p.Seen <- c.Meta()
	return Ok(ctx, c)
}

// create answers with what it read, after Gate and unless Refuse is set.
func (p *Parcels) create(_ context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[parcelRequest](c)
	if err != nil {
		return err
	}
	var faults failure.Faults
	amount := in.Amount.In(money.KES, "amount", &faults)
	if err := faults.Err(); err != nil {
		return err
	}
	p.Made <- c.Meta().CommandID
	if p.Gate != nil {
		<-p.Gate
	}
	if p.Refuse != nil {
		return p.Refuse
	}
	meta := c.Meta()
	c.SetRevision(3)
	return c.Send(201, ParcelResponse{
		ID: usecases.NewID[id.Invoice](c.Asked(), "parcel").String(), Name: in.Name, Amount: amount.Number(),
		CommandID: meta.CommandID.String(), Actor: meta.Actor, Org: meta.OrgID.String(), IP: meta.IP,
	})
}

// list pages through the numbers from 50 down to 1, whatever the filter says.
func (p *Parcels) list(ctx context.Context, c *httpapi.Call) error {
	page, err := httpapi.PageOf[int](c)
	if err != nil {
		return err
	}
	from := 50
	if page.After != nil {
		from = *page.After - 1
	}
	var rows []int
	for n := from; n > 0 && len(rows) < page.Fetch(); n-- {
		rows = append(rows, n)
	}
	return httpapi.SendPage(ctx, c, page, rows, func(n int) int { return n },
		func(n int) RowResponse { return RowResponse{n} })
}

// read finds no parcel, whatever the id.
func (p *Parcels) read(_ context.Context, c *httpapi.Call) error {
	if _, err := httpapi.PathID[id.Invoice](c, "id", noParcel); err != nil {
		return err
	}
	return noParcel()
}

// change accepts revision 3 only and answers with revision 4, as a changed resource would.
func (p *Parcels) change(ctx context.Context, c *httpapi.Call) error {
	meta := c.Meta()
	if meta.ExpectedRevision != nil && *meta.ExpectedRevision != 3 {
		return failure.New(failure.Stale, "stale_revision", "This was changed after it was read. Please reload it.")
	}
	return httpapi.SendVisible(ctx, c, 200, httpapi.Visible{
		Projection: "parcels", ID: c.Param("id"), Result: bus.Result{Revision: 4, Position: 9},
	},
		func(context.Context) (ParcelResponse, error) {
			return ParcelResponse{ID: c.Param("id"), Amount: "1"}, nil
		})
}

// callback counts against the limit of callbacks and answers with the slug of the call's organization.
func (p *Parcels) callback(ctx context.Context, c *httpapi.Call) error {
	if err := c.CountWebhook(ctx, "600100", "stk"); err != nil {
		return err
	}
	return c.Send(200, map[string]string{"org": c.Org.Slug})
}

// breaks fails in the way that the path names.
func (p *Parcels) breaks(ctx context.Context, c *httpapi.Call) error {
	switch c.Param("how") {
	case "panic":
		panic("secret of the house")
	case "error":
		return errors.New("secret of the house")
	case "unavailable":
		return failure.NewUnavailable("provider_unavailable", "The payment provider cannot be reached at the moment.",
			1500*time.Millisecond, nil)
	case "refused":
		return failure.New(failure.Refused, "router_refused", "no such item")
	case "late":
		_ = c.Send(200, map[string]string{"a": "b"})
		return errors.New("after the answer")
	}
	return ctx.Err()
}

// Want is the part of an answer that most tests compare.
type Want struct {
	Status int
	Code   string
}

// Is makes a Want of a status and a failure code, "" for a success.
func Is(status int, code string) Want { return Want{Status: status, Code: code} }

// Sends sends a request and compares status and code. It also checks that an error body has all its fields.
func Sends(t *testing.T, k *Kit, name string, r Request, w Want) Answer {
	t.Helper()
	got := k.Do(t, r)
	if diff := cmp.Diff(w, Want{got.Status, got.Code()}); diff != "" {
		t.Errorf("%s (-want +got):\n%s\nbody %s", name, diff, got.Body)
	}
	if got.Status >= 400 {
		var body httpapi.ErrorBody
		got.Into(t, &body)
		if body.StatusCode != got.Status || body.Error != http.StatusText(got.Status) || body.Message == nil ||
			body.Message == "" {
			t.Errorf("%s: error body is %s", name, got.Body)
		}
	}
	return got
}

// AParcel is the path of a parcel with a well-formed id; none exists.
const AParcel = "/parcels/0190aaaa-0000-7000-8000-000000000001"

// Good is a body that POST /parcels accepts.
const Good = `{"name":"a","amount":1}`

// Keyed is a POST /parcels under an Idempotency-Key.
func Keyed(key, body string) Request {
	return Request{
		Method: "POST", Path: "/parcels", As: Admin, Body: body, Header: map[string]string{
			"Idempotency-Key": key,
		},
	}
}

// noParcel is the failure for each id, since no parcel exists.
func noParcel() error { return failure.NewNotFound("parcel_not_found", "There is no such parcel.") }
