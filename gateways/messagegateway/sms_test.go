package messagegateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/messagegateway"
	"github.com/lastmile-isp/lastmile/simulators/smsprovider"
)

// texted starts an SMS provider and makes a texter for it.
func texted(t *testing.T) (*smsprovider.Simulator, *messagegateway.Texter) {
	t.Helper()
	s := smsprovider.New(smsprovider.Config{User: "zuri", Key: "k3y"})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s, texter(t, strings.Replace(s.URL(), "://", "://zuri:k3y@", 1)+"?from=ZURI")
}

// texter has a breaker of its own.
func texter(t *testing.T, address string) *messagegateway.Texter {
	t.Helper()
	m, err := messagegateway.NewTexter(address, config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// code is a text with what forms find hard.
var code = messagegateway.SMS{ID: "0199", To: "+254711000111", Text: "Zuri: 100 % of 1&2 + \"3\" = {text} é"}

func TestTexter_HandsATextOver(t *testing.T) {
	t.Parallel()
	s, m := texted(t)
	taken, err := m.Send(t.Context(), code)
	if err != nil || taken.Reference != "ATXid_000001" || taken.Cost != "KES 0.8000" {
		t.Fatalf("%+v, %v", taken, err)
	}
	want := smsprovider.Text{ID: "ATXid_000001", To: code.To, From: "ZURI", Text: code.Text}
	if got := s.Texts(); len(got) != 1 || got[0] != want {
		t.Errorf("taken: %+v", got)
	}
	wrong := texter(t, strings.Replace(s.URL(), "://", "://zuri:wr0ng@", 1))
	if _, err := wrong.Send(t.Context(), code); verdict(err) != "sms_unavailable" ||
		strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("with a wrong key: %v", err)
	}
}

// TestTexter_TellsWhatCertainlyWasNotTakenFromWhatIsUnclear goes through the faults of a provider, which answers 2xx
// also when it took nothing.
func TestTexter_TellsWhatCertainlyWasNotTakenFromWhatIsUnclear(t *testing.T) {
	t.Parallel()
	for fault, want := range map[smsprovider.Fault]string{
		smsprovider.NoBalance: "sms_unavailable", smsprovider.ErrorInBody: "sms_unavailable",
		smsprovider.Page: "sms_unavailable", smsprovider.Busy: "sms_unavailable",
		smsprovider.InvalidNumber: messagegateway.CodeAddress, smsprovider.Blocked: messagegateway.CodeBlocked,
		smsprovider.InternalError: "unclear", smsprovider.DropAfterTaken: "unclear",
		smsprovider.BadGateway: "unclear", smsprovider.CutAnswer: "unclear",
		// The request was written, and nobody can tell what became of it.
		smsprovider.DropBefore: "unclear",
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			s, m := texted(t)
			s.SetFault(fault)
			_, err := m.Send(t.Context(), code)
			if got := verdict(err); got != want || want == "sms_unavailable" && len(s.Texts()) > 0 {
				t.Errorf("it is %s: %v; taken %v", got, err, s.Texts())
			}
			if s.Calls() != 1 {
				t.Errorf("handed over %d times", s.Calls())
			}
		})
	}
	if _, err := texter(t, "http://u:k@127.0.0.1:1/x").Send(t.Context(), code); verdict(err) != "sms_unavailable" {
		t.Errorf("without a provider: %v", err)
	}
}

// TestTexter_FollowsNoRedirect: the key stays with the provider.
func TestTexter_FollowsNoRedirect(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("it was followed")
	}))
	defer away.Close()
	web := httptest.NewServer(http.RedirectHandler(away.URL, http.StatusTemporaryRedirect))
	defer web.Close()
	_, err := texter(t, strings.Replace(web.URL, "://", "://u:k@", 1)).Send(t.Context(), code)
	if verdict(err) != "sms_unavailable" {
		t.Error(err)
	}
}

// otherProvider answers as it is told to, and keeps what it was asked last.
type otherProvider struct {
	t      *testing.T
	url    string
	asked  *http.Request
	body   []byte
	answer string
}

// other starts a provider that speaks another way.
func other(t *testing.T) *otherProvider {
	t.Helper()
	p := &otherProvider{t: t}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked = r
		p.body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, p.answer)
	}))
	t.Cleanup(web.Close)
	p.url = web.URL
	return p
}

// send hands a text over by a template.
func (p *otherProvider) send(file string) (messagegateway.Taken, error) {
	p.t.Helper()
	template, err := messagegateway.ReadTemplate([]byte(file))
	if err != nil {
		p.t.Fatal(err)
	}
	at := strings.Replace(p.url, "://", "://u:k3y@", 1) + "/send?from=ZURI"
	m, err := messagegateway.NewTemplateTexter(at, template, config())
	if err != nil {
		p.t.Fatal(err)
	}
	defer m.Close()
	return m.Send(p.t.Context(), code)
}

// judged has the words in which the provider answers.
const judged = `"taken": {"path": "messages.0.state", "values": ["queued"]},
	"refused": {"no such number": "address_refused"}, "reference": "messages.0.id", "cost": "messages.0.price"`

