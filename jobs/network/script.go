package networkjobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// BootstrapVersion is the version of the newest script; older scripts have smaller numbers. Source:
// docs/rules/network.md#bootstrap-script.
const BootstrapVersion = routerplan.BootstrapVersion

// TokenBootstrap is the vault's kind of the tokens in the addresses at which scripts report.
const TokenBootstrap = "nas_bootstrap"

// scriptUser is the name of the API user that a script creates when the operator named none.
const scriptUser = "platform"

// ScriptSettings has the platform's values in bootstrap scripts and firewall rules; they are the same for all routers.
type ScriptSettings struct {
	// Concentrator is the public host or address of the SSTP concentrator, to which routers open the tunnel.
	Concentrator string
	// ConcentratorPort is the concentrator's TCP port.
	ConcentratorPort int
	// RadiusHost is the platform's address in the tunnel.
	RadiusHost string
	// ReportURL is the address at which a script reports its version, without the token; "" = no report.
	ReportURL string
	// AllowReboot gives the API user the policy "reboot"; a router refuses to reboot for a user without it.
	AllowReboot bool
}

// BootstrapScript makes the script of a router, with its secrets in clear text. For a router without API credentials it
// first stores new ones, which the script then creates on the router. radius refers to the RADIUS secret in the script;
// the script's report names it, because another one may be valid when the script runs. Fails: device_not_found.
func (w *Workers) BootstrapScript(
	ctx context.Context, device id.Device, by jobs.Cause,
) (text string, radius id.Secret, err error) {
	row, err := w.devices.Any(ctx, device)
	if err != nil {
		return "", radius, err
	}
	if row == nil {
		return "", radius, commands.ErrNoDevice()
	}
	text, err = w.scriptOf(ctx, *row, by)
	return text, row.RadiusRef, err
}

// scriptOf is BootstrapScript for a router whose row was read.
func (w *Workers) scriptOf(ctx context.Context, row networkviews.DeviceRow, by jobs.Cause) (string, error) {
	var err error
	s := w.cfg.Script
	script := routerplan.BootstrapConfig{
		Concentrator: s.Concentrator, SSTPPort: s.ConcentratorPort, TunnelUser: row.TunnelUser,
		RadiusHost: s.RadiusHost, CoAPort: row.Details.CoAPort, APIPort: row.Details.APIPort,
		AllowReboot: s.AllowReboot, TunnelRef: row.TunnelRef, RadiusRef: row.RadiusRef, CPE: w.cfg.CPE,
	}
	if script.Garden, err = w.gardenOf(ctx, row); err != nil {
		return "", err
	}
	if script.TunnelSecret, err = w.secret(ctx, row.TunnelRef); err != nil {
		return "", err
	}
	if script.RadiusSecret, err = w.secret(ctx, row.RadiusRef); err != nil {
		return "", err
	}
	user, err := w.apiUser(ctx, row, by)
	if err != nil {
		return "", err
	}
	script.APIUser, script.APIPassword = user.User, user.Password
	if s.ReportURL != "" {
		token, err := w.cfg.Tokens.Issue(ctx, vault.CallbackOwner{
			Kind: TokenBootstrap, Ref: row.ID.UUID(), OrgID: row.OrgID,
		})
		if err != nil {
			return "", err
		}
		script.ReportURL = strings.TrimRight(s.ReportURL, "/") + "/" + token.Reveal() + "." + row.RadiusRef.String()
	}
	return routerplan.Bootstrap(script)
}

// secret reads one secret of a router from the vault, in clear text.
func (w *Workers) secret(ctx context.Context, ref id.Secret) (string, error) {
	plain, err := w.cfg.Secrets.Get(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("read a router's secret: %w", err)
	}
	return string(plain), nil
}

