// Package networkapi serves routers and the services on them.
package networkapi

import (
	"context"
	"strconv"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
)

// BootstrapReports accepts the reports of bootstrap scripts.
type BootstrapReports interface {
	// ReportBootstrap records the version of the script that ran on the router to which the token belongs. Fails:
	// callback_token_unknown, bad_version, rate_limited.
	ReportBootstrap(ctx context.Context, token string, version int) error
}

// Bootstrap serves the address to which bootstrap scripts report. It is the same on every host, since the token names
// the router.
type Bootstrap struct{ Reports BootstrapReports }

// BootstrapPath is the address of reports, before token and version.
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

// report records the version; the token in the path is the proof of the sender.
func (a Bootstrap) report(ctx context.Context, c *httpapi.Call) error {
	version, err := strconv.Atoi(c.Param("version"))
	if err != nil || version < 1 {
		return commands.ErrNoBootstrapVersion()
	}
	if err := a.Reports.ReportBootstrap(ctx, c.Param("token"), version); err != nil {
		return err
	}
	return c.NoContent()
}
