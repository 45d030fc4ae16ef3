package networkapi

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// deviceRequest is the body of POST /nas/devices. Source: docs/rules/network.md#router-inputs.
type deviceRequest struct {
	Name              string       `json:"name"`
	IPAddress         string       `json:"ipAddress" doc:"WAN address, of the RADIUS client"`
	RadiusSecret      secrets.Text `json:"radiusSecret"`
	CoAPort           *int         `json:"coaPort,omitempty" doc:"3799 when absent"`
	APIUsername       string       `json:"apiUsername,omitempty" doc:"made with the bootstrap script when absent"`
	APIPassword       secrets.Text `json:"apiPassword,omitempty"`
	APIPort           *int         `json:"apiPort,omitempty" doc:"decides the protocol: 80 (default), 443, 8728, ..."`
	ManagementAddress string       `json:"managementAddress,omitempty" doc:"not the tunnel address; not in production"`

	RequireMessageAuthenticator bool `json:"requireMessageAuthenticator,omitempty" doc:"of each RADIUS sign-in"`

	UpstreamID *id.Device `json:"upstreamId,omitempty" doc:"the router behind which it stands"`
}

// input is the body in the form of the use case.
func (in deviceRequest) input() networkcases.RegisterInput {
	return networkcases.RegisterInput{
		Name: in.Name, IPAddress: in.IPAddress, CoAPort: in.CoAPort, APIPort: in.APIPort,
		ManagementAddress: in.ManagementAddress, RadiusSecret: in.RadiusSecret, APIUsername: in.APIUsername,
		APIPassword: in.APIPassword, RequireMessageAuthenticator: in.RequireMessageAuthenticator,
		UpstreamID: null.Zero(in.UpstreamID),
	}
}

// deviceChange is the body of PATCH: an absent field stays as it is.
type deviceChange struct {
	Name              *string       `json:"name,omitempty"`
	IPAddress         *string       `json:"ipAddress,omitempty"`
	RadiusSecret      *secrets.Text `json:"radiusSecret,omitempty"`
	CoAPort           *int          `json:"coaPort,omitempty"`
	APIUsername       *string       `json:"apiUsername,omitempty" doc:"with apiPassword; empty or null takes both away"`
	APIPassword       *secrets.Text `json:"apiPassword,omitempty" doc:"null takes both away"`
	APIPort           *int          `json:"apiPort,omitempty"`
	ManagementAddress *string       `json:"managementAddress,omitempty" doc:"empty or null = the tunnel address"`

	RequireMessageAuthenticator *bool `json:"requireMessageAuthenticator,omitempty"`

	UpstreamID *id.Device `json:"upstreamId,omitempty" doc:"the router behind which it stands; null = none"`
}

// emptied removes what is given as null, or gives it its default. What a router cannot be without becomes empty, which
// the use case refuses.
func (in deviceChange) emptied(nulls map[string]bool) deviceChange {
	in.Name, in.IPAddress = httpapi.Emptied(in.Name, nulls["name"]), httpapi.Emptied(in.IPAddress, nulls["ipAddress"])
	in.ManagementAddress = httpapi.Emptied(in.ManagementAddress, nulls["managementAddress"])
	in.RadiusSecret = httpapi.Emptied(in.RadiusSecret, nulls["radiusSecret"])
	in.APIUsername = httpapi.Emptied(in.APIUsername,
		nulls["apiUsername"] || nulls["apiPassword"] && in.APIUsername == nil)
	in.UpstreamID = httpapi.Emptied(in.UpstreamID, nulls["upstreamId"])
	in.RequireMessageAuthenticator = httpapi.Emptied(in.RequireMessageAuthenticator,
		nulls["requireMessageAuthenticator"])
	if nulls["coaPort"] {
		in.CoAPort = new(commands.DefaultCoAPort)
	}
	if nulls["apiPort"] {
		in.APIPort = new(commands.DefaultAPIPort)
	}
	return in
}

// input is the body in the form of the use case.
func (in deviceChange) input() networkcases.DeviceChange {
	return networkcases.DeviceChange{
		Name: in.Name, IPAddress: in.IPAddress, CoAPort: in.CoAPort, APIPort: in.APIPort,
		ManagementAddress: in.ManagementAddress, RadiusSecret: in.RadiusSecret, APIUsername: in.APIUsername,
		APIPassword: in.APIPassword, RequireMessageAuthenticator: in.RequireMessageAuthenticator,
		UpstreamID: in.UpstreamID,
	}
}

