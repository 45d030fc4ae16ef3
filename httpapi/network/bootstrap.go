package networkapi

import (
	"context"
	"strconv"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// BootstrapReports takes the reports of bootstrap scripts.
type BootstrapReports interface {
	// ReportBootstrap notes the version of the script that ran on the router of a token. Fails: callback_token_unknown.
	ReportBootstrap(ctx context.Context, token string, version int) error
}

// Bootstrap serves the address at which bootstrap scripts report. It is the same on every host: the router is known
// by the token.
type Bootstrap struct{ Reports BootstrapReports }

// BootstrapPath is where scripts report, before token and version.
const BootstrapPath = "/webhooks/nas/bootstrap"

// Routes lists the endpoint.
func (a Bootstrap) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: BootstrapPath + "/:token/:version", Hosts: httpapi.OnEvery,
			Access: httpapi.AccessPublic, BodyLimit: 4 << 10, Summary: "A bootstrap script has run to its end",
			Status: 204, Handle: a.report,
		},
	}
}

// report notes the version.
func (a Bootstrap) report(ctx context.Context, c *httpapi.Call) error {
	version, err := strconv.Atoi(c.Param("version"))
	if err != nil || version < 1 {
		return failure.NewMalformed("bad_version", "The version must be a whole number.")
	}
	if err := a.Reports.ReportBootstrap(ctx, c.Param("token"), version); err != nil {
		return err
	}
	return c.NoContent()
}
