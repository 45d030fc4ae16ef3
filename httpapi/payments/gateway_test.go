package paymentsapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// shownGateway is the settings as a client reads them.
type shownGateway struct {
	Mode           string `json:"mode"`
	Shortcode      string `json:"shortcode"`
	ConsumerSecret string `json:"consumerSecret"`
	Passkey        string `json:"passkey"`
	Active         bool   `json:"active"`
	Registration   struct {
		State     string     `json:"state"`
		Error     string     `json:"error"`
		TriedAt   *time.Time `json:"triedAt"`
		NextTryAt *time.Time `json:"nextTryAt"`
		Refusal   *struct {
			At           time.Time
			Why, Message string
		} `json:"refusal"`
	} `json:"registration"`
}

// gateway reads Acme's settings.
func (k *moneyKit) gateway(t *testing.T) shownGateway {
	t.Helper()
	var out shownGateway
	k.Do(t, apitest.Request{Path: "/settings/payment-gateway", As: apitest.Admin}).Into(t, &out)
	return out
}

// configure sends settings; another status than the expected one ends the test.
func (k *moneyKit) configure(t *testing.T, host, as string, body map[string]any, status int) apitest.Answer {
	t.Helper()
	a := k.Do(t, apitest.Request{
		Method: http.MethodPut, Host: host, Path: "/settings/payment-gateway", As: as, Body: body,
	})
	if a.Status != status {
		t.Fatalf("configure: want %d, have %d %s", status, a.Status, a.Body)
	}
	k.Quiet(t)
	return a
}

// paybill reads, as support, where Acme's customers pay; nil = nowhere now.
func (k *moneyKit) paybill(t *testing.T) *string {
	t.Helper()
	var out struct{ Shortcode, Environment *string }
	a := k.Do(t, apitest.Request{Path: "/paybill", As: apitest.Support})
	if a.Into(t, &out); a.Status != http.StatusOK {
		t.Fatalf("paybill: %d %s", a.Status, a.Body)
	}
	if out.Shortcode != nil && (out.Environment == nil || *out.Environment != "sandbox") {
		t.Errorf("nobody is told that the number is for trials: %s", a.Body)
	}
	return out.Shortcode
}

// direct is the body that sets direct mode with the given consumer secret.
func direct(shortcode, secret string) map[string]any {
	return map[string]any{"mode": "direct", "environment": "sandbox", "shortcode": shortcode, "consumerKey": "acme-key",
		"consumerSecret": secret, "passkey": "acme-pass"}
}

func TestPaymentGateway_DirectShortcodeWorksOnlyAfterItsOwnRegistration(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	if g := k.gateway(t); g.Mode != "centralized" || g.Shortcode != moneytest.PlatformShortcode || !g.Active {
		t.Errorf("at first: %+v", g)
	}
	if number := k.paybill(t); number == nil || *number != moneytest.PlatformShortcode {
		t.Errorf("at first customers pay to %v", number)
	}
	for key, secret := range map[string]string{"platform": "secret", "acme-key": "right"} {
		if err := k.Sim.AddCredentials(key, secret, "", ""); err != nil {
			t.Fatal(err)
		}
	}
	k.configure(t, apitest.Acme, apitest.Support, direct("600777", "right"), 403)
	none := map[string]string{"If-Match": k.Do(t, apitest.Request{
		Path: "/settings/payment-gateway", As: apitest.Admin,
	}).Header.Get("ETag")}
	k.configure(t, apitest.Acme, apitest.Admin, direct(moneytest.PlatformShortcode, "right"), 409)
	k.configure(t, apitest.Acme, apitest.Admin, map[string]any{"mode": "direct", "shortcode": "600777"}, 422)
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "wrong"), 200)
	if g := k.gateway(t); g.Active || g.Registration.State != "failed" || g.Registration.Error == "" {
		t.Fatalf("with wrong credentials: %+v", g)
	}
	if number := k.paybill(t); number != nil {
		t.Errorf("customers are told to pay to %s, which takes no money yet", *number)
	}
	a := k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	if strings.Contains(string(a.Body), "right") || strings.Contains(string(a.Body), "acme-pass") {
		t.Error("a secret is read back")
	}
	late := k.Do(t, apitest.Request{
		Method: http.MethodPut, Path: "/settings/payment-gateway", As: apitest.Admin, Header: none,
		Body: map[string]any{"mode": "centralized"},
	})
	if late.Status != http.StatusPreconditionFailed {
		t.Errorf("who read that there are no settings yet: %d %s", late.Status, late.Body)
	}
	if g := k.gateway(t); !g.Active || g.Registration.State != "registered" || g.Passkey != "********" {
		t.Fatalf("with right credentials: %+v", g)
	}
	if number := k.paybill(t); number == nil || *number != "600777" {
		t.Errorf("with right credentials customers pay to %v", number)
	}
	if code := k.configure(t, apitest.Other, apitest.OtherAdmin, direct("600777", "right"),
		409).Code(); code != "shortcode_taken" {
		t.Errorf("another organization: %s", code)
	}
	k.behave(t, "pay", provider.Faults{C2BAlso: true})
	k.prompt(t, 80)
	k.Quiet(t)
	k.expectCredited(t, 80, 1)
	if got := k.Sim.Prompts()[0].ShortCode; got != "600777" {
		t.Errorf("prompt on %s", got)
	}
}

