package messagingapi

import (
	"context"
	"crypto/subtle"
	"net/http"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Reports serves the address at which the SMS provider reports what became of messages
// (docs/rules/messaging.md#reports).
type Reports struct {
	Token secrets.Text // ends the address; never empty
	// Read reads a body of the provider: what has come to an end.
	Read func(body []byte) ([]commands.TakeMessageReport, error)
	// Take keeps a report to be recorded. The same one again is kept once.
	Take  func(ctx context.Context, report commands.TakeMessageReport) error
	Clock clock.Clock
}

// reportBodyLimit bounds a report. Real ones are under 1 KiB.
const reportBodyLimit = 64 << 10

// reportAnswer says that a report is kept.
type reportAnswer struct {
	Message string `json:"message"`
}

// Routes lists the address.
func (a Reports) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodPost, Path: "/webhooks/sms/:token", Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
		Summary:   "What became of a message, reported by the SMS provider",
		BodyLimit: reportBodyLimit, Response: reportAnswer{}, Handle: a.take,
	}}
}

// knows reports whether a token is ours.
func (a Reports) knows(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(a.Token.Reveal())) == 1
}

// take keeps reports before it answers. Whoever does not know the token finds nothing here.
func (a Reports) take(ctx context.Context, c *httpapi.Call) error {
	if !a.knows(c.Param("token")) {
		return commands.ErrNotFound()
	}
	list, err := a.Read(c.Body())
	if err != nil {
		return failure.NewMalformed("malformed_report", "This is no report of the provider.")
	}
	for _, report := range list {
		report.At = a.Clock.Now()
		if err := a.Take(ctx, report); err != nil {
			return err
		}
	}
	return c.Send(http.StatusOK, reportAnswer{Message: "ok"})
}

// WhatsAppReports serves the address at which WhatsApp reports what became of messages. It asks for a sign of us once,
// when the address is set up there.
type WhatsAppReports struct {
	Reports
	// Signed reports whether a body has the signature of WhatsApp, which is that of the header.
	Signed func(body []byte, signature string) bool
}

// Routes lists the address.
func (a WhatsAppReports) Routes() []httpapi.Route {
	const path = "/webhooks/whatsapp/:token"
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: path, Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
			Summary: "The sign that WhatsApp asks for when the address is set up", Produces: "text/plain",
			Query: []httpapi.Param{
				{Name: "hub.mode", Type: "string", Doc: "subscribe"},
				{Name: "hub.verify_token", Type: "string", Doc: "the token, again"},
				{Name: "hub.challenge", Type: "string", Doc: "what is answered"},
			},
			Handle: a.sign,
		},
		{
			Method: http.MethodPost, Path: path, Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
			Summary:   "What became of messages, reported by WhatsApp",
			BodyLimit: whatsAppBodyLimit, Response: reportAnswer{}, Handle: a.takeSigned,
		},
	}
}

// whatsAppBodyLimit bounds reports, of which WhatsApp sends many in one. A larger body would take the place of an
// upload, and strangers send bodies, too.
const whatsAppBodyLimit = 1 << 20

// sign answers with the challenge, to whoever knows the token.
func (a WhatsAppReports) sign(_ context.Context, c *httpapi.Call) error {
	f := c.Filters()
	mode, token, challenge := f.Text("hub.mode"), f.Text("hub.verify_token"), f.Text("hub.challenge")
	if err := f.Err(); err != nil {
		return err
	}
	if !a.knows(c.Param("token")) || !a.knows(token) || mode != "subscribe" {
		return commands.ErrNotFound()
	}
	c.SendBytes(http.StatusOK, "text/plain; charset=utf-8", []byte(challenge))
	return nil
}

// takeSigned keeps reports that WhatsApp has signed.
func (a WhatsAppReports) takeSigned(ctx context.Context, c *httpapi.Call) error {
	if a.knows(c.Param("token")) && !a.Signed(c.Body(), c.Request.Header.Get("X-Hub-Signature-256")) {
		return failure.NewUnauthenticated("bad_signature", "The report is not signed by our app at WhatsApp.")
	}
	return a.take(ctx, c)
}
