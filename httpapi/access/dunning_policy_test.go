package accessapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
)

// usual is the policy of docs/rules/access-dunning.md#default-policy as a client reads it.
const usual = `{"reminderDays":[-7,-3,0],"graceDays":3,"walledGardenDays":7,"writeOffDays":60,"minimumDue":50.00,` +
	`"noCutDays":["saturday","sunday"],"noCutAfter":{"friday":"16:00"},"skipHolidays":true,` +
	`"messageHours":{"from":"08:00","to":"20:00"}}`

// put asks for other policies.
func put(as, body string) apitest.Request {
	return apitest.Request{Method: http.MethodPut, Path: "/settings/dunning", As: as, Body: json.RawMessage(body)}
}

// same compares two JSON texts.
func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestDunningSettings_AreTheUsualOnesUntilTheyAreSet(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	first := k.Want(t, 200, "", isptest.Get(admin, "/settings/dunning"))
	same(t, first.Body, `{"default":`+usual+`,"policies":{}}`)
	of := map[string]string{"If-Match": first.Header.Get("ETag")}
	one := put(admin, `{"default":{"graceDays":5,"reminderDays":[0,-2],"minimumDue":12.5,
		"noCutDays":[],"noCutAfter":{},"skipHolidays":false,"messageHours":{"from":"09:00","to":"24:00"}},
		"policies":{"night":{"graceDays":0}}}`)
	one.Header = of
	set := k.Want(t, 200, "", one)
	other := put(admin, `{"default":{"graceDays":9}}`) // who has read the usual ones, too
	other.Header = of
	k.Want(t, 412, "stale_revision", other)
	want := `{"default":{"reminderDays":[-2,0],"graceDays":5,"walledGardenDays":7,"writeOffDays":60,"minimumDue":12.50,
		"noCutDays":[],"noCutAfter":{},"skipHolidays":false,"messageHours":{"from":"09:00","to":"24:00"}},
		"policies":{"night":` + strings.Replace(usual, `"graceDays":3`, `"graceDays":0`, 1) + `}}`
	same(t, set.Body, want)
	tag := set.Header.Get("ETag")
	if tag == "" {
		t.Error("no ETag")
	}
	again := k.Want(t, 200, "", isptest.Get(admin, "/settings/dunning"))
	same(t, again.Body, want)
	if again.Header.Get("ETag") != tag {
		t.Errorf("ETag %s, then %s", tag, again.Header.Get("ETag"))
	}
	kept := k.Want(t, 200, "", put(admin, `{"policies":{}}`))
	if !strings.Contains(string(kept.Body), `"graceDays":5`) {
		t.Errorf("the default policy did not stay: %s", kept.Body)
	}
	stale := put(admin, `{"default":{}}`)
	stale.Header = map[string]string{"If-Match": tag}
	k.Want(t, 412, "stale_revision", stale)
}

func TestDunningSettings_FaultsNamePolicyAndField(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	for body, fault := range map[string]string{
		`{"default":{"graceDays":-1}}`:                               "default.graceDays must be from 0 to 365",
		`{"policies":{"a":{"noCutDays":["Friday"]}}}`:                "policies.a.noCutDays must be days",
		`{"policies":{"a b":{}}}`:                                    "policies must have names",
		`{"default":{"noCutAfter":{"friday":"4pm"}}}`:                "default.noCutAfter must have times of day",
		`{"default":{"minimumDue":1.001}}`:                           "default.minimumDue must be a number",
		`{"default":{"minimumDue":-1}}`:                              "default.minimumDue must not be negative",
		`{"policies":{"x":{"graceDays":999}}}`:                       "policies.x.graceDays must be",
		`{"default":{"grace":1}}`:                                    "is not a known field",
		`{"default":{"messageHours":{"from":"20:00","to":"08:00"}}}`: "default.messageHours must have a from",
	} {
		if a := k.Want(t, 422, "invalid_input", put(admin, body)); !strings.Contains(string(a.Body), fault) {
			t.Errorf("%s: want %q, have %s", body, fault, a.Body)
		}
	}
}

func TestDunningSettings_AreForStaffOfTheOrganization(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	k.Want(t, 401, "unauthenticated", isptest.Get("", "/settings/dunning"))
	admin := k.Admin(t)
	k.Want(t, 200, "", put(admin, `{"default":{"graceDays":9}}`))
	other := k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	a := k.Want(t, 200, "", isptest.At(apitest.Other, isptest.Get(other, "/settings/dunning")))
	same(t, a.Body, `{"default":`+usual+`,"policies":{}}`)
}
