package httpapi_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// behind is an httpapi.Visibility whose read models are always late.
type behind struct{}

// WaitFor fails at once.
func (behind) WaitFor(context.Context, string, uint64) error { return runner.ErrBehind }

// requestCase is a request with the answer that it must get.
type requestCase struct {
	r apitest.Request
	w apitest.Want
}

// hostCases has requests to good and bad hosts, with their answers.
var hostCases = map[string]requestCase{
	"own host": {apitest.Request{Path: "/parcels", As: apitest.Admin}, apitest.Is(200, "")},
	"case and port do not matter": {
		apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "ACME.Lastmile.TEST:8080"}, apitest.Is(200, ""),
	},
	"final dot": {
		apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "acme.lastmile.test."}, apitest.Is(200, ""),
	},
	"unknown slug": {
		apitest.Request{Path: "/parcels", As: apitest.Admin, Host: apitest.Unknown}, apitest.Is(404, "not_found"),
	},
	"deeper name": {
		apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "x.acme.lastmile.test"},
		apitest.Is(404, "not_found"),
	},
	"foreign name": {
		apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "example.org"}, apitest.Is(404, "not_found"),
	},
	"suffix without a dot": {
		apitest.Request{Path: "/parcels", As: apitest.Admin, Host: "acmelastmile.test"},
		apitest.Is(404, "not_found"),
	},
	"forwarded host is ignored": {apitest.Request{Path: "/parcels", As: apitest.Admin, Host: apitest.Other,
		Header: map[string]string{"X-Forwarded-Host": apitest.Acme}}, apitest.Is(401, "unauthenticated")},
	"organization route on root": {
		apitest.Request{Path: "/parcels", As: apitest.Super, Host: apitest.Domain}, apitest.Is(404, "not_found"),
	},
	"root route on organization": {
		apitest.Request{Path: "/depots", As: apitest.Super}, apitest.Is(404, "not_found"),
	},
	"other method of the other kind": {
		apitest.Request{Method: "DELETE", Path: "/depots", As: apitest.Super}, apitest.Is(404, "not_found"),
	},
	"suspended": {
		apitest.Request{Path: "/parcels", As: apitest.Admin, Host: apitest.Gone},
		apitest.Is(403, "organization_suspended"),
	},
	"suspended, public route": {
		apitest.Request{Method: "POST", Path: "/auth/knock", Host: apitest.Gone},
		apitest.Is(403, "organization_suspended"),
	},
	"callback on any name": {
		apitest.Request{Method: "POST", Path: "/webhooks/parcels/t", Host: "203.0.113.9"}, apitest.Is(200, ""),
	},
	"callback on a suspended host": {
		apitest.Request{Method: "POST", Path: "/webhooks/parcels/t", Host: apitest.Gone}, apitest.Is(200, ""),
	},
	"callback on an unknown host": {
		apitest.Request{Method: "POST", Path: "/webhooks/parcels/t", Host: apitest.Unknown}, apitest.Is(200, ""),
	},
	"wrong method": {
		apitest.Request{Method: "PUT", Path: "/parcels", As: apitest.Admin}, apitest.Is(405, "method_not_allowed"),
	},
	"options": {
		apitest.Request{Method: "OPTIONS", Path: "/parcels", As: apitest.Admin},
		apitest.Is(405, "method_not_allowed"),
	},
	"no such path": {
		apitest.Request{Path: "/nothing", As: apitest.Admin}, apitest.Is(404, "not_found"),
	},
	"trailing slash is another path": {
		apitest.Request{Path: "/parcels/", As: apitest.Admin}, apitest.Is(404, "not_found"),
	},
	"escaped slash reaches no parent": {
		apitest.Request{Path: "/parcels%2f..%2fparcels", As: apitest.Admin}, apitest.Is(404, "not_found"),
	},
}

