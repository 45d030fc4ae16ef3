package mobilemoney_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// urls are the addresses of every registration in these tests.
var urls = mobilemoney.URLs{Confirmation: "https://isp.test/c", Validation: "https://isp.test/v"}

// answering makes a client of a provider that gives every request but those for tokens the same answer.
func answering(t *testing.T, status int, body string) *kit {
	t.Helper()
	return newKitAt(t, provided(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
}

// refusalIn finds the provider's refusal in an error.
func refusalIn(err error) mobilemoney.Refusal {
	var refusal *mobilemoney.Refusal
	if errors.As(err, &refusal) {
		return *refusal
	}
	return mobilemoney.Refusal{}
}

// refusedForm is the provider's error form.
const refusedForm = `{"requestId":"r-1","errorCode":"400.002.02","errorMessage":"Bad Request"}`

func TestRegister_OutcomeOfEachAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		code    string // of the failure; "" = registered
		refusal mobilemoney.Refusal
	}{
		"registered":       {200, `{"ResponseCode":"0","ResponseDescription":"ok"}`, "", mobilemoney.Refusal{}},
		"registered, zero": {200, `{"ResponseCode":0}`, "", mobilemoney.Refusal{}},
		"refused": {200, `{"ResponseCode":"17","ResponseDescription":"in use"}`, "provider_refused",
			mobilemoney.Refusal{Status: 200, Code: "17", Message: "in use"}},
		"zero with another status": {202, `{"ResponseCode":"0","ResponseDescription":"later"}`, "provider_refused",
			mobilemoney.Refusal{Status: 202, Code: "0", Message: "later"}},
		"error form": {400, refusedForm, "provider_refused",
			mobilemoney.Refusal{Status: 400, RequestID: "r-1", Code: "400.002.02", Message: "Bad Request"}},
		"registered already": {500,
			`{"requestId":"r-1","errorCode":"500.003.1001","errorMessage":"Urls are already registered."}`,
			mobilemoney.CodeRegistered, mobilemoney.Refusal{Status: 500, RequestID: "r-1", Code: "500.003.1001",
				Message: "Urls are already registered."}},
		"registered already, older form": {200,
			`{"ConversationID":"","ResponseDescription":"Validation and Confirmation URLs are already registered"}`,
			mobilemoney.CodeRegistered, mobilemoney.Refusal{Status: 200,
				Message: "Validation and Confirmation URLs are already registered"}},
		"internal error of the same code": {
			500, `{"errorCode":"500.003.1001","errorMessage":"Internal error"}`, "provider_refused",
			mobilemoney.Refusal{Status: 500, Code: "500.003.1001", Message: "Internal error"},
		},
		"no code":   {200, `{"ResponseDescription":"ok"}`, "provider_unavailable", mobilemoney.Refusal{}},
		"not JSON":  {200, `<html>`, "provider_unavailable", mobilemoney.Refusal{}},
		"no answer": {503, ``, "provider_unavailable", mobilemoney.Refusal{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := answering(t, c.status, c.body).RegisterURLs(t.Context(), creds, urls)
			if got := failure.CodeOf(err); got != c.code && (err != nil || c.code != "") {
				t.Errorf("failed with %s: %v", got, err)
			}
			if diff := cmp.Diff(c.refusal, refusalIn(err)); diff != "" {
				t.Error(diff)
			}
			var told *failure.Error
			if c.code == "provider_refused" && (!errors.As(err, &told) || told.Message != c.refusal.Message) {
				t.Errorf("told as %v", told)
			}
		})
	}
}

func TestRegister_SaysWhatTheProviderDoesWithoutAValidation(t *testing.T) {
	t.Parallel()
	for cancel, want := range map[bool]string{false: "Completed", true: "Cancelled"} {
		var got map[string]any
		k := newKitAt(t, provided(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/mpesa/c2b/v2/registerurl" || r.Header.Get("Authorization") != "Bearer t" ||
				r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Accept") != "application/json" {
				t.Errorf("%s with %v", r.URL.Path, r.Header)
			}
			_ = json.NewDecoder(r.Body).Decode(&got)
			_, _ = io.WriteString(w, `{"ResponseCode":"0"}`)
		}))
		given := urls
		given.CancelUnvalidated = cancel
		if err := k.RegisterURLs(t.Context(), creds, given); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{
			"ShortCode": "600100", "ResponseType": want, "ConfirmationURL": "https://isp.test/c",
			"ValidationURL": "https://isp.test/v",
		}, got); diff != "" {
			t.Error(diff)
		}
	}
}

