package cpeapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// diagnosticsShown bounds the history of tests.
const diagnosticsShown = 50

// cpeDiagnostics has what tests of a CPE have measured: of the organization that has it.
type cpeDiagnostics struct {
	Download *cpeTransferResult `json:"download" doc:"the latest; null: there is none"`
	Upload   *cpeTransferResult `json:"upload" doc:"the latest; null: there is none"`
	Ping     *cpePingResult     `json:"ping" doc:"the latest; null: there is none"`
	History  []cpeTestResult    `json:"history" doc:"the last 50 tests, the latest first"`
}

// cpeTransferResult is a test that has moved a file, by the device's own clock.
type cpeTransferResult struct {
	OperationID id.CPEOperation `json:"operationId"`
	At          time.Time       `json:"at" doc:"when the result was read"`
	BeganAt     *time.Time      `json:"beganAt" doc:"of the first byte, by the device's clock"`
	EndedAt     *time.Time      `json:"endedAt" doc:"of the last byte, by the device's clock"`
	Bytes       *int64          `json:"bytes"`
	Speed       *int64          `json:"bitsPerSecond" doc:"null: the device's times do not tell"`
	Received    *int64          `json:"receivedBytes" doc:"that came to the platform; null: it went elsewhere"`
}

// cpePingResult is a test that has pinged a host.
type cpePingResult struct {
	OperationID id.CPEOperation `json:"operationId"`
	At          time.Time       `json:"at" doc:"when the result was read"`
	Answered    int             `json:"successCount"`
	Lost        int             `json:"failureCount"`
	Average     *int            `json:"averageMs" doc:"milliseconds; null: nothing was answered"`
	Least       *int            `json:"minimumMs"`
	Most        *int            `json:"maximumMs"`
}

// cpeTestResult is one test of the history; exactly one of the two results is set.
type cpeTestResult struct {
	Kind     cpeOperationKind   `json:"kind"`
	Transfer *cpeTransferResult `json:"transfer"`
	Ping     *cpePingResult     `json:"ping"`
}

// showTest writes null for what was not measured.
func showTest(r cpeviews.OperationRow) cpeTestResult {
	out := cpeTestResult{Kind: cpeOperationKind(r.Kind)}
	v, at := null.Zero(r.Result), null.Zero(r.EndedAt)
	if events.CpeOperationKind(r.Kind) != events.CpePing {
		out.Transfer = &cpeTransferResult{
			OperationID: r.ID, At: at, BeganAt: null.Time(v.BeganAt), EndedAt: null.Time(v.EndedAt),
			Bytes: null.Of(v.Bytes), Speed: null.Of(v.BitsPerSecond), Received: null.Of(v.ReceivedBytes),
		}
		return out
	}
	out.Ping = &cpePingResult{OperationID: r.ID, At: at, Answered: v.Answered, Lost: v.Lost}
	if v.Answered > 0 {
		out.Ping.Average, out.Ping.Least, out.Ping.Most = &v.AverageMs, &v.LeastMs, &v.MostMs
	}
	return out
}

// diagnostics answers with the results of tests of a CPE.
func (a Operations) diagnostics(ctx context.Context, c *httpapi.Call) error {
	cpe, err := a.ofOrganization(ctx, c)
	if err != nil {
		return err
	}
	latest, history, err := a.Rows.Measured(ctx, c.Org.ID, cpe, diagnosticsShown)
	if err != nil {
		return err
	}
	out := cpeDiagnostics{History: []cpeTestResult{}}
	for _, r := range latest {
		one := showTest(r)
		switch events.CpeOperationKind(r.Kind) {
		case events.CpeSpeedTest:
			out.Download = one.Transfer
		case events.CpeUploadTest:
			out.Upload = one.Transfer
		default: // a ping: nothing else has a result
			out.Ping = one.Ping
		}
	}
	for _, r := range history {
		out.History = append(out.History, showTest(r))
	}
	return c.Send(http.StatusOK, out)
}

// ofOrganization reads which CPE of the organization the path means. Fails: cpe_not_found.
func (a Operations) ofOrganization(ctx context.Context, c *httpapi.Call) (id.CPE, error) {
	cpe, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return cpe, err
	}
	row, err := a.CPEs.Get(ctx, c.Org.ID, cpe)
	if err == nil && row == nil {
		err = commands.ErrNoCpe()
	}
	return cpe, err
}
