package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Exit codes of the program. 2 is for wrong arguments, and for a doctor who could not look: neither says anything about
// the books.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitUnchecked = 2
)

// program holds what commands get from outside, so that tests can run them within one process.
type program struct {
	environ []string
	in      io.Reader // a password or a list
	out     io.Writer // results
	err     io.Writer // logs and errors
	noYear  bool      // the demo leaves out its history, and most customers with it: for tests
	// readPatience is how long a request waits for a read model, for tests on a slow machine; 0 = as usual.
	readPatience time.Duration
}

// cli describes the command line to kong: one field for each sub-command.
type cli struct {
	Serve       serveCommand       `cmd:"" help:"Run the program, configured by the environment."`
	Demo        demoCommand        `cmd:"" help:"Run everything on this machine with simulators and a demo ISP."`
	Eventstore  eventstoreCommand  `cmd:"" help:"Run the embedded event store node alone."`
	Admin       adminCommands      `cmd:"" help:"Manage the platform's administrators."`
	Projections projectionCommands `cmd:"" help:"Look at and rebuild read models."`
	Processes   processCommands    `cmd:"" help:"Look at what has stopped, and try it again."`
	Doctor      doctorCommands     `cmd:"" help:"Look for contradictions in the books."`
	Events      eventsCommands     `cmd:"" help:"Read the log: streams, their events, their states."`
	Explain     explainCommands    `cmd:"" help:"Say why a customer, a receipt or a router is as it is."`
	Import      importCommand      `cmd:"" help:"Propose plans and customers from what a router knows; make nothing."`
	Keys        keyCommands        `cmd:"" help:"Rotate the platform key; carry erasures over a restore."`
	Tunnel      tunnelCommands     `cmd:"" help:"Configure the concentrator of the routers' management tunnel."`
	ACS         acsCommands        `cmd:"" name:"acs" help:"Set up a real CPE server."`
	Simulate    simulateCommands   `cmd:"" help:"Run a simulator alone."`
	Version     versionCommand     `cmd:"" help:"Print the version, the commit and the version of Go."`
	Help        helpCommand        `cmd:"" help:"Show what a command does."`
}

// helpCommand is `lastmile help [command ...]`: the same as --help behind the command. run replaces it.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command to explain."`
}

// Run does nothing: the arguments are replaced before they are parsed.
func (helpCommand) Run() error { return nil }

// run parses the arguments and runs the command. It returns the exit code.
func (p program) run(ctx context.Context, args []string) int {
	code := -1
	parser, err := kong.New(&cli{}, kong.Name("lastmile"),
		kong.Description("Billing and network management for internet service providers."),
		kong.UsageOnError(), kong.Writers(p.out, p.err), kong.Exit(func(c int) { code = c }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(p))
	if err != nil {
		p.complain(err)
		return exitFailed
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	command, err := parser.Parse(args)
	if code >= 0 {
		return code // --help has printed its text
	}
	if err != nil {
		p.complain(err)
		return exitUsage
	}
	err = command.Run()
	if err == nil || errors.Is(err, errInterrupted) {
		return exitOK
	}
	p.complain(err)
	if errors.As(err, new(uncheckedError)) {
		return exitUnchecked
	}
	return exitFailed
}

// complain prints an error for people. Of a failure without cause and faults it prints the message alone.
func (p program) complain(err error) {
	var f *failure.Error
	text := err.Error()
	if errors.As(err, &f) && f.Cause == nil && len(f.Faults) == 0 {
		text = f.Message
	}
	_, _ = fmt.Fprintf(p.err, "lastmile: %s\n", text)
}

// config reads and checks the configuration. The error names all faults.
func (p program) config() (Config, error) {
	cfg, err := loadConfig(p.environ)
	if err != nil {
		return Config{}, fmt.Errorf("the configuration has faults:\n%w", err)
	}
	return cfg, nil
}

// logger writes JSON lines to the error output, from LOG_LEVEL on.
func (p program) logger(cfg Config) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.LogLevel)) // Validate has checked it
	return slog.New(slog.NewJSONHandler(p.err, &slog.HandlerOptions{Level: level}))
}

// serveCommand is `lastmile serve`, with the roles that this program takes.
type serveCommand struct {
	Roles []string `help:"The parts that this program runs." default:"api,projections,processes,jobs,radius,eventstore"`

	Standby bool `help:"Wait while another program has the log, and take over when it ends."`
}

// Run serves until a signal, or until a part fails for good.
func (c serveCommand) Run(ctx context.Context, p program) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	cfg.Standby = cfg.Standby || c.Standby
	if cfg.hasDemoSecrets() {
		return errors.New("PAYMENT_CONSUMER_SECRET: the demo's credentials are for `lastmile demo` only")
	}
	logger := p.logger(cfg)
	for _, text := range unknownVariables(p.environ) {
		logger.WarnContext(ctx, "unknown variable", "variable", text)
	}
	app, err := StartApp(ctx, cfg, c.Roles, logger, appOptions{readPatience: p.readPatience})
	if err != nil {
		return err
	}
	return app.run(ctx)
}

// versionCommand is `lastmile version`. It needs no configuration.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(p program) error {
	_, err := fmt.Fprintf(p.out, "lastmile %s, commit %s, %s\n", version(), commit(), runtime.Version())
	return err
}

// commit gives the commit that the program was built from, with its time; "unknown" when it was built without one.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs.revision"] == "" {
		return unknown
	}
	return strings.TrimSpace(settings["vcs.revision"] + " " + settings["vcs.time"])
}

// unknown stands for a part of the version that the build did not keep.
const unknown = "unknown"

// version gives the module's version, or the commit that the program was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	v, dirty := info.Main.Version, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && (v == "" || v == "(devel)"):
			v = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return v + dirty
}
