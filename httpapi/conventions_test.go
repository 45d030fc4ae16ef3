package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
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
	"github.com/lastmile-isp/lastmile/projections/runner"
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
	if _, err := httpapi.PathID[id.Invoice](c, "id", "parcel_not_found"); err != nil {
		return err
	}
	return failure.NewNotFound("parcel_not_found", "There is no such parcel.")
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

// behind is a read side that never shows anything in time.
type behind struct{}

// WaitFor is httpapi.Visibility's.
func (behind) WaitFor(context.Context, string, uint64) error { return runner.ErrBehind }

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

func TestHosts_OnlyTheHostHeaderChoosesTheTenant(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, newParcels().routes())
	for name, tc := range map[string]struct {
		r apitest.Request
		w want
	}{
		"own host":                    {apitest.Request{Path: "/parcels", As: apitest.Admin}, want{200, ""}},
		"case and port do not matter": {apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "ACME.Lastmile.TEST:8080"}, want{200, ""}},
		"final dot":                   {apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "acme.lastmile.test."}, want{200, ""}},
		"unknown slug":                {apitest.Request{Path: "/parcels", As: apitest.Admin, Host: apitest.Unknown}, want{404, "not_found"}},
		"deeper name":                 {apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "x.acme.lastmile.test"}, want{404, "not_found"}},
		"foreign name":                {apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "example.org"}, want{404, "not_found"}},
		"suffix without a dot":        {apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "acmelastmile.test"}, want{404, "not_found"}},
		"forwarded host is ignored": {apitest.Request{Path: "/parcels", As: apitest.Admin, Host: apitest.Other,
			Header: map[string]string{"X-Forwarded-Host": apitest.Acme}}, want{401, "unauthenticated"}},
		"organization route on root":      {apitest.Request{Path: "/parcels", As: apitest.Super, Host: apitest.Domain}, want{404, "not_found"}},
		"root route on organization":      {apitest.Request{Path: "/depots", As: apitest.Super}, want{404, "not_found"}},
		"other method of the other kind":  {apitest.Request{Method: "DELETE", Path: "/depots", As: apitest.Super}, want{404, "not_found"}},
		"suspended":                       {apitest.Request{Path: "/parcels", As: apitest.Admin, Host: apitest.Gone}, want{403, "organization_suspended"}},
		"suspended, public route":         {apitest.Request{Method: "POST", Path: "/auth/knock", Host: apitest.Gone}, want{403, "organization_suspended"}},
		"callback on any name":            {apitest.Request{Method: "POST", Path: "/webhooks/parcels/t", Host: "203.0.113.9"}, want{200, ""}},
		"callback on a suspended host":    {apitest.Request{Method: "POST", Path: "/webhooks/parcels/t", Host: apitest.Gone}, want{200, ""}},
		"callback on an unknown host":     {apitest.Request{Method: "POST", Path: "/webhooks/parcels/t", Host: apitest.Unknown}, want{200, ""}},
		"wrong method":                    {apitest.Request{Method: "PUT", Path: "/parcels", As: apitest.Admin}, want{405, "method_not_allowed"}},
		"options":                         {apitest.Request{Method: "OPTIONS", Path: "/parcels", As: apitest.Admin}, want{405, "method_not_allowed"}},
		"no such path":                    {apitest.Request{Path: "/nothing", As: apitest.Admin}, want{404, "not_found"}},
		"trailing slash is another path":  {apitest.Request{Path: "/parcels/", As: apitest.Admin}, want{404, "not_found"}},
		"escaped slash reaches no parent": {apitest.Request{Path: "/parcels%2f..%2fparcels", As: apitest.Admin}, want{404, "not_found"}},
	} {
		sends(t, k, name, tc.r, tc.w)
	}
	if got := k.Do(t, apitest.Request{Method: "HEAD", Path: "/parcels", As: apitest.Admin}); got.Status != 200 || len(got.Body) != 0 {
		t.Errorf("HEAD: %d %s", got.Status, got.Body)
	}
	got := k.Do(t, apitest.Request{Method: "PUT", Path: "/parcels", As: apitest.Admin})
	if allow := got.Header.Get("Allow"); allow != "GET, POST" {
		t.Errorf("Allow is %q", allow)
	}
	if got := k.Do(t, apitest.Request{Method: "POST", Path: "/webhooks/parcels/t", Host: apitest.Acme}); string(got.Body) != `{"org":""}` {
		t.Errorf("a callback took the host's tenant: %s", got.Body)
	}
}

