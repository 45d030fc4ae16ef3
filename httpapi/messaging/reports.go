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
	// Read reads a body of the provider; ended is false while the message is on its way.
	Read func(body []byte) (report commands.TakeMessageReport, ended bool, err error)
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

// take keeps a report before it answers. Whoever does not know the token finds nothing here.
func (a Reports) take(ctx context.Context, c *httpapi.Call) error {
	if subtle.ConstantTimeCompare([]byte(c.Param("token")), []byte(a.Token.Reveal())) != 1 {
		return commands.ErrNotFound()
	}
	report, ended, err := a.Read(c.Body())
	if err != nil {
		return failure.NewMalformed("malformed_report", "This is no report of the SMS provider.")
	}
	if ended {
		report.At = a.Clock.Now()
		if err := a.Take(ctx, report); err != nil {
			return err
		}
	}
	return c.Send(http.StatusOK, reportAnswer{Message: "ok"})
}
