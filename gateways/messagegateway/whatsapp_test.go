package messagegateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/messagegateway"
	"github.com/lastmile-isp/lastmile/simulators/whatsapp"
)

// approved starts WhatsApp, which has approved one text with three places, and makes a texter for it.
func approved(t *testing.T) (*whatsapp.Simulator, *messagegateway.Texter) {
	t.Helper()
	s := whatsapp.New(whatsapp.Config{Number: "1065", Token: "EAAG", Texts: map[string]int{"invoice_due": 3}})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s, whatsApp(t, s.URL())
}

// whatsApp has a breaker of its own.
func whatsApp(t *testing.T, address string) *messagegateway.Texter {
	t.Helper()
	m, err := messagegateway.NewWhatsApp(address, config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// due is a message of the approved text, with a value that is empty and one with a line of its own.
var due = messagegateway.SMS{ID: "0199", To: "+254711000111", Approved: messagegateway.Approved{
	Name: "invoice_due", Language: "sw", Values: []string{"KES 1500.00", "", "pay\nhere"},
}}

func TestWhatsApp_HandsAnApprovedTextOver(t *testing.T) {
	t.Parallel()
	s, m := approved(t)
	taken, err := m.Send(t.Context(), due)
	if err != nil || taken != (messagegateway.Taken{Reference: "wamid.000001"}) {
		t.Fatalf("%+v, %v", taken, err)
	}
	got := s.Messages()
	if len(got) != 1 || got[0].To != "254711000111" || got[0].Name != "invoice_due" || got[0].Language != "sw" ||
		!slices.Equal(got[0].Values, []string{"KES 1500.00", "-", "pay here"}) {
		t.Errorf("taken: %+v", got)
	}
	wrong := whatsApp(t, strings.Replace(s.URL(), "EAAG", "wr0ng", 1))
	if _, err := wrong.Send(t.Context(), due); verdict(err) != "whatsapp_unavailable" ||
		strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("with a wrong token: %v", err)
	}
	for _, address := range []string{"", "https://graph.facebook.com/v23.0", "https://1065@x", "https://:t@x"} {
		if _, err := messagegateway.NewWhatsApp(address, config()); err == nil {
			t.Errorf("%q was accepted", address)
		}
	}
}

// TestWhatsApp_TellsWhatCertainlyWasNotTakenFromWhatIsUnclear: a text that was not approved, or not with so many
// places, is refused as such.
func TestWhatsApp_TellsWhatCertainlyWasNotTakenFromWhatIsUnclear(t *testing.T) {
	t.Parallel()
	for fault, want := range map[whatsapp.Fault]string{
		whatsapp.Unreachable: messagegateway.CodeAddress, whatsapp.OptedOut: messagegateway.CodeBlocked,
		whatsapp.TooFast: "whatsapp_unavailable", whatsapp.TokenExpired: "whatsapp_unavailable",
		whatsapp.Page: "whatsapp_unavailable", whatsapp.InternalError: "unclear", whatsapp.DropAfterTaken: "unclear",
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			s, m := approved(t)
			s.SetFault(fault)
			if _, err := m.Send(t.Context(), due); verdict(err) != want {
				t.Errorf("it is %s: %v", verdict(err), err)
			}
			if s.Calls() != 1 {
				t.Errorf("handed over %d times", s.Calls())
			}
		})
	}
	_, m := approved(t)
	for _, of := range []messagegateway.Approved{
		{Name: "other", Language: "en"}, {Name: "invoice_due", Language: "en", Values: []string{"one"}},
	} {
		if _, err := m.Send(t.Context(), messagegateway.SMS{To: due.To, Approved: of}); verdict(err) !=
			messagegateway.CodeTemplate {
			t.Errorf("%+v: %v", of, err)
		}
	}
}

// TestWhatsApp_ReportsOfManyMessagesAreRead: what customers write back is left alone.
func TestWhatsApp_ReportsOfManyMessagesAreRead(t *testing.T) {
	t.Parallel()
	m := whatsApp(t, "https://1065:EAAG@example.com/v23.0")
	got, err := m.ReadReports([]byte(`{"object": "whatsapp_business_account", "entry": [{"changes": [
		{"value": {"statuses": [
			{"id": "w1", "status": "sent"}, {"id": "", "status": "read"}, {"id": "w2", "status": "read"}]}},
		{"value": {"messages": [{"id": "w9", "text": {"body": "when are you open?"}}]}},
		{"value": {"statuses": [{"id": "w3", "status": "failed",
			"errors": [{"code": 131026, "title": "Message undeliverable"}]}]}}]}]}`))
	want := []messagegateway.Report{
		{Reference: "w1"}, {Reference: "w2", Outcome: messagegateway.Delivered},
		{Reference: "w3", Outcome: messagegateway.Undelivered, Reason: "Message undeliverable (131026)"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, body := range []string{
		"", "{}", `{"object": "page"}`, "[]", `{"object": "whatsapp_business_account", "entry": 1}`,
	} {
		if list, err := m.ReadReports([]byte(body)); err == nil {
			t.Errorf("%q: %+v", body, list)
		}
	}
}

// TestSignedByWhatsApp_TakesNoOtherSignature: the example is the HMAC of the body.
func TestSignedByWhatsApp_TakesNoOtherSignature(t *testing.T) {
	t.Parallel()
	body, of := []byte(`{"object":"x"}`), "sha256=2e0ff3ec2ac2e9c2a7c1c9fd6dd2df2ba4e5c1ab0e4ca1a7ef6e3f80a2a0f5b1"
	for _, signature := range []string{"", "sha256=", "sha1=00", of, strings.TrimPrefix(of, "sha256=")} {
		if messagegateway.SignedByWhatsApp(body, signature, "app secret") {
			t.Errorf("%q was accepted", signature)
		}
	}
}