func TestSignIn_TenantRoleAndPassword(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, newParcels().routes())
	for name, tc := range map[string]struct {
		r apitest.Request
		w want
	}{
		"nobody":                        {apitest.Request{Path: "/parcels"}, want{401, "unauthenticated"}},
		"wrong token":                   {apitest.Request{Path: "/parcels", As: "x"}, want{401, "unauthenticated"}},
		"cookie":                        {apitest.Request{Path: "/parcels", Cookie: apitest.Admin}, want{200, ""}},
		"header beats cookie":           {apitest.Request{Path: "/parcels", As: "x", Cookie: apitest.Admin}, want{401, "unauthenticated"}},
		"basic is no token":             {apitest.Request{Path: "/parcels", Header: map[string]string{"Authorization": "Basic " + apitest.Admin}}, want{401, "unauthenticated"}},
		"role enough":                   {apitest.Request{Path: "/parcels", As: apitest.Support}, want{200, ""}},
		"role too low":                  {apitest.Request{Path: "/parcels", As: apitest.Subscriber}, want{403, "role_required"}},
		"support does not write":        {apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Support, Body: "{}"}, want{403, "role_required"}},
		"role before body":              {apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Support, Body: "{"}, want{403, "role_required"}},
		"other tenant":                  {apitest.Request{Path: "/parcels", As: apitest.OtherAdmin}, want{401, "unauthenticated"}},
		"tenant's user on root":         {apitest.Request{Path: "/depots", As: apitest.Admin, Host: apitest.Domain}, want{401, "unauthenticated"}},
		"super_admin on root":           {apitest.Request{Path: "/depots", As: apitest.Super, Host: apitest.Domain}, want{200, ""}},
		"super_admin anywhere":          {apitest.Request{Path: "/parcels", As: apitest.Super, Host: apitest.Other}, want{200, ""}},
		"password change first":         {apitest.Request{Path: "/parcels", As: apitest.NewAdmin}, want{403, "password_change_required"}},
		"password change allows /auth":  {apitest.Request{Path: "/auth/mine", As: apitest.NewAdmin}, want{200, ""}},
		"public route ignores a token":  {apitest.Request{Method: "POST", Path: "/auth/knock", As: "x"}, want{200, ""}},
		"lower role is told the role":   {apitest.Request{Path: "/parcels", As: apitest.Subscriber}, want{403, "role_required"}},
		"unknown path without sign-in":  {apitest.Request{Path: "/nothing"}, want{404, "not_found"}},
		"foreign id is just not there":  {apitest.Request{Path: aParcel, As: apitest.Subscriber}, want{404, "parcel_not_found"}},
		"bad id in a path is not there": {apitest.Request{Path: "/parcels/42", As: apitest.Subscriber}, want{404, "parcel_not_found"}},
	} {
		sends(t, k, name, tc.r, tc.w)
	}
	if got := k.Do(t, apitest.Request{Path: "/parcels"}); got.Header.Get("WWW-Authenticate") != "Bearer" {
		t.Error("401 without WWW-Authenticate")
	}
}

func TestSignIn_SuperAdminActsInTheHostsOrganizationAndIsNamed(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, newParcels().routes())
	var got parcelResponse
	k.Do(t, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Super, Body: `{"name":"a","amount":1}`}).Into(t, &got)
	want := events.Actor{Kind: events.ActorUser, ID: k.Callers[apitest.Super].UserID.String(), Role: "super_admin"}
	if got.Actor != want || got.Org != k.Orgs["acme"].ID.String() {
		t.Errorf("acted as %+v in %s", got.Actor, got.Org)
	}
}

