package networkcases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// showsPerHour bounds how often the script of one router is shown: each time is an event.
const showsPerHour = 30

// ShowBootstrap gives the bootstrap script of a router, with the router's secrets in clear text, and records who is
// given it before the caller has it. Source: docs/rules/network.md#bootstrap-script. Fails: device_not_found,
// rate_limited, invalid_input (the router's details cannot stand in a script).
func (d Devices) ShowBootstrap(ctx context.Context, asked usecases.Asked, device id.Device) (string, error) {
	if err := d.allow(ctx, "bootstrap_show:"+device.String(), showsPerHour); err != nil {
		return "", err
	}
	script, radius, err := d.Script(ctx, device, asked.Meta)
	if err != nil {
		return "", err
	}
	_, err = d.Bus.Execute(ctx, commands.ShowBootstrap{
		DeviceID: device, Version: commands.BootstrapVersion, RadiusRef: radius,
	}, asked.Meta)
	if err != nil {
		return "", err
	}
	return script, nil
}

// allow counts something that may be done so often an hour. Fails: rate_limited.
func (d Devices) allow(ctx context.Context, key string, perHour int) error {
	ok, wait, err := d.Limiter.Allow(ctx, key, perHour, time.Hour)
	if err == nil && !ok {
		return failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(wait, time.Second))
	}
	return err
}
