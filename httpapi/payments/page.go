package paymentsapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// Page serves /pay, the payment page of an organization: for customers in the walled garden, who are not signed in and
// whose phone may be old (docs/rules/access-walled-garden.md#payment-page).
type Page struct{ Cases paymentscases.Page }

// payLanguage is in the address, also of the form.
var payLanguage = httpapi.Param{Name: "lang", Type: "string", Doc: "en or sw; otherwise Accept-Language decides"}

// maxAccount bounds the account number or phone that somebody types, in characters.
const maxAccount = 64

// payRequest is the body of POST /pay, as JSON or as a form. Other fields are ignored: a captive portal may add some,
// and no field chooses the phone.
type payRequest struct {
	Account string `json:"account" doc:"account number or phone"`
}

// payResponse is the same whether or not the account exists, owes something, or was asked just now.
type payResponse struct {
	Status  string `json:"status" enum:"accepted"`
	Message string `json:"message"`
}

// Routes lists the page and its form.
func (a Page) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/pay", Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic,
			Summary: "Payment page, without a sign-in", Produces: "text/html", Handle: a.show,
			Sorry: a.sorry,
			Query: []httpapi.Param{{Name: "account", Type: "string", Doc: "is filled in"}, payLanguage},
		},
		{
			Method: "POST", Path: "/pay", Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic,
			Summary: "Ask for a payment request on the account's own phone", Request: payRequest{}, Form: true,
			Response: payResponse{}, Status: 202, BodyLimit: 8 << 10, IgnoresIdempotency: true,
			Handle: a.pay, Sorry: a.sorry, Query: []httpapi.Param{payLanguage},
		},
	}
}

// payStyle is in the page itself, because a phone in the walled garden loads one file faster than two.
//
//go:embed page.css
var payStyle string

// payHTML is the page: it works without scripts.
//
//go:embed page.html
var payHTML string

// payTemplate fills payHTML; all values are escaped.
var payTemplate = template.Must(template.New("pay").Parse(payHTML))

// payPolicy allows the page its own style and its form, and nothing else.
var payPolicy = "default-src 'none'; style-src 'sha256-" + styleHash(payStyle) +
	"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// styleHash is the hash by which a browser knows the style.
func styleHash(style string) string {
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// payPage has the values of the page.
type payPage struct {
	Words        *payWords
	Others       []*payWords // the languages to choose
	Style        template.CSS
	Organization string
	Account      string
	Note         string // an answer; "" = the form alone
	Fault        bool   // the note is about a fault
}

// send answers with the page.
func (a Page) send(c *httpapi.Call, status int, p payPage) error {
	p.Style, p.Organization = template.CSS(payStyle), c.Org.Name //nolint:gosec // our own file
	p.Words = wordsOf(c)
	p.Others = p.Words.others()
	var text bytes.Buffer
	if err := payTemplate.Execute(&text, p); err != nil {
		return err
	}
	h := c.Writer.Header()
	h.Add("Vary", "Accept-Language")
	h.Set("Content-Security-Policy", payPolicy)
	h.Set("Referrer-Policy", "same-origin") // with none a form's Origin would be null
	c.SendBytes(status, "text/html; charset=utf-8", text.Bytes())
	return nil
}

// show answers with the form.
func (a Page) show(_ context.Context, c *httpapi.Call) error {
	account := c.Request.URL.Query().Get("account")
	if fault := accountFault(account); fault != "" {
		account = ""
	}
	return a.send(c, 200, payPage{Account: account})
}

// sorry answers with the page when the call failed here, except to a program that sent JSON.
func (a Page) sorry(c *httpapi.Call, status int) bool {
	if c.Request.Method != http.MethodGet && !c.IsForm() {
		return false
	}
	return a.send(c, status, payPage{Note: wordsOf(c).Sorry, Fault: true}) == nil
}

// pay takes an account and answers at once, in the form of the request.
func (a Page) pay(ctx context.Context, c *httpapi.Call) error {
	account, form, err := readAccount(c)
	fault := accountFault(account)
	if fault != "" {
		account = ""
	}
	if err := c.CountPayment(ctx, account); err != nil {
		var limited *failure.Error
		if !form || !errors.As(err, &limited) || limited.Kind != failure.Limited {
			return err
		}
		c.SetRetryAfter(limited)
		return a.send(c, 429, payPage{Note: wordsOf(c).Later, Fault: true})
	}
	switch {
	case err != nil:
		return err
	case account == "" && form:
		return a.send(c, 400, payPage{Note: wordsOf(c).EmptyField, Fault: true})
	case fault != "":
		return failure.NewInvalid("invalid_input", "account "+fault)
	case account == "":
		return &failure.Error{
			Kind: failure.Malformed, Code: "missing_field", Faults: failure.Faults{"account is required"},
		}
	}
	if err := a.Cases.Request(ctx, c.Asked(), account); err != nil {
		return err
	}
	if form {
		return a.send(c, 202, payPage{Note: wordsOf(c).Accepted})
	}
	return c.Send(202, payResponse{Status: "accepted", Message: payEnglish.Accepted})
}

// accountFault says why a text cannot be an account number or phone; "" when it may be one, or is empty.
func accountFault(account string) string {
	if utf8.RuneCountInString(account) > maxAccount || !utf8.ValidString(account) || strings.ContainsRune(account, 0) {
		return "must have at most 64 characters"
	}
	return ""
}

// readAccount gives the account of the body, and whether the body is a form.
func readAccount(c *httpapi.Call) (account string, form bool, err error) {
	malformed := failure.NewMalformed("malformed_body", "The body must be one valid JSON object.")
	if c.IsForm() {
		values, err := url.ParseQuery(string(c.Body()))
		if err != nil {
			return "", true, nil //nolint:nilerr // the page asks again
		}
		return inputtext.Code(values.Get("account")), true, nil
	}
	body := bytes.TrimSpace(c.Body())
	if len(body) == 0 {
		return "", false, nil
	}
	var in payRequest
	err = json.Unmarshal(body, &in)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "account":
		return "", false, failure.NewInvalid("invalid_input", "account must be a text")
	case err != nil || body[0] != '{' || !utf8.Valid(body):
		return "", false, malformed
	}
	return inputtext.Code(in.Account), false, nil
}