// TestTemplateTexter_SpeaksAnotherProvidersWords: JSON keeps a text in its place, whatever it says.
func TestTemplateTexter_SpeaksAnotherProvidersWords(t *testing.T) {
	t.Parallel()
	p := other(t)
	p.answer = `{"messages": [{"id": 42, "state": "queued", "price": "0.5"}]}`
	taken, err := p.send(`{"headers": {"authorization": "Bearer {key}"}, "query": {"trace": "{id}"},
		"body": {"sender": "{from}", "to": [{"phone": "{to}"}], "text": "{text}", "unicode": true}, ` + judged + `}`)
	if err != nil || taken.Reference != "42" || taken.Cost != "0.5" {
		t.Fatalf("%+v, %v", taken, err)
	}
	var sent struct {
		Sender, Text string
		To           []struct{ Phone string }
		Unicode      bool
	}
	if err := json.Unmarshal(p.body, &sent); err != nil || sent.Text != code.Text || sent.Sender != "ZURI" ||
		sent.To[0].Phone != code.To || !sent.Unicode {
		t.Errorf("%s: %v", p.body, err)
	}
	if a := p.asked; a.Method != "POST" || a.Header.Get("Authorization") != "Bearer k3y" || a.URL.Path != "/send" ||
		a.URL.Query().Get("trace") != code.ID || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("asked %s %v", a.URL, a.Header)
	}
}

// TestTemplateTexter_JudgesAnswersByTheTemplate: so do forms and addresses keep a text in its place.
func TestTemplateTexter_JudgesAnswersByTheTemplate(t *testing.T) {
	t.Parallel()
	p := other(t)
	p.answer = `{"messages": [{"state": "no such number"}]}`
	_, err := p.send(`{"headers": {"Content-Type": "application/x-www-form-urlencoded"},
		"body": {"t": "{text}", "u": "{user}"}, ` + judged + `}`)
	if verdict(err) != messagegateway.CodeAddress || !strings.Contains(string(p.body), "%26") ||
		strings.Contains(string(p.body), " ") {
		t.Errorf("%s: %v", p.body, err)
	}
	for _, answer := range []string{`{"messages": []}`, `{"messages": [{"state": "broke"}]}`, "<html>", ""} {
		p.answer = answer
		if _, err = p.send(`{"body": null, ` + judged + `}`); verdict(err) != "sms_unavailable" {
			t.Errorf("%s: %v", answer, err)
		}
	}
	p.answer = "OK"
	if _, err = p.send(`{"method": "GET", "query": {"to": "{to}", "text": "{text}"}}`); err != nil ||
		p.asked.Method != "GET" || p.asked.URL.Query().Get("text") != code.Text {
		t.Errorf("%s: %v", p.asked.URL, err)
	}
}

func TestReadTemplate_NamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for file, says := range map[string]string{
		`{"bdoy": {}}`: "bdoy", `{`: "unexpected", `{"refused": {"x": "gone"}}`: "address_refused",
		`{"taken": {"path": "state"}}`: "values",
		`{"headers": {"Content-Type": "application/x-www-form-urlencoded"}, "body": [1]}`: "object of texts",
		`{"method": "PO ST"}`: "method",
	} {
		if _, err := messagegateway.ReadTemplate([]byte(file)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, address := range []string{"ftp://u:s3cret@h", "https://h", "https://:s3cret@h", "https://u@h", "%"} {
		if _, err := messagegateway.NewTexter(address, config()); err == nil ||
			strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestReadReports_TellsAnEndFromAStepOnTheWay: by the words of the provider, and of a template.
func TestReadReports_TellsAnEndFromAStepOnTheWay(t *testing.T) {
	t.Parallel()
	template, err := messagegateway.ReadTemplate([]byte(`{"report": {"reference": "sms.id", "status": "sms.state",
		"delivered": ["ok"], "undelivered": ["ko"], "reason": "sms.error"}}`))
	if err != nil {
		t.Fatal(err)
	}
	other, err := messagegateway.NewTemplateTexter("https://example.com", template, config())
	if err != nil {
		t.Fatal(err)
	}
	form := texter(t, "https://u:k@example.com/x")
	const on, yes, no = messagegateway.OnItsWay, messagegateway.Delivered, messagegateway.Undelivered
	for _, c := range []struct {
		of   *messagegateway.Texter
		body string
		want messagegateway.Report
	}{
		{form, "id=AT1&status=Success", messagegateway.Report{Reference: "AT1", Outcome: yes}},
		{form, "id=AT1&status=Sent", messagegateway.Report{Reference: "AT1", Outcome: on}},
		{form, "id=AT1&status=Expired", messagegateway.Report{Reference: "AT1", Outcome: no, Reason: "Expired"}},
		{
			form, "id=AT1&status=Failed&failureReason=No%0Aphone",
			messagegateway.Report{Reference: "AT1", Outcome: no, Reason: "No phone"},
		},
		{other, `{"sms": {"id": 7, "state": "ok"}}`, messagegateway.Report{Reference: "7", Outcome: yes}},
		{
			other, `{"sms": {"id": 7, "state": "ko", "error": "off"}}`,
			messagegateway.Report{Reference: "7", Outcome: no, Reason: "off"},
		},
		{other, `{"sms": {"id": 7, "state": "?"}}`, messagegateway.Report{Reference: "7", Outcome: on}},
	} {
		if got, err := c.of.ReadReports([]byte(c.body)); err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %+v, %v", c.body, got, err)
		}
	}
	for _, body := range []string{"", "status=Success", "%", "id=" + strings.Repeat("x", 300), `{"sms": `} {
		for _, of := range []*messagegateway.Texter{form, other} {
			if got, err := of.ReadReports([]byte(body)); err == nil {
				t.Errorf("%.20q: %+v", body, got)
			}
		}
	}
}
