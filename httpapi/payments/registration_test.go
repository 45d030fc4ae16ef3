package paymentsapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// registerElsewhere registers addresses of another system for a shortcode, with credentials that the provider takes.
func (k *moneyKit) registerElsewhere(t *testing.T, shortcode string) {
	t.Helper()
	call := func(method, path, token string, body any) (answer map[string]any) {
		payload, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), method, k.Sim.URL()+path, bytes.NewReader(payload))
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("elsewhere", "secret")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Body.Close()
		if err := json.NewDecoder(w.Body).Decode(&answer); err != nil || w.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v %v", path, w.StatusCode, answer, err)
		}
		return answer
	}
	granted := call(http.MethodGet, "/oauth/v1/generate?grant_type=client_credentials", "", nil)
	token, _ := granted["access_token"].(string)
	call(http.MethodPost, "/mpesa/c2b/v2/registerurl", token, map[string]any{
		"ShortCode": shortcode, "ResponseType": "Completed", "ConfirmationURL": "http://127.0.0.1:9/c",
		"ValidationURL": "http://127.0.0.1:9/v",
	})
}

// registrations counts the failed and the successful registrations in the log of Acme's gateway.
func (k *moneyKit) registrations(t *testing.T) (failed, done int) {
	t.Helper()
	list, err := k.Core.Store.Read(t.Context(), commands.GatewayCategory+"-"+k.Org.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		switch {
		case strings.HasPrefix(e.Type, "payments.GatewayRegistrationFailed"):
			failed++
		case strings.HasPrefix(e.Type, "payments.GatewayRegistered"):
			done++
		}
	}
	return failed, done
}

func TestPaymentGateway_NewCredentialsOfARegisteredShortcodeWork(t *testing.T) {
	t.Parallel()
	for name, plain := range map[string]bool{"refused with an error": false, "refused in the older form": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newMoneyKit(t, moneytest.Options{})
			if err := k.Sim.SetFaults(provider.Faults{C2BAlso: true, PlainRegistered: plain}); err != nil {
				t.Fatal(err)
			}
			for key, secret := range map[string]string{"platform": "secret", "acme-key": "right"} {
				if err := k.Sim.AddCredentials(key, secret, "", ""); err != nil {
					t.Fatal(err)
				}
			}
			k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
			corrected := direct("600777", "right")
			corrected["passkey"] = "acme-pass-2"
			k.configure(t, apitest.Acme, apitest.Admin, corrected, 200)
			if g := k.gateway(t); !g.Active || g.Registration.State != "registered" {
				t.Errorf("after a corrected passkey: %+v", g)
			}
			corrected["consumerSecret"] = "wrong"
			k.configure(t, apitest.Acme, apitest.Admin, corrected, 200)
			if g := k.gateway(t); g.Active || g.Registration.State != "failed" {
				t.Errorf("with credentials that the provider does not take: %+v", g)
			}
			corrected["consumerSecret"] = "right"
			k.configure(t, apitest.Acme, apitest.Admin, corrected, 200)
			k.configure(t, apitest.Acme, apitest.Admin, map[string]any{"mode": "centralized"}, 200)
			k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
			if g := k.gateway(t); !g.Active {
				t.Errorf("back from the shared paybill: %+v", g)
			}
			k.Paybill(t, "600777", "254733000000", commands.AccountNumber(1_000_000), 60)
			k.Quiet(t)
			k.expectCredited(t, 60, 1)
		})
	}
}

func TestPaymentGateway_AShortcodeThatAnotherSystemRegisteredWaitsForItsOwner(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.registerElsewhere(t, "600777")
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	g := k.gateway(t)
	if g.Active || g.Registration.State != "failed" || !strings.Contains(g.Registration.Error, "portal") {
		t.Fatalf("active on the addresses of another system, or without advice: %+v", g)
	}
	for range 4 {
		k.Clock.Advance(time.Hour)
		k.Quiet(t)
	}
	if failed, _ := k.registrations(t); failed != 1 {
		t.Errorf("tried %d times although only a person can mend it", failed)
	}
	again := direct("600777", "********")
	again["consumerKey"], again["passkey"] = "********", "********"
	k.configure(t, apitest.Acme, apitest.Admin, again, 200)
	if g := k.gateway(t); g.Active {
		t.Fatalf("active because the same was asked twice: %+v", g)
	}
	k.Sim.DeleteURLs("600777")
	k.configure(t, apitest.Acme, apitest.Admin, again, 200)
	if g := k.gateway(t); !g.Active || g.Registration.Error != "" {
		t.Errorf("after the addresses were deleted: %+v", g)
	}
	if failed, done := k.registrations(t); failed != 2 || done != 1 {
		t.Errorf("%d failed, %d done", failed, done)
	}
}

func TestPaymentGateway_AddressesOfAnotherOrganizationProveNothing(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.configure(t, apitest.Other, apitest.OtherAdmin, direct("600777", "right"), 200)
	k.configure(t, apitest.Other, apitest.OtherAdmin, map[string]any{"mode": "centralized"}, 200)
	for range 2 {
		k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
		if g := k.gateway(t); g.Active {
			t.Fatalf("active on the addresses of another organization: %+v", g)
		}
	}
}