func TestHosts_OnlyTheHostHeaderChoosesTheTenant(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for name, tc := range hostCases {
		apitest.Sends(t, k, name, tc.r, tc.w)
	}
	if got := k.Do(t, apitest.Request{Method: "HEAD", Path: "/parcels", As: apitest.Admin}); got.Status != 200 ||
		len(got.Body) != 0 {
		t.Errorf("HEAD: %d %s", got.Status, got.Body)
	}
	got := k.Do(t, apitest.Request{Method: "PUT", Path: "/parcels", As: apitest.Admin})
	if allow := got.Header.Get("Allow"); allow != "GET, POST" {
		t.Errorf("Allow is %q", allow)
	}
	if got := k.Do(t, apitest.Request{Method: "POST", Path: "/webhooks/parcels/t",
		Host: apitest.Acme}); string(got.Body) != `{"org":""}` {
		t.Errorf("a callback took the host's tenant: %s", got.Body)
	}
}

// signInCases has requests with and without a token, with their answers.
var signInCases = map[string]requestCase{
	"nobody": {apitest.Request{Path: "/parcels"}, apitest.Is(401, "unauthenticated")},
	"wrong token": {
		apitest.Request{Path: "/parcels", As: "x"}, apitest.Is(401, "unauthenticated"),
	},
	"cookie": {
		apitest.Request{Path: "/parcels", Cookie: apitest.Admin}, apitest.Is(200, ""),
	},
	"header beats cookie": {
		apitest.Request{Path: "/parcels", As: "x", Cookie: apitest.Admin}, apitest.Is(401, "unauthenticated"),
	},
	"basic is no token": {
		apitest.Request{Path: "/parcels", Header: map[string]string{"Authorization": "Basic " + apitest.Admin}},
		apitest.Is(401, "unauthenticated"),
	},
	"role enough": {apitest.Request{Path: "/parcels", As: apitest.Support}, apitest.Is(200, "")},
	"role too low": {
		apitest.Request{Path: "/parcels", As: apitest.Subscriber}, apitest.Is(403, "role_required"),
	},
	"support does not write": {
		apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Support, Body: "{}"},
		apitest.Is(403, "role_required"),
	},
	"role before body": {
		apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Support, Body: "{"},
		apitest.Is(403, "role_required"),
	},
	"other tenant": {
		apitest.Request{Path: "/parcels", As: apitest.OtherAdmin}, apitest.Is(401, "unauthenticated"),
	},
	"tenant's user on root": {
		apitest.Request{Path: "/depots", As: apitest.Admin, Host: apitest.Domain},
		apitest.Is(401, "unauthenticated"),
	},
	"super_admin on root": {
		apitest.Request{Path: "/depots", As: apitest.Super, Host: apitest.Domain}, apitest.Is(200, ""),
	},
	"super_admin anywhere": {
		apitest.Request{Path: "/parcels", As: apitest.Super, Host: apitest.Other}, apitest.Is(200, ""),
	},
	"password change first": {
		apitest.Request{Path: "/parcels", As: apitest.NewAdmin}, apitest.Is(403, "password_change_required"),
	},
	"password change allows /auth": {
		apitest.Request{Path: "/auth/mine", As: apitest.NewAdmin}, apitest.Is(200, ""),
	},
	"public route ignores a token": {
		apitest.Request{Method: "POST", Path: "/auth/knock", As: "x"}, apitest.Is(200, ""),
	},
	"lower role is told the role": {
		apitest.Request{Path: "/parcels", As: apitest.Subscriber}, apitest.Is(403, "role_required"),
	},
	"unknown path without sign-in": {apitest.Request{Path: "/nothing"}, apitest.Is(404, "not_found")},
	"foreign id is just not there": {
		apitest.Request{Path: apitest.AParcel, As: apitest.Subscriber}, apitest.Is(404, "parcel_not_found"),
	},
	"bad id in a path is not there": {
		apitest.Request{Path: "/parcels/42", As: apitest.Subscriber}, apitest.Is(404, "parcel_not_found"),
	},
}

