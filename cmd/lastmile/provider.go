package main

import (
	"context"
	"net"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// startProvider chooses the payment provider: PAYMENT_BASE_URL, or the real one of PAYMENT_ENV, or in test mode without
// an address the simulator, which it starts inside this program. The demo has a simulated tax authority, too.
func (a *App) startProvider(ctx context.Context, demo bool) (err error) {
	if demo {
		if a.taxSimulator, err = startTaxSimulator(ctx, a.clock, a.life); err != nil {
			return err
		}
	}
	a.provider = a.cfg.PaymentBaseURL
	if a.provider != "" || a.cfg.GatewayMode != gatewayTest {
		return nil
	}
	url, err := startSimulator(ctx, a.clock, a.life)
	if err != nil {
		return err
	}
	a.provider = url
	a.logger.InfoContext(ctx, "payment provider is simulated", "address", url)
	return nil
}

// usualSimulatorAddr is the simulator's address when its port is free, so that examples work as they stand.
const usualSimulatorAddr = "127.0.0.1:8090"

// startSimulator starts a provider on its usual loopback port, or on a free one. It accepts any credentials. Its
// seed is the time, because receipt numbers of an earlier start must not be repeated.
func startSimulator(ctx context.Context, c clock.Clock, l *lifecycle) (string, error) {
	//nolint:gosec // any seed will do
	cfg := provider.Config{Addr: usualSimulatorAddr, Clock: c, Logger: l.logger, Seed: uint64(c.Now().UnixNano())}
	sim := provider.New(cfg)
	if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
		cfg.Addr = ""
		sim = provider.New(cfg)
		if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
			return "", err
		}
	}
	l.started("payment provider simulator", stopStorage, func(ctx context.Context) { _ = sim.Stop(ctx) })
	return sim.URL(), nil
}

// ownURL gives the address under which programs on this machine reach the HTTP listener.
func (a *App) ownURL() string {
	if a.listener == nil {
		return ""
	}
	host, port, err := net.SplitHostPort(a.listener.Addr())
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// callbackURL gives the address for callbacks of prompts: PAYMENT_CALLBACK_URL, or in development an address of this
// program.
func (a *App) callbackURL() string {
	if a.cfg.PaymentCallbackURL != "" {
		return strings.TrimSuffix(a.cfg.PaymentCallbackURL, "/")
	}
	if own := a.ownURL(); own != "" {
		return own + "/webhooks/mobile-money/stk"
	}
	return ""
}