// A person reads when it was tried and why it failed, corrects what is wrong at the provider, and asks for a try.
func TestPaymentGateway_ARefusedRegistrationSaysWhyAndIsTriedAgainWhenAsked(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	again := apitest.Request{
		Method: http.MethodPost, Path: "/settings/payment-gateway/register", As: apitest.Admin,
	}
	if a := k.Do(t, again); a.Code() != "gateway_not_found" {
		t.Errorf("without settings: %d %s", a.Status, a.Body)
	}
	if err := k.Sim.AddCredentials("acme-key", "else", "", ""); err != nil {
		t.Fatal(err)
	}
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	g := k.gateway(t).Registration
	wait := k.Clock.Now().Add(time.Minute)
	if g.TriedAt == nil || g.NextTryAt == nil || !g.NextTryAt.Round(time.Second).Equal(wait.Round(time.Second)) ||
		g.Refusal == nil || g.Refusal.Why != "credentials" || g.Refusal.Message == "" ||
		!g.Refusal.At.Equal(*g.TriedAt) {
		t.Fatalf("refused: %+v", g)
	}
	if err := k.Sim.AddCredentials("acme-key", "right", "", ""); err != nil {
		t.Fatal(err)
	}
	by := again
	by.As = apitest.Support
	if a := k.Do(t, by); a.Status != http.StatusForbidden {
		t.Errorf("support staff: %d %s", a.Status, a.Body)
	}
	for range 2 { // the second click
		if a := k.Do(t, again); a.Status != http.StatusOK {
			t.Fatalf("again: %d %s", a.Status, a.Body)
		}
	}
	k.Quiet(t)
	if g := k.gateway(t); !g.Active || g.Registration.Refusal != nil || g.Registration.NextTryAt != nil {
		t.Errorf("after another try: %+v", g)
	}
	k.configure(t, apitest.Acme, apitest.Admin, map[string]any{"mode": "centralized"}, 200)
	if a := k.Do(t, again); a.Code() != "registration_not_needed" {
		t.Errorf("on the platform's shortcode: %d %s", a.Status, a.Body)
	}
}

func TestPaymentGateway_HiddenSecretsStayAndUnknownAccountsAreItsOwnSuspense(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	r := k.Paybill(t, "600777", "254733000000", "nobody", 60)
	if r.State != "completed" {
		t.Fatalf("paybill %+v", r)
	}
	list := k.receipts(t, apitest.Acme, apitest.Support, "?state=suspense")
	if len(list) != 1 || list[0].ID != commands.ReceiptID(commands.EnvironmentSandbox, r.ReceiptNumber).String() {
		t.Fatalf("suspense %+v", list)
	}
	if list := k.receipts(t, apitest.Domain, apitest.Super, ""); len(list) != 0 {
		t.Errorf("the platform's inbox has %+v", list)
	}
	keep := direct("600777", "********")
	keep["consumerKey"], keep["passkey"], keep["rejectUnknownAccounts"] = "********", "********", true
	k.configure(t, apitest.Acme, apitest.Admin, keep, 200)
	if g := k.gateway(t); !g.Active {
		t.Fatalf("a changed flag ended the registration: %+v", g)
	}
	if r := k.Paybill(t, "600777", "254733000000", "nobody", 60); r.State != "rejected" || r.ResultCode != "C2B00012" {
		t.Errorf("unknown account: %+v", r)
	}
	if r := k.Paybill(t, "600777", "254733000000", commands.AccountNumber(1_000_000), 60); r.State != "completed" {
		t.Errorf("known account: %+v", r)
	}
	k.expectCredited(t, 60, 1)
}

func TestValidation_AnswersWithTheProvidersCodes(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for name, c := range map[string]struct{ body, want string }{
		"good": {
			confirmationBody("SJK4X7Q2P1", moneytest.PlatformShortcode, "anything", "10"), `"ResultCode":"0"`,
		},
		"unknown shortcode": {
			confirmationBody("SJK4X7Q2P1", "999999", "anything", "10"), `"ResultCode":"C2B00015"`,
		},
		"no amount": {
			confirmationBody("SJK4X7Q2P1", moneytest.PlatformShortcode, "anything", "0"), `"ResultCode":"C2B00013"`,
		},
		"amount that is no number": {
			confirmationBody("SJK4X7Q2P1", moneytest.PlatformShortcode, "anything", "ten"), `"ResultCode":"C2B00013"`,
		},
	} {
		a := k.Post(t, apitest.Unknown, "", bareValidation, c.body, 200)
		if !strings.Contains(string(a.Body), c.want) {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
	k.expectCredited(t, 0, 0)
}
