package cpeapi

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Dashboards serves the figures of CPEs. All fields are required. Safe for concurrent use.
type Dashboards struct {
	// Firmware counts the CPEs of an organization by their version; "" = it is not known.
	Firmware func(ctx context.Context, org id.Organization) (map[string]int, error)
	// CountSince counts, for each of some instants, the CPEs of an organization that have called then or later, in the
	// same time however many they are.
	CountSince func(ctx context.Context, org id.Organization, at ...time.Time) ([]int, error)
	Clock      clock.Clock
}

// Routes lists the endpoint.
func (d Dashboards) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodGet, Path: "/cpe/dashboard", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
		Response: cpeDashboard{}, Summary: "Count the CPEs by condition and firmware", Handle: d.show,
	}}
}

// cpeDashboard counts the CPEs of an organization.
type cpeDashboard struct {
	Total          int            `json:"total"`
	Online         int            `json:"online"`
	Offline        int            `json:"offline"`
	StaleDevices   int            `json:"staleDevices" doc:"offline for more than an hour"`
	FirmwareCounts map[string]int `json:"firmwareCounts" doc:"by version; Unknown: not known"`
}

// unknownFirmware stands for the version of CPEs that have not told theirs. Source:
// docs/rules/cpe.md#cpe-endpoints.
const unknownFirmware = "Unknown"

// show answers with the figures, in the same time however many CPEs there are.
func (d Dashboards) show(ctx context.Context, c *httpapi.Call) error {
	counts, err := d.Firmware(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	now := d.Clock.Now()
	called, err := d.CountSince(ctx, c.Org.ID, now.Add(-offlineAfter), now.Add(-staleAfter))
	if err != nil {
		return err
	}
	online, lately := called[0], called[1]
	out := cpeDashboard{FirmwareCounts: map[string]int{}}
	for version, n := range counts {
		out.Total += n
		if version == "" {
			version = unknownFirmware
		}
		out.FirmwareCounts[version] += n
	}
	out.Online = min(online, out.Total) // a CPE that has just been released may still be counted
	out.Offline, out.StaleDevices = out.Total-out.Online, out.Total-min(lately, out.Total)
	return c.Send(http.StatusOK, out)
}