func TestBodies_MalformedMissingInvalid(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, newParcels().routes())
	for body, w := range map[string]want{
		`{"name":"a","amount":10.50}`:                                 {201, ""},
		` {"name":"a","amount":0} ` + "\n":                            {201, ""},
		`{"name":"a","amount":1,"notes":null,"planId":null}`:          {201, ""},
		`{"name":"a","amount":1,"lines":[{"text":"x","quantity":2}]}`: {201, ""},
		``:                                 {400, "missing_field"},
		`{}`:                               {400, "missing_field"},
		`{"name":null,"amount":1}`:         {400, "missing_field"},
		`{"NAME":"a","amount":1}`:          {400, "missing_field"}, // names are exact
		`{"name":"a"`:                      {400, "malformed_body"},
		`{"name":"a","amount":1} x`:        {400, "malformed_body"},
		`{"name":"a","amount":1}{}`:        {400, "malformed_body"},
		`[]`:                               {400, "malformed_body"},
		`null`:                             {400, "malformed_body"},
		`"x"`:                              {400, "malformed_body"},
		"{\"name\":\"\xff\",\"amount\":1}": {400, "malformed_body"},
		`{"name":"a","amount":01}`:         {400, "malformed_body"},
		`{"name":"a","amount":NaN}`:        {400, "malformed_body"},
		strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000):   {400, "malformed_body"},
		`{"name":"a","amount":1,"lines":[{"text":"x"}]}`:                    {400, "missing_field"},
		`{"name":"a","amount":1,"extra":1}`:                                 {422, "invalid_input"},
		`{"name":"a","name":"b","amount":1}`:                                {422, "invalid_input"},
		`{"name":1,"amount":1}`:                                             {422, "invalid_input"},
		`{"name":"a","amount":"1"}`:                                         {422, "invalid_input"},
		`{"name":"a","amount":1.001}`:                                       {422, "invalid_input"},
		`{"name":"a","amount":1.000}`:                                       {422, "invalid_input"},
		`{"name":"a","amount":1e2}`:                                         {422, "invalid_input"},
		`{"name":"a","amount":99999999999999999999}`:                        {422, "invalid_input"},
		`{"name":"a","amount":true}`:                                        {422, "invalid_input"},
		`{"name":"a","amount":1,"planId":"42"}`:                             {422, "invalid_input"},
		`{"name":"a","amount":1,"planId":42}`:                               {422, "invalid_input"},
		`{"name":"a","amount":1,"dueDate":"2026-02-30"}`:                    {422, "invalid_input"},
		`{"name":"a","amount":1,"kind":"crate"}`:                            {422, "invalid_input"},
		`{"name":"a\u0000b","amount":1}`:                                    {422, "invalid_input"},
		`{"name":"a","amount":1,"lines":{}}`:                                {422, "invalid_input"},
		`{"name":"a","amount":1,"lines":[1]}`:                               {422, "invalid_input"},
		`{"name":"a","amount":1,"lines":[null]}`:                            {422, "invalid_input"},
		`{"name":"a","amount":1,"lines":[{"text":"x","quantity":1.5}]}`:     {422, "invalid_input"},
		`{"name":"a","amount":1,"lines":[{"text":"x","quantity":1,"q":1}]}`: {422, "invalid_input"},
	} {
		name := body
		if len(name) > 80 {
			name = name[:80]
		}
		sends(t, k, name, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: body}, w)
	}
}

