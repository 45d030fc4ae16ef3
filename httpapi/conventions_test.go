package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// behind is a read side that never shows anything in time.
type behind struct{}

// WaitFor is httpapi.Visibility's.
func (behind) WaitFor(context.Context, string, uint64) error { return runner.ErrBehind }

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