func TestUnknownParameter_IsRefusedAndNotIgnored(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for name, tc := range map[string]struct {
		r apitest.Request
		w apitest.Want
	}{
		"its own": {
			apitest.Request{Path: "/parcels?kind=box&limit=5", As: apitest.Support}, apitest.Is(200, ""),
		},
		"misspelt":        {apitest.Request{Path: "/parcels?knd=box", As: apitest.Support}, apitest.Is(400, unknown)},
		"names are exact": {apitest.Request{Path: "/parcels?Kind=box", As: apitest.Support}, apitest.Is(400, unknown)},
		"without a value": {apitest.Request{Path: "/parcels?all", As: apitest.Support}, apitest.Is(400, unknown)},
		"not a text":      {apitest.Request{Path: "/parcels?%ff=1", As: apitest.Support}, apitest.Is(400, unknown)},
		"of one resource": {
			apitest.Request{Path: apitest.AParcel + "?limit=1", As: apitest.Admin}, apitest.Is(400, unknown),
		},
		"of a write": {
			apitest.Request{Method: "DELETE", Path: apitest.AParcel + "?x=1", As: apitest.Admin},
			apitest.Is(400, unknown),
		},
		"role comes first": {
			apitest.Request{Path: "/parcels?x=1", As: apitest.Subscriber}, apitest.Is(403, "role_required"),
		},
		"a public address": {apitest.Request{Method: "POST", Path: "/auth/knock?from=mail"}, apitest.Is(200, "")},
		"a callback": {
			apitest.Request{Method: "POST", Path: "/webhooks/parcels/t?attempt=2"}, apitest.Is(200, ""),
		},
	} {
		apitest.Sends(t, k, name, tc.r, tc.w)
	}
	got := k.Do(t, apitest.Request{Path: "/parcels?knd=box", As: apitest.Support})
	if text := string(got.Body); !strings.Contains(text, `knd`) || !strings.Contains(text, "kind, limit, cursor") {
		t.Errorf("told %s", text)
	}
}

// unknown is the code of a query parameter that the address does not take.
const unknown = "unknown_parameter"

func TestSignIn_TenantRoleAndPassword(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for name, tc := range signInCases {
		apitest.Sends(t, k, name, tc.r, tc.w)
	}
	if got := k.Do(t, apitest.Request{Path: "/parcels"}); got.Header.Get("WWW-Authenticate") != "Bearer" {
		t.Error("401 without WWW-Authenticate")
	}
}

func TestSignIn_SuperAdminActsInTheHostsOrganizationAndIsNamed(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	var got apitest.ParcelResponse
	k.Do(t, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Super,
		Body: `{"name":"a","amount":1}`}).Into(t, &got)
	want := events.Actor{Kind: events.ActorUser, ID: k.Callers[apitest.Super].UserID.String(), Role: "super_admin"}
	if got.Actor != want || got.Org != k.Orgs["acme"].ID.String() {
		t.Errorf("acted as %+v in %s", got.Actor, got.Org)
	}
}

