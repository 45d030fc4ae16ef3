package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// demoCommand is `lastmile demo`. It is refused in production.
type demoCommand struct{}

// seedPatience bounds the time in which the demo's data is made.
const seedPatience = 10 * time.Minute

// Run serves on this machine alone, with a simulated provider and a demo ISP, until a signal. A second start finds the
// data of the first one.
func (demoCommand) Run(ctx context.Context, p program) error {
	cfg, err := demoConfig(p.environ)
	if err != nil {
		return fmt.Errorf("the configuration has faults:\n%w", err)
	}
	if err := refuseFormerDemo(cfg.DataDir); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(p.out, "Starting; data and the log of this program are in %s ...\n", cfg.DataDir)
	logger, closeLog, err := demoLogger(cfg)
	if err != nil {
		return err
	}
	defer closeLog()
	c, server := demoClock(cfg, p.noYear), &demoRADIUS{}
	routers, dial, err := startRouters(ctx, c, server, routersOfDemo(p.noYear))
	if err != nil {
		return err
	}
	defer func() { _ = routers.Stop(context.WithoutCancel(ctx)) }()
	boxes, err := startACS(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = boxes.Stop(context.WithoutCancel(ctx)) }()
	olt, err := startTerminals(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = olt.Stop(context.WithoutCancel(ctx)) }()
	app, err := StartApp(ctx, cfg.withACS(boxes).withTerminals(olt), allRoles, logger, appOptions{
		demo: true, clock: c, dialRouter: dial, passwords: demoHashes, readPatience: p.readPatience,
	})
	if err != nil {
		return err
	}
	defer app.Stop()
	if err := server.is(app); err != nil {
		return err
	}
	boxes.SetIdentify(acs.Identify{
		URL: "http://" + app.Addr() + "/internal/cpe/identify", Key: demoACSKey.Reveal(),
	})
	seed, cancel := context.WithTimeout(ctx, seedPatience)
	defer cancel()
	if err := newDemoSeed(app, p.out, p.noYear).with(boxes, olt).run(seed, routers); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("make the demo's data: %w", err)
	}
	if err := app.printDemo(p.out, routers, boxes, olt); err != nil {
		return err
	}
	err = app.Wait(ctx)
	signOutAll(context.WithoutCancel(ctx), routers)
	_, _ = fmt.Fprintln(p.out, "\nStopping. The data stays; start again with: lastmile demo")
	return err
}

// demoClock gives the clock of the demo. As long as its data is not complete, it begins a year before the present, and
// goes on from where an interrupted start has left it.
func demoClock(cfg Config, noYear bool) clock.Clock {
	if noYear || seeded(cfg.DataDir) {
		return productClock(cfg)
	}
	return clock.NewMovable(clock.System(), -demoBegins)
}

// demoHashes is the cost of the hashes of the demo's passwords, which everybody can read. The staff sign in on each day
// of the year.
var demoHashes = vault.Argon2{MemoryKiB: 64, Passes: 1, Threads: 1}

// demoConfig gives the configuration of the environment, with the demo's provider credentials in it.
func demoConfig(environ []string) (Config, error) {
	cfg, err := readConfig(environ)
	if cfg.Production() {
		return Config{}, errors.New("APP_ENV: the demo is refused in production")
	}
	cfg.DevClock = true
	if cfg.RadiusAuthAddr == "" && cfg.RadiusAcctAddr == "" {
		cfg.RadiusAuthAddr, cfg.RadiusAcctAddr = "127.0.0.1:1812", "127.0.0.1:1813"
	}
	if cfg.WalledGardenAddr == "" {
		cfg.WalledGardenAddr = "127.0.0.1:" + strconv.Itoa(commands.RedirectPort)
	}
	cfg.GatewayMode, cfg.PaymentEnv, cfg.PaymentBaseURL, cfg.PaymentCallbackURL = gatewayTest, "sandbox", "", ""
	cfg.PaymentConsumerKey, cfg.PaymentConsumerSecret = demoConsumerKey, demoConsumerSecret
	cfg.PaymentShortcode, cfg.PaymentPasskey = demoShortcode, demoPasskey
	cfg.PaymentInitiator, cfg.PaymentCredential = demoInitiator, demoCredential
	cfg.BillManagerKey, cfg.BillManagerSecret, cfg.BillManagerShortcode = demoBillKey, demoBillSecret, demoShortcode
	cfg.BillManagerEmail, cfg.BillManagerPhone = "bills@lastmile.localhost", "254700000001"
	return cfg, errors.Join(err, cfg.Validate())
}

// demoLogger writes to demo.log in DATA_DIR, because the screen shows the commands to try. The function closes the
// file.
func demoLogger(cfg Config) (*slog.Logger, func(), error) {
	if err := os.MkdirAll(cfg.DataDir, 0o755); err != nil { //nolint:gosec // the files in it are guarded one by one
		return nil, nil, fmt.Errorf("DATA_DIR: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(cfg.DataDir, "demo.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.LogLevel)) // Validate has checked it
	return slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: level})), func() { _ = file.Close() }, nil
}

// The demo's users. Everybody can read their passwords, so they exist in the demo only: see refuseDemoData.
const (
	demoSlug         = "demo"
	demoZone         = "Africa/Nairobi"
	demoRootEmail    = "root@lastmile.localhost"
	demoAdminEmail   = "admin@demo.lastmile.localhost"
	demoSupportEmail = "support@demo.lastmile.localhost"
)

// demoPassword is the password of all users of the demo.
const demoPassword = secrets.Text("demo-password")

// demoTemporary is the users' first password. The seeding changes it, as their owners would.
const demoTemporary = secrets.Text("demo-temporary")
