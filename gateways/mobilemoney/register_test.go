package mobilemoney_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

func TestNothingRegistered_OnlyWhenThatIsCertain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"refused": {400, refusedForm, true},
		"registered already": {
			500, `{"errorCode":"500.003.1001","errorMessage":"Urls are already registered."}`, false,
		},
		"older form":       {200, `{"ResponseDescription":"URLs are already registered"}`, false},
		"internal error":   {500, `{"errorCode":"500.003.1001","errorMessage":"Internal Server Error"}`, false},
		"no answer of its": {503, ``, false},
		"unreadable":       {200, `<html>`, false},
	} {
		err := answering(t, c.status, c.body).RegisterURLs(t.Context(), creds, urls)
		if err == nil || mobilemoney.NothingRegistered(err) != c.want {
			t.Errorf("%s: certain %v, %v", name, !c.want, err)
		}
	}
	k := newKit(t, provider.Config{})
	if err := k.RegisterURLs(t.Context(), mobilemoney.Credentials{}, urls); !mobilemoney.NothingRegistered(err) {
		t.Errorf("incomplete: %v", err)
	}
	if err := k.sim.AddCredentials("key", "another", "", ""); err != nil {
		t.Fatal(err)
	}
	if err := k.RegisterURLs(t.Context(), creds, urls); !mobilemoney.NothingRegistered(err) {
		t.Errorf("wrong credentials: %v", err)
	}
	k.faults(provider.Faults{Down: true})
	if err := k.RegisterURLs(t.Context(), creds, urls); !mobilemoney.NothingRegistered(err) {
		t.Errorf("no token could be fetched: %v", err)
	}
}

func TestForbiddenWord_IsFoundAnywhereInAnyCase(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://pay.isp.test/webhooks/mobile-money/stk":             "",
		"https://pay.isp.test/webhooks/mobile-money/c2b/validation":  "",
		"https://isp.test/webhooks/mobile-money/c2b/confirmation/fe": "",
		"https://isp.test/webhooks/billmanager/payment":              "",
		"https://EXEcutive.test/x":                                   "exec",
		"https://exempt.test/x":                                      "exe",
		"https://isp.test/M-Pesa":                                    "m-pesa",
		"https://MPESA.isp.test/":                                    "mpesa",
		"https://safariCom.test":                                     "safaricom",
		"https://isp.test/aCmD9":                                     "cmd",
		"https://isp.test/0Sql_":                                     "sql",
		"https://isp.test/?Query":                                    "query",
	} {
		if got := mobilemoney.ForbiddenWord(address); got != want {
			t.Errorf("%s: %q", address, got)
		}
	}
}