func TestBodies_MalformedMissingInvalid(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for body, w := range map[string]apitest.Want{
		`{"name":"a","amount":10.50}`:                                 apitest.Is(201, ""),
		` {"name":"a","amount":0} ` + "\n":                            apitest.Is(201, ""),
		`{"name":"a","amount":1,"notes":null,"planId":null}`:          apitest.Is(201, ""),
		`{"name":"a","amount":1,"lines":[{"text":"x","quantity":2}]}`: apitest.Is(201, ""),
		``:                                 apitest.Is(400, "missing_field"),
		`{}`:                               apitest.Is(400, "missing_field"),
		`{"name":null,"amount":1}`:         apitest.Is(400, "missing_field"),
		`{"NAME":"a","amount":1}`:          apitest.Is(400, "missing_field"), // names are exact
		`{"name":"a"`:                      apitest.Is(400, "malformed_body"),
		`{"name":"a","amount":1} x`:        apitest.Is(400, "malformed_body"),
		`{"name":"a","amount":1}{}`:        apitest.Is(400, "malformed_body"),
		`[]`:                               apitest.Is(400, "malformed_body"),
		`null`:                             apitest.Is(400, "malformed_body"),
		`"x"`:                              apitest.Is(400, "malformed_body"),
		"{\"name\":\"\xff\",\"amount\":1}": apitest.Is(400, "malformed_body"),
		`{"name":"a","amount":01}`:         apitest.Is(400, "malformed_body"),
		`{"name":"a","amount":NaN}`:        apitest.Is(400, "malformed_body"),
		strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000):   apitest.Is(400, "malformed_body"),
		`{"name":"a","amount":1,"lines":[{"text":"x"}]}`:                    apitest.Is(400, "missing_field"),
		`{"name":"a","amount":1,"extra":1}`:                                 apitest.Is(422, "invalid_input"),
		`{"name":"a","name":"b","amount":1}`:                                apitest.Is(422, "invalid_input"),
		`{"name":1,"amount":1}`:                                             apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":"1"}`:                                         apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1.001}`:                                       apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1.000}`:                                       apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1e2}`:                                         apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":99999999999999999999}`:                        apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":true}`:                                        apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1,"planId":"42"}`:                             apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1,"planId":42}`:                               apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1,"dueDate":"2026-02-30"}`:                    apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1,"kind":"crate"}`:                            apitest.Is(422, "invalid_input"),
		`{"name":"a\u0000b","amount":1}`:                                    apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1,"lines":{}}`:                                apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1,"lines":[1]}`:                               apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1,"lines":[null]}`:                            apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1,"lines":[{"text":"x","quantity":1.5}]}`:     apitest.Is(422, "invalid_input"),
		`{"name":"a","amount":1,"lines":[{"text":"x","quantity":1,"q":1}]}`: apitest.Is(422, "invalid_input"),
	} {
		name := body
		if len(name) > 80 {
			name = name[:80]
		}
		apitest.Sends(t, k, name, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: body}, w)
	}
}

func TestTexts_MayNotTurnTheDirectionOfWhatStandsBeside(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	post := func(name string) apitest.Request {
		return apitest.Request{
			Method: "POST", Path: "/parcels", As: apitest.Admin, Body: `{"name":"` + name + `","amount":1}`,
		}
	}
	refused := []string{`a\u202eb`, `\u202E`, `\u2066x\u2069`} // escaped, also when the pair is closed
	for _, turning := range "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		refused = append(refused, "1,500 "+string(turning)+"Amina")
	}
	for _, name := range refused {
		var got struct{ Faults []failure.FieldFault }
		apitest.Sends(t, k, strconv.QuoteToASCII(name), post(name), apitest.Is(422, "invalid_input"))
		k.Do(t, post(name)).Into(t, &got)
		if len(got.Faults) != 1 || got.Faults[0].Field != "name" || got.Faults[0].Code != "direction" {
			t.Errorf("%+q: %+v", name, got.Faults)
		}
	}
	for _, name := range []string{
		"محمد علي", "נועה לוי", "أمينة 1,500 Ltd", "Dar\u2019s \u2013 Caf\u00e9 \u200f", `\\u202e`, `it\u2019s`,
	} {
		if a := k.Do(t, post(name)); a.Status >= 300 {
			t.Errorf("%+q: %d %s", name, a.Status, a.Body)
		}
	}
}