// apiUser gives the API user of a router, and makes and records one when there is none.
func (w *Workers) apiUser(
	ctx context.Context, row networkviews.DeviceRow, by jobs.Cause,
) (routeros.Credentials, error) {
	if !row.APIRef.IsZero() {
		return w.credentials(ctx, row.APIRef)
	}
	made := commands.DeviceAPICredentials{Username: scriptUser, Password: rand.Text()}
	plain, err := json.Marshal(made)
	if err != nil {
		return routeros.Credentials{}, fmt.Errorf("write API credentials: %w", err)
	}
	ref := id.New[id.Secret]()
	secret := vault.Secret{Ref: ref, OrgID: row.OrgID, Purpose: commands.DeviceSecretPurpose(events.CredentialAPI)}
	if err := w.cfg.Secrets.Put(ctx, secret, plain); err != nil {
		return routeros.Credentials{}, err
	}
	by.OrgID = row.OrgID
	_, err = w.report(ctx, by, ref.String(), commands.ReplaceDeviceCredentials{
		DeviceID: row.ID, Kind: events.CredentialAPI, Ref: ref,
	})
	if failure.CodeOf(err) == "concurrent_change" { // another script was made at the same time: both have its user
		device, _, err := bus.LoadUnchecked[network.Device](ctx, w.cfg.Bus, row.ID)
		if err != nil {
			return routeros.Credentials{}, err
		}
		return w.credentials(ctx, device.APIRef)
	}
	return routeros.Credentials{User: made.Username, Password: made.Password}, err
}

// reportsPerHour bounds the reports of scripts for one router, since whoever has read the script knows the address.
const reportsPerHour = 30

// ReportBootstrap records the report of a script that ran on a router. The token in the address names the router; a
// reference after it, behind a full stop, names the RADIUS secret in the script, which older scripts do not tell.
// Fails: callback_token_unknown, bad_version, rate_limited.
func (w *Workers) ReportBootstrap(ctx context.Context, token string, version int) error {
	token, brought, _ := strings.Cut(token, ".")
	radius, _ := id.Parse[id.Secret](brought) // zero when it is not told
	owner, err := w.cfg.Tokens.Lookup(ctx, secrets.Text(token))
	if err != nil {
		return err
	}
	if owner.Kind != TokenBootstrap {
		return failure.NewNotFound("callback_token_unknown", "There is nothing at this address.")
	}
	cause := jobs.Cause{OrgID: owner.OrgID, Actor: platformActor, JobID: id.New[id.Any]()}
	device := id.Device(owner.Ref)
	ok, wait, err := w.cfg.Limiter.Allow(ctx, "bootstrap_report:"+device.String(), reportsPerHour, time.Hour)
	if err != nil {
		return err
	}
	if !ok {
		return failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(wait, time.Second))
	}
	done, err := w.report(ctx, cause, "", commands.ReportBootstrap{
		DeviceID: device, Version: version, By: commands.BootstrapByReport, RadiusRef: radius,
	})
	if err == nil {
		w.Soon(device, done.Position)
	}
	return err
}

// learnBootstrap reads the script's version from the router itself, until the router has the newest script, and the
// marks of the script's secrets, until it has the one with the tunnel's present password. A router may be unable to
// report: its device mode forbids that.
func (w *Workers) learnBootstrap(ctx context.Context, r router) {
	if r.row.BootstrapVersion >= BootstrapVersion && !r.row.Rotated {
		return
	}
	snapshot, err := r.read(ctx, []string{routerplan.MenuInterface})
	if err != nil {
		return // the next poll looks again
	}
	ran := routerplan.BootstrapOf(snapshot)
	report := commands.ReportBootstrap{DeviceID: r.row.ID, Version: ran.Version, By: commands.BootstrapByRouter}
	marked := ran.Tunnel == routerplan.Mark(r.row.TunnelRef)
	if marked {
		report.By, report.TunnelRef = commands.BootstrapByMark, r.row.TunnelRef
		if ran.Radius == routerplan.Mark(r.row.RadiusRef) {
			report.RadiusRef = r.row.RadiusRef
		}
	}
	if ran.Version > r.row.BootstrapVersion || marked && r.row.Rotated {
		w.note(ctx, r.row.OrgID, report)
	}
}
