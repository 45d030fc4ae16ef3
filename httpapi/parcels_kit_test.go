package httpapi_test

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
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
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

// parcelLine is a nested object.
type parcelLine struct {
	Text     string `json:"text"`
	Quantity int    `json:"quantity"`
}

// parcelResponse tells what the handler saw.
type parcelResponse struct {
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Amount    json.Number  `json:"amount"`
	CommandID string       `json:"commandId"`
	Actor     events.Actor `json:"actor"`
	Org       string       `json:"org"`
	IP        string       `json:"ip"`
}

// parcels is a small area whose endpoints show every convention.
type parcels struct {
	made   chan id.Command // one entry for each run of create
	gate   chan struct{}   // create waits here when it is not nil
	seen   chan commands.Meta
	refuse error // of create, when not nil
}

// newParcels makes an area that refuses nothing.
func newParcels() *parcels {
	return &parcels{made: make(chan id.Command, 1000), seen: make(chan commands.Meta, 1000)}
}

// routes is the area's table.
func (p *parcels) routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "POST", Path: "/parcels", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin, Summary: "Make", Status: 201,
			Request: parcelRequest{}, Response: parcelResponse{}, Handle: p.create},
		{Method: "GET", Path: "/parcels", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport, Summary: "List", Row: rowResponse{},
			Query: []httpapi.Param{{Name: "kind", Type: "string"}}, Handle: p.list},
		{Method: "GET", Path: "/parcels/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber, Summary: "Read",
			Response: parcelResponse{}, Handle: p.read},
		{Method: "PATCH", Path: "/parcels/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin, Summary: "Change",
			Response: parcelResponse{}, Handle: p.change},
		{Method: "DELETE", Path: "/parcels/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin, Summary: "Remove", Status: 204,
			Handle: func(_ context.Context, c *httpapi.Call) error { return c.NoContent() }},
		{Method: "GET", Path: "/depots", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin, Summary: "Platform", Handle: ok},
		{Method: "POST", Path: "/auth/knock", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic, Summary: "Public", LoginLimit: true, Handle: p.note},
		{Method: "GET", Path: "/auth/mine", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber, Summary: "Own", Handle: ok},
		{Method: "POST", Path: "/webhooks/parcels/:token", Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic, Summary: "Callback", Handle: p.callback},
		{Method: "POST", Path: "/manifests", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin, Summary: "Import", Accepts: "text/csv",
			Handle: ok},
		{Method: "GET", Path: "/breaks/:how", Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic, Summary: "Fails", Handle: p.breaks},
	}
}

// rowResponse is a row of the list.
type rowResponse struct {
	Number int `json:"number"`
}

// ok answers an empty object.
func ok(_ context.Context, c *httpapi.Call) error { return c.Send(200, struct{}{}) }

// note keeps the metadata that a command would carry.
func (p *parcels) note(ctx context.Context, c *httpapi.Call) error {
	p.seen <- c.Meta()
	return ok(ctx, c)
}

// create decodes and answers with what it saw.
func (p *parcels) create(_ context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[parcelRequest](c)
	if err != nil {
		return err
	}
	var faults failure.Faults
	amount := in.Amount.In(money.KES, "amount", &faults)
	if err := faults.Err(); err != nil {
		return err
	}
	p.made <- c.Meta().CommandID
	if p.gate != nil {
		<-p.gate
	}
	if p.refuse != nil {
		return p.refuse
	}
	meta := c.Meta()
	c.SetRevision(3)
	return c.Send(201, parcelResponse{ID: httpapi.NewID[id.Invoice](c, "parcel").String(), Name: in.Name, Amount: amount.Number(),
		CommandID: meta.CommandID.String(), Actor: meta.Actor, Org: meta.OrgID.String(), IP: meta.IP})
}

// list pages through the numbers from 50 down to 1.
func (p *parcels) list(_ context.Context, c *httpapi.Call) error {
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
	return httpapi.SendPage(c, page, rows, func(n int) int { return n }, func(n int) rowResponse { return rowResponse{n} })
}

// read knows no parcel.
func (p *parcels) read(_ context.Context, c *httpapi.Call) error {
	if _, err := httpapi.PathID[id.Invoice](c, "id", noParcel); err != nil {
		return err
	}
	return noParcel()
}

// change shows the expected revision as the new one's predecessor.
func (p *parcels) change(ctx context.Context, c *httpapi.Call) error {
	meta := c.Meta()
	if meta.ExpectedRevision != nil && *meta.ExpectedRevision != 3 {
		return failure.New(failure.Stale, "stale_revision", "It changed meanwhile.")
	}
	return httpapi.SendVisible(ctx, c, 200, httpapi.Visible{Projection: "parcels", ID: c.Param("id"), Result: bus.Result{Revision: 4, Position: 9}},
		func(context.Context) (parcelResponse, error) {
			return parcelResponse{ID: c.Param("id"), Amount: "1"}, nil
		})
}

// callback counts itself.
func (p *parcels) callback(ctx context.Context, c *httpapi.Call) error {
	if err := c.CountWebhook(ctx, "600100", "stk"); err != nil {
		return err
	}
	return c.Send(200, map[string]string{"org": c.Org.Slug})
}

// breaks fails in the way asked for.
func (p *parcels) breaks(ctx context.Context, c *httpapi.Call) error {
	switch c.Param("how") {
	case "panic":
		panic("secret of the house")
	case "error":
		return errors.New("secret of the house")
	case "unavailable":
		return failure.NewUnavailable("provider_unavailable", "Later.", 1500*time.Millisecond, nil)
	case "refused":
		return failure.New(failure.Refused, "router_refused", "no such item")
	case "late":
		_ = c.Send(200, map[string]string{"a": "b"})
		return errors.New("after the answer")
	}
	return ctx.Err()
}

// want is the part of an answer that most tests compare.
type want struct {
	Status int
	Code   string
}

// sends checks one request's status and code.
func sends(t *testing.T, k *apitest.Kit, name string, r apitest.Request, w want) apitest.Answer {
	t.Helper()
	got := k.Do(t, r)
	if diff := cmp.Diff(w, want{got.Status, got.Code()}); diff != "" {
		t.Errorf("%s (-want +got):\n%s\nbody %s", name, diff, got.Body)
	}
	if got.Status >= 400 {
		var body httpapi.ErrorBody
		got.Into(t, &body)
		if body.StatusCode != got.Status || body.Error != http.StatusText(got.Status) || body.Message == nil || body.Message == "" {
			t.Errorf("%s: error body is %s", name, got.Body)
		}
	}
	return got
}

// aParcel is an id that nobody has.
const aParcel = "/parcels/0190aaaa-0000-7000-8000-000000000001"

// good is a body that create takes.
const good = `{"name":"a","amount":1}`

// keyed is a create under an Idempotency-Key.
func keyed(key, body string) apitest.Request {
	return apitest.Request{
		Method: "POST", Path: "/parcels", As: apitest.Admin, Body: body, Header: map[string]string{
			"Idempotency-Key": key,
		},
	}
}

// noParcel is the answer for every parcel: there is none.
func noParcel() error { return failure.NewNotFound("parcel_not_found", "There is no such parcel.") }