func TestBodies_EachFaultNamesItsField(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	body := `{"name":1,"amount":"x","kind":"crate","lines":[{"text":2,"quantity":1}],"wrong":true}`
	var got struct{ Message []string }
	k.Do(t, apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: body}).Into(t, &got)
	want := []string{
		"name must be a text", "amount is not valid: an amount is a number without exponent",
		"kind must be one of letter, box", "lines[0].text must be a text", `"wrong" is not a known field`,
	}
	if diff := cmp.Diff(want, got.Message); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestBodies_TypeAndSize(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	post := func(body string, header map[string]string) apitest.Request {
		return apitest.Request{Method: "POST", Path: "/parcels", As: apitest.Admin, Body: body, Header: header}
	}
	good := `{"name":"a","amount":1}`
	apitest.Sends(t, k, "with charset",
		post(good, map[string]string{"Content-Type": "application/json; charset=utf-8"}), apitest.Is(201, ""))
	apitest.Sends(t, k, "form", post(good, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}),
		apitest.Is(415, "unsupported_media_type"))
	apitest.Sends(t, k, "text", post(good, map[string]string{"Content-Type": "text/plain"}),
		apitest.Is(415, "unsupported_media_type"))
	apitest.Sends(t, k, "no type", post(good, map[string]string{"Content-Type": ""}),
		apitest.Is(415, "unsupported_media_type"))
	manifest := apitest.Request{
		Method: "POST", Path: "/manifests", As: apitest.Admin, Body: "a,b",
		Header: map[string]string{"Content-Type": "text/csv"},
	}
	apitest.Sends(t, k, "CSV where it is taken", manifest, apitest.Is(200, ""))
	manifest.Header = nil
	apitest.Sends(t, k, "JSON where CSV is taken", manifest, apitest.Is(415, "unsupported_media_type"))
	huge := `{"amount":1,"name":"` + strings.Repeat("a", 1<<20) + `"}`
	apitest.Sends(t, k, "too large", post(huge, nil), apitest.Is(413, "body_too_large"))
	fits := `{"amount":1,"name":"` + strings.Repeat("a", 1<<20-22) + `"}`
	if len(fits) != 1<<20 {
		t.Fatalf("body has %d bytes", len(fits))
	}
	apitest.Sends(t, k, "exactly 1 MiB", post(fits, nil), apitest.Is(201, ""))
}

func TestFailures_NothingInternalIsShown(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for how, w := range map[string]apitest.Want{
		"panic": apitest.Is(500, "internal"), "error": apitest.Is(500, "internal"),
		"unavailable": apitest.Is(503, "provider_unavailable"), "refused": apitest.Is(502, "router_refused"),
	} {
		got := apitest.Sends(t, k, how, apitest.Request{Path: "/breaks/" + how}, w)
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
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	patch := apitest.Request{Method: "PATCH", Path: apitest.AParcel, As: apitest.Admin}
	got := apitest.Sends(t, k, "shown", patch, apitest.Is(200, ""))
	if got.Header.Get("ETag") != `"4"` {
		t.Errorf("ETag is %q", got.Header.Get("ETag"))
	}
	for match, w := range map[string]apitest.Want{
		`"3"`: apitest.Is(200, ""), "*": apitest.Is(200, ""), `"2"`: apitest.Is(412, "stale_revision"),
		"3": apitest.Is(400, "bad_if_match"), `W/"3"`: apitest.Is(400, "bad_if_match"),
		`"3","4"`: apitest.Is(400, "bad_if_match"), `"-1"`: apitest.Is(400, "bad_if_match"),
		`"18446744073709551615"`: apitest.Is(412, "stale_revision"), `"none"`: apitest.Is(412, "stale_revision"),
	} {
		patch.Header = map[string]string{"If-Match": match}
		apitest.Sends(t, k, "If-Match "+match, patch, w)
	}
	late := apitest.New(t, func(cfg *httpapi.Config) { cfg.Visibility = behind{} }, apitest.NewParcels().Routes())
	got = late.Do(t, apitest.Request{Method: "PATCH", Path: apitest.AParcel, As: apitest.Admin})
	if want := `{"id":"` + strings.TrimPrefix(apitest.AParcel, "/parcels/") +
		`","status":"accepted"}`; got.Status != 202 || string(got.Body) != want {
		t.Errorf("behind: %d %s", got.Status, got.Body)
	}
}
