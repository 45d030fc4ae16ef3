package messagegateway_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/messagegateway"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/simulators/mailserver"
)

// config has a breaker of its own.
func config() messagegateway.Config {
	return messagegateway.Config{Guard: breaker.New(breaker.Config{Threshold: 100}), Timeout: time.Second}
}

// served starts a mail server.
func served(t *testing.T, cfg mailserver.Config) *mailserver.Server {
	t.Helper()
	s := mailserver.New(cfg)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

// mailer is for a server on this machine.
func mailer(t *testing.T, scheme, at string) *messagegateway.Mailer {
	t.Helper()
	m, err := messagegateway.NewMailer(scheme+"://"+at, "no-reply@isp.example", config())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// reminder is an e-mail with what headers and bodies find hard.
var reminder = messagegateway.Mail{
	ID: "0199", Sender: "Zuri Ñet, \"Ltd\"", To: "amina@example.com", ReplyTo: "help@zuri.example",
	Subject: "Zuri: 1,500.00 KES is due – asante\r\nBcc: eve@example.com",
	Text:    "Dear customer,\n\nplease pay ‘1,500.00’.\n.\nZuri\n", At: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
}

func TestMailer_HandsAMessageOver(t *testing.T) {
	t.Parallel()
	s := served(t, mailserver.Config{})
	if err := mailer(t, "smtp", s.Addr()+"?from=billing@zuri.example").Send(t.Context(), reminder); err != nil {
		t.Fatal(err)
	}
	got := s.Mails()
	if len(got) != 1 || got[0].From != "billing@zuri.example" || got[0].To != "amina@example.com" || got[0].Secure {
		t.Fatalf("taken: %+v", got)
	}
	h := got[0].Header
	if len(h["Bcc"]) > 0 {
		t.Error("a subject adds a header")
	}
	for name, want := range map[string]string{
		"Message-Id": "0199@127.0.0.1", "Reply-To": "help@zuri.example", "Date": "Mon, 02 Mar 2026 09:00:00 +0000",
		"Auto-Submitted": "auto-generated", "From": "billing@zuri.example",
	} {
		if !strings.Contains(h.Get(name), want) {
			t.Errorf("%s is %q", name, h.Get(name))
		}
	}
	if text := strings.ReplaceAll(got[0].Text, "\r\n", "\n"); !strings.Contains(text, "Dear customer,\n\nplease pay") ||
		!strings.Contains(text, "\n.\nZuri") {
		t.Errorf("text %q", text)
	}
}

// TestMailer_ANameWithControlCharactersStopsNoMail: the sender is the name of an organization, and stands in the header
// of all its mails.
func TestMailer_ANameWithControlCharactersStopsNoMail(t *testing.T) {
	t.Parallel()
	s := served(t, mailserver.Config{})
	m := mailer(t, "smtp", s.Addr()+"?from=billing@zuri.example")
	for _, name := range []string{
		"Zuri\r\nBcc: eve@example.com", "Zuri\nNet", "Zuri\x00", "Zuri\u2028Net", "\u202eteN iruZ",
		"Zuri\xffNet", "\x7f", "",
		"Zuri <eve@example.com>", "Zuri\x1b[2J",
	} {
		of := reminder
		of.Sender = name
		if err := m.Send(t.Context(), of); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, got := range s.Mails() {
		from := got.Header.Get("From")
		if len(got.Header["Bcc"]) > 0 || !strings.Contains(from, "billing@zuri.example") ||
			got.From != "billing@zuri.example" {
			t.Errorf("from %q, headers %v", from, got.Header)
		}
	}
	if n := len(s.Mails()); n != 10 {
		t.Errorf("%d mails arrived", n)
	}
}

// TestMailer_SignsInOverTLSOnly: by STARTTLS and from the first byte; a server without it gets neither mail nor
// password.
func TestMailer_SignsInOverTLSOnly(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	secure := &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}
	for _, c := range []struct {
		name, scheme string
		cfg          mailserver.Config
		taken        bool
	}{
		{"STARTTLS", "smtp", mailserver.Config{TLS: secure}, true},
		{"direct", "smtps", mailserver.Config{TLS: secure, Direct: true}, true},
		{"none", "smtp", mailserver.Config{}, false},
	} {
		c.cfg.User, c.cfg.Password = "post@zuri.example", "s3cret/x"
		s := served(t, c.cfg)
		m := mailer(t, c.scheme, "post%40zuri.example:s3cret%2Fx@"+s.Addr())
		m.RequireTLS(roots)
		err := m.Send(t.Context(), reminder)
		if got := s.Mails(); (err == nil) != c.taken || c.taken &&
			(len(got) != 1 || !got[0].Secure || got[0].User != "post@zuri.example") {
			t.Errorf("%s: %v, taken %+v", c.name, err, got)
		}
	}
	s := served(t, mailserver.Config{TLS: secure, User: "u@zuri.example", Password: "right"})
	m := mailer(t, "smtp", "u%40zuri.example:wrong@"+s.Addr())
	m.RequireTLS(roots)
	if err := m.Send(t.Context(), reminder); failure.CodeOf(err) != "email_unavailable" ||
		strings.Contains(err.Error(), "wrong@") {
		t.Errorf("with a wrong password: %v", err)
	}
}

// TestMailer_TellsWhatCertainlyWasNotTakenFromWhatIsUnclear goes through the faults of a mail server.
func TestMailer_TellsWhatCertainlyWasNotTakenFromWhatIsUnclear(t *testing.T) {
	t.Parallel()
	for fault, want := range map[mailserver.Fault]string{
		mailserver.DropAtGreeting: "email_unavailable", mailserver.HangAtGreeting: "email_unavailable",
		mailserver.PutOff: "email_unavailable", mailserver.DropBeforeText: "email_unavailable",
		mailserver.RefuseRecipient: messagegateway.CodeAddress,
		mailserver.RefuseMessage:   messagegateway.CodeRejected,
		mailserver.DropAfterText:   "unclear", mailserver.DropAfterAnswer: "taken",
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			s := served(t, mailserver.Config{})
			s.SetFault(fault)
			got := verdict(mailer(t, "smtp", s.Addr()+"?from=a@zuri.example").Send(t.Context(), reminder))
			if arrived := len(s.Mails()) > 0; got != want || arrived != (want == "taken" || want == "unclear") {
				t.Errorf("it is %s, and arrived: %v", got, arrived)
			}
		})
	}
	if got := verdict(mailer(t, "smtp", "127.0.0.1:1?from=a@zuri.example").Send(t.Context(), reminder)); got !=
		"email_unavailable" {
		t.Errorf("without a server: %s", got)
	}
	nobody := reminder
	nobody.To = "nobody"
	s := served(t, mailserver.Config{})
	if got := verdict(mailer(t, "smtp", s.Addr()+"?from=a@zuri.example").Send(t.Context(), nobody)); got !=
		messagegateway.CodeAddress {
		t.Errorf("to what is no address: %s", got)
	}
}

// verdict names how handing over has ended.
func verdict(err error) string {
	var no *messagegateway.Refused
	switch {
	case err == nil:
		return "taken"
	case errors.As(err, &no):
		return no.Code
	case errors.Is(err, messagegateway.ErrUnclear):
		return "unclear"
	}
	return failure.CodeOf(err)
}

func TestNewMailer_RefusesAnAddressWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"http://u:s3cret@host", "smtp://", "smtp://u%40:s3cret@host", "smtp://u%40h.example:s3cret@host:0",
		"smtp://u%40h.example:s3cret@host:99999", "smtp://u:s3cret@host/path?from=a@b.example",
		"smtp://u:s3cret@host:x",
		"smtp://u:s3cret@host?from=nobody",
	} {
		if _, err := messagegateway.NewMailer(address, "no-reply@isp.example", config()); err == nil ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
