package networkjobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// errNoCredentials answers for a router without API credentials, which cannot be asked anything. Source:
// docs/rules/network.md#fleet-polls.
func errNoCredentials() error {
	return routeros.ErrUnreachable(0, errors.New("no router API credentials are stored for this device"))
}

// router is a device with its row of the read model. The device is nil when the row has no credentials or address.
type router struct {
	*routeros.Device
	row networkviews.DeviceRow
}

// open reads a device's row and gives its router; nothing is dialled. Fails: device_not_found, device_unreachable.
func (w *Workers) open(ctx context.Context, device id.Device) (router, error) {
	row, err := w.devices.Any(ctx, device)
	if err != nil {
		return router{}, err
	}
	if row == nil {
		return router{}, commands.ErrNoDevice()
	}
	return w.openRow(ctx, *row)
}

// openRow gives the router of a row; nothing is dialled. Fails: device_unreachable without credentials or an address.
func (w *Workers) openRow(ctx context.Context, row networkviews.DeviceRow) (router, error) {
	w.owners.Store(row.ID.String(), row.OrgID)
	if row.APIRef.IsZero() {
		return router{row: row}, errNoCredentials()
	}
	target := routeros.Target{ID: row.ID.String(), Speaks: speechOf(row.Transport)}
	var err error
	if target.Address, target.Port, err = w.address(row); err != nil {
		return router{row: row}, err
	}
	if target.Credentials, err = w.credentials(ctx, row.APIRef); err != nil {
		return router{row: row}, err
	}
	return router{Device: w.cfg.Gateway.Device(target), row: row}, nil
}

// OwnerOf gives the organization of a device that this program has called before, else "".
func (w *Workers) OwnerOf(device string) string {
	if org, ok := w.owners.Load(device); ok {
		return org.(id.Organization).String() //nolint:forcetypeassert // nothing else is stored
	}
	return ""
}

// Forget removes what this program remembers of a device that was decommissioned.
func (w *Workers) Forget(device id.Device) {
	w.owners.Delete(device.String())
	w.looked.Delete(device)
	w.pings.forget(device)
}

// address gives the address and port to dial: the tunnel address, or outside production the management address that an
// operator gave instead.
func (w *Workers) address(row networkviews.DeviceRow) (netip.Addr, uint16, error) {
	text, port := row.TunnelAddress, row.Details.APIPort
	if given := row.Details.ManagementAddress; given != "" && w.cfg.Overrides {
		text = given
		if host, own, err := net.SplitHostPort(given); err == nil {
			text = host
			if n, err := strconv.ParseUint(own, 10, 16); err == nil {
				port = int(n)
			}
		}
		if text == "localhost" {
			text = "127.0.0.1"
		}
	}
	address, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return address, 0, routeros.ErrUnreachable(0, fmt.Errorf("the management address is no IP address: %w", err))
	}
	return address, uint16(port), nil //nolint:gosec // commands check the range
}

// credentials reads the API credentials of a router from the vault.
func (w *Workers) credentials(ctx context.Context, ref id.Secret) (routeros.Credentials, error) {
	var kept commands.DeviceAPICredentials
	plain, err := w.cfg.Secrets.Get(ctx, ref)
	if err == nil {
		err = json.Unmarshal(plain, &kept)
	}
	if err != nil {
		return routeros.Credentials{}, fmt.Errorf("read router credentials: %w", err)
	}
	return routeros.Credentials{User: kept.Username, Password: kept.Password}, nil
}

// speechOf gives the protocol that the router spoke last; unknown makes the gateway try them all.
func speechOf(t *events.DeviceTransport) routeros.Speech {
	switch {
	case t == nil:
		return routeros.Unknown
	case t.Protocol == commands.ProtocolREST:
		return routeros.REST
	case t.TLS:
		return routeros.APITLS
	}
	return routeros.API
}

// transportOf gives the transport of a router's answer in the words of events.
func transportOf(r router, port uint16, version, board string) events.DeviceTransport {
	out := events.DeviceTransport{
		Protocol: commands.ProtocolAPI, Version: version, BoardName: board, Port: routeros.PortAPI,
	}
	switch r.Speaks() {
	case routeros.REST:
		out.Protocol, out.TLS, out.Port = commands.ProtocolREST, port == routeros.PortHTTPS, int(port)
	case routeros.APITLS:
		out.TLS, out.Port = true, routeros.PortAPITLS
	case routeros.API, routeros.Unknown:
	}
	return out
}
