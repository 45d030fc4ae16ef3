package messagingapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
)

// shown are the settings as a client reads them.
type shown struct {
	Language  string
	Templates map[string]struct {
		SMS   string
		Email struct{ Subject, Text string }
	}
	Translations map[string]map[string]struct{ SMS string }
	QuietHours   *struct{ From, To string }
	Words        map[string][]string
}

// settings asks for a change; an empty body reads.
func settings(as, body string) apitest.Request {
	if body == "" {
		return isptest.Get(as, "/settings/messages")
	}
	return apitest.Request{
		Method: http.MethodPut, Path: "/settings/messages", As: as, Body: json.RawMessage(body),
	}
}

// read decodes an answer.
func read(t *testing.T, body []byte) (s shown) {
	t.Helper()
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMessageSettings_ChangeWhatIsGivenAndKeepTheRest(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin := k.Admin(t)
	first := k.Want(t, 200, "", settings(admin, ""))
	usual := read(t, first.Body)
	if usual.Language != "en" || usual.QuietHours != nil || usual.Templates["receipt"].SMS == "" ||
		usual.Translations["sw"]["receipt"].SMS == "" || len(usual.Words["receipt"]) == 0 {
		t.Errorf("usual %s", first.Body)
	}
	one := settings(admin, `{"templates":{"receipt":{"sms":"Asante {amount}","email":{"subject":"","text":""}}},
		"quietHours":{"from":"21:00","to":"07:00"}}`)
	one.Header = map[string]string{"If-Match": first.Header.Get("ETag")}
	set := k.Want(t, 200, "", one)
	got := read(t, set.Body)
	if got.Templates["receipt"].SMS != "Asante {amount}" || got.Templates["receipt"].Email.Text != "" ||
		got.Templates["outage"] != usual.Templates["outage"] || got.QuietHours == nil || got.QuietHours.To != "07:00" {
		t.Errorf("set %s", set.Body)
	}
	k.Want(t, 412, "stale_revision", one)
	swahili := read(t, k.Want(t, 200, "", settings(admin, `{"language":"sw","quietHours":null}`)).Body)
	if swahili.Templates["receipt"].SMS != usual.Translations["sw"]["receipt"].SMS || swahili.QuietHours != nil ||
		swahili.Translations["en"]["receipt"].SMS != "Asante {amount}" {
		t.Errorf("in Swahili %+v", swahili)
	}
	back := read(t, k.Want(t, 200, "", settings(admin, `{"translations":{"en":{}}}`)).Body)
	if back.Translations["en"]["receipt"].SMS != usual.Templates["receipt"].SMS {
		t.Errorf("the usual texts are not back: %+v", back)
	}
}

func TestMessageSettings_BadTextsAreRefusedByName(t *testing.T) {
	t.Parallel()
	k := isptest.New(t)
	admin, support := k.Admin(t), k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	const mail, none = `"email":{"subject":"a\nb","text":"c"}`, `"email":{"subject":"","text":""}`
	for body, field := range map[string]string{
		`{"templates":{"receipt":{"sms":"{amont}",` + none + `}}}`:               "templates.receipt.sms",
		`{"templates":{"receipt":{"sms":"{amount",` + none + `}}}`:               "templates.receipt.sms",
		`{"templates":{"receipt":{"sms":"",` + mail + `}}}`:                      "templates.receipt.email.subject",
		`{"templates":{"gift":{"sms":"a",` + none + `}}}`:                        "templates",
		`{"translations":{"sw":{"receipt":{"sms":"{pay}",` + none + `}}}}`:       "translations.sw.receipt.sms",
		`{"templates":{"receipt":{"sms":"","email":{"subject":"a","text":""}}}}`: "templates.receipt.email",
		`{"language":"fr"}`:                            "language",
		`{"quietHours":{"from":"21","to":"07:00"}}`:    "quietHours.from",
		`{"quietHours":{"from":"21:00","to":"21:00"}}`: "quietHours",
	} {
		got := k.Want(t, 422, "invalid_input", settings(admin, body))
		var failed struct{ Faults []struct{ Field string } }
		if err := json.Unmarshal(got.Body, &failed); err != nil || len(failed.Faults) != 1 ||
			failed.Faults[0].Field != field {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	k.Want(t, 200, "", settings(support, ""))
	k.Want(t, 403, "role_required", settings(support, `{}`))
}