func TestBodies_EachFaultNamesItsField(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, newParcels().routes())
	body := `{"name":1,"amount":"x","kind":"crate","lines":[{"text":2,"quantity":1}],"wrong":true}`
	var got struct{ Message []string }
	k.Do(t, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: body}).Into(t, &got)
	want := []string{"name must be a text", "amount is not valid: an amount is a number without exponent", "kind must be one of letter, box",
		"lines[0].text must be a text", `"wrong" is not a known field`}
	if diff := cmp.Diff(want, got.Message); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestBodies_TypeAndSize(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, newParcels().routes())
	post := func(body string, header map[string]string) apitest.Request {
		return apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: body, Header: header}
	}
	good := `{"name":"a","amount":1}`
	sends(t, k, "with charset", post(good, map[string]string{"Content-Type": "application/json; charset=utf-8"}), want{201, ""})
	sends(t, k, "form", post(good, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}), want{415, "unsupported_media_type"})
	sends(t, k, "text", post(good, map[string]string{"Content-Type": "text/plain"}), want{415, "unsupported_media_type"})
	sends(t, k, "no type", post(good, map[string]string{"Content-Type": ""}), want{415, "unsupported_media_type"})
	manifest := apitest.Request{Method: "POST", Path: "/manifests", As: apitest.Admin, Body: "a,b", Header: map[string]string{"Content-Type": "text/csv"}}
	sends(t, k, "CSV where it is taken", manifest, want{200, ""})
	manifest.Header = nil
	sends(t, k, "JSON where CSV is taken", manifest, want{415, "unsupported_media_type"})
	huge := `{"amount":1,"name":"` + strings.Repeat("a", 1<<20) + `"}`
	sends(t, k, "too large", post(huge, nil), want{413, "body_too_large"})
	fits := `{"amount":1,"name":"` + strings.Repeat("a", 1<<20-22) + `"}`
	if len(fits) != 1<<20 {
		t.Fatalf("body has %d bytes", len(fits))
	}
	sends(t, k, "exactly 1 MiB", post(fits, nil), want{201, ""})
}

func TestFailures_NothingInternalIsShown(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, newParcels().routes())
	for how, w := range map[string]want{"panic": {500, "internal"}, "error": {500, "internal"}, "unavailable": {503, "provider_unavailable"},
		"refused": {502, "router_refused"}} {
		got := sends(t, k, how, apitest.Request{Path: "/breaks/" + how}, w)
		if strings.Contains(string(got.Body), "secret") {
			t.Errorf("%s shows its cause: %s", how, got.Body)
		}
		if how == "unavailable" && got.Header.Get("Retry-After") != "2" {
			t.Errorf("Retry-After is %q", got.Header.Get("Retry-After"))
		}
	}
	if got := k.Do(t, apitest.Request{Path: "/breaks/late"}); got.Status != 200 || string(got.Body) != `{"a":"b"}` {
		t.Errorf("an error after the answer changed it: %d %s", got.Status, got.Body)
	}
	if !strings.Contains(k.Log.String(), "secret of the house") {
		t.Error("the cause is not in the log")
	}
}

func TestVisibility_ShowsTheResourceOrAcceptsIt(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, newParcels().routes())
	patch := apitest.Request{Method: "PATCH", Path: aParcel, As: apitest.Admin}
	got := sends(t, k, "shown", patch, want{200, ""})
	if got.Header.Get("ETag") != `"4"` {
		t.Errorf("ETag is %q", got.Header.Get("ETag"))
	}
	for match, w := range map[string]want{`"3"`: {200, ""}, "*": {200, ""}, `"2"`: {412, "stale_revision"}, "3": {400, "bad_if_match"},
		`W/"3"`: {400, "bad_if_match"}, `"3","4"`: {400, "bad_if_match"}, `"-1"`: {400, "bad_if_match"}} {
		patch.Header = map[string]string{"If-Match": match}
		sends(t, k, "If-Match "+match, patch, w)
	}
	late := apitest.New(t, func(cfg *httpapi.Config) { cfg.Visibility = behind{} }, newParcels().routes())
	got = late.Do(t, apitest.Request{Method: "PATCH", Path: aParcel, As: apitest.Admin})
	if want := `{"id":"` + strings.TrimPrefix(aParcel, "/parcels/") + `","status":"accepted"}`; got.Status != 202 || string(got.Body) != want {
		t.Errorf("behind: %d %s", got.Status, got.Body)
	}
}