// told lists the names of the fields that a failure is about, "" for another failure.
func told(err error) string {
	var f *failure.Error
	var names []string
	if errors.As(err, &f) && f.Kind == failure.Invalid {
		for _, fault := range f.Faults {
			name, _, _ := strings.Cut(fault, " ")
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func TestInput_ThatLacksSomethingIsNamedAndNothingIsCalled(t *testing.T) {
	t.Parallel()
	k := newKitAt(t, func(http.ResponseWriter, *http.Request) { t.Error("the provider was called") })
	none, noPasskey := mobilemoney.Credentials{}, creds
	noPasskey.Passkey = ""
	prompt := func(c mobilemoney.Credentials, change func(*mobilemoney.PromptRequest)) error {
		q := k.request()
		change(&q)
		_, err := k.Prompt(t.Context(), c, q)
		return err
	}
	query := func(c mobilemoney.Credentials) error {
		_, err := k.QueryPrompt(t.Context(), c, "ws_CO_1")
		return err
	}
	_, tokenErr := k.endpoint.FetchToken(t.Context(), none)
	same := func(*mobilemoney.PromptRequest) {}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"token":           {tokenErr, "consumerKey consumerSecret shortcode"},
		"register":        {k.RegisterURLs(t.Context(), none, urls), "consumerKey consumerSecret shortcode"},
		"addresses":       {k.RegisterURLs(t.Context(), creds, mobilemoney.URLs{}), "confirmationUrl validationUrl"},
		"prompt":          {prompt(none, same), "consumerKey consumerSecret shortcode passkey"},
		"prompt, passkey": {prompt(noPasskey, same), "passkey"},
		"query":           {query(none), "consumerKey consumerSecret shortcode passkey"},
		"query, passkey":  {query(noPasskey), "passkey"},
		"phone":           {prompt(creds, func(q *mobilemoney.PromptRequest) { q.Phone = "12" }), "phone"},
		"accent":          {prompt(creds, func(q *mobilemoney.PromptRequest) { q.Description = "é" }), "description"},
		"control": {
			prompt(creds, func(q *mobilemoney.PromptRequest) { q.Description = "\x1f" }), "description",
		},
		"delete": {prompt(creds, func(q *mobilemoney.PromptRequest) { q.Description = "\x7f" }), "description"},
		"ftp": {prompt(creds, func(q *mobilemoney.PromptRequest) { q.CallbackURL = "ftp://isp.test/x" }),
			"callbackUrl"},
		"no host": {prompt(creds, func(q *mobilemoney.PromptRequest) { q.CallbackURL = "https:///x" }), "callbackUrl"},
		"no URL": {
			prompt(creds, func(q *mobilemoney.PromptRequest) { q.CallbackURL = "https://isp.test/%zz" }), "callbackUrl",
		},
	} {
		if got := told(c.err); got != c.want {
			t.Errorf("%s: %q is at fault, want %q (%v)", name, got, c.want, c.err)
		}
	}
	if _, err := k.QueryPrompt(t.Context(), creds, ""); failure.KindOf(err) != failure.Invalid {
		t.Errorf("query of no prompt: %v", err)
	}
}

func TestPrompt_TakesEverythingUpToItsLimits(t *testing.T) {
	t.Parallel()
	k := answering(t, 200, `{"CheckoutRequestID":"c","ResponseCode":"0"}`)
	for name, change := range map[string]func(*mobilemoney.PromptRequest){
		"largest amount":   func(q *mobilemoney.PromptRequest) { q.Amount = money.Major(250_000, money.KES) },
		"smallest amount":  func(q *mobilemoney.PromptRequest) { q.Amount = money.Of(1, money.KES) },
		"long reference":   func(q *mobilemoney.PromptRequest) { q.AccountReference = "ACME-0000001" },
		"outer characters": func(q *mobilemoney.PromptRequest) { q.Description = " ~" },
		"long description": func(q *mobilemoney.PromptRequest) { q.Description = "Internet Mar." },
		"https":            func(q *mobilemoney.PromptRequest) { q.CallbackURL = "https://isp.test/stk" },
		"http":             func(q *mobilemoney.PromptRequest) { q.CallbackURL = "http://isp.test/stk" },
	} {
		q := k.request()
		change(&q)
		answer, err := k.Prompt(t.Context(), creds, q)
		if err != nil || answer.Outcome != mobilemoney.Accepted || answer.CheckoutRequestID != "c" {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
}

func TestPrompt_RefusalHasTheProvidersOwnWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   mobilemoney.PromptAnswer
	}{
		"error form": {400, refusedForm, mobilemoney.PromptAnswer{
			Outcome: mobilemoney.Refused, Refusal: &mobilemoney.Refusal{
				Status: 400, RequestID: "r-1", Code: "400.002.02", Message: "Bad Request",
			},
		}},
		"response code": {200, `{"MerchantRequestID":"m","ResponseCode":"1","ResponseDescription":"no"}`,
			mobilemoney.PromptAnswer{
				Outcome: mobilemoney.Refused, MerchantRequestID: "m",
				Refusal: &mobilemoney.Refusal{Status: 200, Code: "1", Message: "no"},
			}},
		"token": {401, `{}`, mobilemoney.PromptAnswer{
			Outcome: mobilemoney.Refused,
			Refusal: &mobilemoney.Refusal{Status: 401, Code: "401", Message: "the token is not accepted"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, answering(t, c.status, c.body).prompt(mobilemoney.Refused)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPrompt_IsInDoubtUnlessTheAnswerIsClear(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		cause  string
	}{
		"accepted with another status": {202, `{"CheckoutRequestID":"c","ResponseCode":"0"}`, "status 202"},
		"accepted in a failure":        {500, `{"CheckoutRequestID":"c","ResponseCode":"0"}`, "status 500"},
		"without a code":               {200, `{"CheckoutRequestID":"c"}`, "status 200"},
		"field of another kind":        {200, `{"CheckoutRequestID":{},"ResponseCode":"0"}`, "status 200"},
		"refused, but unreadable":      {200, `{"ResponseCode":"1","CustomerMessage":[]}`, "status 200"},
		"too large":                    {200, strings.Repeat(" ", 64<<10) + `x`, "too large"},
		"time-out of the gateway":      {504, `{"errorCode":"504.003.01","errorMessage":"timeout"}`, "504.003.01"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := answering(t, c.status, c.body).prompt(mobilemoney.InDoubt)
			if !strings.Contains(fmt.Sprint(answer.Cause), c.cause) || answer.CheckoutRequestID != "" {
				t.Errorf("%+v", answer)
			}
		})
	}
	whole := `{"CheckoutRequestID":"c","ResponseCode":"0"}`
	padded := whole + strings.Repeat(" ", 64<<10-len(whole))
	answering(t, 200, padded).prompt(mobilemoney.Accepted)
	cut := newKitAt(t, provided(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, whole)
	}))
	if answer := cut.prompt(mobilemoney.InDoubt); !errors.Is(answer.Cause, io.ErrUnexpectedEOF) {
		t.Errorf("an answer that was cut: %v", answer.Cause)
	}
}

func TestQuery_VerdictNeedsTheStatusOfASuccess(t *testing.T) {
	t.Parallel()
	k := answering(t, 202, `{"ResponseCode":"0","CheckoutRequestID":"c","ResultCode":"0"}`)
	if verdict, err := k.QueryPrompt(t.Context(), creds, "c"); failure.KindOf(err) != failure.Unavailable {
		t.Errorf("%+v, %v", verdict, err)
	}
}

func TestToken_OutcomeOfEachAnswer(t *testing.T) {
	t.Parallel()
	const refused, unavailable = "provider_credentials_refused", "provider_unavailable"
	for name, c := range map[string]struct {
		status  int
		body    string
		code    string // of the failure; "" = a token
		refusal mobilemoney.Refusal
	}{
		"token": {200, `{"access_token":"t"}`, "", mobilemoney.Refusal{}},
		"unauthorised": {401, ``, refused, mobilemoney.Refusal{
			Status: 401, Code: "401", Message: "no token was issued",
		}},
		"bad request": {400, ``, refused, mobilemoney.Refusal{
			Status: 400, Code: "400", Message: "no token was issued",
		}},
		"in the error form": {400, refusedForm, refused, mobilemoney.Refusal{
			Status: 400, RequestID: "r-1", Code: "400.002.02", Message: "Bad Request",
		}},
		"another refusal": {403, refusedForm, unavailable, mobilemoney.Refusal{
			Status: 403, RequestID: "r-1", Code: "400.002.02", Message: "Bad Request",
		}},
		"no token":          {200, `{}`, unavailable, mobilemoney.Refusal{}},
		"not JSON":          {200, `t`, unavailable, mobilemoney.Refusal{}},
		"token in an error": {503, `{"access_token":"t"}`, unavailable, mobilemoney.Refusal{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKitAt(t, func(w http.ResponseWriter, r *http.Request) {
				user, password, _ := r.BasicAuth()
				if r.URL.String() != "/oauth/v1/generate?grant_type=client_credentials" || user != "key" ||
					password != "secret" || r.Header.Get("Accept") != "application/json" {
					t.Errorf("%s with %v", r.URL, r.Header)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			token, err := k.endpoint.FetchToken(t.Context(), creds)
			if (err == nil) != (c.code == "") || err != nil && failure.CodeOf(err) != c.code ||
				(token == "t") != (err == nil) {
				t.Errorf("token %q, %v", token, err)
			}
			if diff := cmp.Diff(c.refusal, refusalIn(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBreaker_WrongCredentialsOfOneShutNobodyElseOut(t *testing.T) {
	t.Parallel()
	wrong := creds
	wrong.ConsumerKey = "wrong"
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"no body": {400, ``}, "error form": {400, refusedForm}, "unauthorised": {401, `<html>`},
		"forbidden": {403, `<html>`}, "not found": {404, ``}, "too many": {429, `slow down`},
		"error form of a failure": {500, `{"requestId":"r","errorCode":"500.001.1001","errorMessage":"Wrong"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKitAt(t, func(w http.ResponseWriter, r *http.Request) {
				key, _, basic := r.BasicAuth()
				switch {
				case key == wrong.ConsumerKey:
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
				case basic:
					_, _ = io.WriteString(w, `{"access_token":"t"}`)
				default:
					_, _ = io.WriteString(w, `{"ResponseCode":"0"}`)
				}
			})
			for range 20 { // four times what opens the breaker
				if err := k.RegisterURLs(t.Context(), wrong, urls); err == nil {
					t.Fatal("wrong credentials were accepted")
				}
			}
			if err := k.Ready(); err != nil {
				t.Errorf("the breaker is open: %v", err)
			}
			if err := k.RegisterURLs(t.Context(), creds, urls); err != nil {
				t.Errorf("another organization: %v", err)
			}
		})
	}
}

func TestEndpoint_TakesOnlyAddressesThatKeepSecrets(t *testing.T) {
	t.Parallel()
	guard := breaker.New(breaker.Config{})
	for address, want := range map[string]string{ // to the target, "" = refused
		"https://provider.test/": "provider.test", "http://localhost:9000": "localhost:9000",
		"http://sim.localhost:9000": "sim.localhost:9000", "http://[::1]:9000": "[::1]:9000",
		"http://192.0.2.1": "", "http://mylocalhost": "", "ftp://127.0.0.1": "", "https://": "", "https:provider": "",
		"https://provider.test/?a=b": "", "https://provider.test/#a": "", "https://a@provider.test": "",
		"https://provider.test/%zz": "", "://": "",
	} {
		e, err := mobilemoney.NewEndpoint(mobilemoney.Config{BaseURL: address, Guard: guard})
		switch {
		case (err == nil) != (want != ""):
			t.Errorf("%s: %v", address, err)
		case err == nil && e.Target() != want:
			t.Errorf("%s has the target %s", address, e.Target())
		}
	}
	for _, address := range []string{"https://safaricom.co.ke", "https://any.safaricom.co.ke", "ftp://sim"} {
		_, err := mobilemoney.NewEndpoint(mobilemoney.Config{BaseURL: address, Guard: guard, Test: true})
		if err == nil {
			t.Errorf("test mode takes %s", address)
		}
	}
	if _, err := mobilemoney.NewEndpoint(mobilemoney.Config{
		BaseURL: "https://notsafaricom.co.ke", Guard: guard, Test: true,
	}); err != nil {
		t.Errorf("another provider: %v", err)
	}
}

func TestCall_IsOneLineOfTheLog(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"access_token":"SECRET"}`)
	}))
	defer server.Close()
	var log bytes.Buffer
	e, err := mobilemoney.NewEndpoint(mobilemoney.Config{
		BaseURL: server.URL, Guard: breaker.New(breaker.Config{}), Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.FetchToken(t.Context(), creds); err != nil {
		t.Fatal(err)
	}
	status = http.StatusInternalServerError
	if _, err := e.FetchToken(t.Context(), creds); err == nil {
		t.Fatal("a token came with a failure")
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "operation=token") ||
		!strings.Contains(lines[0], "status=200 outcome=answered") ||
		!strings.Contains(lines[1], "status=500 outcome=failed") || strings.Contains(log.String(), "SECRET") {
		t.Errorf("logged:\n%s", log.String())
	}
}

func TestProvider_CountsAsDownWhenItsFailuresAreNotItsOwnAnswers(t *testing.T) {
	t.Parallel()
	for status, open := range map[int]bool{500: true, 502: true, 499: false, 200: false} {
		k := answering(t, status, `{}`)
		for range 5 {
			k.prompt(mobilemoney.InDoubt)
		}
		if err := k.Ready(); (err != nil) != open {
			t.Errorf("after failures with status %d: %v", status, err)
		}
	}
}

func TestValues_ShowWhatIdentifiesThem(t *testing.T) {
	t.Parallel()
	stk := mobilemoney.STKCallback{CheckoutRequestID: "ws_CO_1", ReceiptNumber: "ABC123XYZ9", ResultCode: "17"}
	paid := mobilemoney.C2B{ReceiptNumber: "ABC123XYZ9", ShortCode: "600100"}
	q := mobilemoney.PromptRequest{AccountReference: "ACME-0001", Amount: money.Major(15, money.KES)}
	for shown, want := range map[string]string{
		stk.String(): "ws_CO_1", stk.LogValue().String(): "ws_CO_1 17 ABC123XYZ9", paid.String(): "ABC123XYZ9",
		paid.LogValue().String(): "ABC123XYZ9 600100", q.String(): "ACME-0001",
		q.LogValue().String(): "ACME-0001 KES", creds.String(): "600100", creds.GoString(): "600100",
		creds.LogValue().String(): "600100",
	} {
		for part := range strings.SplitSeq(want, " ") {
			if !strings.Contains(shown, part) {
				t.Errorf("%q does not show %s", shown, part)
			}
		}
	}
}

func TestCallback_OfAnUnusableReceiptNumberIsRefused(t *testing.T) {
	t.Parallel()
	for _, number := range []string{`"ABC\u00e9"`, `"` + strings.Repeat("A", 101) + `"`, `{}`} {
		body := stkBody(`{"Name":"MpesaReceiptNumber","Value":` + number + `}`)
		if c, err := mobilemoney.ParseSTKCallback([]byte(body)); err == nil {
			t.Errorf("%.20s is taken as %#v", number, c)
		}
	}
	longest := stkBody(``)
	longest += strings.Repeat(" ", 256<<10-len(longest))
	if _, err := mobilemoney.ParseSTKCallback([]byte(longest)); err != nil {
		t.Errorf("a body of the largest size: %v", err)
	}
}
