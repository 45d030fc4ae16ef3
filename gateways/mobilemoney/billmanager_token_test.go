package mobilemoney_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// TestBills_RefusedCredentialsSayWhyNothingIsSent: somebody has to do something about them.
func TestBills_RefusedCredentialsSayWhyNothingIsSent(t *testing.T) {
	t.Parallel()
	k := newKitAt(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	b := mobilemoney.NewBills(k.Client, mobilemoney.Sandbox)
	by := mobilemoney.Account{Credentials: creds, AppKey: secrets.Text("k")}
	answer, err := b.Send(t.Context(), by, []mobilemoney.Bill{aBill("r-2")})
	if err != nil || answer.Outcome != mobilemoney.BillNotSent ||
		failure.CodeOf(answer.Cause) != "provider_credentials_refused" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// TestBills_ARefusedTokenIsNoAnswerAboutABill: 404.001.03 says that somebody else got a token in between, and nobody
// looked at the bill.
func TestBills_ARefusedTokenIsNoAnswerAboutABill(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"token":    `{"requestId":"r","errorCode":"404.001.03","errorMessage":"Invalid Access Token"}`,
		"resource": `{"requestId":"r","errorCode":"404.003.01","errorMessage":"Resource not found"}`,
	} {
		k := newKitAt(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/oauth") {
				_, _ = io.WriteString(w, `{"access_token":"t","expires_in":"3599"}`)
				return
			}
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, body)
		})
		b := mobilemoney.NewBills(k.Client, mobilemoney.Sandbox)
		by := mobilemoney.Account{Credentials: creds, AppKey: secrets.Text("k")}
		answer, err := b.Cancel(t.Context(), by, "r-1")
		if answer.Outcome == mobilemoney.BillUnknown {
			t.Errorf("%s: the cancellation counts as 'no such bill': %v, %v", name, answer.Refusal, err)
		}
		answer, err = b.Send(t.Context(), by, []mobilemoney.Bill{aBill("r-2")})
		if answer.Outcome == mobilemoney.BillRefused {
			t.Errorf("%s: the bill counts as refused for good: %v, %v", name, answer.Refusal, err)
		}
	}
}