// deviceResponse is a router without its secrets.
type deviceResponse struct {
	ID                id.Device `json:"id"`
	Name              string    `json:"name"`
	IPAddress         string    `json:"ipAddress"`
	CoAPort           int       `json:"coaPort"`
	APIPort           int       `json:"apiPort"`
	HasAPICredentials bool      `json:"hasApiCredentials"`
	SecretsVersion    *string   `json:"secretsVersion" doc:"changes with each secret that staff type"`
	TunnelAddress     string    `json:"tunnelAddress" doc:"the address that is dialled"`
	TunnelUser        string    `json:"tunnelUser"`
	ManagementAddress *string   `json:"managementAddress"`

	RequireMessageAuthenticator bool `json:"requireMessageAuthenticator"`

	UpstreamID   *id.Device `json:"upstreamId" doc:"the router behind which it stands; null = none"`
	UpstreamName *string    `json:"upstreamName"`

	Transport        *transportShape `json:"transport" doc:"how the router was found to answer; null = not known yet"`
	UnreachableSince *time.Time      `json:"unreachableSince" doc:"null: it answers, or was never asked"`
	Error            *string         `json:"error"`
	Bootstrap        bootstrapShape  `json:"bootstrap"`
	SetupDrift       *driftShape     `json:"setupDrift" doc:"of the setup; null = as desired, or never compared"`
	DriftUnchecked   *uncheckedShape `json:"driftUnchecked" doc:"why it cannot be compared; null = it can"`
	Reboot           *rebootShape    `json:"reboot" doc:"the newest one"`
	CreatedAt        time.Time       `json:"createdAt"`

	Poll *pollShape `json:"poll" doc:"the newest one; null: not polled yet, and in lists (GET /nas/fleet has theirs)"`
}

// transportShape is the protocol by which a router answered, and the product that it is.
type transportShape struct {
	Protocol  string `json:"protocol" enum:"rest,api"`
	TLS       bool   `json:"tls"`
	Port      int    `json:"port"`
	Version   string `json:"version"`
	BoardName string `json:"boardName"`
}

// bootstrapShape compares the script that ran on a router with the newest one.
type bootstrapShape struct {
	Version    int        `json:"version" doc:"0: none was reported"`
	Newest     int        `json:"newest"`
	UpToDate   bool       `json:"upToDate" doc:"false: paste the script; see docs/routers.md"`
	ReportedAt *time.Time `json:"reportedAt"`
}

// uncheckedShape tells since when a router could not be compared with what it should have, and why.
type uncheckedShape struct {
	Since time.Time `json:"since"`
	Error string    `json:"error"`
}

// rebootShape is the state of a reboot; the uptime is known once it is confirmed.
type rebootShape struct {
	Stage         string    `json:"stage" enum:"requested,started,accepted,confirmed,failed"`
	Message       *string   `json:"message"`
	UptimeSeconds *int64    `json:"uptimeSeconds"`
	At            time.Time `json:"at"`
}

// scriptDue reports whether a router needs the script although it has one of the newest version: its tunnel has another
// password since, nobody knows which RADIUS secret it was given, as with a script of an older program, or something
// differs that only the script can repair.
func scriptDue(r networkviews.DeviceRow) bool {
	return r.Rotated || r.RadiusGiven.IsZero() ||
		r.SetupDrift != nil && slices.ContainsFunc(r.SetupDrift.Resources, commands.ScriptOnly)
}

// showDevice writes null for what is not known yet.
func (a API) showDevice(r networkviews.DeviceRow) deviceResponse {
	out := deviceResponse{
		ID: r.ID, Name: r.Details.Name, IPAddress: r.Details.IPAddress, CoAPort: r.Details.CoAPort,
		APIPort:           r.Details.APIPort,
		HasAPICredentials: !r.APIRef.IsZero(), SecretsVersion: httpapi.SecretsVersion(r.RadiusRef, r.APIRef),
		TunnelAddress: r.TunnelAddress, TunnelUser: r.TunnelUser,
		ManagementAddress:           null.Of(r.Details.ManagementAddress),
		RequireMessageAuthenticator: r.Details.RequireMessageAuthenticator, UnreachableSince: r.UnreachableSince,
		Error: null.Of(r.UnreachableError),
		Bootstrap: bootstrapShape{
			Version: r.BootstrapVersion, Newest: a.BootstrapVersion, ReportedAt: r.BootstrapAt,
			UpToDate: a.upToDate(r),
		},
		UpstreamID: null.Of(r.UpstreamID), UpstreamName: null.Of(r.UpstreamName), CreatedAt: r.CreatedAt,
	}
	if r.Transport != nil {
		shape := transportShape(*r.Transport)
		out.Transport = &shape
	}
	if d := r.SetupDrift; d != nil {
		out.SetupDrift = &driftShape{FirstSeenAt: d.FirstSeenAt, Hash: d.Hash, Resources: showDrift(d.Resources)}
	}
	if u := r.DriftUnchecked; u != nil {
		shape := uncheckedShape(*u)
		out.DriftUnchecked = &shape
	}
	if b := r.Reboot; b != nil {
		out.Reboot = &rebootShape{Stage: b.Stage, Message: null.Of(b.Message), At: b.At}
		if b.Stage == networkviews.RebootConfirmed {
			out.Reboot.UptimeSeconds = &b.UptimeSeconds
		}
	}
	return out
}
